#include "offset_agreement_figure.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "../drawing/label_places.h"
#include "../drawing/panels.h"
#include "../tables/head_table.h"
#include "agreement_dots.h"

namespace headwave {

namespace {

constexpr std::array predictions{"weights", "phases", "scores"};
constexpr double margin = 0.14;          // inches between the farthest offset and the frame
constexpr double dot_inches = 0.087;     // of gnuplot's point size 1
constexpr double least_reach = 3.0;      // tokens
constexpr const char* blue = "#0072B2";  // agrees
constexpr const char* vermillion = "#D55E00";

/// What the panels have in common.
struct Plane {
  PanelGrid grid;
  double reach = least_reach;  // tokens
  double tolerance = 0;        // tokens; 0: not said
  std::string baselines;       // what stands below the panels

  /// Inches to one unit of offset_place().
  [[nodiscard]] double inch() const { return (grid.panel_width / 2 - margin) / offset_place(reach); }
};

/// What always naming one offset would meet: without it a count of agreements says little.
std::string baselines_of(const Result& result) {
  const auto columns = agreement_columns(result);
  std::string words;
  for (const TableColumn& column : columns)
    if (column.header.starts_with("always"))
      words += fmt::format("{}{} meets {}", words.empty() ? "" : ", ", column.header, column.cells.front());
  return columns.empty() ? words : fmt::format("{}: {}", columns.front().cells.front(), words);
}

Plane plane_of(const Result& result, const std::vector<std::vector<AgreementHead>>& panels) {
  Plane plane;
  plane.grid.columns = predictions.size();
  plane.grid.panel_width = plane.grid.panel_height = 2.15;
  plane.grid.gap_x = 0.22;
  plane.grid.left = 0.6;
  plane.grid.top = 0.5;
  plane.baselines = baselines_of(result);
  if (!plane.baselines.empty()) plane.grid.bottom += 0.16;
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
std::string tics(const Plane& plane, bool named) {
  std::string list = fmt::format("(\"{}\" 0", named ? "0" : "");
  double last = 0.0;
  for (const double t : {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}) {
    const double place = plane.inch() * offset_place(t);
    if (t > plane.reach || place - last < 0.21) continue;
    list +=
        named ? fmt::format(", \"{0:g}\" {1}, \"−{0:g}\" -{1}", t, place) : fmt::format(", \"\" {0}, \"\" -{0}", place);
    last = place;
  }
  return list + ")";
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

DataTable numbers_of(const std::vector<AgreementHead>& heads, const char* prediction) {
  DataTable table({"layer", "head", "prediction", "measured_offset", "predicted_offset", "lower", "upper", "verdict"});
  for (const AgreementHead& head : heads)
    table.add_row({head.name.layer, head.name.head, prediction, head.measured, head.predicted, head.lower, head.upper,
                   head.verdict});
  return table;
}

/// The dots of one verdict as gnuplot draws them, intervals cut at the frame.
DataTable dots_table(const std::vector<AgreementDot>& dots, bool agrees, const Plane& plane) {
  DataTable table({"x", "y", "size", "low", "high", "count"});
  const double end = plane.grid.panel_width / 2;
  const auto cut = [&](double t) { return std::isnan(t) ? t : std::clamp(plane.inch() * offset_place(t), -end, end); };
  for (const AgreementDot& dot : dots)
    if (dot.agrees == agrees)
      table.add_row({dot.x, dot.y, dot.size / dot_inches, cut(dot.lower), cut(dot.upper),
                     dot.heads.size() > 1 ? fmt::format("{}", dot.heads.size()) : ""});
  return table;
}

/// Names of the heads farthest from the diagonal.
std::string names_of(std::vector<AgreementDot> dots, const Plane& plane) {
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
  const LabelArea area{plane.grid.panel_width, plane.grid.panel_height, 5.5, 8};
  std::string commands;
  for (const LabelPlace& place : label_places(labelled, area))
    commands += fmt::format("set label \"{}\" at {}, {} left front font \"sans-serif,5.5\"\n", labelled[place.dot].text,
                            place.left - middle, place.middle - middle);
  return commands;
}

/// The prediction's name and how many heads came to which verdict.
std::string title(const Plane& plane, Index column, const std::vector<AgreementHead>& heads) {
  const auto count = [&](const char* verdict) {
    return std::count_if(heads.begin(), heads.end(), [&](const auto& head) { return head.verdict == verdict; });
  };
  const PanelGrid& grid = plane.grid;
  const double left = grid.panel_left(column), y = grid.panel_bottom(0) + grid.panel_height;
  std::string commands = fmt::format("set label \"{}\" at {} left font \"sans-serif:Bold,8\"\n",
                                     predictions[static_cast<std::size_t>(column)], grid.page(left, y + 0.3));
  const auto entry = [&](double x, const char* color, int point, const std::string& words) {
    commands += fmt::format(
        "set label \"\" at {} point pt {} ps 0.8 lc rgb \"{}\"\nset label \"{}\" at {} left font \"sans-serif,7\" tc "
        "rgb "
        "\"{}\"\n",
        grid.page(left + x, y + 0.3), point, color, words, grid.page(left + x + 0.08, y + 0.3), color);
  };
  entry(0.86, blue, 7, fmt::format("{} agree", count("agrees")));
  entry(1.54, vermillion, 5, fmt::format("{} differ", count("differs")));
  return commands + fmt::format(
                        "set label \"no prediction: {}, no measurement: {}, neither: {}\" at {} left font "
                        "\"sans-serif,6\" tc rgb \"#505050\"",
                        count("unpredicted"), count("unrealised"), count("undefined"), grid.page(left, y + 0.12));
}

void add_panel(GnuplotFigure& figure, const Plane& plane, Index column, const std::vector<AgreementHead>& heads) {
  const auto dots = agreement_dots(heads, plane.inch());
  const PanelGrid& grid = plane.grid;
  figure.add("unset label\n" + grid.place(0, column) + "\n" + title(plane, column, heads));
  figure.add(grid.title_below(0, column, "measured offset (tokens)"));
  if (column == 0)
    figure.add(fmt::format("set label \"{}\" at {} left font \"sans-serif,6.5\" tc rgb \"#505050\"", plane.baselines,
                           grid.page(grid.left, 0.09)));
  if (column == 0) figure.add(grid.title_left(0, column, "predicted offset (tokens)", 0.44));
  figure.add(fmt::format("set ytics {}", tics(plane, column == 0)));
  figure.add(names_of(dots, plane));
  if (dots.empty())
    figure.add(
        "set label \"no head has both offsets\" at 0, graph 0.75 center front font \"sans-serif,7\" tc rgb "
        "\"#505050\"");
  figure.keep(numbers_of(heads, predictions[static_cast<std::size_t>(column)]));
  const std::string band = figure.add_data(band_of(plane));
  std::string plot = fmt::format(
      "plot \"{0}\" using 1:3:4 with filledcurves fc rgb \"#E8E8E8\", \"{0}\" using 1:2 with lines lc rgb "
      "\"#909090\" lw 0.8",
      band);
  for (const bool agrees : {false, true}) {
    if (std::none_of(dots.begin(), dots.end(), [&](const auto& dot) { return dot.agrees == agrees; })) continue;
    plot += fmt::format(
        ", \"{0}\" using 1:4:(0):($5-$4) with vectors nohead lw 0.8 lc rgb \"{1}\", \"{0}\" using 1:2:3 with points pt "
        "{2} ps variable lc rgb \"{1}\", \"{0}\" using 1:2:6 with labels center font \"sans-serif:Bold,5\" tc rgb "
        "\"#FFFFFF\"",
        figure.add_data(dots_table(dots, agrees, plane)), agrees ? blue : vermillion, agrees ? 7 : 5);
  }
  figure.add(plot);
}

}  // namespace

GnuplotFigure offset_agreement_figure(const Result& result, const FigureOptions& /*options*/) {
  std::vector<std::vector<AgreementHead>> panels;
  for (const char* prediction : predictions) panels.push_back(agreement_heads(result, prediction));
  const Plane plane = plane_of(result, panels);
  GnuplotFigure figure(plane.grid.width(), plane.grid.height());
  figure.add(house_style());
  const double end = plane.grid.panel_width / 2;
  figure.add(fmt::format("set multiplot\nset xrange [-{0}:{0}]\nset yrange [-{0}:{0}]\nset xtics {1}", end,
                         tics(plane, true)));
  figure.add(
      "set arrow from 0, graph 0 to 0, graph 1 nohead back lc rgb \"#D8D8D8\" lw 0.7\nset arrow from graph 0, first 0 "
      "to "
      "graph 1, first 0 nohead back lc rgb \"#D8D8D8\" lw 0.7");
  for (std::size_t p = 0; p < panels.size(); ++p) add_panel(figure, plane, static_cast<Index>(p), panels[p]);
  figure.add("unset multiplot");
  return figure;
}

}  // namespace headwave
