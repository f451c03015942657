#include "offset_profile_figure.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "../../core/fields/head_name.h"
#include "../drawing/field_values.h"
#include "../drawing/panels.h"
#include "cluster_peaks.h"

namespace headwave {

namespace {

constexpr double window = 16.0;     // tokens on either side
constexpr double weak_ratio = 2.0;  // of weight to threshold
constexpr std::size_t most_panels = 128 * 128;
constexpr const char* blue = "#0072B2";
constexpr const char* grey = "#808080";
constexpr const char* vermillion = "#D55E00";

struct Profiles {
  std::vector<Index> layers, heads;
  std::vector<double> offsets;   // within the window
  std::vector<double> weights;   // (layers, heads, offsets)
  std::vector<double> measured;  // (layers, heads) NaN: undefined; empty: not in the result
  std::vector<double> ratio;     // (layers, heads) of the weight there to what it had to exceed; empty: not known
};

Profiles profiles_of(const Result& result, const std::string& pairs) {
  constexpr const char* name = "offset_trace/mean_weight";
  const auto& all = doubles_of(result, name, {"pairs", "layer", "head", "offset"});
  const Field& field = result.at(name);
  const auto offsets = coordinates(field, "offset");
  Profiles profiles{whole_coordinates(field, "layer"), whole_coordinates(field, "head"), {}, {}, {}, {}};
  const std::size_t rows = profiles.layers.size() * profiles.heads.size();
  if (rows > most_panels)
    throw ShapeError(fmt::format("{}: {} heads are too many to draw, {} at most", name, rows, most_panels));
  const std::size_t first = place_of(field, "pairs", pairs) * rows;
  for (const double t : offsets)
    if (std::abs(t) <= window) profiles.offsets.push_back(t);
  if (rows == 0 || profiles.offsets.empty()) throw ShapeError(fmt::format("{}: holds no offsets to draw", name));
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t t = 0; t < offsets.size(); ++t)
      if (std::abs(offsets[t]) <= window) profiles.weights.push_back(all[(first + row) * offsets.size() + t]);
  if (result.find("measured_offset/offset") != nullptr) {
    profiles.measured = head_doubles(result, "measured_offset/offset", pairs);
    if (profiles.measured.size() != rows)
      throw ShapeError(fmt::format("measured_offset/offset: expected {} heads as in {}, found {}", rows, name,
                                   profiles.measured.size()));
  }
  if (result.find("measured_offset/threshold") != nullptr && result.find("measured_offset/weight") != nullptr) {
    const auto weight = head_doubles(result, "measured_offset/weight", pairs);
    const auto threshold = head_doubles(result, "measured_offset/threshold", pairs);
    for (std::size_t row = 0; row < std::min(weight.size(), threshold.size()); ++row)
      profiles.ratio.push_back(weight[row] / threshold[row]);
  }
  return profiles;
}

/// Few heads are drawn large, many as small as text can still be read on a screen.
PanelGrid grid_of(const Profiles& profiles) {
  PanelGrid grid;
  grid.rows = static_cast<Index>(profiles.layers.size());
  grid.columns = static_cast<Index>(profiles.heads.size());
  const double across = static_cast<double>(std::max(grid.columns, grid.rows));
  grid.panel_width = std::clamp(8.4 / across, 0.56, 1.9);
  grid.panel_height = grid.panel_width * (grid.columns <= 4 ? 0.6 : 0.66);
  grid.gap_x = 0.08;
  grid.gap_y = 0.19;
  grid.left = 0.32;
  grid.bottom = 0.44;
  grid.right = 0.12;
  grid.top = 0.2;
  return grid;
}

double peak_of(const Profiles& profiles, std::size_t row) {
  double peak = 0.0;
  for (std::size_t t = 0; t < profiles.offsets.size(); ++t) {
    const double weight = profiles.weights[row * profiles.offsets.size() + t];
    if (std::isfinite(weight)) peak = std::max(peak, weight);
  }
  return peak;
}

/// How large letters are and where they stand, in parts of the panel's height.
struct Lettering {
  double points = 5.0;
  double panel = 30.0;  ///< height of the panel in points
  [[nodiscard]] double above_frame() const { return (points * 0.5 + 2.5) / panel; }
  [[nodiscard]] double above_dot() const { return (points * 0.5 + 2.2) / panel; }
  [[nodiscard]] double top() const {
    return 1 / (1 - (points + 4.0) / panel);
  }  ///< end of the y axis: room for the number
};

/// The measured offset's dot and number, or an arrow at the edge where it is out of sight. The dot is hollow where the
/// offset is told from chance but weak.
std::string mark(double offset, double height, bool weak, const Lettering& lettering) {
  const std::string font = fmt::format("font \"sans-serif:Bold,{:.2f}\" tc rgb \"{}\"", lettering.points, vermillion);
  if (std::abs(offset) > window) {
    const std::string text = offset < 0 ? "← " + signed_offset(offset) : signed_offset(offset) + " →";
    return fmt::format("set label 3 \"{}\" at graph {}, graph {:.4f} {} {}", text, offset < 0 ? 0.03 : 0.97,
                       1 - lettering.above_frame(), offset < 0 ? "left" : "right", font);
  }
  return fmt::format("set label 3 \"{}\" at {}, {} center offset 0,graph {:.4f} {} point pt {} ps 0.3 lc rgb \"{}\"",
                     signed_offset(offset), offset, height, lettering.above_dot(), font, weak ? 6 : 7, vermillion);
}

/// One panel: the head's name, its peak, its curve.
void add_panel(GnuplotFigure& figure, const Profiles& profiles, std::size_t row, const Lettering& lettering,
               bool wide) {
  const Index layer = profiles.layers[row / profiles.heads.size()];
  const Index head = profiles.heads[row % profiles.heads.size()];
  const double measured = profiles.measured.empty() ? std::nan("") : profiles.measured[row];
  const double peak = peak_of(profiles, row);
  const double unit = peak > 0 ? peak : 1.0;
  DataTable table({"layer", "head", "offset", "mean_weight", "measured_offset"});
  double height = 1.0;
  for (std::size_t t = 0; t < profiles.offsets.size(); ++t) {
    const double weight = profiles.weights[row * profiles.offsets.size() + t];
    table.add_row({layer, head, profiles.offsets[t], weight, measured});
    if (profiles.offsets[t] == measured && std::isfinite(weight)) height = weight / unit;
  }
  const auto title = [&](int side, const std::string& text, const char* style) {
    figure.add(fmt::format("set label {} \"{}\" at graph {}, graph 1 {} offset 0,graph {:.4f} {},{:.2f}\"", side + 1,
                           text, side, side == 0 ? "left" : "right", lettering.above_frame(), style, lettering.points));
  };
  title(0, head_name(layer, head), "font \"sans-serif:Bold");
  title(1, fmt::format("{}{:.2g}", wide ? "peak " : "", peak), "tc rgb \"#606060\" font \"sans-serif");
  figure.add("unset label 3");
  const bool weak = row < profiles.ratio.size() && profiles.ratio[row] < weak_ratio;
  if (!std::isnan(measured)) figure.add(mark(measured, height, weak, lettering));
  const std::string scaled = fmt::format("\"{}\" using 3:($4/{})", figure.add_numbers(table), unit);
  figure.add(fmt::format("plot {0} with filledcurves y=0 lc rgb \"{1}\", {0} with lines lc rgb \"{1}\" lw 1.3", scaled,
                         profiles.measured.empty() || !std::isnan(measured) ? blue : grey));
}

}  // namespace

GnuplotFigure offset_profile_figure(const Result& result, const FigureOptions& options) {
  const Profiles profiles = profiles_of(result, options.pairs);
  const PanelGrid grid = grid_of(profiles);
  const Lettering lettering{std::clamp(grid.panel_width * 7.5, 4.2, 7.0), grid.panel_height * 72};

  GnuplotFigure figure(grid.width(), grid.height());
  figure.add(house_style());
  figure.add(fmt::format("set xtics -10,10,10 font \"sans-serif,{:.2f}\" offset 0,0.5", lettering.points));
  figure.add(
      fmt::format("set border 1 lw 0.6 lc rgb \"#808080\"\nunset ytics\nset xrange [-{0}:{0}]\nset yrange [0:{1:.4f}]",
                  window + 0.5, lettering.top()));
  figure.add("set style fill solid 0.22 noborder");
  figure.add("set arrow 1 from 0, graph 0 to 0, first 1 nohead back lc rgb \"#b8b8b8\" lw 0.7");
  figure.add("set multiplot");
  figure.add(fmt::format("set label 91 \"offset t = key − query (tokens)\" at {} center",
                         grid.page((grid.left + grid.width() - grid.right) / 2, 0.1)));
  figure.add(fmt::format("set label 92 \"{}\" at {} center rotate by 90",
                         grid.height() > 3 ? "mean attention weight ÷ the panel's peak" : "weight ÷ peak",
                         grid.page(0.12, (grid.bottom + grid.height() - grid.top) / 2)));
  for (Index row = 0; row < grid.rows; ++row)
    for (Index column = 0; column < grid.columns; ++column) {
      figure.add(grid.place(row, column));
      figure.add(row + 1 == grid.rows ? "set format x \"%g\"" : "set format x \"\"");
      add_panel(figure, profiles, static_cast<std::size_t>(row * grid.columns + column), lettering,
                grid.panel_width > 0.9);
      figure.add("unset label 91\nunset label 92");  // the page's own titles, drawn with the first panel
    }
  figure.add("unset multiplot");
  return figure;
}

}  // namespace headwave
