#include "offset_by_query_figure.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "../drawing/page.h"
#include "../drawing/pixels.h"
#include "chosen_heads.h"
#include "cluster_peaks.h"
#include "offset_bands.h"

namespace headwave {

namespace {

constexpr std::size_t most_band_heads = 4;
constexpr double least_weight = 1e-4;  // of a query's attention in one cell: what is less is drawn as that

PanelGrid band_grid(std::size_t heads, const OffsetBands& bands, const FigureStyle& style) {
  PanelGrid grid;
  grid.panel_width = 2.6;
  grid.panel_height = std::max(0.8, 0.15 * static_cast<double>(bands.first.size()));
  grid.gap_x = 1.45;
  grid.gap_y = 0.5;
  grid.left = 0.76;
  grid.right = 1.2;
  grid.bottom = 0.6;
  grid.top = 0.36;
  return fitted(flowing(grid, heads, 2), heads, 1.5, style);
}

/// The heads asked for; else those with the largest peaks, then the clearest ones.
std::vector<ChosenHead> heads_with_peaks(const Result& result, const OffsetBands& bands, const FigureOptions& options) {
  FigureOptions those = options;
  if (those.heads.empty()) those.heads = bands.with_largest_peaks(most_band_heads);
  return chosen_heads(result, OffsetBands::profile_name, those, most_band_heads);
}

void add_axes(Panel& panel, const OffsetBands& bands, bool lowest) {
  const auto rows = static_cast<double>(bands.first.size());
  std::vector<Tic> positions, offsets;
  for (std::size_t b = 0; b < bands.first.size(); ++b)
    positions.push_back({static_cast<double>(b), fmt::format("{}–{}", bands.first[b], bands.last[b])});
  for (const double t : bands.tics()) offsets.push_back({bands.place(t), signed_offset(t)});
  panel.x_axis({0, static_cast<double>(bands.units.size())},
               {.named = offsets, .numbers = lowest ? Numbers::plain : Numbers::none, .points = 6.5});
  panel.y_axis({rows - 0.5, -0.5}, {.named = positions, .points = 6.5});
}

/// Which parts of the axis are offsets by themselves, and which are bins of them.
void add_words(Panel& panel, const OffsetBands& bands, const PanelGrid& grid) {
  std::vector<double> ends{0};
  for (const double edge : bands.edges()) ends.push_back(edge);
  ends.push_back(static_cast<double>(bands.units.size()));
  for (std::size_t part = 1; part < ends.size(); ++part) {
    const double middle = 0.5 * (ends[part - 1] + ends[part]), zero = bands.place(0);
    const bool near = ends[part - 1] < zero && zero < ends[part];
    panel.note(near ? "each offset" : "in bins", {value(middle), share(-0.29 / grid.panel_height)},
               {.points = 6, .ink = ink::note, .anchor = Anchor::center});
  }
}

/// Weights of one head, and what is written beside the figure.
void add_weights(Page& page, Panel& panel, const OffsetBands& bands, const ChosenHead& head) {
  DataTable table({"layer", "head", "first_query", "last_query", "first_offset", "last_offset", "weight"});
  for (std::size_t b = 0; b < bands.first.size(); ++b)
    for (std::size_t bin = 0; bin < bands.bin_first.size(); ++bin)
      table.add_row({head.name.layer, head.name.head, bands.first[b], bands.last[b], bands.bin_first[bin],
                     bands.bin_last[bin], bands.weight(head.row, b, bin)});
  page.keep(table);
  const auto amount = [&](std::size_t unit, std::size_t band) {
    const Index bin = bands.units[unit];
    const double weight = bin < 0 ? std::nan("") : bands.weight(head.row, band, static_cast<std::size_t>(bin));
    return std::isnan(weight) ? weight : std::max(weight, least_weight);
  };
  const Cells cells{bands.units.size(), bands.first.size(), amount, [](double x) { return x + 0.5; },
                    [](double y) { return y; }};
  panel.heat_map(page.data(pixels(cells, 2, 8)));
}

void add_peaks(Page& page, Panel& panel, const OffsetBands& bands, const ChosenHead& head) {
  for (const bool by_position : {true, false}) {
    DataTable dots({"x", "y", "size"});
    for (const OffsetBands::Peak& peak : bands.peaks_of(head.row))
      if ((peak.source == "position") == by_position)
        dots.add_row({bands.place(peak.offset), static_cast<double>(peak.band), 0.5});
    const Shape shape = by_position ? Shape::disc : Shape::ring;
    if (!dots.rows().empty()) panel.dots(page.data(dots), "1:2:3", {ink::mark, 0.5, shape}, 1.4);
  }
}

/// What lies beyond the reach, band by band, beside the panel, and the largest peak there.
void add_shares(Panel& panel, const OffsetBands& bands, const PanelGrid& grid, const ChosenHead& head) {
  const auto rows = static_cast<double>(bands.first.size());
  const auto beside = [&](double inches, std::size_t band) {
    return Place{share(1 + inches / grid.panel_width), share(1 - (static_cast<double>(band) + 0.5) / rows)};
  };
  for (std::size_t b = 0; b < bands.first.size(); ++b) {
    const double beyond = bands.band_share(head.row, b);
    panel.note(std::isnan(beyond) ? "–" : fmt::format("{:.0f} %", 100 * beyond), beside(0.31, b),
               {.points = 6.5, .ink = ink::number, .anchor = Anchor::right});
  }
  for (const OffsetBands::Peak& peak : bands.peaks_of(head.row))
    if (peak.first)
      panel.note(signed_offset(peak.offset), beside(0.36, peak.band), {.points = 6.5, .bold = true, .ink = ink::mark});
  const double all = bands.share(head.row);
  panel.above(head_name(head.name.layer, head.name.head), Anchor::left, {.points = 8, .bold = true, .up = 0.5});
  panel.above(std::isnan(all) ? fmt::format("nothing beyond {:g}", bands.reach)
                              : fmt::format("{:.0f} % beyond {:g}", 100 * all, bands.reach),
              Anchor::right, {.points = 7, .ink = ink::number, .up = 0.5});
}

void add_color_bar(Page& page, Panel& panel) {
  const PanelGrid& grid = page.grid();
  const double x = grid.panel_left(grid.columns - 1) + grid.panel_width + 0.76, y = grid.panel_bottom(0);
  panel.color_bar({.x = x,
                   .y = y,
                   .height = grid.panel_height,
                   .tics = {.named = {{1, "1"}, {0.1, "0.1"}, {0.01, "0.01"}, {1e-3, "0.001"}, {least_weight, "1e-4"}},
                            .points = 6.5}});
  panel.note("weight", grid.at(x, y + grid.panel_height + 0.1), {.points = 6.5});
}

GnuplotFigure draw_offset_by_query(const Result& result, const FigureOptions& options) {
  const OffsetBands bands = offset_bands(result);
  const auto heads = heads_with_peaks(result, bands, options);
  Page page(band_grid(heads.size(), bands, options.style), options.style);
  const std::size_t last_of_first_row = std::min(heads.size(), static_cast<std::size_t>(page.grid().columns)) - 1;
  for (std::size_t k = 0; k < heads.size(); ++k) {
    Panel& panel = page.panel(k);
    add_axes(panel, bands, page.grid().is_lowest(k, heads.size()));
    if (page.grid().is_lowest(k, heads.size())) add_words(panel, bands, page.grid());
    panel.rectangle({share(0), share(0)}, {share(1), share(1)}, ink::shade_on_paper);
    panel.color_range({least_weight, 1}, true);
    if (k == last_of_first_row) add_color_bar(page, panel);
    add_weights(page, panel, bands, heads[k]);
    for (const double edge : bands.edges()) panel.vertical(edge, {ink::strong_guide, 1.2});
    add_peaks(page, panel, bands, heads[k]);
    add_shares(panel, bands, page.grid(), heads[k]);
  }
  page.title_below("offset t = key − query (tokens)");
  page.title_left("query position (tokens)");
  return page.figure();
}

}  // namespace

FigureKind offset_by_query_figure() {
  return {"offset_by_query",
          {OffsetBands::profile_name, "offset_by_query/share_beyond", "offset_by_query/band_share",
           "offset_by_query/peak_offset", "offset_by_query/peak_source", "offset_by_query/peak_excess",
           "offset_by_query/band_last", "offset_by_query/bin_first", "offset_by_query/bin_last"},
          clearness_fields(),
          "Where attention goes, by where its query stands: mean attention weight of a band's queries, rows down, at "
          "each offset t = key position minus query position; each by itself between the two lines, summed over bins "
          "of growing width beyond. A row sums to 1; grey is where no query of the band has a key. The percentages "
          "beside it are what of the band's attention lands beyond the lines. Dots mark single offsets there at which "
          "attention piles up, the largest of a band with its offset beside it: filled where mean queries and keys of "
          "their places alone bring it about, as an alias of the wave does, hollow where they do not or it is not "
          "known. Weights "
          "below 1e-4 are drawn as that.",
          draw_offset_by_query};
}

}  // namespace headwave
