#include "offset_agreement_figure.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "../drawing/label_places.h"
#include "../drawing/page.h"
#include "../tables/head_table.h"
#include "agreement_dots.h"

namespace headwave {

namespace {

constexpr double usual_width = 2.15;  // inches of a panel
constexpr double margin = 0.14;       // inches between the farthest offset and the frame
constexpr double dot_inches = 0.087;  // of a dot of size 1
constexpr double least_reach = 3.0;   // tokens

/// What the panels have in common.
struct Plane {
  PanelGrid grid;
  double reach = least_reach;          // tokens
  double tolerance = 0;                // tokens; 0: not said
  std::vector<std::string> baselines;  // what stands below the panels

  /// Inches to one unit of offset_place().
  [[nodiscard]] double inch() const { return (grid.panel_width / 2 - margin) / offset_place(reach); }
};

/// What always naming one offset would meet: without it a count of agreements says little. Of whom, and what.
std::vector<std::string> baselines_of(const Result& result) {
  const auto columns = agreement_columns(result);
  if (columns.empty()) return {};
  std::string words;
  for (const TableColumn& column : columns)
    if (column.header.starts_with("always"))
      words += fmt::format("{}{} meets {}", words.empty() ? "" : ", ", column.header, column.cells.front());
  return {columns.front().cells.front(), words};
}

Plane plane_of(const Result& result, const std::vector<std::vector<AgreementHead>>& panels, const FigureStyle& style) {
  Plane plane;
  PanelGrid& grid = plane.grid;
  grid.panel_width = grid.panel_height = usual_width;
  grid.gap_x = 0.22;
  grid.gap_y = 1.12;
  grid.left = 0.6;
  grid.top = 0.62;
  plane.baselines = baselines_of(result);
  if (!plane.baselines.empty()) grid.bottom += 0.16;
  grid = fitted(flowing(grid, panels.size(), panels.size() == 4 ? 2 : panels.size()), panels.size(), 1.95, style);
  grid.panel_height = grid.panel_width;
  if (!plane.baselines.empty() && grid.columns == 1)
    grid.bottom += 0.13;  // two lines on a narrow page
  else if (!plane.baselines.empty())
    plane.baselines = {fmt::format("{}: {}", plane.baselines[0], plane.baselines[1])};
  for (const auto& heads : panels)
    for (const AgreementHead& head : heads)
      if (head.has_both()) plane.reach = std::max({plane.reach, std::abs(head.measured), std::abs(head.predicted)});
  const auto& attributes = result.at("offset_agreement/verdict").attributes;
  if (const auto known = attributes.find("tolerance"); known != attributes.end())
    if (const auto* tolerance = std::get_if<double>(&known->second); tolerance != nullptr && *tolerance > 0)
      plane.tolerance = std::min(*tolerance, plane.reach);
  return plane;
}

/// Round offsets as far apart as their numbers need.
std::vector<Tic> tics(const Plane& plane, bool named) {
  std::vector<Tic> all{{0, named ? "0" : ""}};
  double last = 0.0;
  for (const double t : {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}) {
    const double place = plane.inch() * offset_place(t);
    if (t > plane.reach || place - last < 0.27) continue;
    all.push_back({place, named ? fmt::format("{:g}", t) : ""});
    all.push_back({-place, named ? fmt::format("−{:g}", t) : ""});
    last = place;
  }
  return all;
}

/// What counts as meeting: predicted offsets within the tolerance of the measured one.
DataTable band_of(const Plane& plane) {
  DataTable table({"measured", "middle", "low", "high"});
  const double end = plane.grid.panel_width / 2;
  constexpr int steps = 240;
  for (int i = -steps; i <= steps; ++i) {
    const double place = end * i / steps;
    const double t = std::copysign(std::exp2(std::abs(place) / plane.inch()) - 1, place);
    table.add_row({place, place, plane.inch() * offset_place(t - plane.tolerance),
                   plane.inch() * offset_place(t + plane.tolerance)});
  }
  return table;
}

DataTable numbers_of(const std::vector<AgreementHead>& heads, const std::string& prediction) {
  DataTable table({"layer", "head", "prediction", "measured_offset", "predicted_offset", "lower", "upper", "verdict"});
  for (const AgreementHead& head : heads)
    table.add_row({head.name.layer, head.name.head, prediction, head.measured, head.predicted, head.lower, head.upper,
                   head.verdict});
  return table;
}

/// What dots are drawn alike.
enum class Dots { differ, agree, agree_on_0 };

Dots kind_of(const AgreementDot& dot) {
  return !dot.agrees ? Dots::differ : dot.measured == 0 ? Dots::agree_on_0 : Dots::agree;
}

/// The dots of one kind as gnuplot draws them, intervals cut at the frame.
DataTable dots_table(const std::vector<AgreementDot>& dots, Dots kind, const Plane& plane) {
  DataTable table({"x", "y", "size", "low", "high", "count"});
  const double end = plane.grid.panel_width / 2;
  const auto cut = [&](double t) { return std::isnan(t) ? t : std::clamp(plane.inch() * offset_place(t), -end, end); };
  for (const AgreementDot& dot : dots)
    if (kind_of(dot) == kind)
      table.add_row({dot.x, dot.y, dot.size / dot_inches, cut(dot.lower), cut(dot.upper),
                     dot.heads.size() > 1 ? fmt::format("{}", dot.heads.size()) : ""});
  return table;
}

/// Names the heads farthest from the diagonal.
void add_names(Panel& panel, std::vector<AgreementDot> dots, const Plane& plane) {
  const auto away = [](const AgreementDot& dot) {
    return dot.agrees ? 0.0 : std::abs(offset_place(dot.predicted) - offset_place(dot.measured));
  };
  std::stable_sort(dots.begin(), dots.end(), [&](const auto& a, const auto& b) { return away(a) > away(b); });
  const double middle = plane.grid.panel_width / 2;
  std::vector<LabelledDot> labelled;
  for (const AgreementDot& dot : dots) {
    const HeadName& head = dot.heads.front();
    const std::string name = dot.heads.size() == 1 ? head_name(head.layer, head.head) : "";
    labelled.push_back({middle + dot.x, middle + dot.y, dot.size, away(dot) * plane.inch() > 0.2 ? name : ""});
  }
  const LabelArea area{plane.grid.panel_width, plane.grid.panel_height, 6, 8};
  for (const LabelPlace& place : label_places(labelled, area))
    panel.note(labelled[place.dot].text, {value(place.left - middle), value(place.middle - middle)},
               {.points = 6, .front = true});
}

/// Whether a head looks at its own token and was predicted to: that needs no wave, so it is counted by itself.
bool is_self_met(const AgreementHead& head) {
  return head.verdict == "agrees" && head.measured == 0;
}

/// The prediction's name and how many heads came to which verdict.
void add_title(Panel& panel, const Plane& plane, std::size_t k, const std::string& prediction,
               const std::vector<AgreementHead>& heads) {
  const auto count = [&](const char* verdict) {
    return std::count_if(heads.begin(), heads.end(), [&](const auto& head) { return head.verdict == verdict; });
  };
  const auto zeros = std::count_if(heads.begin(), heads.end(), is_self_met);
  const PanelGrid& grid = plane.grid;
  const double left = grid.panel_left(grid.column_of(k)), y = grid.panel_bottom(grid.row_of(k)) + grid.panel_height;
  panel.note(prediction, grid.at(left, y + 0.42), {.points = 8, .bold = true});
  const double narrow = std::min(1.0, grid.panel_width / usual_width);
  const auto entry = [&](double place, const Ink& ink, Shape shape, const std::string& words) {
    const double x = place * narrow;
    panel.mark(grid.at(left + x, y + 0.27), {ink, 0.7, shape});
    panel.note(words, grid.at(left + x + 0.08, y + 0.27), {.points = 7, .ink = ink});
  };
  entry(0.04, ink::agrees, Shape::disc, fmt::format("{} agree", count("agrees") - zeros));
  entry(0.7, ink::differs, Shape::square, fmt::format("{} differ", count("differs")));
  entry(1.36, ink::chance, Shape::disc, fmt::format("{} agree on 0", zeros));
  panel.note(fmt::format("not predicted: {}, not measured: {}, neither: {}", count("unpredicted"), count("unrealised"),
                         count("undefined")),
             grid.at(left, y + 0.11), {.points = 6, .ink = ink::note});
}

/// Axes, lines through 0, and what stands outside.
void add_frame(Panel& panel, const Plane& plane, std::size_t k) {
  const bool leftmost = plane.grid.column_of(k) == 0;
  const double end = plane.grid.panel_width / 2;
  panel.title_below("measured offset (tokens)");
  for (std::size_t line = 0; line < plane.baselines.size() && k == 0; ++line) {
    const double y = 0.09 + 0.13 * static_cast<double>(plane.baselines.size() - 1 - line);
    panel.note(plane.baselines[line], plane.grid.at(plane.grid.left, y), {.points = 6.5, .ink = ink::note});
  }
  if (leftmost) panel.title_left("predicted offset (tokens)", 0.44);
  panel.x_axis({-end, end}, {.named = tics(plane, true)});
  panel.y_axis({-end, end}, {.named = tics(plane, leftmost)});
  panel.vertical(0, {ink::pale_zero_line, 0.7});
  panel.level(0, {ink::pale_zero_line, 0.7});
}

void add_panel(Page& page, const Plane& plane, std::size_t k, const std::string& prediction,
               const std::vector<AgreementHead>& heads) {
  const auto dots = agreement_dots(heads, plane.inch());
  Panel& panel = page.panel(k);
  add_title(panel, plane, k, prediction, heads);
  add_frame(panel, plane, k);
  add_names(panel, dots, plane);
  if (dots.empty())
    panel.note("no head has both offsets", {share(0.5), share(0.06)},
               {.points = 7, .ink = ink::note, .anchor = Anchor::center, .front = true});
  page.keep(numbers_of(heads, prediction));
  const std::string band = page.data(band_of(plane));
  panel.band(band, "1:3:4", ink::tolerance);
  panel.curve(band, "1:2", {ink::reference, 0.8});
  for (const Dots kind : {Dots::agree_on_0, Dots::differ, Dots::agree}) {
    const DataTable table = dots_table(dots, kind, plane);
    if (table.rows().empty()) continue;
    const std::string file = page.data(table);
    const Ink ink = kind == Dots::agree ? ink::agrees : kind == Dots::differ ? ink::differs : ink::chance;
    panel.strokes(file, "1:4:(0):($5-$4)", {ink, 0.8});
    panel.dots(file, "1:2:3", {.ink = ink, .shape = kind == Dots::differ ? Shape::square : Shape::disc});
    panel.texts(file, "1:2:6", {.points = 6, .bold = true, .ink = ink::paper, .anchor = Anchor::center});
  }
}

GnuplotFigure draw_offset_agreement(const Result& result, const FigureOptions& options) {
  std::vector<std::vector<AgreementHead>> panels;
  const std::vector<std::string> predictions = agreement_predictions(result);
  for (const std::string& prediction : predictions) panels.push_back(agreement_heads(result, prediction));
  const Plane plane = plane_of(result, panels, options.style);
  Page page(plane.grid, options.style);
  for (std::size_t p = 0; p < panels.size(); ++p) add_panel(page, plane, p, predictions[p], panels[p]);
  return page.figure();
}

}  // namespace

FigureKind offset_agreement_figure() {
  return {
      "offset_agreement",
      {"offset_agreement/measured", "offset_agreement/predicted", "offset_agreement/verdict"},
      {"phase_delay/lower", "phase_delay/upper", "rotary_wave/lower", "rotary_wave/upper", "rotary_wave/status",
       "delay_spectrum/lower", "delay_spectrum/upper"},
      "Offsets predicted by the account, from weights alone, from phases and from scores against the measured ones, "
      "in tokens, on axes even about 0 and logarithmic further out. Grey dots are heads that look at their own "
      "token and were predicted to, which takes no wave: they are counted by themselves. Bars are bootstrap "
      "intervals, the grey area is what counts as meeting. A number stands for so many heads in one place; dots "
      "that would cover each other are moved aside. Heads far from the diagonal are named. The line below says "
      "what would be met by always naming one and the same offset.",
      draw_offset_agreement};
}

}  // namespace headwave
