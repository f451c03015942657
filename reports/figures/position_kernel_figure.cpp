#include "position_kernel_figure.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "../drawing/page.h"
#include "cluster_peaks.h"
#include "profile_panels.h"

namespace headwave {

namespace {

constexpr const char* kernel_name = "position_atlas/kernel";
constexpr const char* kernel_weight_name = "position_atlas/weight";
constexpr double farthest_shown = 32.0;  // tokens on either side
constexpr double three_texts = 0.68;     // inches that name, prediction and its weight take above a panel

struct Kernels {
  std::vector<Index> layers, heads;
  std::vector<double> offsets;
  const std::vector<double>* scores = nullptr;  // (layers, heads, offsets)
  std::vector<double> predicted;                // (layers, heads) tokens; NaN: none
  std::vector<double> weight;                   // (layers, heads) NaN: not in the result
  bool causal = false;                          // nothing on the right can be looked at

  [[nodiscard]] double last() const { return causal ? 0 : reach(); }
  [[nodiscard]] double reach() const { return std::min(farthest_shown, std::max(1.0, offsets.back())); }
};

Kernels kernels_of(const Result& result) {
  Kernels kernels;
  kernels.scores = &doubles_of(result, kernel_name, {"layer", "head", "kernel_offset"});
  const Field& field = result.at(kernel_name);
  kernels.layers = whole_coordinates(field, "layer");
  kernels.heads = whole_coordinates(field, "head");
  kernels.offsets = coordinates(field, "kernel_offset");
  kernels.causal = attribute_text(result.provenance, "attention") == "causal";
  kernels.predicted = doubles_of(result, "position_atlas/offset", {"layer", "head"});
  const std::size_t rows = kernels.layers.size() * kernels.heads.size();
  kernels.weight = result.find(kernel_weight_name) == nullptr
                       ? std::vector<double>(rows, std::nan(""))
                       : doubles_of(result, kernel_weight_name, {"layer", "head"});
  if (rows == 0 || kernels.offsets.empty() || rows > most_head_panels || kernels.predicted.size() != rows ||
      kernels.weight.size() != rows)
    throw ShapeError(fmt::format("{}: {} layers of {} heads over {} offsets cannot be drawn", kernel_name,
                                 kernels.layers.size(), kernels.heads.size(), kernels.offsets.size()));
  // Above layer 0 the weights are a proxy: where random words predict, it is no prediction.
  if (result.find("word_atlas/offset") != nullptr)
    for (std::size_t row = 0; row < rows; ++row)
      if (kernels.layers[row / kernels.heads.size()] > 0) kernels.predicted[row] = std::nan("");
  return kernels;
}

/// One head: name, weight, curve, and a line where positions alone would land.
void add_panel(Page& page, const HeadPanels& grid, const Kernels& kernels, std::size_t row) {
  const std::size_t l = row / kernels.heads.size(), h = row % kernels.heads.size();
  const Index layer = kernels.layers[l], head = kernels.heads[h];
  const double predicted = kernels.predicted[row], weight = kernels.weight[row], reach = kernels.reach();
  DataTable table({"layer", "head", "offset", "mean_score", "predicted_offset", "predicted_weight"});
  std::vector<double> shown;
  for (std::size_t t = 0; t < kernels.offsets.size(); ++t) {
    if (kernels.offsets[t] < -reach || kernels.offsets[t] > kernels.last()) continue;
    shown.push_back((*kernels.scores)[row * kernels.offsets.size() + t]);
    table.add_row({layer, head, kernels.offsets[t], shown.back(), predicted, weight});
  }
  Panel& panel = page.panel(grid.row(static_cast<Index>(l), static_cast<Index>(h)), grid.column(static_cast<Index>(h)));
  const bool lowest = grid.is_lowest(static_cast<Index>(l), static_cast<Index>(h));
  panel.frame(Frame::base_line);
  const double room = kernels.causal ? 0.1 * reach : 0;  // a 0 at the end would touch the next panel's first number
  panel.x_axis({-reach - room, kernels.last() + room}, {.step = tic_step(2 * reach),
                                                        .numbers = lowest ? Numbers::plain : Numbers::none,
                                                        .points = grid.points,
                                                        .away = -0.5});
  panel.y_axis(range_around(shown, 0.06));
  panel.without_y_tics();
  panel.vertical(0, {ink::zero_line, 0.7});
  add_head_name(panel, grid, grid.column(static_cast<Index>(h)), {layer, head});
  const bool narrow = grid.panel_width < three_texts;
  if (std::isfinite(weight) && !narrow)
    panel.above(fmt::format("{:.2f}", weight), Anchor::right, {.points = grid.points, .ink = ink::number, .up = 0.35});
  if (std::isfinite(predicted)) {
    if (std::abs(predicted) <= farthest_shown) panel.vertical(predicted, {ink::mark, 1});
    panel.note(pointed_offset(predicted, farthest_shown), {share(narrow ? 1 : 0.6), share(1)},
               {.points = grid.points,
                .bold = true,
                .ink = ink::mark,
                .anchor = narrow ? Anchor::right : Anchor::center,
                .up = 0.35});
  }
  if (const std::string arrow = end_arrow(shown); !arrow.empty() && !std::isfinite(predicted))
    panel.note(
        arrow, {share(narrow ? 1 : 0.6), share(1)},
        {.points = grid.points, .ink = ink::number, .anchor = narrow ? Anchor::right : Anchor::center, .up = 0.35});
  panel.curve(page.numbers(table), "3:4", {std::isfinite(predicted) ? ink::measured : ink::undefined, 1.3});
}

GnuplotFigure draw_position_kernel(const Result& result, const FigureOptions& options) {
  const Kernels kernels = kernels_of(result);
  HeadPanels grid =
      head_panels(static_cast<Index>(kernels.layers.size()), static_cast<Index>(kernels.heads.size()), options.style);
  std::vector<std::string> words{"line and number: predicted offset (tokens)",
                                 "arrow: largest at the end of what is shown"};
  if (grid.panel_width >= three_texts) words.emplace_back("upper right: share of attention that the maximum gets");
  const auto notes = note_lines(words, grid.width());
  const double below = note_line * static_cast<double>(notes.size());
  grid.bottom += below;
  Page page(grid, options.style);
  for (std::size_t row = 0; row < kernels.predicted.size(); ++row) add_panel(page, grid, kernels, row);
  page.title_below("offset t = key − query (tokens)", 0.1 + below);
  page.note_below(notes);
  page.title_left(grid.height() > 2.6 ? "mean score by position (own scale)" : "mean score");
  return page.figure();
}

}  // namespace

FigureKind position_kernel_figure() {
  return {
      "position_kernel",
      {"position_atlas/kernel", "position_atlas/offset"},
      {"position_atlas/weight", "word_atlas/offset"},
      "What every head would do by its weights alone: mean score at each offset t = key position minus query "
      "position, of positions averaged over words, with what a token's word adds at t = 0, row means removed, each "
      "panel on its own scale. The line and its bold number mark the offset this predicts, the number right of it "
      "the share of attention that the softmax of the whole kernel gives to its maximum. Offsets up to 32 tokens are "
      "shown, under a causal mask those it allows; an arrow stands where the score is largest at the end of them. "
      "Panels in grey predict "
      "none: they do not rise above their null, are largest at the end of the search, or hardly draw attention "
      "anywhere. Layers above 0 are a proxy, since the blocks between change positions and words; they are grey too "
      "where random words predict instead (word_profile).",
      draw_position_kernel};
}

}  // namespace headwave
