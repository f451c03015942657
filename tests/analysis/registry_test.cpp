#include "../../analysis/registry/registry.h"

#include <algorithm>
#include <set>

#include "../catch.h"

using namespace headwave;

namespace {

std::vector<std::string> names_of(const std::vector<const AnalysisKind*>& kinds) {
  std::vector<std::string> names;
  for (const AnalysisKind* kind : kinds) names.emplace_back(kind->name);
  return names;
}

}  // namespace

TEST_CASE("analyses: each has a name of its own and comes after what it reads") {
  std::set<const AnalysisKind*> before;
  std::set<std::string_view> names;
  for (const AnalysisKind* kind : analysis_kinds()) {
    CAPTURE(kind->name);
    CHECK(names.insert(kind->name).second);
    for (const AnalysisKind* read : kind->reads) CHECK(before.contains(read));
    before.insert(kind);
  }
}

TEST_CASE("analyses: what is asked for comes with what it reads, in order, and with what is always done") {
  CHECK(chosen_analyses({.everything = true}) == analysis_kinds());
  CHECK(names_of(chosen_analyses({.only = {"cross_covariance"}})) ==
        std::vector<std::string>{"measured_offset", "qk_svd", "cross_covariance"});
  CHECK(names_of(chosen_analyses({.only = {"position_split", "measured_offset"}})) ==
        std::vector<std::string>{"measured_offset", "position_split"});
}

TEST_CASE("analyses: a name that is none is told with the nearest, or with all there are") {
  CHECK_THROWS_WITH(chosen_analyses({.only = {"head_typs"}}),
                    ContainsSubstring("no analysis 'head_typs'") && ContainsSubstring("head_types"));
  CHECK_THROWS_WITH(chosen_analyses({.only = {"zzz"}}), ContainsSubstring("there are measured_offset, head_cluster"));
}

TEST_CASE("what an analysis has not found cannot be read") {
  Finished finished;
  CHECK(finished.find<int>() == nullptr);
  CHECK_THROWS_WITH(finished.get<int>(),
                    ContainsSubstring("an analysis reads a result of type i, but no earlier analysis kept one;"));
  CHECK(finished.keep(7) == 7);
  CHECK(finished.get<int>() == 7);
}
