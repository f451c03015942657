#include <fstream>
#include <sstream>

#include "../../reports/drawing/gnuplot.h"
#include "../../reports/figures/figures.h"
#include "../../reports/figures/kinds.h"
#include "../catch.h"
#include "sample_result.h"

using namespace headwave;

TEST_CASE("word profile: the numbers beside it are the predicted weights within 16 tokens, and where they point") {
  const TemporaryFolder folder;
  FigureOptions options;
  options.formats = {"svg"};
  draw_figures(sample::result(), folder.path(), options);
  std::ostringstream numbers;
  numbers << std::ifstream(folder / "word_profile.tsv").rdbuf();
  CHECK(numbers.str().find("layer\thead\toffset\tpredicted_weight\tpredicted_offset") != std::string::npos);
  CHECK(numbers.str().find("\t-16\t") != std::string::npos);
  CHECK(numbers.str().find("\t-17\t") == std::string::npos);
}

TEST_CASE("word profile: an offset for every head, and weights, or one line that says what is wrong") {
  Result result = sample::result();
  for (Field& field : result.fields)
    if (field.name == "word_atlas/predicted_offset") {
      field.axes[1].values = std::vector<std::int64_t>{0};
      field.values = std::vector<double>(static_cast<std::size_t>(field.axes[0].size()), 0.0);
    }
  CHECK_THROWS_WITH(word_profile_figure().draw(result, {}), ContainsSubstring("word_atlas/predicted_offset: expected"));
}
