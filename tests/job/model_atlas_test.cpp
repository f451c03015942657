#include "../../job/studies/model_atlas.h"

#include "../../core/numbers/error.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("an atlas is refused of a model that is none, of more positions than there are, or of heads that are not") {
  const auto bert = repository_file("tests/golden/models/bert");  // 40 positions, 2 layers of 4 heads
  ModelAtlasOptions options;
  options.atlas.null.draws = 0;
  CHECK_THROWS_AS(model_atlas(std::filesystem::path("/nowhere"), options), IoError);
  CHECK_THROWS_AS(model_atlas(repository_file("tests/golden/hdf5_sample.h5"), options), Error);
  for (const Index length : {1, 41}) {
    options.atlas.length = length;
    CHECK_THROWS_AS(model_atlas(bert, options), ShapeError);
    CHECK_THROWS_WITH(model_atlas(bert, options), ContainsSubstring("the model has 40 positions; ask for 2 to 40"));
  }
  options.atlas.length = 40;
  CHECK(model_atlas(bert, options).size() == 1);
  for (const HeadName& none : {HeadName{2, 0}, HeadName{0, 4}}) {
    options.paper_heads = {none};
    CHECK_THROWS_AS(model_atlas(bert, options), ShapeError);
  }
  CHECK_THROWS_WITH(model_atlas(bert, options),
                    "--paper-rotation: there is no L0H4; the model has 2 layers of 4 heads");
}
