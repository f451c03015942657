#include "digest_comparison.h"

#include <utility>

#include <fmt/format.h>

#include "../files/printable.h"
#include "result_file.h"
#include "result_layout.h"
#include "value_digest.h"

namespace headwave {

void DigestComparison::group(const std::string& path, const Attributes& attributes) {
  const std::string meant = attribute_text(attributes, attributes_digest_name);
  if (meant.empty()) return without_attributes_digest_.push_back(path);
  check_.has_attribute_digests = true;
  if (meant != attributes_digest(attributes))
    check_.problems.push_back(
        fmt::format("attributes of '{}' are not what was written: their digest differs", printable(path)));
}

void DigestComparison::array(const std::string& path, const Attributes& attributes, const std::string& digest) {
  ++check_.arrays;
  group(path, attributes);
  const std::string meant = attribute_text(attributes, "sha256");
  if (meant.empty()) return without_digest_.push_back(path);
  ++check_.digests;
  if (meant != digest)
    check_.problems.push_back(fmt::format("'{}' is not what was written: its digest differs", printable(path)));
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
