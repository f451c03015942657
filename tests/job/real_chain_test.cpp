// The chain on real heads against numpy (tests/golden/make_wave_chain.py), and on models of other kinds.

#include <algorithm>
#include <cmath>
#include <complex>
#include <fstream>

#include <nlohmann/json.hpp>

#include "../../analysis/attention/head_cluster.h"
#include "../../analysis/waves/cross_covariance.h"
#include "../../analysis/waves/delay.h"
#include "../../data/arrays/safetensors.h"
#include "../../job/inputs/job_input.h"
#include "../../job/run/job.h"
#include "../analysis/golden_json.h"
#include "../catch.h"
#include "../reference/cross_spectrum.h"

using namespace headwave;

namespace {

Result result_of(const std::string& family, const char* ids, const std::vector<std::string>& only = {}) {
  const TemporaryFolder folder;
  std::ofstream(folder / "ids.json") << ids;
  PackingOptions packing;
  packing.documents = 2;
  const JobInput input = ids_input(repository_file("tests/golden/families/" + family), folder / "ids.json", packing);
  JobOptions options;
  options.everything = true;
  options.reach = 4;
  options[window_option] = 3;
  options.only = only;
  return run_job_by_kind(input.model, *input.source, options).back().result;
}

}  // namespace

TEST_CASE("three heads of GPT-2 have numpy's gains, eigenvalues, cross-spectra, weighted sums and delays") {
  NEEDS_SHARED("gpt2-small-attention/model.safetensors");
  const nlohmann::json golden = golden_json("wave_chain.json");
  const Checkpoint checkpoint(shared_file("gpt2-small-attention"));
  const Matrix x = checkpoint.matrix("transformer.wpe.weight", {1024, 768}).topRows(64).cast<double>();
  const MatrixView32 fused = checkpoint.matrix("transformer.h.0.attn.c_attn.weight", {768, 2304});
  constexpr double tolerance = 1e-9;
  for (const nlohmann::json& of : golden["real"]) {
    const auto head = of["head"].get<Index>();
    CAPTURE(head);
    const Matrix w_query = fused.middleCols(64 * head, 64).cast<double>();
    const Matrix w_key = fused.middleCols(768 + 64 * head, 64).cast<double>();
    ChainHead wave{qk_svd(w_query, w_key), 0, {}};
    wave.rank = wave.svd.rank();
    wave.rotation = phase_rotation(wave.svd);
    REQUIRE(wave.rank == of["rank"].get<Index>());
    const Vector gain = vector_of(of["gain"]);
    CHECK((wave.svd.gain - gain).cwiseAbs().maxCoeff() < tolerance * gain[0]);
    const Eigen::VectorXcd eigenvalues = complex_of(of["eigenvalues"]);
    for (Index i = 0; i < wave.rank; ++i) {
      double nearest = 1;
      for (Index j = 0; j < wave.rank; ++j)
        nearest = std::min(nearest, std::abs(wave.rotation.eigenvalue(j) - eigenvalues[i]));
      CHECK(nearest < tolerance);
    }
    CHECK(wave.rotation.condition == Approx(of["condition"].get<double>()).epsilon(1e-6));
    const HeadWaves waves = head_waves(0, wave, x * w_query, x * w_key);
    const Eigen::VectorXcd cross = cross_spectrum(waves), expected = complex_of(of["cross_spectrum"]);
    CHECK((cross - expected).cwiseAbs().maxCoeff() < tolerance * expected.cwiseAbs().maxCoeff());
    const CrossCovariance covariance = cross_covariance(waves);
    const Vector weighted = vector_of(of["weighted"]);
    CHECK((covariance.weighted - weighted).cwiseAbs().maxCoeff() < tolerance * weighted.cwiseAbs().maxCoeff());
    const Delay delay = delays(cross, 64, {8}).front();
    CHECK(delay.offset == Approx(of["t_hat"].get<double>()).margin(1e-7));
    CHECK(delay.coherence == Approx(of["coherence"].get<double>()).epsilon(1e-7));
  }
}

TEST_CASE("rotary models have the chain of queries and keys before the rotation, and say so") {
  const Result result = result_of("llama", "[[7, 8, 9, 10, 11, 12, 13, 14], [20, 21, 22, 23, 24, 25, 26, 27]]");
  for (const char* name : {"phase_delay/estimate", "cross_covariance/weighted", "wave_spectra/query"}) {
    CAPTURE(name);
    CHECK_THAT(std::get<std::string>(result.at(name).attributes.at("position_term")),
               ContainsSubstring("before rotary"));
  }
  for (const char* name : {"position_spectrum/mean", "position_components/share", "position_atlas/predicted_offset",
                           "position_correlation/correlation"}) {
    CAPTURE(name);
    REQUIRE(result.find(name) != nullptr);
    CHECK_THAT(std::get<std::string>(result.at(name).attributes.at("undefined")),
               ContainsSubstring("no position table"));
  }
  CHECK(result.find("position_split/variance_share") != nullptr);
}

TEST_CASE("documents of the most common length make the chain, cross-attention has none and says why") {
  const Result result = result_of("gpt2", "[[7, 8, 9, 10, 11], [20, 21, 22]]", {"phase_delay"});
  CHECK(std::get<std::int64_t>(result.provenance.at("wave_length")) == 5);
  CHECK(std::get<std::int64_t>(result.provenance.at("wave_documents")) == 1);
  const Result cross = result_of(
      "bart", R"([{"source": [5, 6, 7, 8], "target": [2, 9, 10]}, {"source": [5, 6, 9], "target": [2, 9, 11]}])");
  CHECK(std::get<std::string>(cross.provenance.at("attention")) == "cross");
  CHECK_THAT(std::get<std::string>(cross.provenance.at("undefined_waves")), ContainsSubstring("different sequences"));
  CHECK(cross.find("phase_delay/estimate") == nullptr);
  CHECK(cross.find("head_types/entropy") != nullptr);
}

TEST_CASE("stored queries and keys without states have no chain and say why, documents of one token neither") {
  const JobInput input = states_input(repository_file("tests/golden/stored/causal.h5"));
  JobOptions options;
  options.everything = true;
  options.reach = 3;
  const Result stored = run_job(input.model, *input.source, options);
  CHECK_THAT(std::get<std::string>(stored.provenance.at("undefined_waves")), ContainsSubstring("without the states"));
  const Result single = result_of("gpt2", "[[7], [8]]");
  CHECK_THAT(std::get<std::string>(single.provenance.at("undefined_waves")), ContainsSubstring("one token"));
  for (const char* ids : {"[[7, 8], [8, 9]]", "[[7, 8, 9], [8, 9, 4]]"}) {
    const Result small = result_of("gpt2", ids);
    CHECK(small.find("phase_delay/estimate") != nullptr);
  }
}
