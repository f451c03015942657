#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "../drawing/palette.h"
#include "../drawing/panels.h"
#include "cluster_figures.h"

namespace headwave {

namespace {

struct Measure {
  const char* field;
  const char* label;
};

constexpr std::array measures{
    Measure{"head_cluster/sweep_inertia", "inertia"},
    Measure{"head_cluster/sweep_silhouette", "mean silhouette"},
    Measure{"head_cluster/sweep_stability", "stability (ARI)"},
};

/// A power of 1000 that brings large numbers below 1000, and how it is written behind a label.
struct Scale {
  double factor = 1.0;
  std::string text;
};

Scale scale_of(double largest) {
  constexpr std::array powers{"", "10³", "10⁶", "10⁹", "10¹²"};
  Scale scale;
  for (std::size_t p = 1; p < powers.size() && largest >= 1000 * scale.factor; ++p)
    scale = {scale.factor * 1000, fmt::format(" / {}", powers[p])};
  return scale;
}

std::string panel(const PanelGrid& grid, std::size_t m, const std::vector<double>& values, const std::string& file) {
  const ValueRange range = range_with_zero(values);
  const Scale scale = scale_of(range.high);
  const auto column = static_cast<Index>(m);
  return grid.place(0, column) + '\n' + grid.title_below(0, column, "number of clusters") + '\n' +
         grid.title_left(0, column, measures[m].label + scale.text, 0.42) +
         fmt::format("\nset yrange [{}:{}]\nset ytics {}\nplot \"{}\" using 1:(${}/{}) with linespoints {} ps 0.5",
                     range.low / scale.factor, range.high / scale.factor,
                     tic_step((range.high - range.low) / scale.factor), file, m + 2, scale.factor, line_style(0));
}

}  // namespace

GnuplotFigure cluster_sweep_figure(const Result& result, const FigureOptions& /*options*/) {
  const auto clusters = whole_coordinates(result.at(measures[0].field), "clusters");
  std::array<const std::vector<double>*, measures.size()> values{};
  for (std::size_t m = 0; m < measures.size(); ++m) {
    values[m] = &doubles_of(result, measures[m].field, {"clusters"});
    if (values[m]->size() != clusters.size() || clusters.empty())
      throw ShapeError(fmt::format("{}: expected {} numbers of clusters, found {}; at least one is needed",
                                   measures[m].field, clusters.size(), values[m]->size()));
  }
  DataTable table({"clusters", "inertia", "silhouette", "stability"});
  for (std::size_t k = 0; k < clusters.size(); ++k)
    table.add_row({clusters[k], (*values[0])[k], (*values[1])[k], (*values[2])[k]});

  PanelGrid grid;
  grid.columns = measures.size();
  grid.panel_width = 1.75;
  grid.panel_height = 1.45;
  grid.gap_x = 0.68;
  grid.left = 0.58;
  grid.top = 0.1;
  GnuplotFigure figure(grid.width(), grid.height());
  const std::string file = figure.add_numbers(table);
  figure.add(house_style());
  figure.add("set multiplot");
  const auto [few, many] = std::minmax_element(clusters.begin(), clusters.end());
  figure.add(fmt::format("set xrange [{}:{}]", static_cast<double>(*few) - 0.5, static_cast<double>(*many) + 0.5));
  figure.add(fmt::format("set xtics {}", *many - *few > 12 ? 4 : *many - *few > 6 ? 2 : 1));
  if (const Field* centroid = result.find("head_cluster/centroid"))
    figure.add(
        fmt::format("set arrow 1 from {0}, graph 0 to {0}, graph 1 nohead back lc rgb \"#808080\" lw 0.6 dt \"-\"",
                    centroid->axis("cluster").size()));
  for (std::size_t m = 0; m < measures.size(); ++m) figure.add(panel(grid, m, *values[m], file));
  figure.add("unset multiplot");
  return figure;
}

}  // namespace headwave
