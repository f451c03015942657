#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "../drawing/palette.h"
#include "../drawing/panels.h"
#include "cluster_figures.h"
#include "cluster_peaks.h"

namespace headwave {

namespace {

constexpr const char* share_name = "head_cluster/share";
constexpr double radius = 0.42;  // of the distance between two pies

struct Shares {
  const std::vector<double>* values = nullptr;  // (layers, heads, clusters)
  std::vector<Index> layers, heads, clusters;
};

/// Slices of one cluster over all heads: `column` and `row` are the pie's place, `begin` and `end` turns clockwise from
/// the top.
DataTable slices_of(const Shares& shares, std::size_t cluster) {
  DataTable table({"layer", "head", "cluster", "share", "column", "row", "begin", "end"});
  const std::size_t heads = shares.heads.size();
  const auto size = [](double share) { return std::isfinite(share) && share > 0 ? share : 0.0; };
  for (std::size_t pie = 0; pie < shares.layers.size() * heads; ++pie) {
    const double* share = shares.values->data() + pie * shares.clusters.size();
    double before = 0.0;
    double whole = 0.0;
    for (std::size_t c = 0; c < shares.clusters.size(); ++c) {
      whole += size(share[c]);
      if (c < cluster) before += size(share[c]);
    }
    const double begin = whole > 0 ? before / whole : 0.0;
    const double end = whole > 0 ? (before + size(share[cluster])) / whole : 0.0;
    table.add_row({shares.layers[pie / heads], shares.heads[pie % heads], shares.clusters[cluster], share[cluster],
                   static_cast<Index>(pie % heads), static_cast<Index>(pie / heads), begin, end});
  }
  return table;
}

/// Names every n-th line of the grid, so that the numbers of many heads do not touch.
std::string tics(const std::vector<Index>& numbers) {
  const std::size_t every = numbers.size() > 40 ? 4 : numbers.size() > 20 ? 2 : 1;
  std::string list;
  for (std::size_t i = 0; i < numbers.size(); i += every)
    list += fmt::format("{}\"{}\" {}", i == 0 ? "" : ", ", numbers[i], i);
  return "(" + list + ")";
}

constexpr double legend_line = 0.17;  // inches

/// Dots with the cluster's number and the offset of its peak, in one column right of the pies.
std::string legend(const PanelGrid& grid, const std::vector<Index>& clusters, const std::vector<double>& peaks) {
  const double x = grid.panel_left(0) + grid.panel_width + 0.16;
  double y = grid.height() - grid.top - 0.08;
  std::string commands = fmt::format("set label \"{}\" at {} left font \"sans-serif,7\"",
                                     peaks.empty() ? "cluster" : "cluster: peak offset", grid.page(x - 0.06, y));
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    const std::string peak = c < peaks.size() ? ": " + signed_offset(peaks[c]) : "";
    y -= legend_line;
    commands += fmt::format("\nset label \"\" at {} point pt 7 ps 0.8 lc rgb \"{}\"\nset label \"{}{}\" at {} left",
                            grid.page(x, y), categorical_color(clusters[c]), clusters[c], peak, grid.page(x + 0.1, y));
  }
  return commands;
}

PanelGrid page_of(const Shares& shares) {
  const auto across = static_cast<double>(shares.heads.size());
  const auto down = static_cast<double>(shares.layers.size());
  const double cell = std::clamp(5.2 / std::max(across, down), 0.2, 0.5);
  PanelGrid grid;
  grid.panel_width = cell * across;
  grid.panel_height = cell * down;
  grid.left = 0.5;
  grid.bottom = 0.42;
  grid.top = 0.1;
  grid.right = 1.3;
  // The legend beside the pies may be taller than few layers.
  const double legend_height = legend_line * static_cast<double>(shares.clusters.size() + 1);
  grid.bottom += std::max(0.0, legend_height - grid.panel_height - grid.bottom);
  return grid;
}

}  // namespace

GnuplotFigure cluster_shares_figure(const Result& result, const FigureOptions& /*options*/) {
  const Field& field = result.at(share_name);
  const Shares shares{&doubles_of(result, share_name, {"layer", "head", "cluster"}), whole_coordinates(field, "layer"),
                      whole_coordinates(field, "head"), whole_coordinates(field, "cluster")};
  if (shares.values->empty()) throw ShapeError(fmt::format("{}: holds no share to draw", share_name));
  const auto peaks = result.find("head_cluster/centroid") != nullptr ? cluster_peaks(result) : std::vector<double>{};

  const PanelGrid grid = page_of(shares);
  GnuplotFigure figure(grid.width(), grid.height());
  figure.add(house_style());
  figure.add(grid.place(0, 0));
  figure.add("set border 0 lc rgb \"#ffffff\"\nset tics scale 0 textcolor rgb \"#404040\"\nset angles degrees");
  figure.add(fmt::format("set xrange [-0.5:{}]\nset yrange [{}:-0.5]", static_cast<double>(shares.heads.size()) - 0.5,
                         static_cast<double>(shares.layers.size()) - 0.5));
  figure.add(
      fmt::format("set xtics {} offset 0,0.4\nset ytics {} offset 0.5,0", tics(shares.heads), tics(shares.layers)));
  figure.add(grid.title_below(0, 0, "head", 0.3));
  figure.add(grid.title_left(0, 0, "layer", 0.32));
  figure.add("set style fill solid 1.0 noborder");
  std::string plot;
  for (std::size_t c = 0; c < shares.clusters.size(); ++c) {
    const std::string color = categorical_color(shares.clusters[c]);
    // gnuplot counts angles anticlockwise from the right, takes an empty slice for a whole circle and draws nothing
    // where a whole one does not begin at 0.
    plot += fmt::format(
        "{}\"{}\" using 5:6:($8>$7?{}:NaN):($8-$7<1?90-360*$8:0):($8-$7<1?90-360*$7:360) with circles lc rgb \"{}\" "
        "notitle",
        c == 0 ? "plot " : ", ", figure.add_numbers(slices_of(shares, c)), radius, color);
  }
  figure.add(legend(grid, shares.clusters, peaks));
  figure.add(plot);
  return figure;
}

}  // namespace headwave
