#include "result_check.h"

#include <set>

#include <fmt/format.h>

#include "../../core/numbers/stopping.h"
#include "../files/printable.h"
#include "../hdf5/hdf5_file.h"
#include "result_file.h"
#include "result_layout.h"
#include "value_digest.h"

namespace headwave {

namespace {

class Checker {
 public:
  explicit Checker(const Hdf5File& file) : file_(file) {}

  ResultCheck checked() {
    check_.schema_version = read_fields(file_, [this](const Field& field) { check(field); });
    for (const char* group : {"/", "/provenance"}) compare_attributes(group, file_.attributes(group));
    if (check_.schema_version >= first_schema_with_digests) tell_lost("its digest", without_digest_);
    if (check_.has_attribute_digests) tell_lost("the digest of its attributes", without_attributes_digest_);
    return std::move(check_);
  }

 private:
  void check(const Field& field) {
    stop_if_asked();
    compare("/" + field.name, value_digest(field));
    for (const Axis& axis : field.axes) {
      const std::string path = fmt::format("/{}/{}", field.group(), axis.name);
      if (seen_.insert(path).second) compare(path, value_digest(axis));
    }
    const std::string group = fmt::format("/{}", field.group());
    if (seen_.insert(group).second) compare_attributes(group, file_.attributes(group));
  }

  void compare(const std::string& path, const std::string& found) {
    ++check_.arrays;
    const Attributes attributes = file_.attributes(path);
    compare_attributes(path, attributes);
    const std::string meant = attribute_text(attributes, "sha256");
    if (meant.empty()) return without_digest_.push_back(path);
    ++check_.digests;
    if (meant != found)
      check_.problems.push_back(fmt::format("'{}' is not what was written: its digest differs", printable(path)));
  }

  void compare_attributes(const std::string& path, const Attributes& attributes) {
    const std::string meant = attribute_text(attributes, attributes_digest_name);
    if (meant.empty()) return without_attributes_digest_.push_back(path);
    check_.has_attribute_digests = true;
    if (meant != attributes_digest(attributes))
      check_.problems.push_back(
          fmt::format("attributes of '{}' are not what was written: their digest differs", printable(path)));
  }

  void tell_lost(const char* what, const std::vector<std::string>& paths) {
    for (const std::string& path : paths)
      check_.problems.push_back(fmt::format("'{}' has lost {}", printable(path), what));
  }

  const Hdf5File& file_;
  ResultCheck check_;
  std::vector<std::string> without_digest_, without_attributes_digest_;
  std::set<std::string> seen_;  // groups, and axes, that several Fields share
};

}  // namespace

ResultCheck check_result(const Hdf5File& file) {
  return Checker(file).checked();
}

}  // namespace headwave
