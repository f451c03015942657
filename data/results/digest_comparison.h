#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "result_check.h"

namespace headwave {

/// Compares what a result file is read to hold with the digests beside it.
class DigestComparison {
 public:
  explicit DigestComparison(Index schema_version) { check_.schema_version = schema_version; }

  /// A group, by its attributes.
  void group(const std::string& path, const Attributes& attributes);

  /// A Field's array, or an axis.
  /// @param digest  value_digest() of what was read
  void array(const std::string& path, const Attributes& attributes, const std::string& digest);

  /// What came to light. Asked once, when all is read: that a digest is lost is known by the others.
  [[nodiscard]] ResultCheck taken();

 private:
  void tell_lost(const char* what, const std::vector<std::string>& paths);

  ResultCheck check_;
  std::vector<std::string> without_digest_, without_attributes_digest_;
};

}  // namespace headwave
