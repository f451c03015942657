#include "../../job/inputs/input_rules.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "../catch.h"

using namespace headwave;

TEST_CASE("an option that has no effect is found beside the other, or without it") {
  const auto broken = [](const std::set<std::string>& given) {
    const InputRule* rule = broken_input_rule(given);
    return rule == nullptr ? std::string() : std::string(rule->option) + " " + rule->other;
  };
  CHECK(broken({"model", "text", "length", "documents", "allow_unknown"}).empty());
  CHECK(broken({"states", "head_count", "dataset", "axes"}).empty());
  CHECK(broken({"text"}) == "text model");
  CHECK(broken({"text", "ids", "model"}) == "text ids");
  CHECK(broken({"states", "length"}) == "length states");
  CHECK(broken({"states", "model", "head_count"}) == "head_count model");
  CHECK(broken({"states", "axes"}) == "axes dataset");
  CHECK(broken({"profiles", "documents"}) == "documents profiles");
  CHECK(broken({"model", "text", "intervene", "shuffles"}) == "shuffles shuffled_words");
  CHECK(broken({"model", "text", "intervene", "shuffles", "shuffled_words"}).empty());
}

TEST_CASE("every rule says in its error what the other option is") {
  for (const InputRule& rule : input_rules()) {
    CAPTURE(rule.option, rule.other);
    CHECK(std::string_view(rule.why).find("{}") != std::string_view::npos);
    CHECK(std::ranges::count_if(input_rules(), [&](const InputRule& other) {
            return std::string_view(rule.option) == other.option && std::string_view(rule.other) == other.other;
          }) == 1);
  }
}
