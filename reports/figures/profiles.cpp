#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/page.h"
#include "../tables/head_sentence.h"
#include "../tables/head_table.h"
#include "chosen_heads.h"
#include "kinds.h"

namespace headwave {

namespace {

constexpr double weak_ratio = 2.0, full_ratio = 32.0;  // of weight to threshold
constexpr double weak_ink = 0.16, full_ink = 0.8;
constexpr double most_height = 1.4;  // of a figure of all heads, in its widths

/// One curve over offsets for every head, and the offset that is marked on it.
struct Profiles {
  const Field& field;               // (..., layer, head, offset)
  const char* axis;                 // of the offsets
  std::string curve, marked_name;   // columns of the numbers: "mean_weight", "looks"
  std::string title, mark;          // "mean attention weight", "where the head looks"
  double window = 16;               // tokens on either side
  bool from_lowest = false;         // a panel begins at the curve's lowest value instead of 0
  std::size_t skipped = 0;          // rows of the field before the first head
  std::vector<double> marked = {};  // (heads) NaN: undefined; empty: not in the result
  std::vector<double> ratio = {};   // (heads) of the weight there to what it had to exceed; empty: not known
  std::vector<double> number = {};  // (heads) above the panel in place of the curve's peak
  std::string number_name = "the panel's peak";
};

/// Which heads have a panel, and where it stands.
struct ProfileLayout {
  HeadPanels grid = {};
  FieldHeads heads;
  std::vector<std::size_t> rows = {};   // of the heads shown
  bool by_layer = true;                 // layers in rows; else heads follow each other
  std::vector<std::string> words = {};  // notes below
  std::string shown = {};               // which heads, for the caption
  double first = 0, last = 0;           // offsets shown

  [[nodiscard]] std::size_t panel_of(std::size_t k) const {
    if (!by_layer) return k;
    return grid.row(heads.line(rows[k]), heads.column(rows[k])) * grid.columns + grid.column(heads.column(rows[k]));
  }
};

/// The farthest offset in tokens at which any curve is defined: short documents have no others.
double reach_of(const Profiles& profiles, std::size_t heads) {
  const std::vector<double> offsets = coordinates(profiles.field, profiles.axis);
  double reach = 0;
  for (std::size_t row = 0; row < heads; ++row) {
    const auto curve = slice_of(profiles.field.doubles(), profiles.skipped + row, offsets.size());
    for (std::size_t t = 0; t < offsets.size(); ++t)
      if (std::isfinite(curve[t])) reach = std::max(reach, std::abs(offsets[t]));
  }
  return reach > 0 ? reach : profiles.window;
}

/// The largest number of each head's curve.
std::vector<double> peaks_of(const Profiles& profiles, std::size_t heads) {
  const std::size_t offsets = coordinates(profiles.field, profiles.axis).size();
  std::vector<double> peaks;
  for (std::size_t row = 0; row < heads; ++row) {
    peaks.push_back(std::nan(""));
    for (const double number : slice_of(profiles.field.doubles(), profiles.skipped + row, offsets))
      peaks.back() = std::fmax(peaks.back(), number);
  }
  return peaks;
}

/// All heads by layers where they fit on the page, else the strongest, or those asked for.
ProfileLayout profile_layout(const Profiles& profiles, const Result& result, const FigureOptions& options) {
  ProfileLayout layout{.heads = field_heads(profiles.field)};
  const std::size_t all = layout.heads.size();
  if (all > most_head_panels)
    throw ShapeError(
        fmt::format("{}: {} heads are too many to draw, {} at most", profiles.field.name, all, most_head_panels));
  const bool causal = attribute_text(result.provenance, "attention") == "causal";
  layout.first = -std::min(profiles.window, reach_of(profiles, all));
  layout.last = causal ? 0 : -layout.first;
  layout.words = {"upper right: " + profiles.number_name};
  if (!profiles.marked.empty()) layout.words.push_back("dot: " + profiles.mark + " (tokens)");
  if (!profiles.ratio.empty()) {
    layout.words.emplace_back("hollow: below twice the threshold");
    layout.words.emplace_back("the fuller the ink, the further above chance");
  }
  const auto with_notes = [&](HeadPanels grid) {
    grid.margin.bottom += note_line * static_cast<double>(note_lines(layout.words, grid.width()).size());
    return grid;
  };
  const std::size_t across = layout.heads.heads.size(), down = layout.heads.layers.size();
  for (const std::string& asked : options.heads) {
    layout.rows.push_back(layout.heads.row_of(parse_head_name(asked)));
    if (layout.rows.back() == all) throw ShapeError(fmt::format("{}: has no head {}", profiles.field.name, asked));
  }
  const double flatness = (layout.rows.empty() ? across : layout.rows.size()) <= 4 ? 0.6 : 0.66;
  // A figure of all heads leaves room on the page for its caption; one of heads asked for takes what they need.
  const double tallest =
      std::min(layout_height(options.style),
               options.heads.empty() ? most_height * layout_width(options.style) : layout_height(options.style));
  std::string ranked = "strongest";
  if (layout.rows.empty()) {
    layout.grid = with_notes(head_panels(down, across, options.style, flatness));
    std::vector<double> strengths = head_strengths(result, layout.heads, options.pairs);
    if (std::ranges::none_of(strengths, [](double strength) { return std::isfinite(strength); })) {
      strengths = profiles.number.empty() ? peaks_of(profiles, all) : profiles.number;
      ranked = "most peaked";
    }
    layout.rows = descending(strengths);
    if (options.style.width == 0 || layout.grid.height() <= tallest) {
      std::ranges::sort(layout.rows);
      layout.shown = fmt::format("All {} heads are shown.", all);
      return layout;
    }
  }
  // The words that say what is missing take room themselves.
  const std::size_t wanted = layout.rows.size();
  const auto words = [&](std::size_t shown) {
    return options.heads.empty() ? fmt::format("the {} {} of {} heads, in that order", shown, ranked, wanted)
                                 : fmt::format("the first {} of the {} heads asked for", shown, wanted);
  };
  layout.by_layer = false;
  layout.words.insert(layout.words.begin(), words(wanted));
  const std::size_t fit =
      std::min(wanted, panels_within(with_notes(head_panels(1, wanted, options.style, flatness)), tallest));
  layout.words.front() = words(fit);
  layout.shown = fmt::format("The figure shows {}.", words(fit));
  if (fit == wanted) {
    layout.words.erase(layout.words.begin());
    layout.shown =
        fit == all ? fmt::format("All {} heads are shown.", all) : fmt::format("{} of {} heads are shown.", fit, all);
  }
  layout.rows.resize(fit);
  if (options.heads.empty() && fit == all) std::ranges::sort(layout.rows);
  layout.grid = with_notes(head_panels(1, fit, options.style, flatness));
  return layout;
}

/// How full the ink is below a curve: even in the logarithm of how far it exceeds what chance reaches.
double strength_of(double ratio) {
  const double part = std::log(ratio) / std::log(full_ratio);
  return std::isfinite(part) ? std::lerp(weak_ink, full_ink, std::clamp(part, 0.0, 1.0)) : weak_ink;
}

/// The offset's dot and number, or an arrow at the edge if it is out of sight. The dot is hollow if the
/// offset is told from chance but weak.
void mark_offset(Panel& panel, const ProfileLayout& layout, double offset, double height, bool weak) {
  const double points = layout.grid.panel.height * 72, letter = layout.grid.points;
  Letters letters{.points = letter, .bold = true, .ink = ink::mark};
  if (offset < layout.first || offset > -layout.first) {
    letters.anchor = offset < 0 ? Anchor::left : Anchor::right;
    panel.note(pointed_offset(offset, -layout.first),
               {share(offset < 0 ? 0.03 : 0.97), share(1 - (letter * 0.5 + 2.5) / points)}, letters);
    return;
  }
  letters.anchor = Anchor::center;
  letters.up_share = (letter * 0.5 + 2.2) / points;
  panel.mark({value(offset), value(height)}, {ink::mark, 0.3, weak ? Shape::ring : Shape::disc}, signed_offset(offset),
             letters);
}

/// Short where panels are narrow, so that it stands clear of the head's name.
std::string peak_text(double peak, double panel_width) {
  if (panel_width > 0.9) return fmt::format("peak {:.2g}", peak);
  if (peak < 0.005) return "<.01";
  const std::string text = fmt::format("{:.2f}", peak);
  return panel_width >= 0.5 ? text : text.starts_with("0.") ? text.substr(1) : text.substr(0, 3);
}

/// The axis below, the head's name above the left end, or its layer left of the row where layers are named
/// there.
void add_head_frame(Panel& panel, const ProfileLayout& layout, std::size_t row, double step) {
  const HeadPanels& grid = layout.grid;
  const HeadName name = layout.heads[row];
  const double room = layout.last > 0 ? 0.5 : -0.1 * layout.first;  // the last number needs as much
  panel.frame(Frame::base_line);
  // Numbers of narrow panels would touch: then 0, which has a line, has none.
  const double apart = step / (layout.last - layout.first + 1) * grid.panel.width * 72 / grid.points;  // in letters
  std::vector<Tic> named;
  if (apart < 1.7 && layout.last > 0) named = {{-step, fmt::format("−{:g}", step)}, {step, fmt::format("{:g}", step)}};
  panel.common_x_axis({layout.first - 0.5, layout.last + room},
                      {.step = step, .named = named, .points = grid.points, .away = -0.5});
  panel.without_y_tics();
  panel.above(grid.layers_left ? fmt::format("H{}", name.head) : head_name(name.layer, name.head), Anchor::left,
              {.points = grid.points, .bold = true, .up = 0.35});
  if (grid.layers_left && panel.is_leftmost())
    panel.note(fmt::format("L{}", name.layer), {share(-0.06 / grid.panel.width), share(0.4)},
               {.points = grid.points, .bold = true, .anchor = Anchor::right});
}

void add_profile(Page& page, Panel& panel, const Profiles& profiles, const ProfileLayout& layout, std::size_t row) {
  const HeadPanels& grid = layout.grid;
  const std::vector<double> offsets = coordinates(profiles.field, profiles.axis);
  const auto curve = slice_of(profiles.field.doubles(), profiles.skipped + row, offsets.size());
  const double marked = profiles.marked.empty() ? std::nan("") : profiles.marked[row];
  const bool rated = row < profiles.ratio.size();
  DataTable table({"layer", "head", "offset", profiles.curve, profiles.marked_name});
  double peak = profiles.from_lowest ? -HUGE_VAL : 0, lowest = profiles.from_lowest ? HUGE_VAL : 0, at_mark = peak;
  for (std::size_t t = 0; t < offsets.size(); ++t) {
    if (offsets[t] < layout.first || offsets[t] > layout.last) continue;
    table.add_row({layout.heads[row].layer, layout.heads[row].head, offsets[t], curve[t], marked});
    if (!std::isfinite(curve[t])) continue;
    peak = std::max(peak, curve[t]);
    if (profiles.from_lowest) lowest = std::min(lowest, curve[t]);
    if (offsets[t] == marked) at_mark = curve[t];
  }
  if (!(peak > lowest)) lowest = 0;
  const double unit = peak > lowest && std::isfinite(peak) ? peak - lowest : 1;
  add_head_frame(panel, layout, row, layout.first < -16 ? 20 : layout.first < -8 ? 10 : 5);
  // Room for the number above the peak; four digits.
  panel.y_axis({0, std::round(1e4 / (1 - (grid.points + 4.0) / (grid.panel.height * 72))) / 1e4});
  panel.vertical(0, {ink::zero_line, 0.7}, value(1));
  const std::string number = profiles.number.empty()               ? peak_text(peak, grid.panel.width)
                             : std::isfinite(profiles.number[row]) ? fmt::format("{:.2f}", profiles.number[row])
                                                                   : "";
  panel.above(number, Anchor::right, {.points = grid.points, .ink = ink::number, .up = 0.35});
  const double height = std::isfinite(at_mark) && at_mark > lowest ? (at_mark - lowest) / unit : 1;
  if (!std::isnan(marked)) mark_offset(panel, layout, marked, height, rated && profiles.ratio[row] < weak_ratio);
  const bool told = profiles.marked.empty() || !std::isnan(marked);
  const Ink ink = told ? ink::measured : ink::undefined;
  const std::string data = page.numbers(table), columns = fmt::format("3:(($4-{})/{})", lowest, unit);
  panel.area(data, columns, 0, ink, told && rated ? strength_of(profiles.ratio[row]) : weak_ink);
  panel.curve(data, columns, {ink, 1.3});
}

/// Every head on its own scale. Where ratios are known, marks below 2 are hollow, and the ink below a curve
/// is the fuller the larger they are, up to 32.
GnuplotFigure draw_profiles(const Profiles& profiles, const Result& result, const FigureOptions& options) {
  const ProfileLayout layout = profile_layout(profiles, result, options);
  const auto offsets = coordinates(profiles.field, profiles.axis);
  const auto is_shown = [&](double t) { return t >= layout.first && t <= layout.last; };
  if (layout.rows.empty() || std::ranges::none_of(offsets, is_shown))
    throw ShapeError(fmt::format("{}: holds no offsets to draw", profiles.field.name));
  for (const auto* numbers : {&profiles.marked, &profiles.ratio, &profiles.number})
    if (!numbers->empty() && numbers->size() != layout.heads.size())
      throw ShapeError(fmt::format("{}: expected {} heads as in {}, found {}", profiles.marked_name,
                                   layout.heads.size(), profiles.field.name, numbers->size()));
  const HeadPanels& grid = layout.grid;
  Page page(grid, options.style);
  for (std::size_t k = 0; k < layout.rows.size(); ++k)
    add_profile(page, page.panel(layout.panel_of(k)), profiles, layout, layout.rows[k]);
  page.show(layout.shown);
  const auto notes = note_lines(layout.words, grid.width());
  const double letters = std::min(8.0, grid.points + 1);
  page.title_below("offset t = key − query (tokens)", 0.1 + note_line * static_cast<double>(notes.size()), letters);
  page.note_below(notes);
  const std::string of = profiles.from_lowest ? " from lowest to highest" : " ÷ the panel's peak";
  page.title_left(grid.height() > 3      ? profiles.title + of
                  : profiles.from_lowest ? "mean score"
                                         : "weight ÷ peak",
                  0.12, letters);
  return page.figure();
}

/// Where each head looks, as the table says; without an account of other pairs than all their measured offset.
std::vector<double> profile_looks(const Result& result, const std::string& pairs) {
  if (pairs != "all" && head_sentences(result).empty() && result.find("measured_offset/offset") != nullptr)
    return head_doubles(result, "measured_offset/offset", pairs);
  const std::optional<Field> looks = looks_field(result);
  return looks ? looks->doubles() : std::vector<double>{};
}

GnuplotFigure draw_offset_profile(const Result& result, const FigureOptions& options) {
  constexpr const char* name = "offset_trace/mean_weight";
  (void)doubles_of(result, name, {"pairs", "layer", "head", "offset"});
  Profiles profiles{result.at(name), "offset", "mean_weight", "looks", "mean attention weight", "where the head looks"};
  profiles.skipped = place_of(profiles.field, "pairs", options.pairs) * field_heads(profiles.field).size();
  const auto numbers = [&](const char* one) {
    return result.find(one) == nullptr ? std::vector<double>{} : head_doubles(result, one, options.pairs);
  };
  profiles.marked = profile_looks(result, options.pairs);
  const auto measured = numbers("measured_offset/offset"), weight = numbers("measured_offset/weight"),
             threshold = numbers("measured_offset/threshold"), offsets = coordinates(profiles.field, "offset");
  for (std::size_t row = 0; row < std::min({profiles.marked.size(), weight.size(), threshold.size()}); ++row) {
    const double looks = profiles.marked[row];
    const auto at = std::ranges::find(offsets, looks);
    const auto curve = slice_of(profiles.field.doubles(), profiles.skipped + row, offsets.size());
    const double there = at != offsets.end()      ? curve[static_cast<std::size_t>(at - offsets.begin())]
                         : looks == measured[row] ? weight[row]
                                                  : std::nan("");
    profiles.ratio.push_back(there / threshold[row]);
  }
  return draw_profiles(profiles, result, options);
}

GnuplotFigure draw_word_profile(const Result& result, const FigureOptions& options) {
  (void)doubles_of(result, "word_atlas/profile", {"layer", "head", "offset"});
  Profiles profiles{result.at("word_atlas/profile"),
                    "offset",
                    "predicted_weight",
                    "predicted_offset",
                    "predicted weight",
                    "predicted offset"};
  profiles.marked = doubles_of(result, "word_atlas/predicted_offset", {"layer", "head"});
  return draw_profiles(profiles, result, options);
}

GnuplotFigure draw_position_kernel(const Result& result, const FigureOptions& options) {
  constexpr const char* weight_name = "position_atlas/predicted_weight";
  (void)doubles_of(result, "position_atlas/kernel", {"layer", "head", "offset"});
  Profiles profiles{result.at("position_atlas/kernel"), "offset",           "mean_score", "predicted_offset",
                    "mean score by position",           "predicted offset", 32,           true};
  profiles.marked = doubles_of(result, "position_atlas/predicted_offset", {"layer", "head"});
  if (result.find(weight_name) != nullptr) {
    profiles.number = doubles_of(result, weight_name, {"layer", "head"});
    profiles.number_name = "share of attention that the maximum gets";
  }
  // Above layer 0 the weights are a proxy: where random words predict, it is no prediction.
  const FieldHeads heads = field_heads(profiles.field);
  if (result.find("word_atlas/predicted_offset") != nullptr)
    for (std::size_t row = 0; row < std::min(heads.size(), profiles.marked.size()); ++row)
      if (heads[row].layer > 0) profiles.marked[row] = std::nan("");
  return draw_profiles(profiles, result, options);
}

}  // namespace

FigureKind offset_profile_figure() {
  std::vector<std::string> extras = strength_fields();
  for (const std::string& name : head_sentence_fields()) extras.push_back(name);
  return {.name = "offset_profile",
          .fields = {"offset_trace/mean_weight"},
          .extras = extras,
          .caption =
              "Mean attention weight at each offset t = key position minus query position: over the query-key pairs "
              "of a document, then over documents. Each panel is scaled to its peak, written above it. Dot and "
              "number: where the head looks, in tokens, as in the table of heads; an arrow points beyond the panel. "
              "The dot is hollow if the weight there is less than twice what chance would reach; the further above, "
              "the fuller the ink. Grey: no preferred offset.",
          .drawing = draw_offset_profile,
          .single_heads = true};
}

FigureKind word_profile_figure() {
  return {.name = "word_profile",
          .fields = {"word_atlas/profile", "word_atlas/predicted_offset"},
          .caption =
              "Mean attention weight that documents of random words predict at each offset t = key position minus "
              "query position, from mean queries and keys, and what equal words add. Each panel is scaled to its "
              "peak, written above it. Dot and number: the predicted offset in tokens; an arrow points beyond the "
              "panel. Grey: no prediction, since the largest weight is less than twice that of equal weights, or "
              "lies at the end of the search.",
          .drawing = draw_word_profile,
          .single_heads = true};
}

FigureKind position_kernel_figure() {
  return {.name = "position_kernel",
          .fields = {"position_atlas/kernel", "position_atlas/predicted_offset"},
          .extras = {"position_atlas/predicted_weight", "word_atlas/predicted_offset"},
          .caption =
              "What heads would do by their weights alone: mean score at each offset t = key position minus query "
              "position, of positions averaged over words, row means removed, each panel from its lowest to its "
              "highest score. Dot and number: the predicted offset in tokens; upper right: the share of attention "
              "that the kernel's softmax gives to its maximum. Grey: no prediction. Layers above 0 are a proxy, "
              "since the blocks between change positions and words.",
          .drawing = draw_position_kernel,
          .single_heads = true};
}

}  // namespace headwave
