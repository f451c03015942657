#include "../../job/studies/text_loss.h"

#include <fstream>

#include "../../analysis/statistics/loss_difference.h"
#include "../../core/model/intervention.h"
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

TEST_CASE("an encoder-decoder has no loss of a text") {
  Model model;
  model.decoder.emplace();
  const TemporaryFolder folder;
  const JobInput input = ids_of_family("gpt2", folder);
  CHECK_THROWS_AS(text_losses(model, *input.source, -1), ShapeError);
  const auto losses = text_losses(input.model, *input.source, -1);
  CHECK(total(losses).tokens == 7 + 5 + 8);
  CHECK(total(losses).mean() > 0);
}

TEST_CASE("a model that predicts nothing has no loss of a text") {
  const TemporaryFolder folder;
  const JobInput input = ids_of_family("bert-mlm", folder);
  Model headless = input.model;
  headless.head = {};
  CHECK_THROWS_AS(text_losses(headless, *input.source, 4), ShapeError);
  CHECK_THROWS_AS(text_losses(input.model, *input.source, -1), ShapeError);
}
