#include "result_check.h"

#include <set>

#include <fmt/format.h>

#include "../files/printable.h"
#include "../hdf5/hdf5_file.h"
#include "result_file.h"
#include "value_digest.h"

namespace headwave {

namespace {

class Checker {
 public:
  explicit Checker(const Hdf5File& file) : file_(file) {
    (void)read_result(file, {});
    check_.schema_version = std::get<std::int64_t>(file.attributes("/").at("schema_version"));
  }

  ResultCheck checked() {
    for (const std::string& name : file_.attribute_texts("/", "fields")) {
      const Result one = read_result(file_, {name});
      const Field& field = one.at(name);
      compare("/" + name, value_digest(field));
      for (const Axis& axis : field.axes) {
        const std::string path = fmt::format("/{}/{}", field.group(), axis.name);
        if (seen_.insert(path).second) compare(path, value_digest(axis));
      }
    }
    return std::move(check_);
  }

 private:
  void compare(const std::string& path, const std::string& found) {
    ++check_.arrays;
    const std::string meant = attribute_text(file_.attributes(path), "sha256");
    if (meant.empty()) {
      if (check_.schema_version >= first_schema_with_digests)
        check_.problems.push_back(fmt::format("'{}' has lost its digest", printable(path)));
      return;
    }
    ++check_.digests;
    if (meant != found)
      check_.problems.push_back(fmt::format("'{}' is not what was written: its digest differs", printable(path)));
  }

  const Hdf5File& file_;
  ResultCheck check_;
  std::set<std::string> seen_;  // axes that several Fields share
};

}  // namespace

ResultCheck check_result(const Hdf5File& file) {
  return Checker(file).checked();
}

}  // namespace headwave
