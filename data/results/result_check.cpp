#include "result_check.h"

#include <set>

#include <fmt/format.h>

#include "../../core/numbers/stopping.h"
#include "../files/printable.h"
#include "../hdf5/hdf5_file.h"
#include "result_file.h"
#include "value_digest.h"

namespace headwave {

namespace {

class Checker {
 public:
  explicit Checker(const Hdf5File& file) : file_(file) {}

  ResultCheck checked() {
    check_.schema_version = read_fields(file_, [this](const Field& field) { check(field); });
    if (check_.schema_version >= first_schema_with_digests)
      for (const std::string& path : without_digest_)
        check_.problems.push_back(fmt::format("'{}' has lost its digest", printable(path)));
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
  }

  void compare(const std::string& path, const std::string& found) {
    ++check_.arrays;
    const std::string meant = attribute_text(file_.attributes(path), "sha256");
    if (meant.empty()) return without_digest_.push_back(path);
    ++check_.digests;
    if (meant != found)
      check_.problems.push_back(fmt::format("'{}' is not what was written: its digest differs", printable(path)));
  }

  const Hdf5File& file_;
  ResultCheck check_;
  std::vector<std::string> without_digest_;
  std::set<std::string> seen_;  // axes that several Fields share
};

}  // namespace

ResultCheck check_result(const Hdf5File& file) {
  return Checker(file).checked();
}

}  // namespace headwave
