#include "chosen_maps.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "../../core/fields/head_name.h"
#include "../drawing/field_values.h"

namespace headwave {

namespace {

constexpr std::size_t most_maps = 9;

/// The strongest head of every offset first, then the others by strength: heads of one offset look alike.
/// @param offsets, strengths  one per map; an offset may be NaN, which is a kind of its own
std::vector<std::size_t> most_telling(const std::vector<double>& offsets, const std::vector<double>& strengths) {
  std::vector<std::size_t> order(offsets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return strengths[a] > strengths[b]; });
  std::set<double> seen;
  bool seen_flat = false;
  std::stable_partition(order.begin(), order.end(), [&](std::size_t map) {
    return std::isnan(offsets[map]) ? !std::exchange(seen_flat, true) : seen.insert(offsets[map]).second;
  });
  order.resize(std::min(order.size(), most_maps));
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace

std::vector<std::size_t> chosen_maps(const Result& result, const FigureOptions& options) {
  const Field& field = result.at(map_weight_name);
  const auto& names = labels_of(field, "map_head");
  std::vector<std::size_t> maps;
  for (const std::string& head : options.heads) {
    (void)parse_head_name(head);
    maps.push_back(place_of(field, "map_head", head));
  }
  if (!maps.empty()) return maps;

  maps.resize(names.size());
  std::iota(maps.begin(), maps.end(), std::size_t{0});
  if (maps.size() > most_maps && result.find("measured_offset/weight") != nullptr) {
    const auto offset = head_doubles(result, "measured_offset/offset", options.pairs);
    const auto strength = head_doubles(result, "measured_offset/weight", options.pairs);
    const auto heads = static_cast<std::size_t>(result.at("measured_offset/weight").axis("head").size());
    std::vector<double> offsets, strengths;
    for (const std::string& name : names) {
      const HeadName head = parse_head_name(name);
      const auto at = static_cast<std::size_t>(head.layer) * heads + static_cast<std::size_t>(head.head);
      const bool known = static_cast<std::size_t>(head.head) < heads && at < strength.size();
      offsets.push_back(known ? offset[at] : std::nan(""));
      strengths.push_back(known && !std::isnan(strength[at]) ? strength[at] : 0.0);
    }
    return most_telling(offsets, strengths);
  }
  maps.resize(std::min(maps.size(), most_maps));
  return maps;
}

}  // namespace headwave
