#include "digest_comparison.h"

#include <utility>

#include <fmt/format.h>

#include "../files/printable.h"
#include "result_file.h"
#include "result_layout.h"

namespace headwave {

void DigestComparison::attributes(ResultObject& object, const char* what) {
  const std::string meant = attribute_text(object.attributes, attributes_digest_name);
  if (meant.empty()) return without_attributes_digest_.push_back(object.path);
  check_.has_attribute_digests = true;
  keep_written(object);
  if (meant != attributes_digest(object))
    check_.problems.push_back(
        fmt::format("{} of '{}' are not what was written: their digest differs", what, printable(object.path)));
}

void DigestComparison::group(ResultObject group) {
  attributes(group, "name, members or attributes");
}

void DigestComparison::array(ResultObject array, const std::string& digest) {
  ++check_.arrays;
  const std::string meant = attribute_text(array.attributes, "sha256");
  attributes(array, "name or attributes");
  if (meant.empty()) return without_digest_.push_back(array.path);
  ++check_.digests;
  if (meant != digest)
    check_.problems.push_back(fmt::format("'{}' is not what was written: its digest differs", printable(array.path)));
}

ResultCheck DigestComparison::taken() {
  if (check_.schema_version >= first_schema_with_digests) tell_lost("its digest", without_digest_);
  if (check_.has_attribute_digests) tell_lost("the digest of its attributes", without_attributes_digest_);
  return std::move(check_);
}

void DigestComparison::tell_lost(const char* what, const std::vector<std::string>& paths) {
  for (const std::string& path : paths)
    check_.problems.push_back(fmt::format("'{}' has lost {}", printable(path), what));
}

}  // namespace headwave
