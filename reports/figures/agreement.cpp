// Predicted against measured offsets.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../drawing/visible_text.h"
#include "../tables/head_findings.h"
#include "../tables/head_table.h"
#include "chosen_heads.h"

namespace headwave {

namespace {

constexpr const char *measured_offset_name = "offset_agreement/measured",
                     *predicted_offset_name = "offset_agreement/predicted",
                     *agreement_verdict_name = "offset_agreement/verdict";

/// One prediction for one head. Tokens; NaN: undefined.
struct PredictedHead {
  HeadName name;
  double measured = 0, predicted = 0;
  double lower = 0, upper = 0;  // interval of the prediction; NaN: it has none
  std::string verdict;          // "agrees", "differs", "unpredicted", "unrealised", "undefined"

  [[nodiscard]] bool has_both() const { return std::isfinite(measured) && std::isfinite(predicted); }
};

/// The known predictions that predict an offset for any head; all known ones if none does. Other names come from anywhere
/// and are not drawn.
std::vector<std::string> drawn_predictions(const Result& result) {
  const auto& labels = labels_of(result.at(predicted_offset_name), "prediction");
  const std::set<std::string> undefined = undefined_for_all(result);
  std::vector<std::string> there, silent;
  for (const char* known : {"position", "weights", "phases"})
    if (std::ranges::find(labels, known) != labels.end())
      (undefined.contains(known) ? silent : there).emplace_back(known);
  if (there.empty()) there = silent;
  if (there.empty()) throw ShapeError("offset_agreement/predicted: holds none of position, weights and phases");
  return there;
}

std::vector<PredictedHead> predicted_heads(const Result& result, const std::string& prediction) {
  const auto& measured = doubles_of(result, measured_offset_name, {"layer", "head"});
  const auto& predicted = doubles_of(result, predicted_offset_name, {"layer", "head", "prediction"});
  const auto verdicts = meanings_of(result, agreement_verdict_name, {"layer", "head", "prediction"});
  const Field& field = result.at(predicted_offset_name);
  const FieldHeads heads = field_heads(field);
  const std::size_t kinds = labels_of(field, "prediction").size(), kind = place_of(field, "prediction", prediction);
  const std::string group = prediction == "phases" ? phases_group(result) : "";
  const auto lower = numbers_of_heads(result, group + "lower", heads);
  const auto upper = numbers_of_heads(result, group + "upper", heads);
  std::vector<PredictedHead> found;
  for (std::size_t row = 0; row < heads.size(); ++row) {
    const std::size_t at = row * kinds + kind;
    found.push_back({heads[row], measured[row], predicted[at], lower[row], upper[row], verdicts[at]});
  }
  return found;
}

/// The place of an offset on an axis that is even about 0 and logarithmic further out: sign(t) log2(1 + |t|).
double offset_place(double offset) {
  return std::copysign(std::log2(1 + std::abs(offset)), offset);
}

/// One dot; heads too close to be told apart share it.
struct AgreementDot {
  std::vector<HeadName> heads;
  double measured = 0, predicted = 0;  // tokens, of the first head
  double lower = 0, upper = 0;         // over all of them; NaN: no interval
  double x = 0, y = 0;                 // inches from where 0 meets 0; moved aside where dots would cover each other
  double size = 0;                     // inches: room for the number of heads where there are several
  bool agrees = false;
};

/// Moves a dot aside until it covers none of those before it, if a few steps are enough.
void move_aside(AgreementDot& dot, const std::vector<AgreementDot>& before) {
  constexpr double lane = 0.035;  // inches
  constexpr int most_lanes = 4;   // on either side
  const double x = dot.x;
  for (int step = 0; step <= 2 * most_lanes; ++step) {
    dot.x = x + lane * ((step + 1) / 2) * (step % 2 == 1 ? 1 : -1);
    const bool free = std::ranges::none_of(before, [&](const AgreementDot& other) {
      return std::hypot(dot.x - other.x, dot.y - other.y) < 0.48 * (dot.size + other.size);
    });
    if (free) return;
  }
  dot.x = x;
}

/// The dots of heads with both a measured and a predicted offset, large ones first.
/// @param inch  inches to one unit of offset_place()
std::vector<AgreementDot> agreement_dots(std::vector<PredictedHead> heads, double inch) {
  constexpr double unseen = 0.03;  // inches by which dots may differ and still be drawn as one
  std::erase_if(heads, [](const PredictedHead& head) { return !head.has_both(); });
  std::ranges::stable_sort(
      heads, {}, [](const PredictedHead& head) { return std::tuple(head.measured, head.verdict, head.predicted); });
  std::vector<AgreementDot> dots;
  double first = 0.0;  // y of the dot's first head
  for (const PredictedHead& head : heads) {
    const bool agrees = head.verdict == "agrees";
    const double x = inch * offset_place(head.measured), y = inch * offset_place(head.predicted);
    if (dots.empty() || dots.back().measured != head.measured || dots.back().agrees != agrees || y - first > unseen) {
      dots.push_back({{}, head.measured, head.predicted, head.lower, head.upper, x, 0, 0, agrees});
      first = y;
    }
    AgreementDot& dot = dots.back();
    dot.lower = std::fmin(dot.lower, head.lower);
    dot.upper = std::fmax(dot.upper, head.upper);
    dot.heads.push_back(head.name);
    const std::size_t count = dot.heads.size();
    dot.y += (y - dot.y) / static_cast<double>(count);
    dot.size = count == 1 ? 0.06 : count < 10 ? 0.105 : count < 100 ? 0.14 : 0.18;
  }
  std::ranges::stable_sort(dots, std::greater(), [](const AgreementDot& dot) { return dot.heads.size(); });
  std::vector<AgreementDot> placed;
  for (AgreementDot& dot : dots) {
    move_aside(dot, placed);
    placed.push_back(dot);
  }
  return placed;
}

/// Names the heads that differ most, right or left of their dots, at most eight: one that would touch a dot, another name
/// or the panel's edge is omitted. Dots of several heads have no name.
void name_dots(Panel& panel, const std::vector<AgreementDot>& dots) {
  constexpr std::size_t most = 8;
  constexpr double letter = 0.64 * 6 / 72, high = 6.0 / 72, clearance = 0.02;  // inches
  constexpr double far = 0.2;  // of the distance from the diagonal: nearer heads need no name
  const double half = panel.width() / 2;
  struct Box {
    double x, y, width, height;  // of the middle
  };
  std::vector<double> distances;
  std::vector<Box> taken;
  for (const AgreementDot& dot : dots) {
    distances.push_back(dot.agrees ? 0.0 : std::abs(offset_place(dot.predicted) - offset_place(dot.measured)));
    taken.push_back({dot.x, dot.y, dot.size, dot.size});
  }
  std::size_t names = 0;
  for (const std::size_t d : descending(distances)) {
    const AgreementDot& dot = dots[d];
    if (dot.heads.size() > 1 || distances[d] < far || names == most) continue;
    const std::string name = head_name(dot.heads[0].layer, dot.heads[0].head);
    const double width = letter * static_cast<double>(name.size());
    for (const double side : {1.0, -1.0}) {
      const Box box{dot.x + side * ((dot.size + width) / 2 + clearance), dot.y, width + clearance, high + clearance};
      const bool inside = std::abs(box.x) + box.width / 2 < half && std::abs(box.y) + box.height / 2 < half;
      const bool touches = std::ranges::any_of(taken, [&](const Box& other) {
        return std::abs(box.x - other.x) < (box.width + other.width) / 2 &&
               std::abs(box.y - other.y) < (box.height + other.height) / 2;
      });
      if (!inside || touches) continue;
      panel.note(name, {value(box.x - width / 2), value(box.y)}, {.points = 6, .front = true});
      taken.push_back(box);
      ++names;
      break;
    }
  }
}

constexpr double usual_width = 2.15;  // inches of a panel

/// What the panels have in common, in tokens.
struct Plane {
  double reach = 3;
  double tolerance = 0;  // 0: not said

  /// Inches to one unit of offset_place().
  [[nodiscard]] double inch(const Panel& panel) const { return (panel.width() / 2 - 0.14) / offset_place(reach); }
};

/// What always naming one offset would meet: without it a count of agreements says little.
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

/// Round offsets as far apart as their numbers need.
std::vector<Tic> offset_tics(const Plane& plane, double inch) {
  std::vector<Tic> all{{0, "0"}};
  double last = 0.0;
  for (const double t : {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}) {
    const double place = inch * offset_place(t);
    if (t > plane.reach || place - last < 0.27) continue;
    all.push_back({place, fmt::format("{:g}", t)});
    all.push_back({-place, fmt::format("−{:g}", t)});
    last = place;
  }
  return all;
}

/// The prediction's name and how many heads came to which verdict.
void add_verdicts(Panel& panel, const std::string& prediction, const std::vector<PredictedHead>& heads) {
  const auto count = [&](const char* verdict) { return std::ranges::count(heads, verdict, &PredictedHead::verdict); };
  // Heads that look at their own token and were predicted to: that needs no wave, so they are counted by
  // themselves.
  const auto zeros = std::ranges::count_if(
      heads, [](const PredictedHead& head) { return head.verdict == "agrees" && head.measured == 0; });
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

/// What counts as meeting: predicted offsets within the tolerance of the measured one.
void add_tolerance(Panel& panel, const Plane& plane) {
  constexpr int steps = 240;
  const double end = panel.width() / 2, inch = plane.inch(panel);
  std::vector<double> places, low, high;
  for (int i = -steps; i <= steps; ++i) {
    const double place = end * i / steps, t = std::copysign(std::exp2(std::abs(place) / inch) - 1, place);
    places.push_back(place);
    low.push_back(inch * offset_place(t - plane.tolerance));
    high.push_back(inch * offset_place(t + plane.tolerance));
  }
  panel.band(places, low, high, ink::tolerance);
  panel.curve(places, places, {ink::reference, 0.8});
}

void add_agreement(Panel& panel, const Plane& plane, const std::string& prediction,
                   const std::vector<PredictedHead>& heads) {
  const double end = panel.width() / 2, inch = plane.inch(panel);
  add_verdicts(panel, prediction, heads);
  panel.x.range = panel.y.range = {-end, end};
  panel.x.tics.named = panel.y.tics.named = offset_tics(plane, inch);
  panel.vertical(0, {ink::pale_zero_line, 0.7});
  panel.level(0, {ink::pale_zero_line, 0.7});
  add_tolerance(panel, plane);
  const auto dots = agreement_dots(heads, inch);
  name_dots(panel, dots);
  if (dots.empty())
    panel.note("no head has both offsets", {share(0.5), share(0.06)},
               {.points = 7, .ink = ink::note, .anchor = Anchor::center, .front = true});
  const auto cut = [&](double t) { return std::isnan(t) ? t : std::clamp(inch * offset_place(t), -end, end); };
  for (const Ink& ink : {ink::chance, ink::differs, ink::agrees}) {  // grey: heads that agree on 0
    Rows sizes, intervals, numbers;
    for (const AgreementDot& dot : dots) {
      const Ink& own = !dot.agrees ? ink::differs : dot.measured == 0 ? ink::chance : ink::agrees;
      if (own.color != ink.color) continue;
      sizes.push_back({dot.x, dot.y, dot.size / 0.087});  // a dot of size 1 has 0.087 inches
      intervals.push_back({dot.x, cut(dot.lower), 0.0, cut(dot.upper) - cut(dot.lower)});
      if (dot.heads.size() > 1) numbers.push_back({dot.x, dot.y, fmt::format("{}", dot.heads.size())});
    }
    panel.strokes(intervals, {ink, 0.8});
    panel.dots(sizes, {.ink = ink, .shape = ink.color == ink::differs.color ? Shape::square : Shape::disc});
    panel.texts(numbers, {.points = 6, .bold = true, .ink = ink::paper, .anchor = Anchor::center});
  }
}

Figure draw_offset_agreement(const Result& result, const FigureOptions& options) {
  const std::vector<std::string> predictions = drawn_predictions(result);
  std::vector<std::vector<PredictedHead>> heads;
  for (const std::string& prediction : predictions) heads.push_back(predicted_heads(result, prediction));
  FigurePanels panels{
      .grid = {.panel = {usual_width}, .gap = {0.22, 1.12}, .margin = {.left = 0.6, .right = 0.1, .top = 0.62}},
      .in_row = predictions.size() == 4 ? 2U : 3U,
      .least = 1.9,
      .tallest = predictions.size() == 1 ? 0.7 : 0,
      .flatness = 1,
      .x = {.title = "measured offset (tokens)"},
      .y = {.common = true, .title = "predicted offset (tokens)", .away = 0.44},
      .notes = baselines_of(result)};
  std::size_t shown = lowered_to_fit(panels, predictions.size(), options.style);
  if (shown < predictions.size()) {
    panels.in_row = 3;
    shown = lowered_to_fit(panels, predictions.size() - 1, options.style);
  }
  if (shown < predictions.size())
    panels.cut = fmt::format("{} of {} predictions: the page holds no more", shown, predictions.size());
  Plane plane;
  for (std::size_t p = 0; p < shown; ++p)
    for (const PredictedHead& head : heads[p])
      if (head.has_both()) plane.reach = std::max({plane.reach, std::abs(head.measured), std::abs(head.predicted)});
  const double tolerance = attribute_number(result.at(agreement_verdict_name).attributes, "tolerance", 0);
  if (tolerance > 0) plane.tolerance = std::min(tolerance, plane.reach);
  panels.fill = [&](Panel& panel, std::size_t k) { add_agreement(panel, plane, predictions[k], heads[k]); };
  return drawn_panels(panels, shown, options.style);
}

std::string no_dots(const Result& result, const FigureOptions& /*options*/) {
  for (const std::string& prediction : drawn_predictions(result))
    if (std::ranges::any_of(predicted_heads(result, prediction), &PredictedHead::has_both)) return "";
  return "no head has both a measured and a predicted offset";
}

}  // namespace

std::vector<FigureKind> agreement_figures() {
  return {{.name = "offset_agreement",
           .fields = {predicted_offset_name, measured_offset_name, agreement_verdict_name},
           .extras = {"phase_delay/lower", "phase_delay/upper", "rotary_wave/lower", "rotary_wave/upper",
                      "rotary_wave/status"},
           .caption =
               "Predicted against measured offsets, in tokens, on axes that are logarithmic further out: predicted "
               "by what the account gives to positions (position), from weights alone and from phases. "
               "Bars: bootstrap intervals; grey area: what counts as agreement. Grey dots: heads that look at their "
               "own token and were predicted to. A number counts heads in one place; heads far from the diagonal are "
               "named. The line below: what always predicting one offset would reach.",
           .drawing = draw_offset_agreement,
           .silent = no_dots}};
}

}  // namespace headwave
