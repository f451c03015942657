#include "../../job/studies/model_atlas.h"

#include "../../analysis/positions/position_spectrum.h"
#include "../../core/errors/error.h"
#include "../../core/model/layer_positions.h"
#include "../../data/models/model_directory.h"
#include "../../job/inputs/job_input.h"
#include "../../job/inputs/run_input.h"
#include "../catch.h"
#include "untrained_model.h"

using namespace headwave;

TEST_CASE("an atlas is refused of a model that is none, of more positions than there are, or of heads that are not") {
  const auto bert = repository_file("tests/golden/models/bert");  // 40 positions, 2 layers of 4 heads
  ModelAtlasOptions options;
  options.atlas.draws = 0;
  CHECK_THROWS_AS(model_atlas(std::filesystem::path("/nowhere"), options), IoError);
  CHECK_THROWS_AS(model_atlas(repository_file("tests/golden/hdf5_sample.h5"), options), Error);
  for (const Index length : {1, 41}) {
    options.atlas.length = length;
    CHECK_THROWS_WITH(model_atlas(bert, options), ContainsSubstring("the model has 40; give length=2 to 40"));
  }
  options.atlas.length = 40;
  CHECK(model_atlas(bert, options).size() == 1);
}

TEST_CASE("an atlas reads the rows of the position table that were trained, and others if they are asked for") {
  const TemporaryFolder folder;
  const auto model = model_with_untrained_rows(folder);
  const auto read = [&](Index rows, Index length) {
    ModelAtlasOptions options;
    options.atlas.draws = 0;
    options.atlas.length = length;
    options.rows = rows;
    options.words.documents = 1;
    const Result result = std::move(model_atlas(model, options).front().result);
    CHECK(std::get<std::int64_t>(result.provenance.at("trained_rows")) == 26);
    CHECK(std::get<std::int64_t>(result.at("position_atlas/kernel").attributes.at("length")) ==
          std::get<std::int64_t>(result.provenance.at("positions_read")));
    return std::pair(std::get<std::int64_t>(result.provenance.at("positions_read")),
                     std::get<std::int64_t>(result.provenance.at("length")));  // of a document of random words
  };
  CHECK(read(0, 0) == std::pair<std::int64_t, std::int64_t>(26, 26));
  CHECK(read(0, 30) == std::pair<std::int64_t, std::int64_t>(26, 30));
  CHECK(read(40, 0) == std::pair<std::int64_t, std::int64_t>(40, 40));
  CHECK(read(40, 30) == std::pair<std::int64_t, std::int64_t>(30, 30));
  CHECK(read(10, 0) == std::pair<std::int64_t, std::int64_t>(10, 10));
  ModelAtlasOptions options;
  options.rows = 41;
  CHECK_THROWS_WITH(model_atlas(model, options),
                    ContainsSubstring("41 rows of the position table are requested, but it has 40"));
}

TEST_CASE(
    "analyses of the position table in a run read its trained rows, those of another number if that is asked for") {
  const TemporaryFolder folder;
  const auto model = model_with_untrained_rows(folder);
  std::string ids = "[[3";
  for (int i = 1; i < 36; ++i) ids += ", " + std::to_string(3 + i * 7 % 40);
  const TextPlace place("ids", std::make_shared<const std::string>(ids + "]]"));
  const JobInput input = ids_input(model, place);
  const auto lengths = [&](Index rows) {
    JobOptions options;
    options.only = {"position_spectrum", "position_components", "position_atlas"};
    options[rows_option] = rows;
    const Result result = std::move(run_input(input, options).front().result);
    CHECK(std::get<std::int64_t>(result.provenance.at("trained_rows")) == 26);
    return std::array{std::get<std::int64_t>(result.at("position_spectrum/mean").attributes.at("T")),
                      std::get<std::int64_t>(result.at("position_atlas/kernel").attributes.at("length"))};
  };
  CHECK(lengths(0) == std::array<std::int64_t, 2>{26, 26});
  CHECK(lengths(40) == std::array<std::int64_t, 2>{36, 36});
  CHECK(lengths(12) == std::array<std::int64_t, 2>{12, 12});
}
