#include "../../core/errors/error.h"

#include "../catch.h"

using namespace headwave;

namespace {

std::string as_flag(const Remedy& remedy) {
  return "--" + remedy.option + (remedy.value.empty() ? "" : " " + remedy.value);
}

}  // namespace

TEST_CASE("an error without a remedy says its finding", "[error]") {
  const ShapeError error("states.h5: 4 heads, expected 8");
  CHECK(error.what() == std::string("states.h5: 4 heads, expected 8"));
  CHECK(error.message(as_flag) == "states.h5: 4 heads, expected 8");
  CHECK(error.remedies().empty());
}

TEST_CASE("an error's remedies are facts, written by whoever shows them", "[error]") {
  const FormatError error("text.txt: holds 50 documents, but 60 are requested", give("documents", "50 or fewer"));
  CHECK(error.finding() == "text.txt: holds 50 documents, but 60 are requested");
  CHECK(error.remedies() == std::vector{give("documents", "50 or fewer")});
  CHECK(error.what() == std::string("text.txt: holds 50 documents, but 60 are requested; give documents=50 or fewer"));
  CHECK(error.message(as_flag) == "text.txt: holds 50 documents, but 60 are requested; give --documents 50 or fewer");
}

TEST_CASE("several remedies are alternatives, each with its effect", "[error]") {
  const IoError error("states.h5: damaged", {give("documents", "5", "to read its sound part"), omit("states")});
  CHECK(error.message(as_flag) == "states.h5: damaged; give --documents 5 to read its sound part, or omit --states");
}
