#include <array>
#include <cmath>

#include "../../analysis/statistics/quantile.h"
#include "../../analysis/why/position_atlas.h"
#include "../../core/model/layer.h"
#include "../../data/arrays/safetensors.h"
#include "../../job/studies/model_atlas.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("GPT-2's layer 0 has the Toeplitz shares that numpy gives") {
  NEEDS_SHARED("gpt2-small-attention/model.safetensors");
  const Checkpoint checkpoint(shared_file("gpt2-small-attention"));
  Matrix32 seen = checkpoint.matrix("transformer.wpe.weight", {1024, 768}).topRows(512);
  normalise(seen, {checkpoint.vector("transformer.h.0.ln_1.weight", 768),
                   checkpoint.vector("transformer.h.0.ln_1.bias", 768), 1e-5F, NormKind::layer});
  const Matrix positions = seen.cast<double>();
  const MatrixView32 fused = checkpoint.matrix("transformer.h.0.attn.c_attn.weight", {768, 2304});
  constexpr std::array<double, 12> expected{0.828, 0.800, 0.792, 0.781, 0.780, 0.593,
                                            0.828, 0.764, 0.808, 0.835, 0.813, 0.795};
  const PositionNull null(positions, 64, 0);
  for (Index head = 0; head < 12; ++head) {
    const HeadWeights weights{fused.middleCols(64 * head, 64).cast<double>(),
                              fused.middleCols(768 + 64 * head, 64).cast<double>(), Vector::Zero(64)};
    const PositionKernel found = position_kernel(positions, weights, null);
    CHECK(found.toeplitz_r2 == Approx(expected[static_cast<std::size_t>(head)]).margin(0.00051));
  }
}

TEST_CASE("a partial checkpoint has an atlas of what it holds, and says what is missing") {
  NEEDS_SHARED("gpt2-small-attention/model.safetensors");
  ModelAtlasOptions options;
  options.atlas.length = 512;
  options.atlas.draws = 4;
  const std::vector<KindResult> results = model_atlas(shared_file("gpt2-small-attention"), options);
  REQUIRE(results.size() == 1);
  const Result& result = results.front().result;
  CHECK(result.at("position_atlas/toeplitz_r2").axis("layer").size() == 2);
  CHECK(result.at("position_atlas/toeplitz_r2").doubles()[9] == Approx(0.835).margin(0.00051));
  CHECK(result.find("word_atlas/predicted_offset") == nullptr);  // half a model passes nothing on
  CHECK(std::get<std::string>(result.provenance.at("no_passes")) == "the checkpoint lacks tensors");
  CHECK(std::get<std::string>(result.provenance.at("missing")) == "139 tensors, the first transformer.wte.weight");
  // Causal: nothing right of the query is predicted.
  for (const double offset : result.at("position_atlas/predicted_offset").doubles())
    CHECK((std::isnan(offset) || offset <= 0));
}
