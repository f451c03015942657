#include "offset_bands.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "../../core/fields/head_name.h"
#include "../drawing/field_values.h"

namespace headwave {

namespace {

std::vector<Index> indices_of(const Result& result, const char* name, const char* axis) {
  const std::vector<std::int64_t>& numbers = counts_of(result, name, {axis});
  return {numbers.begin(), numbers.end()};
}

void check(const OffsetBands& bands) {
  const std::size_t rows = bands.layers.size() * bands.heads.size(), cells = rows * bands.first.size();
  const std::size_t bins = bands.bin_first.size();
  bool ascending = cells > 0 && bins > 0 && bands.bin_last.size() == bins && bands.reach >= 1;
  for (std::size_t bin = 0; ascending && bin < bins; ++bin)
    ascending = bands.bin_first[bin] <= bands.bin_last[bin] &&
                (bin == 0 || bands.bin_first[bin] == bands.bin_last[bin - 1] + 1);
  if (!ascending || bands.last.size() != bands.first.size() || bands.shares.size() != rows ||
      bands.band_shares.size() != cells || bands.profile.size() != cells * bins || bands.offsets.size() % cells != 0 ||
      bands.offsets.size() != bands.excesses.size() || bands.offsets.size() != bands.sources.size())
    throw ShapeError(
        fmt::format("{}: expected {} heads, {} bands and {} bins of offsets one after the other in all of its Fields",
                    OffsetBands::profile_name, rows, bands.first.size(), bins));
}

bool is_near(const OffsetBands& bands, std::size_t bin) {
  return std::abs(static_cast<double>(bands.bin_first[bin])) <= bands.reach;
}

/// A unit for an offset, several for a bin beyond the reach, room where one follows the other.
std::vector<Index> units_of(const OffsetBands& bands) {
  std::vector<Index> units;
  for (std::size_t bin = 0; bin < bands.bin_first.size(); ++bin) {
    const bool near = is_near(bands, bin);
    if (bin > 0 && near != is_near(bands, bin - 1)) units.insert(units.end(), OffsetBands::room, -1);
    units.insert(units.end(), near ? 1 : OffsetBands::bin_units, static_cast<Index>(bin));
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
  const std::size_t cells = layers.size() * heads.size() * first.size(), most = offsets.size() / cells;
  for (std::size_t band = 0; band < first.size(); ++band)
    for (std::size_t k = 0; k < most; ++k)
      if (const std::size_t at = (row * first.size() + band) * most + k; std::isfinite(offsets[at]))
        peaks.push_back({band, offsets[at], k == 0, sources[at]});
  return peaks;
}

std::vector<std::string> OffsetBands::with_largest_peaks(std::size_t most) const {
  const std::size_t rows = layers.size() * heads.size(), each = offsets.size() / rows;
  std::vector<double> largest(rows, 0.0);
  for (std::size_t at = 0; at < excesses.size(); ++at)
    if (excesses[at] > largest[at / each]) largest[at / each] = excesses[at];
  std::vector<std::size_t> order(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return largest[a] > largest[b]; });
  order.resize(std::min(most, rows));
  std::erase_if(order, [&](std::size_t row) { return largest[row] == 0; });
  std::sort(order.begin(), order.end());
  std::vector<std::string> names;
  for (const std::size_t row : order) names.push_back(head_name(layers[row / heads.size()], heads[row % heads.size()]));
  return names;
}

OffsetBands offset_bands(const Result& result) {
  OffsetBands bands;
  bands.profile = doubles_of(result, OffsetBands::profile_name, {"layer", "head", "query_band", "offset_bin"});
  const Field& profile = result.at(OffsetBands::profile_name);
  bands.layers = whole_coordinates(profile, "layer");
  bands.heads = whole_coordinates(profile, "head");
  bands.first = whole_coordinates(profile, "query_band");
  bands.last = indices_of(result, "offset_by_query/band_last", "query_band");
  bands.bin_first = indices_of(result, "offset_by_query/bin_first", "offset_bin");
  bands.bin_last = indices_of(result, "offset_by_query/bin_last", "offset_bin");
  bands.shares = doubles_of(result, "offset_by_query/share_beyond", {"layer", "head"});
  bands.band_shares = doubles_of(result, "offset_by_query/band_share", {"layer", "head", "query_band"});
  bands.offsets = doubles_of(result, "offset_by_query/peak_offset", {"layer", "head", "query_band", "far_peak"});
  bands.excesses = doubles_of(result, "offset_by_query/peak_excess", {"layer", "head", "query_band", "far_peak"});
  constexpr const char* source_name = "offset_by_query/peak_source";
  const std::vector<std::string>& meanings = result.at(source_name).flag_meanings;
  for (const std::uint8_t flag : flags_of(result, source_name, {"layer", "head", "query_band", "far_peak"}))
    bands.sources.push_back(flag < meanings.size() ? meanings[flag] : std::string("unknown"));
  const auto reach = profile.attributes.find("reach");
  if (const auto* whole = reach == profile.attributes.end() ? nullptr : std::get_if<std::int64_t>(&reach->second))
    bands.reach = static_cast<double>(*whole);
  check(bands);
  bands.units = units_of(bands);
  return bands;
}

}  // namespace headwave
