#include "../../core/errors/nearest_name.h"

#include "../catch.h"

using namespace headwave;

TEST_CASE("edits are counted: in, out, replaced, swapped") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("run", "run") == 0);
  CHECK(edit_distance("", "run") == 3);
  CHECK(edit_distance("rn", "run") == 1);
  CHECK(edit_distance("runn", "run") == 1);
  CHECK(edit_distance("ran", "run") == 1);
  CHECK(edit_distance("rnu", "run") == 1);
  CHECK(edit_distance("lenght", "length") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
  // Restricted: a swapped pair is not touched again.
  CHECK(edit_distance("ca", "abc") == 3);
  for (const auto& [a, b] : {std::pair("spectra", "spectrum"), std::pair("", "x"), std::pair("ab", "ba")})
    CHECK(edit_distance(a, b) == edit_distance(b, a));
}

TEST_CASE("the nearest name is found, and none where nothing is near") {
  const std::vector<std::string> commands{"demo", "run", "validate", "spectrum", "figures", "inspect", "merge"};
  CHECK(nearest_name("rnu", commands) == "run");
  CHECK(nearest_name("figure", commands) == "figures");
  CHECK(nearest_name("inspct", commands) == "inspect");
  CHECK(nearest_name("spectra", commands) == "spectrum");
  CHECK(nearest_name("valid", commands) == "validate");
  CHECK(nearest_name("nonsense", commands).empty());
  CHECK(nearest_name("", commands).empty());
  CHECK(nearest_name("x", {"y"}).empty());
  CHECK(nearest_name(std::string(100000, 'r'), commands).empty());
  CHECK(did_you_mean("rnu", commands) == "; did you mean 'run'?");
  CHECK(did_you_mean("nonsense", commands).empty());
}
