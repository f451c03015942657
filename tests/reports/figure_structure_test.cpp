#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../../core/errors/error.h"
#include "../../reports/figures/figures.h"
#include "../../reports/figures/positions.h"
#include "../catch.h"
#include "drawn_figure.h"
#include "sample_result.h"

using namespace headwave;

namespace {

/// What stands around a figure of sample::rotary_result(): axis titles with their units, and bars of colours.
struct Structure {
  std::vector<std::string> titles;
  std::size_t color_bars = 0;
};

const std::map<std::string, Structure>& structures() {
  const std::string offset = "offset t = key − query (tokens)", frequency = "frequency f (cycles/T, T = 512)";
  static const std::map<std::string, Structure> all{
      {"attention_map",
       {{"key token", "query token", "attention weight", "tokens 0 to 14; from: wiki.txt, document 3"}, 1}},
      {"offset_profile",
       {{offset, "mean attention weight ÷ the panel's peak", "dot: where the head looks (tokens)",
         "upper right: the panel's peak"}}},
      {"attention_distance", {{"window (tokens)", "attention held (%)"}}},
      {"word_profile", {{offset, "predicted weight ÷ the panel's peak", "dot: predicted offset (tokens)"}}},
      {"cluster_centroids", {{offset, "summed attention weight at offset t", "cluster: peak offset, mass"}}},
      {"cluster_shares", {{"head", "layer", "cluster: peak offset"}}},
      {"cluster_sweep", {{"number of clusters"}}},
      {"position_spectrum", {{frequency, "period T/f (tokens)", "amplitude |DFT|, mean and quartiles"}}},
      {"position_components", {{"4 components: 49.4 %"}}},
      {"position_correlation", {{"top 8 components kept"}, 1}},
      {"redefined", {{"position in the first document (T = 512 tokens)", "value (units of X)", "query", "key"}}},
      {"wave_spectra", {{frequency, "largest amplitude |DFT|", "keys K", "queries Q", "states X"}}},
      {"cross_covariance", {{"lag t = key − query (tokens)"}}},
      {"phase_spectrum", {{frequency, "phase θ (rad)", "amplitude |DFT|"}, 4}},
      {"account_profile", {{offset}}},
      {"attention_bits", {{"head", "layer", "width: part of a head's bits"}}},
      {"rotary_wave", {{"frequency θ (radians per token)", "phase of the pair (radians)"}}},
  };
  return all;
}

/// The sizes of all letters that a script names, in points on paper.
std::vector<double> letters_of(const Figure& figure) {
  std::vector<double> sizes;
  const std::string &script = figure.script(), mark = "font \"";
  for (std::size_t at = script.find(mark); at != std::string::npos; at = script.find(mark, at + 1)) {
    const std::string font = script.substr(at + mark.size(), script.find('"', at + mark.size()) - at - mark.size());
    const auto comma = font.find(',');
    sizes.push_back((comma == std::string::npos ? 8 : std::stod(font.substr(comma + 1))));
  }
  return sizes;
}

}  // namespace

TEST_CASE("figures: axes have titles with units, colours a bar") {
  const Result result = sample::rotary_result();
  for (const FigureKind& one : figure_kinds()) {
    INFO(one.name);
    REQUIRE(structures().contains(one.name));
    const Structure& expected = structures().at(one.name);
    const std::string script = one.draw(result, {}).script();
    for (const std::string& title : expected.titles) {
      INFO(title);
      CHECK(script.find(title) != std::string::npos);
    }
    CHECK(count_of(script, "\nset colorbox") == expected.color_bars);
  }
  CHECK(structures().size() == figure_kinds().size());
}

TEST_CASE("figures: docs/figures.md lists every one") {
  const std::string page = sample::content_of(repository_file("docs/figures.md"));
  for (const FigureKind& one : figure_kinds()) {
    INFO(one.name);
    CHECK(page.find("`" + one.name + "`") != std::string::npos);
  }
}

TEST_CASE("figures: no letter is smaller than 6 points on paper, whatever the width") {
  for (const Index heads : {8, 24}) {
    sample::Size size;
    size.heads = heads;
    const Result result = sample::rotary_result(size);
    for (const double width : {0.0, 2.0, 3.4, 7.0})
      for (const FigureKind& one : figure_kinds()) {
        INFO(one.name << ' ' << width << ' ' << heads);
        FigureOptions options;
        options.width = width;
        const auto sizes = letters_of(one.draw(result, options));
        CHECK(std::ranges::all_of(sizes, [](double points) { return points >= 6 - 0.02; }));
      }
  }
}

TEST_CASE("figures: titles of narrow panels are at most a point larger than the numbers along their axes") {
  const Result result = sample::result({.layers = 6, .heads = 12});
  const auto size_after = [](const std::string& script, const std::string& words) {
    const std::size_t at = script.find(words), end = script.find('\n', at + 1);
    REQUIRE(at != std::string::npos);
    const std::string line = script.substr(at, end - at);
    const std::size_t comma = line.find(',', line.find("font \""));
    return line.find("font \"") == std::string::npos || comma == std::string::npos ? 8
                                                                                   : std::stod(line.substr(comma + 1));
  };
  FigureOptions options;
  options.width = 3.4;
  for (const auto& [name, left] : {std::pair("account_profile", "mean attention"),
                                   {"offset_profile", "mean attention"},
                                   {"word_profile", "predicted weight"}}) {
    CAPTURE(name);
    const std::string script = kind_of_figure(name).draw(result, options).script();
    const double numbers = size_after(script, "\nset xtics");
    CHECK(numbers < 8);
    CHECK(size_after(script, "set label \"offset t = ") <= numbers + 1.01);
    CHECK(size_after(script, std::string("set label \"") + left) <= numbers + 1.01);
  }
}

TEST_CASE("figures: what hostile tokens say is text in the drawing, shortened") {
  if (!sample::can_draw()) return;
  Result result = sample::result();
  for (Field& field : result.fields)
    if (field.name == "attention_map/token" || field.name == "attention_map/key_token") {
      auto& tokens = std::get<std::vector<std::string>>(field.values);
      tokens[1] = "<script>alert(1)</script>";
      tokens[2] = std::string(10000, 'z');
      tokens[3] = "{}_^";
      tokens[4] =
          "\xE2\x80\xAE"
          "ba";
      tokens[5] = "'\"`$(id)`";
      tokens[6] = "\x1b]0;x\x07";
    }
  const TemporaryFolder folder;
  draw_figures(result, folder.path());
  const std::string svg = sample::content_of(folder / "attention_map.svg");
  CHECK(svg.find("<script") == std::string::npos);
  CHECK(svg.size() < 2000000);
  for (const char* text : {"&lt;script>ale…", "zzzzzzzzzzz…", "{}_^", "\\u202eba", "\\u001b]0;x\\…"}) {
    INFO(text);
    CHECK(svg.find(std::string("<text>") + text + "</text>") + svg.find(std::string("<text>") + text + " </text>") !=
          2 * std::string::npos);
  }
  CHECK(svg.find("\xE2\x80\xAE") == std::string::npos);
  CHECK(svg.find_first_of("\x1b\x07") == std::string::npos);
}

TEST_CASE("spectra: the caption names the models, whatever they are called") {
  const LabelledSpectrum one{"bert", {0, 1}, 2, {}, {}}, other{"<b>\n" + std::string(10000, 'w'), {0, 1}, 2, {}, {}};
  const std::string caption = spectra_caption({one, other});
  CHECK_THAT(caption, ContainsSubstring("Models: bert, <b>\\nwww"));
  CHECK(caption.size() < kind_of_figure("position_spectrum").caption.size() + 100);
}
