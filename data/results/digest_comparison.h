#pragma once

#include <string>
#include <vector>

#include "result_check.h"
#include "value_digest.h"

namespace headwave {

/// Compares what a result file is read to hold with the digests beside it.
class DigestComparison {
 public:
  explicit DigestComparison(Index schema_version) { check_.schema_version = schema_version; }

  void group(ResultObject group);

  /// A Field's array, or an axis.
  /// @param digest  value_digest() of what was read
  void array(ResultObject array, const std::string& digest);

  /// What came to light. Asked once, when all is read: that a digest is lost is known by the others.
  [[nodiscard]] ResultCheck taken();

 private:
  /// @param what  of the object the digest is of, as messages say it
  void attributes(ResultObject& object, const char* what);
  void tell_lost(const char* what, const std::vector<std::string>& paths);

  ResultCheck check_;
  std::vector<std::string> without_digest_, without_attributes_digest_;
};

}  // namespace headwave
