#include "../../reports/figures/spectrum_figure.h"

#include <algorithm>
#include <ranges>

#include "../../reports/figures/kinds.h"
#include "../catch.h"
#include "drawn_figure.h"
#include "sample_result.h"

using namespace headwave;

namespace {

LabelledSpectrum falling(const std::string& label) {
  LabelledSpectrum spectrum;
  spectrum.label = label;
  spectrum.length = 128;
  for (int f = 0; f <= 64; ++f) {
    spectrum.frequency.push_back(f);
    spectrum.positions.mean.push_back(10.0 / (1 + f));
    spectrum.positions.lower.push_back(5.0 / (1 + f));
    spectrum.positions.upper.push_back(15.0 / (1 + f));
  }
  return spectrum;
}

}  // namespace

TEST_CASE("spectra: one panel for each model, its name as text and not in the script") {
  if (!sample::can_draw()) return;
  const GnuplotFigure figure = spectra_figure({falling("model \"a\" {x}"), falling("日本"), falling("`c`")});
  CHECK(figure.script().find("model") == std::string::npos);
  CHECK(figure.script().find('`') == std::string::npos);
  const TemporaryFolder folder;
  const auto files = figure.write(folder.path(), "spectra", {"svg"});
  const std::string svg = sample::content_of(files[0]);
  for (const char* text : {"model \"a\" {x}", "日本", "`c`", "T = 128", "period T/f (tokens)"}) {
    INFO(text);
    CHECK(svg.find(text) != std::string::npos);
  }
  const auto rows = rows_of(figure);
  CHECK(rows.size() == 1 + 3 * 64);  // f = 0 is left out
  const std::vector<std::string> last{"日本", "64", "2", "0.15384615384615385"};
  CHECK(
      std::ranges::any_of(rows, [&](const auto& row) { return std::ranges::equal(last, row | std::views::take(4)); }));
}

TEST_CASE("spectra: what does not fit together is refused") {
  CHECK_THROWS_AS(spectra_figure({}), ShapeError);
  LabelledSpectrum spectrum = falling("a");
  spectrum.positions.mean.pop_back();
  CHECK_THROWS_AS(spectra_figure({spectrum}), ShapeError);
  spectrum = falling("a");
  spectrum.positions.lower.pop_back();
  CHECK_THROWS_AS(spectra_figure({spectrum}), ShapeError);
  spectrum = falling("a");
  spectrum.words.mean = {1.0};
  CHECK_THROWS_AS(spectra_figure({spectrum}), ShapeError);
  spectrum = falling("a");
  spectrum.frequency.assign(65, 0.0);  // no frequency above zero
  CHECK_THROWS_AS(spectra_figure({spectrum}), ShapeError);
  CHECK_THROWS_AS(spectra_figure({falling("a")}, {.palette = "jet"}), FormatError);
}

TEST_CASE("spectra: T is what the result says") {
  Result result = sample::result();
  CHECK(position_spectrum_figure().draw(result, {}).script().find("T = 512") != std::string::npos);
  for (Field& field : result.fields)
    if (field.name == "position_spectrum/mean") field.attributes["T"] = std::int64_t{513};
  CHECK(position_spectrum_figure().draw(result, {}).script().find("T = 513") != std::string::npos);
}
