#include "../../job/inputs/stored_sums.h"

#include <cmath>
#include <string>
#include <vector>

#include "../../core/errors/error.h"
#include "../../job/inputs/job_input.h"
#include "../../job/inputs/run_input.h"
#include "../catch.h"

using namespace headwave;

namespace {

JobOptions of_short_documents() {
  JobOptions options;
  options.only = {"measured_offset", "head_account", "head_types", "attention_distance"};
  options.reach = 7;
  return options;
}

Result of_profiles(const std::filesystem::path& file, const JobOptions& options) {
  return run_input(profiles_input(file), options).front().result;
}

void require_close(const Result& one, const Result& other, const std::string& name, double most) {
  const std::vector<double>&a = one.at(name).doubles(), &b = other.at(name).doubles();
  INFO(name);
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    REQUIRE(std::isnan(a[i]) == std::isnan(b[i]));
    if (!std::isnan(a[i])) REQUIRE(std::abs(a[i] - b[i]) < most);
  }
}

}  // namespace

TEST_CASE("stored profiles give what a run on the model gives") {
  const std::filesystem::path place = repository_file("tests/golden/profiles");
  const JobOptions options = of_short_documents();
  const JobInput model = ids_input(repository_file("tests/golden/families/llama"), place / "ids.json");
  const Result expected = run_input(model, options).front().result;
  const Result found = of_profiles(place / "profiles.h5", options);
  // Weights are float32, and sums along a diagonal are of up to 16 of them.
  for (const char* const name :
       {"offset_trace/mean_weight", "offset_trace/null_weight", "offset_trace/null_deviation",
        "offset_trace/document_correlation", "measured_offset/offset", "measured_offset/threshold",
        "head_account/measured_profile", "head_account/uniform_profile", "head_account/strength", "head_types/previous",
        "head_types/induction", "head_types/induction_baseline", "head_types/entropy_share", "head_types/sink_weight",
        "head_types/argmax_share", "attention_distance/slash_distance", "attention_distance/slash_weight"})
    require_close(found, expected, name, 1e-6);
  for (const char* const name : {"offset_trace/trace", "offset_trace/by_document"})
    require_close(found, expected, name, 1e-5);
  CHECK(found.at("offset_trace/count").doubles() == expected.at("offset_trace/count").doubles());
  CHECK(std::get<std::string>(found.provenance.at("source")) == "stored profiles");
  CHECK(std::get<std::int64_t>(found.provenance.at("documents")) == 24);
}

TEST_CASE("an account of stored profiles, and all attention in bits, are those of a run on the model") {
  const std::filesystem::path place = repository_file("tests/golden/profiles");
  JobOptions options = of_short_documents();
  options.only.push_back("attention_bits");
  const Result found = of_profiles(place / "profiles.h5", options);
  const JobInput model = ids_input(repository_file("tests/golden/families/llama"), place / "ids.json");
  const Result expected = run_input(model, options).front().result;
  for (const char* const name :
       {"head_account/dealt_profile", "head_account/part", "head_account/part_lower", "head_account/overlap",
        "head_account/null_strength", "head_account/p_value", "attention_bits/bits", "attention_bits/part",
        "attention_bits/part_lower", "attention_bits/gain", "attention_bits/sink_mass"})
    require_close(found, expected, name, 1e-5);
  CHECK(found.at("head_account/verdict").values == expected.at("head_account/verdict").values);
}

TEST_CASE("stored profiles name what they cannot give") {
  const std::filesystem::path place = repository_file("tests/golden/profiles");
  JobOptions options;
  options.reach = 7;
  const Result found = of_profiles(place / "profiles.h5", options);
  const std::string left_out = attribute_text(found.provenance, "undefined_analyses");
  CHECK_THAT(left_out, ContainsSubstring("strongest_pairs") && ContainsSubstring("needs documents"));
  CHECK_FALSE(attribute_text(found.provenance, "undefined_evidence").empty());
  options.reach = 8;
  CHECK_THROWS_WITH(of_profiles(place / "profiles.h5", options),
                    ContainsSubstring("profiles.h5: the null reaches 7 tokens"));
  CHECK_THROWS_WITH(profiles_input(repository_file("tests/golden/hdf5_sample.h5")),
                    ContainsSubstring("hdf5_sample.h5: is not a file of profiles"));
}
