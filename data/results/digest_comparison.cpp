#include "digest_comparison.h"

#include <utility>

#include <fmt/format.h>

#include "../files/printable.h"
#include "result_file.h"
#include "result_layout.h"

namespace headwave {

bool DigestComparison::is_as_written(const ResultObject& object) {
  seen_.insert(object.path);
  const std::string meant = attribute_text(object.attributes, attributes_digest_name);
  if (meant.empty()) {
    without_attributes_digest_.push_back(object.path);
    return true;
  }
  check_.has_attribute_digests = true;
  return meant == attributes_digest(object);
}

void DigestComparison::group(ResultObject group) {
  if (!is_as_written(group)) changed_groups_.push_back(std::move(group));
}

void DigestComparison::array(const ResultObject& array, const std::string& digest) {
  ++check_.arrays;
  if (!is_as_written(array))
    check_.problems.push_back(fmt::format("name or attributes of '{}' are not what was written: their digest differs",
                                          printable(array.path)));
  const std::string meant = attribute_text(array.attributes, "sha256");
  if (meant.empty()) return without_digest_.push_back(array.path);
  ++check_.digests;
  if (meant != digest)
    check_.problems.push_back(fmt::format("'{}' is not what was written: its digest differs", printable(array.path)));
}

ResultCheck DigestComparison::taken(bool everything) {
  for (const ResultObject& group : changed_groups_) tell_changed(group, everything);
  if (check_.schema_version >= first_schema_with_digests) tell_lost("its digest", without_digest_);
  if (check_.has_attribute_digests) tell_lost("the digest of its attributes", without_attributes_digest_);
  return std::move(check_);
}

void DigestComparison::tell_changed(const ResultObject& group, bool everything) {
  const std::size_t before = check_.problems.size();
  for (const std::string& member : group.members)
    if (const std::string path = (group.path == "/" ? "" : group.path) + "/" + member;
        everything && !seen_.contains(path))
      check_.problems.push_back(fmt::format("'{}' is there, and was not written", printable(path)));
  if (check_.problems.size() == before)
    check_.problems.push_back(fmt::format(
        "name, members or attributes of '{}' are not what was written: their digest differs", printable(group.path)));
}

void DigestComparison::tell_lost(const char* what, const std::vector<std::string>& paths) {
  for (const std::string& path : paths)
    check_.problems.push_back(fmt::format("'{}' has lost {}", printable(path), what));
}

}  // namespace headwave
