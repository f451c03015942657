// Where attention lands: a small profile of every head, measured or predicted; and how far heads look.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../tables/head_table.h"
#include "chosen_heads.h"

namespace headwave {

namespace {

/// One curve over offsets for every head, and the offset that is marked on it.
struct Profiles {
  const Field& field;               // (..., layer, head, offset)
  std::string title, mark;          // "mean attention weight", "where the head looks"
  std::size_t skipped = 0;          // rows of the field before the first head
  std::vector<double> marked = {};  // (heads) NaN: undefined; empty: not in the result
  std::vector<double> ratio = {};   // (heads) the weight there divided by what it had to exceed; empty: unknown
  std::vector<double> offsets = coordinates(field, "offset");
  FieldHeads heads = field_heads(field);

  [[nodiscard]] std::span<const double> curve(std::size_t row) const {
    return slice_of(field.doubles(), skipped + row, offsets.size());
  }
};

constexpr double widest_shown = 16;  // tokens on either side

/// The number of offsets to show on either side, fewer if no curve is defined beyond, as in short documents.
double shown_offsets(const Profiles& profiles) {
  double reach = 0;
  for (std::size_t row = 0; row < profiles.heads.size(); ++row)
    for (std::size_t t = 0; t < profiles.offsets.size(); ++t)
      if (std::isfinite(profiles.curve(row)[t])) reach = std::max(reach, std::abs(profiles.offsets[t]));
  return reach > 0 ? std::min(reach, widest_shown) : widest_shown;
}

/// The heads that get a panel: those asked for, or all by layers if they fit the page, or the strongest.
std::vector<std::size_t> profile_heads(const Profiles& profiles, const Result& result, const FigureOptions& options,
                                       FigurePanels& panels) {
  std::vector<std::size_t> rows;
  for (const ChosenHead& head : chosen_heads(result, profiles.field.name, options, profiles.heads.size()))
    rows.push_back(head.row);
  panels.of = profiles.heads.size();
  if (options.heads.empty()) panels.chosen = ", the strongest";
  rows.resize(fitting(panels, rows.size(), options.width));
  if (rows.size() == profiles.heads.size()) std::ranges::sort(rows);
  return rows;
}

/// Strength of the ink below a curve: linear in the logarithm of its ratio to chance, full at 32 times.
double strength_of(double ratio) {
  constexpr double weak_ink = 0.16, full_ink = 0.8, full_ratio = 32;
  const double part = std::log(ratio) / std::log(full_ratio);
  return std::isfinite(part) ? std::lerp(weak_ink, full_ink, std::clamp(part, 0.0, 1.0)) : weak_ink;
}

/// The peak as text, short in narrow panels so that it stays clear of the head's name.
std::string peak_text(double peak, double panel_width) {
  if (panel_width > 0.9) return fmt::format("peak {:.2g}", peak);
  if (peak < 0.005 && panel_width >= 0.5) return "<.01";
  const std::string text = fmt::format("{:.2f}", peak);
  return panel_width >= 0.5 ? text : text.starts_with("0.") ? text.substr(1) : text.substr(0, 3);
}

/// Marks an offset with a dot and its number, or with an arrow at the edge if it is out of sight: "← −58".
/// The dot is hollow if the offset exceeds chance only weakly.
void mark_offset(Panel& panel, double offset, double reach, double height, bool weak, double letter) {
  const double points = panel.height() * 72;
  Letters letters{.points = letter, .bold = true, .ink = ink::mark};
  if (std::abs(offset) > reach) {
    const bool left = offset < 0;
    letters.anchor = left ? Anchor::left : Anchor::right;
    panel.note(left ? "← " + signed_offset(offset) : signed_offset(offset) + " →",
               {share(left ? 0.03 : 0.97), share(1 - (letter * 0.5 + 2.5) / points)}, letters);
    return;
  }
  letters.anchor = Anchor::center;
  letters.up_share = (letter * 0.5 + 2.2) / points;
  panel.mark({value(offset), value(height)}, 0.3, signed_offset(offset), letters, weak);
}

/// @param letter  points
void add_profile(Panel& panel, const Profiles& profiles, std::size_t row, double reach, double letter) {
  const double marked = profiles.marked.empty() ? std::nan("") : profiles.marked[row];
  const bool rated = row<profiles.ratio.size(), both_sides = panel.x.range.high> 1 + 0.1 * reach;
  std::vector<double> offsets, curve;
  double peak = 0, at_mark = 0;
  for (std::size_t t = 0; t < profiles.offsets.size(); ++t) {
    const double offset = profiles.offsets[t], one = profiles.curve(row)[t];
    if (offset < panel.x.range.low || offset > panel.x.range.high) continue;
    offsets.push_back(offset);
    curve.push_back(one);
    if (!std::isfinite(one)) continue;
    peak = std::max(peak, one);
    if (offset == marked) at_mark = one;
  }
  const double unit = peak > 0 && std::isfinite(peak) ? peak : 1;
  for (double& one : curve) one /= unit;
  panel.frame = Frame::base_line;
  panel.x.tics.points = letter;
  // In narrow panels the numbers would touch. Then 0, which has a line, gets no number.
  const double step = panel.x.tics.step, apart = step / (2 * reach + 1) * panel.width() * 72 / letter;  // in letters
  if (apart < 1.8 && both_sides)
    panel.x.tics.named = {{-step, fmt::format("−{:g}", step)}, {step, fmt::format("{:g}", step)}};
  // Room for the number above the peak, rounded to four digits.
  panel.y.range = {0, std::round(1e4 / (1 - (letter + 4.0) / (panel.height() * 72))) / 1e4};
  panel.vertical(0, {ink::zero_line, 0.7}, value(1));
  const HeadName name = profiles.heads[row];
  panel.name(head_name(name.layer, name.head), letter, 0.35);
  panel.above(peak_text(peak, panel.width()), Anchor::right, {.points = letter, .ink = ink::number, .up = 0.35});
  const double height = std::isfinite(at_mark) && at_mark > 0 ? at_mark / unit : 1;
  if (!std::isnan(marked)) mark_offset(panel, marked, reach, height, rated && profiles.ratio[row] < 2, letter);
  const bool told = profiles.marked.empty() || !std::isnan(marked);
  const Ink ink = told ? ink::measured : ink::undefined;
  panel.area(offsets, curve, 0, ink, strength_of(told && rated ? profiles.ratio[row] : 1));
  panel.curve(offsets, curve, {ink, 1.3});
}

/// Draws every head on its own scale. If ratios are known, marks below 2 are hollow, and the ink below a
/// curve is fuller for larger ratios. Few heads are drawn large, many as small as text stays legible.
Figure draw_profiles(const Profiles& profiles, const Result& result, const FigureOptions& options) {
  const FieldHeads& heads = profiles.heads;
  const double reach = shown_offsets(profiles), page = options.width;
  const bool causal = attribute_text(result.provenance, "attention") == name_of(AttentionKind::causal);
  const bool chosen = !options.heads.empty();  // a figure of chosen heads takes the room that they need
  const std::size_t across = chosen ? options.heads.size() : heads.heads.size();
  const auto longest = static_cast<double>(head_name(heads.layers.back(), heads.heads.back()).size());
  const std::size_t most = chosen ? std::min<std::size_t>(across, 12) : std::max(across, heads.layers.size());
  FigurePanels panels{.grid = {.panel = {std::clamp(8.4 / static_cast<double>(most), 0.56, 1.9)},
                               .gap = {0.08, 0.19},
                               .margin = {.left = 0.32, .right = 0.12, .top = 0.2, .bottom = 0.44}},
                      .in_row = chosen && page == 0 ? 12 : across,
                      .least = (2.1 + 0.7 * longest) * least_letters / 72,  // a head's name and a number
                      .flatness = across <= 4 ? 0.6 : 0.66,
                      // The last number needs room.
                      .x = {.range = {-reach - 0.5, causal ? 0.1 * reach : reach + 0.5},
                            .tics = {.step = reach > 16  ? 20.0
                                             : reach > 8 ? 10.0
                                                         : 5.0,
                                     .away = -0.5},
                            .common = true},
                      .y = {.shown = false},
                      .below = "offset t = key − query (tokens)",
                      .notes = {"upper right: the panel's peak"}};
  if (!profiles.marked.empty()) panels.notes.push_back("dot: " + profiles.mark + " (tokens)");
  if (!profiles.ratio.empty()) {
    panels.notes.emplace_back("hollow: below twice the threshold");
    panels.notes.emplace_back("the fuller the ink, the further above chance");
  }
  const auto rows = profile_heads(profiles, result, options, panels);
  const PanelGrid grid = grid_of(panels, rows.size(), options.width);
  const double letter = std::clamp(grid.panel.width * 7.5, least_letters, 7.0);
  panels.points = std::min(8.0, letter + 1);
  panels.left = grid.height() > 3 ? profiles.title + " ÷ the panel's peak" : "weight ÷ peak";
  panels.fill = [&](Panel& panel, std::size_t k) { add_profile(panel, profiles, rows[k], reach, letter); };
  return drawn_panels(panels, rows.size(), options.width);
}

/// Where each head looks according to the table.
std::vector<double> profile_looks(const Result& result, const FieldHeads& heads) {
  const std::optional<Field> looks = looks_field(result);
  return looks && looks->doubles().size() == heads.size() ? looks->doubles() : std::vector<double>{};
}

Figure draw_offset_profile(const Result& result, const FigureOptions& options) {
  (void)doubles_of(result, trace_field, {"pairs", "layer", "head", "offset"});
  Profiles profiles{result.at(trace_field), "mean attention weight", "where the head looks"};
  profiles.skipped = place_of(profiles.field, "pairs", "all") * profiles.heads.size();
  const auto numbers = [&](const char* one) { return numbers_of_heads(result, one, "all", heads_of(profiles.heads)); };
  profiles.marked = profile_looks(result, profiles.heads);
  const auto measured = numbers(measured_offset_field), weight = numbers("measured_offset/weight"),
             threshold = numbers("measured_offset/threshold");
  for (std::size_t row = 0; any_finite(threshold) && row < profiles.marked.size(); ++row) {
    const double looks = profiles.marked[row];
    const auto at = std::ranges::find(profiles.offsets, looks);
    const double there = at != profiles.offsets.end()
                             ? profiles.curve(row)[static_cast<std::size_t>(at - profiles.offsets.begin())]
                         : looks == measured[row] ? weight[row]
                                                  : std::nan("");
    profiles.ratio.push_back(there / threshold[row]);
  }
  return draw_profiles(profiles, result, options);
}

Figure draw_word_profile(const Result& result, const FigureOptions& options) {
  (void)doubles_of(result, "word_atlas/profile", {"layer", "head", "offset"});
  Profiles profiles{result.at("word_atlas/profile"), "predicted weight", "predicted offset"};
  profiles.marked = doubles_of(result, word_offset_field, {"layer", "head"});
  return draw_profiles(profiles, result, options);
}

constexpr const char *held_name = "attention_distance/held", *last_name = "attention_distance/last_distance",
                     *window_name = "attention_distance/window_95", *error_name = "attention_distance/window_95_error";

/// "2.4" below ten, "13k" from ten thousand on, so that long windows fit.
std::string tokens_text(double tokens) {
  if (tokens < 9.95) return fmt::format("{:.2g}", tokens);
  return tokens < 9999.5 ? fmt::format("{:.0f}", tokens) : fmt::format("{:.0f}k", tokens / 1000);
}

Figure draw_attention_distance(const Result& result, const FigureOptions& options) {
  constexpr double marked_percent = 95;
  const auto heads = chosen_heads(result, held_name, options, 6);
  std::vector<double> held = doubles_of(result, held_name, {"layer", "head", "distance"});
  std::vector<double> windows = as_doubles(result.at(last_name));
  const auto& window = doubles_of(result, window_name, {"layer", "head"});
  const auto& error = doubles_of(result, error_name, {"layer", "head"});
  for (double& share : held) share *= 100;
  for (double& last : windows) ++last;
  const double longest = windows.back() >= 2 && std::isfinite(windows.back()) ? windows.back() : 10;
  FigurePanels panels{
      .grid = {.panel = {1.9, 1.25}, .gap = {0.2, 0.42}, .margin = {.left = 0.62, .right = 0.16, .top = 0.28}},
      .least = 1.5,
      .x = {.range = {1, longest * 1.1}, .log = 10, .common = true},
      .y = {.range = {0, 104}, .tics = {.step = 25}, .common = true},
      .below = "window (tokens)",
      .left = "attention held (%)"};
  panels.fill = [&](Panel& panel, std::size_t k) {
    const std::size_t row = heads[k].row;
    panel.name(heads[k].text(), 8, 0.4);
    panel.level(marked_percent, {ink::zero_line, 0.7});
    panel.curve(windows, slice_of(held, row, windows.size()), {ink::measured, 1.6});
    if (!std::isfinite(window[row])) return;
    panel.mark({value(std::max(1.0, window[row])), value(marked_percent)}, 0.4);
    const std::string spread = error[row] < 0.95 ? fmt::format("{:.1g}", error[row]) : tokens_text(error[row]);
    const std::string interval = std::isfinite(error[row]) ? " ± " + spread : "";
    panel.above(fmt::format("95 %: {}{}", tokens_text(window[row]), interval), Anchor::right,
                {.points = 7.5, .ink = ink::mark, .up = 0.4});
  };
  return drawn_heads(panels, heads, field_heads(result.at(held_name)), options);
}

}  // namespace

std::vector<FigureKind> profile_figures() {
  return {
      {.name = "offset_profile",
       .fields = {trace_field},
       .caption =
           "Mean attention weight at each offset t = key position minus query position: over the query-key pairs of "
           "a document, then over documents. Each panel is scaled to its peak, written above it. Dot and number: "
           "where the head looks, in tokens, as in the table of heads; an arrow points beyond the panel. The dot is "
           "hollow if the weight there is less than twice what chance would reach; the further above, the fuller the "
           "ink. Grey: no preferred offset.",
       .drawing = draw_offset_profile,
       .single_heads = true},
      {.name = "word_profile",
       .fields = {"word_atlas/profile", word_offset_field},
       .caption =
           "Mean attention weight that documents of random words predict at each offset t = key position minus query "
           "position, from mean queries and keys, and what equal words add. Each panel is scaled to its peak, "
           "written above it. Dot and number: the predicted offset in tokens; an arrow points beyond the panel. "
           "Grey: no prediction, since the largest weight is less than twice that of equal weights, or lies at the "
           "end of the search.",
       .drawing = draw_word_profile,
       .single_heads = true},
      {.name = "attention_distance",
       .fields = {held_name, last_name, window_name, error_name},
       .caption =
           "How far heads look: the share of a head's attention that a window of the last tokens holds, beside "
           "special and first tokens, against its length (logarithmic). Dot and number: the window that holds 95 %, "
           "with its standard error over documents where these were summed in blocks.",
       .drawing = draw_attention_distance,
       .single_heads = true}};
}

}  // namespace headwave
