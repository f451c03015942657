// Figures with a small panel for every head: a curve over offsets, and the offset that matters.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/page.h"
#include "chosen_heads.h"
#include "kinds.h"

namespace headwave {

namespace {

constexpr double profile_window = 16.0, kernel_window = 32.0;  // tokens on either side
constexpr double weak_ratio = 2.0, full_ratio = 32.0;          // of weight to threshold
constexpr double weak_ink = 0.16, full_ink = 0.8;
constexpr double three_texts = 0.68;  // inches that name, prediction and its weight take above a panel

/// Weight by offset of every head, and the offset that is marked.
struct Profiles {
  FieldHeads heads;
  std::vector<double> offsets;  // within the window
  std::vector<double> weights;  // (heads, offsets)
  std::vector<double> marked;   // (heads) NaN: undefined; empty: not in the result
  std::vector<double> ratio;    // (heads) of the weight there to what it had to exceed; empty: not known
};

/// What a figure of profiles is called in its numbers and beside its axes.
struct ProfileNames {
  std::string weight, marked;  // columns: "mean_weight", "measured_offset"
  std::string title;           // "mean attention weight"
  std::string mark;            // "measured offset"
};

void require_drawable(const Field& field, const FieldHeads& heads, std::size_t offsets) {
  if (heads.size() > most_head_panels)
    throw ShapeError(
        fmt::format("{}: {} heads are too many to draw, {} at most", field.name, heads.size(), most_head_panels));
  if (heads.size() == 0 || offsets == 0) throw ShapeError(fmt::format("{}: holds no offsets to draw", field.name));
}

void require_as_many(const std::string& name, std::size_t found, const Field& field, std::size_t heads) {
  if (found != heads)
    throw ShapeError(fmt::format("{}: expected {} heads as in {}, found {}", name, heads, field.name, found));
}

/// @param all  (..., layer, head, offset), of which the first `skipped` rows are omitted
Profiles profiles_within(const Field& field, const std::vector<double>& all, const std::string& axis,
                         std::size_t skipped = 0) {
  Profiles profiles{field_heads(field), {}, {}, {}, {}};
  const auto offsets = coordinates(field, axis);
  std::vector<std::size_t> shown;
  for (std::size_t t = 0; t < offsets.size(); ++t)
    if (std::abs(offsets[t]) <= profile_window) shown.push_back(t);
  require_drawable(field, profiles.heads, shown.size());
  for (const std::size_t t : shown) profiles.offsets.push_back(offsets[t]);
  for (std::size_t row = skipped; row < skipped + profiles.heads.size(); ++row)
    for (const std::size_t t : shown) profiles.weights.push_back(all[row * offsets.size() + t]);
  return profiles;
}

/// The head's panel: its name above the left end, its layer left of the row where layers are named there, offsets below
/// the lowest panel.
Panel& head_panel(Page& page, const HeadPanels& grid, const FieldHeads& heads, std::size_t row, const ValueRange& shown,
                  double step) {
  const std::size_t l = heads.line(row), h = heads.column(row);
  const HeadName name = heads[row];
  Panel& panel = page.panel(grid.row(l, h), grid.column(h));
  panel.frame(Frame::base_line);
  panel.x_axis(shown, {.step = step,
                       .numbers = grid.is_lowest(l, h) ? Numbers::plain : Numbers::none,
                       .points = grid.points,
                       .away = -0.5});
  panel.without_y_tics();
  panel.above(grid.layers_left ? fmt::format("H{}", name.head) : head_name(name.layer, name.head), Anchor::left,
              {.points = grid.points, .bold = true, .up = 0.35});
  if (grid.layers_left && grid.column(h) == 0)
    panel.note(fmt::format("L{}", name.layer), {share(-0.06 / grid.panel.width), share(0.4)},
               {.points = grid.points, .bold = true, .anchor = Anchor::right});
  return panel;
}

/// A page of such panels with words below them.
Page head_page(HeadPanels& grid, const std::vector<std::string>& words, const FigureStyle& style) {
  grid.margin.bottom += note_line * static_cast<double>(note_lines(words, grid.width()).size());
  return Page(grid, style);
}

GnuplotFigure finished(Page& page, const std::vector<std::string>& words, const std::string& title) {
  const auto notes = note_lines(words, page.grid().width());
  page.title_below("offset t = key − query (tokens)", 0.1 + note_line * static_cast<double>(notes.size()));
  page.note_below(notes);
  page.title_left(title);
  return page.figure();
}

double largest_of(std::span<const double> weights) {
  double largest = 0.0;
  for (const double weight : weights)
    if (std::isfinite(weight)) largest = std::max(largest, weight);
  return largest;
}

/// How full the ink is below a curve: even in the logarithm of how far it exceeds what chance reaches.
double strength_of(double ratio) {
  const double part = std::log(ratio) / std::log(full_ratio);
  return std::isfinite(part) ? std::lerp(weak_ink, full_ink, std::clamp(part, 0.0, 1.0)) : weak_ink;
}

/// The offset's dot and number, or an arrow at the edge if it is out of sight. The dot is hollow if the offset is told
/// from chance but weak.
void mark_offset(Panel& panel, const HeadPanels& grid, double offset, double height, bool weak) {
  const double points = grid.panel.height * 72;
  Letters letters{.points = grid.points, .bold = true, .ink = ink::mark};
  if (std::abs(offset) > profile_window) {
    letters.anchor = offset < 0 ? Anchor::left : Anchor::right;
    panel.note(pointed_offset(offset, profile_window),
               {share(offset < 0 ? 0.03 : 0.97), share(1 - (grid.points * 0.5 + 2.5) / points)}, letters);
    return;
  }
  letters.anchor = Anchor::center;
  letters.up_share = (grid.points * 0.5 + 2.2) / points;
  panel.mark({value(offset), value(height)}, {ink::mark, 0.3, weak ? Shape::ring : Shape::disc}, signed_offset(offset),
             letters);
}

/// Short where panels are narrow.
std::string peak_text(double peak, double panel_width) {
  return panel_width > 0.9 ? fmt::format("peak {:.2g}", peak) : fmt::format("{:.{}g}", peak, panel_width < 0.5 ? 1 : 2);
}

void add_profile(Page& page, const HeadPanels& grid, const Profiles& profiles, const ProfileNames& names,
                 std::size_t row) {
  const HeadName name = profiles.heads[row];
  const auto weights = slice_of(profiles.weights, row, profiles.offsets.size());
  const double marked = profiles.marked.empty() ? std::nan("") : profiles.marked[row];
  const double peak = largest_of(weights), unit = peak > 0 ? peak : 1.0;
  const bool rated = row < profiles.ratio.size();
  DataTable table({"layer", "head", "offset", names.weight, names.marked});
  double height = 1.0;
  for (std::size_t t = 0; t < weights.size(); ++t) {
    table.add_row({name.layer, name.head, profiles.offsets[t], weights[t], marked});
    if (profiles.offsets[t] == marked && std::isfinite(weights[t])) height = weights[t] / unit;
  }
  Panel& panel = head_panel(page, grid, profiles.heads, row, {-profile_window - 0.5, profile_window + 0.5}, 10);
  // Room for the number above the peak; four digits.
  panel.y_axis({0, std::round(1e4 / (1 - (grid.points + 4.0) / (grid.panel.height * 72))) / 1e4});
  panel.vertical(0, {ink::zero_line, 0.7}, value(1));
  panel.above(peak_text(peak, grid.panel.width), Anchor::right,
              {.points = grid.points, .ink = ink::number, .up = 0.35});
  if (!std::isnan(marked)) mark_offset(panel, grid, marked, height, rated && profiles.ratio[row] < weak_ratio);
  const bool told = profiles.marked.empty() || !std::isnan(marked);
  const Ink ink = told ? ink::measured : ink::undefined;
  const std::string data = page.numbers(table), columns = fmt::format("3:($4/{})", unit);
  panel.area(data, columns, 0, ink, told && rated ? strength_of(profiles.ratio[row]) : weak_ink);
  panel.curve(data, columns, {ink, 1.3});
}

/// Each head on its own scale. Where ratios are known, marks below 2 are hollow, and the ink below a curve is the fuller
/// the larger they are, up to 32.
GnuplotFigure profile_panels(const Profiles& profiles, const ProfileNames& names, const FigureStyle& style) {
  const std::size_t heads = profiles.heads.heads.size();
  HeadPanels grid = head_panels(profiles.heads.layers.size(), heads, style, heads <= 4 ? 0.6 : 0.66);
  std::vector<std::string> words{"upper right: the panel's peak"};
  if (!profiles.marked.empty()) words.push_back("dot: " + names.mark + " (tokens)");
  if (!profiles.ratio.empty()) {
    words.emplace_back("hollow: below twice the threshold");
    words.emplace_back("the fuller the ink, the further above chance");
  }
  Page page = head_page(grid, words, style);
  for (std::size_t row = 0; row < profiles.heads.size(); ++row) add_profile(page, grid, profiles, names, row);
  return finished(page, words, grid.height() > 3 ? names.title + " ÷ the panel's peak" : "weight ÷ peak");
}

GnuplotFigure draw_offset_profile(const Result& result, const FigureOptions& options) {
  constexpr const char* name = "offset_trace/mean_weight";
  const auto& all = doubles_of(result, name, {"pairs", "layer", "head", "offset"});
  const Field& field = result.at(name);
  const std::size_t heads = field_heads(field).size();
  Profiles profiles = profiles_within(field, all, "offset", place_of(field, "pairs", options.pairs) * heads);
  if (result.find("measured_offset/offset") != nullptr) {
    profiles.marked = head_doubles(result, "measured_offset/offset", options.pairs);
    require_as_many("measured_offset/offset", profiles.marked.size(), field, heads);
  }
  if (result.find("measured_offset/threshold") != nullptr && result.find("measured_offset/weight") != nullptr) {
    const auto weight = head_doubles(result, "measured_offset/weight", options.pairs);
    const auto threshold = head_doubles(result, "measured_offset/threshold", options.pairs);
    for (std::size_t row = 0; row < std::min(weight.size(), threshold.size()); ++row)
      profiles.ratio.push_back(weight[row] / threshold[row]);
  }
  return profile_panels(profiles, {"mean_weight", "measured_offset", "mean attention weight", "measured offset"},
                        options.style);
}

GnuplotFigure draw_word_profile(const Result& result, const FigureOptions& options) {
  const auto& weights = doubles_of(result, "word_atlas/profile", {"layer", "head", "offset"});
  Profiles profiles = profiles_within(result.at("word_atlas/profile"), weights, "offset");
  profiles.marked = doubles_of(result, "word_atlas/predicted_offset", {"layer", "head"});
  return profile_panels(profiles, {"predicted_weight", "predicted_offset", "predicted weight", "predicted offset"},
                        options.style);
}

/// Mean scores by position of every head, and the offset that they predict.
struct Kernels {
  FieldHeads heads;
  std::vector<double> offsets;
  const std::vector<double>* scores = nullptr;  // (heads, offsets)
  std::vector<double> predicted;                // (heads) tokens; NaN: none
  std::vector<double> weight;                   // (heads) NaN: not in the result
  double reach = 1, last = 1;                   // offsets shown; under a causal mask none on the right
};

Kernels kernels_of(const Result& result) {
  constexpr const char *name = "position_atlas/kernel", *weight_name = "position_atlas/predicted_weight";
  const Field& field = result.at(name);
  Kernels kernels;
  kernels.scores = &doubles_of(result, name, {"layer", "head", "offset"});
  kernels.heads = field_heads(field);
  kernels.offsets = coordinates(field, "offset");
  require_drawable(field, kernels.heads, kernels.offsets.size());
  kernels.predicted = doubles_of(result, "position_atlas/predicted_offset", {"layer", "head"});
  kernels.weight = result.find(weight_name) == nullptr ? std::vector<double>(kernels.heads.size(), std::nan(""))
                                                       : doubles_of(result, weight_name, {"layer", "head"});
  kernels.reach = std::min(kernel_window, std::max(1.0, kernels.offsets.back()));
  kernels.last = attribute_text(result.provenance, "attention") == "causal" ? 0 : kernels.reach;
  // Above layer 0 the weights are a proxy: where random words predict, it is no prediction.
  if (result.find("word_atlas/predicted_offset") != nullptr)
    for (std::size_t row = 0; row < kernels.heads.size(); ++row)
      if (kernels.heads[row].layer > 0) kernels.predicted[row] = std::nan("");
  return kernels;
}

/// One head: name, weight, curve, and a line where positions alone would land.
void add_kernel(Page& page, const HeadPanels& grid, const Kernels& kernels, std::size_t row) {
  const HeadName name = kernels.heads[row];
  const double predicted = kernels.predicted[row], weight = kernels.weight[row], reach = kernels.reach;
  const auto scores = slice_of(*kernels.scores, row, kernels.offsets.size());
  DataTable table({"layer", "head", "offset", "mean_score", "predicted_offset", "predicted_weight"});
  std::vector<double> shown;
  for (std::size_t t = 0; t < kernels.offsets.size(); ++t) {
    if (kernels.offsets[t] < -reach || kernels.offsets[t] > kernels.last) continue;
    shown.push_back(scores[t]);
    table.add_row({name.layer, name.head, kernels.offsets[t], scores[t], predicted, weight});
  }
  // Under a causal mask the 0 at the end would touch the next panel's first number.
  const double room = kernels.last == 0 ? 0.1 * reach : 0;
  Panel& panel = head_panel(page, grid, kernels.heads, row, {-reach - room, kernels.last + room}, tic_step(2 * reach));
  panel.y_axis(range_around(shown, 0.06));
  panel.vertical(0, {ink::zero_line, 0.7});
  const bool narrow = grid.panel.width < three_texts;
  const Place beside{share(narrow ? 1 : 0.6), share(1)};
  Letters letters{.points = grid.points, .ink = ink::number, .up = 0.35};
  if (std::isfinite(weight) && !narrow) panel.above(fmt::format("{:.2f}", weight), Anchor::right, letters);
  letters.anchor = narrow ? Anchor::right : Anchor::center;
  if (std::isfinite(predicted)) {
    if (std::abs(predicted) <= kernel_window) panel.vertical(predicted, {ink::mark, 1});
    letters.bold = true;
    letters.ink = ink::mark;
    panel.note(pointed_offset(predicted, kernel_window), beside, letters);
  } else if (const std::string arrow = end_arrow(shown); !arrow.empty()) {
    panel.note(arrow, beside, letters);
  }
  panel.curve(page.numbers(table), "3:4", {std::isfinite(predicted) ? ink::measured : ink::undefined, 1.3});
}

GnuplotFigure draw_position_kernel(const Result& result, const FigureOptions& options) {
  const Kernels kernels = kernels_of(result);
  HeadPanels grid = head_panels(kernels.heads.layers.size(), kernels.heads.heads.size(), options.style);
  std::vector<std::string> words{"line and number: predicted offset (tokens)",
                                 "arrow: largest at the end of what is shown"};
  if (grid.panel.width >= three_texts) words.emplace_back("upper right: share of attention that the maximum gets");
  Page page = head_page(grid, words, options.style);
  for (std::size_t row = 0; row < kernels.heads.size(); ++row) add_kernel(page, grid, kernels, row);
  return finished(page, words, grid.height() > 2.6 ? "mean score by position (own scale)" : "mean score");
}

}  // namespace

FigureKind offset_profile_figure() {
  return {"offset_profile",
          {"offset_trace/mean_weight"},
          clearness_fields(),
          "Mean attention weight at each offset t = key position minus query position, for every head: mean over the "
          "query-key pairs of a document at that offset, then over documents. Each panel is scaled to its own largest "
          "value, written above it. The dot and its number mark the measured offset in tokens, an arrow one beyond "
          "the panel; the dot is hollow if the weight is less than twice what chance would reach. The further the "
          "weight exceeds that, the fuller the ink, evenly in its logarithm, up to 32 times. Offsets up to 16 tokens "
          "are shown. Panels in grey have no measured offset: no weight rises above the head's own null, or the "
          "largest is at the token itself or at the end of the search.",
          draw_offset_profile};
}

FigureKind word_profile_figure() {
  return {"word_profile",
          {"word_atlas/profile", "word_atlas/predicted_offset"},
          {},
          "Mean attention weight that documents of random words predict at each offset t = key position minus query "
          "position, for every head: from mean queries and keys, and what equal words add. Each panel is scaled to "
          "its own largest value, written above it. The dot and its number mark the predicted offset in tokens, an "
          "arrow one beyond the panel, which shows offsets up to 16 tokens. Panels in grey predict none: their largest "
          "weight is less than twice that of equal weights, or lies at the end of the search.",
          draw_word_profile};
}

FigureKind position_kernel_figure() {
  return {"position_kernel",
          {"position_atlas/kernel", "position_atlas/predicted_offset"},
          {"position_atlas/predicted_weight", "word_atlas/predicted_offset"},
          "What every head would do by its weights alone: mean score at each offset t = key position minus query "
          "position, of positions averaged over words, with what a token's word adds at t = 0, row means removed, each "
          "panel on its own scale. The line and its bold number mark the offset this predicts, the number right of it "
          "the share of attention that the softmax of the whole kernel gives to its maximum. Offsets up to 32 tokens "
          "are shown, under a causal mask those it allows; an arrow stands where the score is largest at the end of "
          "them. Panels in grey predict none: they do not rise above their null, are largest at the end of the search, "
          "or hardly draw attention anywhere. Layers above 0 are a proxy, since the blocks between change positions "
          "and words; they are grey too where random words predict instead (word_profile).",
          draw_position_kernel};
}

}  // namespace headwave
