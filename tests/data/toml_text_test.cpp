#include "../../core/errors/error.h"
#include "../../data/files/toml_reader.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("settings are lines of TOML in the order of their names", "[toml_text]") {
  CHECK(toml_text({}).empty());
  CHECK(toml_text({{"window", std::int64_t{10}}, {"level", 0.05}, {"share", 1.0}, {"flag", true}}) ==
        "flag = true\nlevel = 0.05\nshare = 1.0\nwindow = 10");
}

TEST_CASE("texts of settings are read again as they were, whatever stands in them", "[toml_text]") {
  for (const std::string text :
       {"", "plain", "it's", "\"both\" 'of them'", "back\\slash", "two\nlines", "tab\tbell\a", "Zürich"}) {
    const toml::table read = toml::parse(toml_text({{"text", text}, {"list", std::vector<std::string>{text, "b"}}}));
    CHECK(read["text"].value<std::string>() == text);
    CHECK(read["list"][0].value<std::string>() == text);
    CHECK(read["list"][1].value<std::string>() == "b");
  }
}
