// Where attention goes, by where its query stands.
#include "offset_by_query.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../drawing/page.h"
#include "chosen_heads.h"
#include "kinds.h"

namespace headwave {

namespace {

constexpr std::size_t most_band_heads = 4;
constexpr double least_weight = 1e-4;  // of a query's attention in one cell: smaller weights are drawn as that

void add_band_axes(Panel& panel, const OffsetBands& bands, bool lowest) {
  std::vector<Tic> positions, offsets;
  for (std::size_t b = 0; b < bands.first.size(); ++b)
    positions.push_back({static_cast<double>(b), fmt::format("{}–{}", bands.first[b], bands.last[b])});
  for (const double t : bands.tics()) offsets.push_back({bands.place(t), signed_offset(t)});
  const auto end = static_cast<double>(bands.units.size());
  panel.x_axis({0, end}, {.named = offsets, .numbers = lowest ? Numbers::plain : Numbers::none, .points = 6.5});
  panel.y_cells(bands.first.size(), {.named = positions, .points = 6.5});
  if (!lowest) return;
  // Which parts of the axis are offsets by themselves, and which are bins of them.
  std::vector<double> ends = bands.edges();
  ends.insert(ends.begin(), 0);
  ends.push_back(end);
  for (std::size_t part = 1; part < ends.size(); ++part) {
    const double zero = bands.place(0);
    const bool near = ends[part - 1] < zero && zero < ends[part];
    panel.note(near ? "each offset" : "in bins",
               {value(0.5 * (ends[part - 1] + ends[part])), share(-0.29 / panel.height())},
               {.points = 6, .ink = ink::note, .anchor = Anchor::center});
  }
}

/// Weights of one head, and what is written beside the figure.
void add_band_weights(Page& page, Panel& panel, const OffsetBands& bands, const ChosenHead& head) {
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
  panel.heat_map(
      page.data(pixels({bands.units.size(), bands.first.size(), amount, [](double x) { return x + 0.5; }}, 2, 8)));
}

/// Peaks beyond the reach as dots, and beside the panel, band by band, how much attention lands there and the largest.
void add_beyond(Page& page, Panel& panel, const OffsetBands& bands, const ChosenHead& head) {
  for (const bool by_position : {true, false}) {
    DataTable dots({"x", "y", "size"});
    for (const OffsetBands::Peak& peak : bands.peaks_of(head.row))
      if ((peak.source == "position") == by_position) dots.add_row({bands.place(peak.offset), peak.band, 0.5});
    const Shape shape = by_position ? Shape::disc : Shape::ring;
    if (!dots.rows().empty()) panel.dots(page.data(dots), "1:2:3", {ink::mark, 0.5, shape}, 1.4);
  }
  const auto beside = [&](double inches, std::size_t band) {
    const double down = (static_cast<double>(band) + 0.5) / static_cast<double>(bands.first.size());
    return Place{share(1 + inches / panel.width()), share(1 - down)};
  };
  for (std::size_t b = 0; b < bands.first.size(); ++b) {
    const double beyond = bands.band_shares[head.row * bands.first.size() + b];
    panel.note(std::isnan(beyond) ? "–" : fmt::format("{:.0f} %", 100 * beyond), beside(0.31, b),
               {.points = 6.5, .ink = ink::number, .anchor = Anchor::right});
  }
  for (const OffsetBands::Peak& peak : bands.peaks_of(head.row))
    if (peak.first)
      panel.note(signed_offset(peak.offset), beside(0.36, peak.band), {.points = 6.5, .bold = true, .ink = ink::mark});
  const double all = bands.shares[head.row];
  panel.above(head.text(), Anchor::left, {.points = 8, .bold = true, .up = 0.5});
  panel.above(std::isnan(all) ? fmt::format("nothing beyond {:g}", bands.reach)
                              : fmt::format("{:.0f} % beyond {:g}", 100 * all, bands.reach),
              Anchor::right, {.points = 7, .ink = ink::number, .up = 0.5});
}

GnuplotFigure draw_offset_by_query(const Result& result, const FigureOptions& options) {
  const OffsetBands bands = offset_bands(result);
  PanelFlow flow{.grid = {.panel = {2.6, std::max(0.8, 0.15 * static_cast<double>(bands.first.size()))},
                          .gap = {1.45, 0.5},
                          .margin = {.left = 0.76, .right = 1.2, .top = 0.36, .bottom = 0.6}},
                 .in_row = 2,
                 .least = 1.5,
                 .below = "offset t = key − query (tokens)",
                 .left = "query position (tokens)"};
  FigureOptions those = options;  // unasked, heads with the largest peaks come before the clearest ones
  const std::size_t fit = panels_that_fit(flow, most_band_heads, options.style);
  if (those.heads.empty()) those.heads = bands.with_largest_peaks(std::min(fit, most_band_heads));
  const auto heads = heads_on_page(result, OffsetBands::profile_name, those, flow, most_band_heads);
  return drawn_panels(flow, heads.size(), options.style, [&](Page& page, Panel& panel, std::size_t k) {
    add_band_axes(panel, bands, panel.is_lowest());
    panel.rectangle({share(0), share(0)}, {share(1), share(1)}, ink::shade_on_paper);
    panel.color_range({least_weight, 1}, true);
    if (k == 0) {
      panel.common_color_bar(
          {.away = 0.76,
           .tics = {.named = {{1, "1"}, {0.1, "0.1"}, {0.01, "0.01"}, {1e-3, "0.001"}, {least_weight, "1e-4"}},
                    .points = 6.5}});
      const PanelGrid& grid = page.grid();
      panel.note("weight", grid.at(grid.width() - grid.margin.right + 0.76, grid.height() - grid.margin.top + 0.1),
                 {.points = 6.5});
    }
    add_band_weights(page, panel, bands, heads[k]);
    for (const double edge : bands.edges()) panel.vertical(edge, {ink::strong_guide, 1.2});
    add_beyond(page, panel, bands, heads[k]);
  });
}

/// Documents no longer than the reach have nothing beyond it.
std::string nothing_beyond(const Result& result, const FigureOptions& /*options*/) {
  const auto& shares = doubles_of(result, "offset_by_query/share_beyond", {"layer", "head"});
  const bool any = std::ranges::any_of(shares, [](double share) { return share > 0; });
  return any ? "" : "no attention lies beyond the reach";
}

std::vector<Index> indices_of(const Result& result, const char* name, const char* axis) {
  const std::vector<std::int64_t>& numbers = counts_of(result, name, {axis});
  return {numbers.begin(), numbers.end()};
}

void require_bins(const OffsetBands& bands) {
  bool ascending = bands.reach >= 1;
  for (std::size_t bin = 0; ascending && bin < bands.bin_first.size(); ++bin)
    ascending = bands.bin_first[bin] <= bands.bin_last[bin] &&
                (bin == 0 || bands.bin_first[bin] == bands.bin_last[bin - 1] + 1);
  if (!ascending)
    throw ShapeError(fmt::format("{}: expected a reach of at least 1, and {} bins of offsets one after the other",
                                 OffsetBands::profile_name, bands.bin_first.size()));
}

/// A unit for an offset, several for a bin beyond the reach, room where one follows the other.
std::vector<Index> units_of(const OffsetBands& bands) {
  std::vector<Index> units;
  const auto is_near = [&](std::size_t bin) {
    return std::abs(static_cast<double>(bands.bin_first[bin])) <= bands.reach;
  };
  for (std::size_t bin = 0; bin < bands.bin_first.size(); ++bin) {
    if (bin > 0 && is_near(bin) != is_near(bin - 1)) units.insert(units.end(), OffsetBands::room, -1);
    units.insert(units.end(), is_near(bin) ? 1 : OffsetBands::bin_units, static_cast<Index>(bin));
  }
  return units;
}

}  // namespace

double OffsetBands::place(double offset) const {
  std::size_t bin = 0;
  while (bin + 1 < bin_last.size() && offset > static_cast<double>(bin_last[bin])) ++bin;
  const auto first_unit = std::find(units.begin(), units.end(), static_cast<Index>(bin));
  const auto count = std::count(units.begin(), units.end(), static_cast<Index>(bin));
  const auto width = static_cast<double>(bin_last[bin] - bin_first[bin] + 1);
  return static_cast<double>(first_unit - units.begin()) +
         static_cast<double>(count) * (offset - static_cast<double>(bin_first[bin]) + 0.5) / width;
}

std::vector<double> OffsetBands::edges() const {
  std::vector<double> middles;
  for (std::size_t unit = 1; unit < units.size(); ++unit)
    if (units[unit] < 0 && units[unit - 1] >= 0) middles.push_back(static_cast<double>(unit) + 0.5 * room);
  return middles;
}

std::vector<double> OffsetBands::tics() const {
  std::vector<double> named{0};
  const auto low = static_cast<double>(bin_first.front()), high = static_cast<double>(bin_last.back());
  const double longest = std::max(-low, high), step = longest >= 4 * reach ? 4 : 2;
  const auto add = [&](double t) {
    for (const double one : {-t, t})
      if (one >= low && one <= high) named.push_back(one);
  };
  // Bins have a number, too, and no room for that of the reach beside the last one's.
  double t = longest > reach && longest < 2 * reach ? longest : reach;
  while (t <= longest) {
    add(t);
    t *= step;
  }
  std::sort(named.begin(), named.end());
  return named;
}

std::vector<OffsetBands::Peak> OffsetBands::peaks_of(std::size_t row) const {
  std::vector<Peak> peaks;
  const std::size_t most = offsets.size() / (heads.size() * first.size());
  for (std::size_t band = 0; band < first.size(); ++band)
    for (std::size_t k = 0; k < most; ++k)
      if (const std::size_t at = (row * first.size() + band) * most + k; std::isfinite(offsets[at]))
        peaks.push_back({band, offsets[at], k == 0, sources[at]});
  return peaks;
}

std::vector<std::string> OffsetBands::with_largest_peaks(std::size_t most) const {
  const std::size_t each = offsets.size() / heads.size();
  std::vector<double> largest(heads.size(), 0.0);
  for (std::size_t at = 0; at < excesses.size(); ++at)
    if (excesses[at] > largest[at / each]) largest[at / each] = excesses[at];
  std::vector<std::size_t> order(heads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return largest[a] > largest[b]; });
  order.resize(std::min(most, order.size()));
  std::erase_if(order, [&](std::size_t row) { return largest[row] == 0; });
  std::sort(order.begin(), order.end());
  std::vector<std::string> names;
  for (const std::size_t row : order) names.push_back(head_name(heads[row].layer, heads[row].head));
  return names;
}

OffsetBands offset_bands(const Result& result) {
  constexpr const char* source_name = "offset_by_query/peak_source";
  OffsetBands bands;
  bands.profile = doubles_of(result, OffsetBands::profile_name, {"layer", "head", "query_band", "offset_bin"});
  const Field& profile = result.at(OffsetBands::profile_name);
  bands.heads = field_heads(profile);
  bands.first = whole_coordinates(profile, "query_band");
  bands.last = indices_of(result, "offset_by_query/band_last", "query_band");
  bands.bin_first = indices_of(result, "offset_by_query/bin_first", "offset_bin");
  bands.bin_last = indices_of(result, "offset_by_query/bin_last", "offset_bin");
  bands.shares = doubles_of(result, "offset_by_query/share_beyond", {"layer", "head"});
  bands.band_shares = doubles_of(result, "offset_by_query/band_share", {"layer", "head", "query_band"});
  bands.offsets = doubles_of(result, "offset_by_query/peak_offset", {"layer", "head", "query_band", "far_peak"});
  bands.excesses = doubles_of(result, "offset_by_query/peak_excess", {"layer", "head", "query_band", "far_peak"});
  bands.sources = meanings_of(result, source_name, {"layer", "head", "query_band", "far_peak"});
  bands.reach = attribute_number(profile.attributes, "reach", 0);
  require_bins(bands);
  bands.units = units_of(bands);
  return bands;
}

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
          "attention piles up, the largest of a band with its offset beside it: filled if mean queries and keys of "
          "their places alone cause it, as an alias of the wave does, hollow if they do not or it is not known. "
          "Weights below 1e-4 are drawn as that.",
          draw_offset_by_query,
          nullptr,
          nothing_beyond,
          true};
}

}  // namespace headwave
