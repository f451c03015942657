#include "../../job/studies/text_loss.h"

#include <cmath>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../analysis/statistics/mean_change.h"
#include "../../core/model/intervention.h"
#include "../../data/arrays/safetensors.h"
#include "../catch.h"

using namespace headwave;

namespace {

JobInput ids_of_family(const std::string& family, const TemporaryFolder& folder) {
  std::ofstream(folder / "ids.json") << "[[3, 1, 4, 1, 5, 9, 2, 6], [5, 3, 5, 8, 9, 7], [9, 3, 2, 3, 8, 4, 6, 2, 6]]";
  PackingOptions packing;
  packing.documents = 3;
  return ids_input(repository_file("tests/golden/families/" + family), folder / "ids.json", packing);
}

}  // namespace

TEST_CASE("losses of a text do not depend on threads, and masks are the same for every model") {
  const TemporaryFolder folder;
  const JobInput input = ids_of_family("bert-mlm", folder);
  TextLossOptions options;
  options.masked_share = 0.4;
  options.threads = 1;
  const auto one = text_losses(input.model, *input.source, 4, options);
  options.threads = 3;
  const auto three = text_losses(input.model, *input.source, 4, options);
  REQUIRE(one.size() == 3);
  CHECK(one[0].tokens == 3);  // 40 % of 8
  CHECK(one[1].tokens == 2);
  for (std::size_t i = 0; i < 3; ++i) CHECK(one[i].sum == three[i].sum);
  const LossDifference same = loss_difference(one, three);
  CHECK(same.mean == 0);
  CHECK(same.standard_error == 0);
  // Another model is asked for the same tokens.
  const auto pruned = text_losses(without_heads(input.model, {{0, 0}}), *input.source, 4, options);
  CHECK(pruned[0].tokens == 3);
  CHECK(pruned[0].sum != one[0].sum);
  options.seed = 2;
  CHECK(text_losses(input.model, *input.source, 4, options)[2].sum != one[2].sum);
  CHECK_THROWS_WITH(text_losses(input.model, *input.source, -1), ContainsSubstring("no mask token"));
}

TEST_CASE("documents in which nothing can be predicted have no loss, rather than one that is no number") {
  const TemporaryFolder folder;
  std::ofstream(folder / "ids.json") << "[[3], [5]]";
  const JobInput input = ids_input(repository_file("tests/golden/families/gpt2"), folder / "ids.json");
  CHECK_THROWS_WITH(text_losses(input.model, *input.source, -1), ContainsSubstring("no token to be predicted"));
}

TEST_CASE("the loss of an encoder-decoder is that of its target, as transformers' logits give it") {
  const TemporaryFolder folder;
  for (const std::string family : {"bart", "t5", "t5-gated", "marian"}) {
    CAPTURE(family);
    const SafetensorsFile expected(repository_file("tests/golden/families/" + family + "/expected.safetensors"));
    const auto ids = [&](const std::string& name) {
      const TensorInfo* info = expected.find(name);
      REQUIRE(info != nullptr);
      const auto* first = reinterpret_cast<const std::int32_t*>(expected.bytes(*info).data());
      return std::vector<std::int32_t>(first, first + info->shape.front());
    };
    const std::vector<std::int32_t> source = ids("full.ids"), target = ids("full.decoder_ids");
    std::ofstream(folder / "pairs.json") << fmt::format(R"([{{"source": [{}], "target": [{}]}}])",
                                                        fmt::join(source, ", "), fmt::join(target, ", "));
    const JobInput input = ids_input(repository_file("tests/golden/families/" + family), folder / "pairs.json");
    const auto losses = text_losses(input.model, *input.source, -1);
    REQUIRE(losses.size() == 1);
    CHECK(losses[0].tokens == static_cast<Index>(target.size()) - 1);
    const TensorInfo* info = expected.find("full.logits");
    REQUIRE(info != nullptr);
    const Matrix scores =
        MatrixView32(reinterpret_cast<const float*>(expected.bytes(*info).data()), info->shape[0], info->shape[1])
            .cast<double>();
    double sum = 0;
    for (Index i = 0; i + 1 < static_cast<Index>(target.size()); ++i)
      sum += std::log(scores.row(i).array().exp().sum()) - scores(i, target[static_cast<std::size_t>(i) + 1]);
    CHECK(losses[0].sum == Approx(sum).epsilon(1e-5));
  }
  std::ofstream(folder / "pairs.json") << R"([{"source": [5, 6], "target": [2]}])";
  const JobInput one = ids_input(repository_file("tests/golden/families/bart"), folder / "pairs.json");
  CHECK_THROWS_WITH(text_losses(one.model, *one.source, -1), ContainsSubstring("no token to be predicted"));
}

TEST_CASE("a model that predicts nothing has no loss of a text") {
  const TemporaryFolder folder;
  const JobInput input = ids_of_family("bert-mlm", folder);
  Model headless = input.model;
  headless.head = {};
  CHECK_THROWS_AS(text_losses(headless, *input.source, 4), ShapeError);
  CHECK_THROWS_AS(text_losses(input.model, *input.source, -1), ShapeError);
}
