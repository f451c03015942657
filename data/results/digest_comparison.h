#pragma once

#include <set>
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
  void array(const ResultObject& array, const std::string& digest);

  /// What came to light. Asked once, when all is read: that a digest is lost is known by the others.
  /// @param everything  whether all Fields were read, so that what else a group holds was not written
  [[nodiscard]] ResultCheck taken(bool everything);

 private:
  /// @returns whether it is what was written
  bool is_as_written(const ResultObject& object);
  void tell_changed(const ResultObject& group, bool everything);
  void tell_lost(const char* what, const std::vector<std::string>& paths);

  ResultCheck check_;
  std::set<std::string> seen_;
  std::vector<ResultObject> changed_groups_;
  std::vector<std::string> without_digest_, without_attributes_digest_;
};

}  // namespace headwave
