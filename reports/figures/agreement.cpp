// Predicted against measured offsets.
#include "agreement.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/page.h"
#include "../drawing/visible_text.h"
#include "../tables/head_findings.h"
#include "../tables/head_table.h"
#include "chosen_heads.h"
#include "kinds.h"

namespace headwave {

namespace {

constexpr const char* measured_offset_name = "offset_agreement/measured";
constexpr const char* predicted_offset_name = "offset_agreement/predicted";
constexpr const char* agreement_verdict_name = "offset_agreement/verdict";
constexpr double unseen = 0.03;  // inches by which dots may differ and still be drawn as one
constexpr double lane = 0.035;   // inches by which dots are moved aside, a few times at most
constexpr int most_lanes = 4;    // on either side

/// Room for the number of heads where there are several.
double dot_size(std::size_t heads) {
  return heads == 1 ? 0.06 : heads < 10 ? 0.105 : heads < 100 ? 0.14 : 0.18;
}

/// The ends of a prediction's interval, NaN where the result has none.
std::vector<double> interval(const Result& result, const std::string& prediction, const char* end, std::size_t heads) {
  const std::string group = prediction == "phases"   ? phases_group(result)
                            : prediction == "scores" ? "delay_spectrum/"
                                                     : "";
  const std::string name = group + end;
  if (group.empty() || result.find(name) == nullptr) return std::vector<double>(heads, std::nan(""));
  const auto& values = doubles_of(result, name, {"layer", "head"});
  if (values.size() != heads)
    throw ShapeError(
        fmt::format("{}: expected {} heads as in {}, found {}", name, heads, measured_offset_name, values.size()));
  return values;
}

/// Moves a dot aside until it covers none of those before it, if a few steps are enough.
void move_aside(AgreementDot& dot, const std::vector<AgreementDot>& before) {
  const double x = dot.x;
  for (int step = 0; step <= 2 * most_lanes; ++step) {
    dot.x = x + lane * ((step + 1) / 2) * (step % 2 == 1 ? 1 : -1);
    const bool free = std::none_of(before.begin(), before.end(), [&](const AgreementDot& other) {
      return std::hypot(dot.x - other.x, dot.y - other.y) < 0.48 * (dot.size + other.size);
    });
    if (free) return;
  }
  dot.x = x;
}

/// A rectangle around a middle, in inches.
struct Box {
  double x, y, width, height;
  [[nodiscard]] bool touches(const Box& other) const {
    return std::abs(x - other.x) < (width + other.width) / 2 && std::abs(y - other.y) < (height + other.height) / 2;
  }
};

constexpr double usual_width = 2.15;  // inches of a panel
constexpr double widest_plane = 3.6;  // inches, where one panel has a page to itself
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
  [[nodiscard]] double inch() const { return (grid.panel.width / 2 - margin) / offset_place(reach); }
};

/// What always naming one offset would meet: without it a count of agreements says little. Of whom, and what.
std::vector<std::string> baselines_of(const Result& result) {
  const auto columns = agreement_columns(result);
  if (columns.empty()) return {};
  std::string words;
  for (const TableColumn& column : columns)
    if (column.header.starts_with("always"))
      words += fmt::format("{}{} meets {}", words.empty() ? "" : ", ", column.header, column.cells.front());
  replace_all(words, " -", " −");
  return {columns.front().cells.front(), words};
}

Plane plane_of(const Result& result, const std::vector<std::vector<AgreementHead>>& panels, const FigureStyle& style) {
  Plane plane;
  PanelGrid& grid = plane.grid;
  grid = {.panel = {usual_width, usual_width}, .gap = {0.22, 1.12}, .margin = {.top = 0.62}};
  plane.baselines = baselines_of(result);
  if (!plane.baselines.empty()) grid.margin.bottom += 0.16;
  grid = fitted(flowing(grid, panels.size(), panels.size() == 4 ? 2 : 3), panels.size(), 1.9, style);
  if (grid.rows == 1) {  // squares that fit on the page, at the left of it
    const double fits = layout_height(style) - grid.margin.top - grid.margin.bottom - 0.13;
    const double side = std::clamp(fits, 1.6, std::clamp(grid.panel.width, 1.6, widest_plane));
    grid.margin.right += static_cast<double>(grid.columns) * std::max(0.0, grid.panel.width - side);
    grid.panel.width = std::min(grid.panel.width, side);
  }
  grid.panel.height = grid.panel.width;
  if (!plane.baselines.empty() && grid.columns == 1)
    grid.margin.bottom += 0.13;  // two lines on a narrow page
  else if (!plane.baselines.empty())
    plane.baselines = {fmt::format("{}: {}", plane.baselines[0], plane.baselines[1])};
  for (const auto& heads : panels)
    for (const AgreementHead& head : heads)
      if (head.has_both()) plane.reach = std::max({plane.reach, std::abs(head.measured), std::abs(head.predicted)});
  const double tolerance = attribute_number(result.at(agreement_verdict_name).attributes, "tolerance", 0);
  if (tolerance > 0) plane.tolerance = std::min(tolerance, plane.reach);
  return plane;
}

/// Round offsets as far apart as their numbers need.
std::vector<Tic> offset_tics(const Plane& plane) {
  std::vector<Tic> all{{0, "0"}};
  double last = 0.0;
  for (const double t : {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}) {
    const double place = plane.inch() * offset_place(t);
    if (t > plane.reach || place - last < 0.27) continue;
    all.push_back({place, fmt::format("{:g}", t)});
    all.push_back({-place, fmt::format("−{:g}", t)});
    last = place;
  }
  return all;
}

/// What counts as meeting: predicted offsets within the tolerance of the measured one.
DataTable band_of(const Plane& plane) {
  DataTable table({"measured", "middle", "low", "high"});
  const double end = plane.grid.panel.width / 2;
  constexpr int steps = 240;
  for (int i = -steps; i <= steps; ++i) {
    const double place = end * i / steps;
    const double t = std::copysign(std::exp2(std::abs(place) / plane.inch()) - 1, place);
    table.add_row({place, place, plane.inch() * offset_place(t - plane.tolerance),
                   plane.inch() * offset_place(t + plane.tolerance)});
  }
  return table;
}

DataTable agreement_numbers(const std::vector<AgreementHead>& heads, const std::string& prediction) {
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
  const double end = plane.grid.panel.width / 2;
  const auto cut = [&](double t) { return std::isnan(t) ? t : std::clamp(plane.inch() * offset_place(t), -end, end); };
  for (const AgreementDot& dot : dots)
    if (kind_of(dot) == kind)
      table.add_row({dot.x, dot.y, dot.size / dot_inches, cut(dot.lower), cut(dot.upper),
                     dot.heads.size() > 1 ? fmt::format("{}", dot.heads.size()) : ""});
  return table;
}

/// How far from the diagonal a head that differs lies, in units of offset_place().
double distance_of(const AgreementDot& dot) {
  return dot.agrees ? 0.0 : std::abs(offset_place(dot.predicted) - offset_place(dot.measured));
}

/// The prediction's name and how many heads came to which verdict.
void add_verdicts(Panel& panel, const std::string& prediction, const std::vector<AgreementHead>& heads) {
  const auto count = [&](const char* verdict) {
    return std::count_if(heads.begin(), heads.end(), [&](const auto& head) { return head.verdict == verdict; });
  };
  // Heads that look at their own token and were predicted to: that needs no wave, so they are counted by
  // themselves.
  const auto zeros = std::ranges::count_if(
      heads, [](const AgreementHead& head) { return head.verdict == "agrees" && head.measured == 0; });
  panel.note(prediction, panel.over(0, 0.42), {.points = 8, .bold = true});
  const double narrow = std::min(1.0, panel.width() / usual_width);
  const auto entry = [&](double place, const Ink& ink, Shape shape, const std::string& words) {
    panel.mark(panel.over(place * narrow, 0.27), {ink, 0.7, shape});
    panel.note(words, panel.over(place * narrow + 0.08, 0.27), {.points = 7, .ink = ink});
  };
  entry(0.04, ink::agrees, Shape::disc, fmt::format("{} agree", count("agrees") - zeros));
  entry(0.7, ink::differs, Shape::square, fmt::format("{} differ", count("differs")));
  entry(1.36, ink::chance, Shape::disc, fmt::format("{} agree on 0", zeros));
  panel.note(fmt::format("not predicted: {}, not measured: {}, neither: {}", count("unpredicted"), count("unrealised"),
                         count("undefined")),
             panel.over(0, 0.11), {.points = 6, .ink = ink::note});
}

/// Axes, lines through 0, and what stands outside.
void add_frame(Panel& panel, const Plane& plane, std::size_t k) {
  const double end = plane.grid.panel.width / 2;
  panel.title_below("measured offset (tokens)");
  for (std::size_t line = 0; line < plane.baselines.size() && k == 0; ++line) {
    const double y = 0.09 + 0.13 * static_cast<double>(plane.baselines.size() - 1 - line);
    panel.note(plane.baselines[line], plane.grid.at(plane.grid.margin.left, y), {.points = 6.5, .ink = ink::note});
  }
  if (panel.is_leftmost()) panel.title_left("predicted offset (tokens)", 0.44);
  panel.x_axis({-end, end}, {.named = offset_tics(plane)});
  panel.common_y_axis({-end, end}, {.named = offset_tics(plane)});
  panel.vertical(0, {ink::pale_zero_line, 0.7});
  panel.level(0, {ink::pale_zero_line, 0.7});
}

void add_agreement(Page& page, const Plane& plane, std::size_t k, const std::string& prediction,
                   const std::vector<AgreementHead>& heads) {
  const auto dots = agreement_dots(heads, plane.inch());
  Panel& panel = page.panel(k);
  add_verdicts(panel, prediction, heads);
  add_frame(panel, plane, k);
  for (const DotName& name : dot_names(dots, plane.grid.panel.width / 2)) {
    const HeadName& head = dots[name.dot].heads.front();
    panel.note(head_name(head.layer, head.head), {value(name.left), value(name.middle)}, {.points = 6, .front = true});
  }
  if (dots.empty())
    panel.note("no head has both offsets", {share(0.5), share(0.06)},
               {.points = 7, .ink = ink::note, .anchor = Anchor::center, .front = true});
  page.keep(agreement_numbers(heads, prediction));
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
  const std::size_t all = panels.size();
  Plane plane = plane_of(result, panels, options.style);
  while (panels.size() > 1 && plane.grid.height() > layout_height(options.style)) {
    panels.pop_back();
    plane = plane_of(result, panels, options.style);
  }
  if (panels.size() < all) {
    plane.baselines.push_back(fmt::format("{} of {} predictions: the page holds no more", panels.size(), all));
    plane.grid.margin.bottom += 0.13;
  }
  Page page(plane.grid, options.style);
  for (std::size_t p = 0; p < panels.size(); ++p) add_agreement(page, plane, p, predictions[p], panels[p]);
  return page.figure();
}

}  // namespace

std::vector<std::string> agreement_predictions(const Result& result) {
  const auto& labels = labels_of(result.at(predicted_offset_name), "prediction");
  const std::set<std::string> undefined = undefined_for_all(result);
  std::vector<std::string> there, silent;
  for (const char* known : {"position", "account", "weights", "phases", "scores"})
    if (std::ranges::find(labels, known) != labels.end())
      (undefined.contains(known) ? silent : there).emplace_back(known);
  if (there.empty()) there = silent;
  if (there.empty()) throw ShapeError("offset_agreement/predicted: holds none of position, weights, phases and scores");
  return there;
}

bool AgreementHead::has_both() const {
  return std::isfinite(measured) && std::isfinite(predicted);
}

double offset_place(double offset) {
  return std::copysign(std::log2(1 + std::abs(offset)), offset);
}

std::vector<AgreementHead> agreement_heads(const Result& result, const std::string& prediction) {
  const auto& measured = doubles_of(result, measured_offset_name, {"layer", "head"});
  const auto& predicted = doubles_of(result, predicted_offset_name, {"layer", "head", "prediction"});
  const auto verdicts = meanings_of(result, agreement_verdict_name, {"layer", "head", "prediction"});
  const Field& field = result.at(predicted_offset_name);
  const FieldHeads heads = field_heads(field);
  const std::size_t kinds = labels_of(field, "prediction").size(), kind = place_of(field, "prediction", prediction);
  const auto lower = interval(result, prediction, "lower", heads.size());
  const auto upper = interval(result, prediction, "upper", heads.size());
  std::vector<AgreementHead> found;
  for (std::size_t row = 0; row < heads.size(); ++row) {
    const std::size_t at = row * kinds + kind;
    found.push_back({heads[row], measured[row], predicted[at], lower[row], upper[row], verdicts[at]});
  }
  return found;
}

std::vector<AgreementDot> agreement_dots(const std::vector<AgreementHead>& heads, double inch) {
  std::vector<AgreementHead> sorted;
  std::ranges::copy_if(heads, std::back_inserter(sorted), &AgreementHead::has_both);
  std::stable_sort(sorted.begin(), sorted.end(), [](const AgreementHead& a, const AgreementHead& b) {
    if (a.measured != b.measured) return a.measured < b.measured;
    if (a.verdict != b.verdict) return a.verdict < b.verdict;
    return a.predicted < b.predicted;
  });
  std::vector<AgreementDot> dots;
  double first = 0.0;  // y of the dot's first head
  for (const AgreementHead& head : sorted) {
    const bool agrees = head.verdict == "agrees";
    const double x = inch * offset_place(head.measured), y = inch * offset_place(head.predicted);
    if (dots.empty() || dots.back().measured != head.measured || dots.back().agrees != agrees || y - first > unseen) {
      dots.push_back({{}, head.measured, head.predicted, head.lower, head.upper, x, 0, 0, agrees});
      first = y;
    }
    AgreementDot& dot = dots.back();
    dot.lower = std::fmin(dot.lower, head.lower);
    dot.upper = std::fmax(dot.upper, head.upper);
    const auto before = static_cast<double>(dot.heads.size());
    dot.y = (dot.y * before + y) / (before + 1);
    dot.heads.push_back(head.name);
    dot.size = dot_size(dot.heads.size());
  }
  // The large ones stay where they are.
  std::stable_sort(dots.begin(), dots.end(),
                   [](const auto& a, const auto& b) { return a.heads.size() > b.heads.size(); });
  std::vector<AgreementDot> placed;
  for (AgreementDot& dot : dots) {
    move_aside(dot, placed);
    placed.push_back(dot);
  }
  return placed;
}

std::vector<DotName> dot_names(const std::vector<AgreementDot>& dots, double half) {
  constexpr std::size_t most = 8;
  constexpr double letter = 0.64 * 6 / 72, height = 6.0 / 72, clearance = 0.02;  // inches
  constexpr double far = 0.2;  // of the distance from the diagonal: nearer heads need no name
  std::vector<double> distances;
  std::vector<Box> taken;
  for (const AgreementDot& dot : dots) {
    distances.push_back(distance_of(dot));
    taken.push_back({dot.x, dot.y, dot.size, dot.size});
  }
  std::vector<DotName> names;
  for (const std::size_t d : descending(distances)) {
    const AgreementDot& dot = dots[d];
    if (dot.heads.size() > 1 || distances[d] < far || names.size() == most) continue;
    const double width = letter * static_cast<double>(head_name(dot.heads[0].layer, dot.heads[0].head).size());
    for (const double side : {1.0, -1.0}) {
      const Box box{dot.x + side * ((dot.size + width) / 2 + clearance), dot.y, width + clearance, height + clearance};
      const bool inside = std::abs(box.x) + box.width / 2 < half && std::abs(box.y) + box.height / 2 < half;
      if (!inside || std::ranges::any_of(taken, [&](const Box& other) { return box.touches(other); })) continue;
      names.push_back({d, box.x - width / 2, box.y});
      taken.push_back(box);
      break;
    }
  }
  return names;
}

namespace {

std::string no_dots(const Result& result, const FigureOptions& /*options*/) {
  for (const std::string& prediction : agreement_predictions(result))
    if (std::ranges::any_of(agreement_heads(result, prediction), &AgreementHead::has_both)) return "";
  return "no head has both a measured and a predicted offset";
}

}  // namespace

FigureKind offset_agreement_figure() {
  return {.name = "offset_agreement",
          .fields = {predicted_offset_name, measured_offset_name, agreement_verdict_name},
          .extras = {"phase_delay/lower", "phase_delay/upper", "rotary_wave/lower", "rotary_wave/upper",
                     "rotary_wave/status", "delay_spectrum/lower", "delay_spectrum/upper"},
          .caption =
              "Predicted against measured offsets, in tokens, on axes that are logarithmic further out: predicted "
              "by what the account gives to positions (position), from weights alone, from phases and from scores. "
              "Bars: bootstrap intervals; grey area: what counts as agreement. Grey dots: heads that look at their "
              "own token and were predicted to. A number counts heads in one place; heads far from the diagonal are "
              "named. The line below: what always predicting one offset would reach.",
          .drawing = draw_offset_agreement,
          .silent = no_dots};
}

}  // namespace headwave
