#include "../../reports/figures/positions.h"
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
  const Figure figure = spectra_figure({falling("model \"a\" {x}"), falling("日本"), falling("`c`")});
  CHECK(commands_of(figure).find("model") == std::string::npos);
  CHECK(commands_of(figure).find('`') == std::string::npos);
  const std::string svg = figure.drawn("spectra", {"svg"}).front();
  for (const char* text : {"model \"a\" {x}", "日本", "`c`", "T = 128", "period T/f (tokens)"}) {
    INFO(text);
    CHECK(svg.find(text) != std::string::npos);
  }
  REQUIRE(figure.panels.size() == 3);
  CHECK(count_of(figure.script(), "\nunset x2tics\nunset link x2\n") ==
        3);  // no panel has the periods of the one before
  const Series line = drawn_as(figure.panels[1], "lines").front();
  CHECK(line.rows.size() == 64);  // f = 0 is left out
  CHECK((column_of(line, 0).back() == 64 && column_of(line, 1).back() == 10.0 / 65));
}

TEST_CASE("spectra: T is what the result says") {
  Result result = sample::result();
  CHECK(kind_of_figure("position_spectrum").draw(result, {}).script().find("T = 512") != std::string::npos);
  for (Field& field : result.fields)
    if (field.name == "position_spectrum/mean") field.attributes["T"] = std::int64_t{513};
  CHECK(kind_of_figure("position_spectrum").draw(result, {}).script().find("T = 513") != std::string::npos);
}
