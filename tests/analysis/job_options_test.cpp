#include <set>

#include "../../analysis/registry/job_option_table.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("options of a job: each stands in the table once, with its default inside its range") {
  std::set<std::string_view> names;
  for (const JobOption& option : job_option_table()) {
    CAPTURE(option.name);
    CHECK(names.insert(option.name).second);
    CHECK(option.key().find('_') == std::string::npos);
  }
  CHECK_NOTHROW(require_in_range({}));
  Attributes provenance;
  add_options(provenance, {.only = {"head_types", "attention_map"}, .everything = true, .heads = {"L0H2"}, .seed = 7},
              3);
  CHECK(provenance.size() == names.size());
  CHECK(std::get<std::string>(provenance.at("only")) == "head_types,attention_map");
  CHECK(std::get<std::int64_t>(provenance.at("seed")) == 7);
  CHECK(std::get<std::int64_t>(provenance.at("threads")) == 3);
  CHECK(std::get<double>(provenance.at("level")) == 0.01);
  Attributes without;
  add_options(without, {}, 3);
  CHECK(without.size() == names.size() - 3);  // lists that are empty are not kept
}

TEST_CASE("options of a job: what is out of its range is refused by name, whatever the door it came through") {
  for (const JobOption& option : job_option_table()) {
    if (option.least == 0 && option.most == 0) continue;
    CAPTURE(option.name);
    std::visit(
        [&](auto member) {
          JobOptions options;
          using Value = std::decay_t<decltype(value_of(options, member))>;
          if constexpr (std::is_arithmetic_v<Value>) {
            value_of(options, member) = static_cast<Value>(option.least);
            CHECK_NOTHROW(require_in_range(options));
            value_of(options, member) = static_cast<Value>(option.most);
            CHECK_NOTHROW(require_in_range(options));
            value_of(options, member) = static_cast<Value>(option.most * 2 + 1);
            CHECK_THROWS_WITH(require_in_range(options), ContainsSubstring(std::string(option.name)));
            value_of(options, member) = Value{0};
            if (option.or_zero || option.least <= 0)
              CHECK_NOTHROW(require_in_range(options));
            else
              CHECK_THROWS_AS(require_in_range(options), ShapeError);
          }
        },
        option.member);
  }
}
