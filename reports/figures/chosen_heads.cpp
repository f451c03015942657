#include "chosen_heads.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../drawing/field_values.h"

namespace headwave {

namespace {

struct Clearness {
  double offset = std::nan("");  // tokens
  double ratio = 0.0;            // of the weight there to what it had to exceed
};

/// What was measured of every head, one entry per candidate.
std::vector<Clearness> measured(const Result& result, const std::vector<ChosenHead>& candidates,
                                const std::string& pairs) {
  std::vector<Clearness> found(candidates.size());
  const Field* offset_field = result.find("measured_offset/offset");
  if (offset_field == nullptr) return found;
  const auto offsets = head_doubles(result, "measured_offset/offset", pairs);
  const auto layers = whole_coordinates(*offset_field, "layer");
  const auto heads = whole_coordinates(*offset_field, "head");
  const bool told =
      result.find("measured_offset/weight") != nullptr && result.find("measured_offset/threshold") != nullptr;
  const auto weights = told ? head_doubles(result, "measured_offset/weight", pairs) : std::vector<double>{};
  const auto thresholds = told ? head_doubles(result, "measured_offset/threshold", pairs) : std::vector<double>{};
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto layer = std::find(layers.begin(), layers.end(), candidates[i].name.layer);
    const auto head = std::find(heads.begin(), heads.end(), candidates[i].name.head);
    if (layer == layers.end() || head == heads.end()) continue;
    const auto at = static_cast<std::size_t>((layer - layers.begin()) * static_cast<std::ptrdiff_t>(heads.size()) +
                                             (head - heads.begin()));
    found[i].offset = std::isfinite(offsets[at]) ? offsets[at] : std::nan("");
    if (at >= weights.size() || at >= thresholds.size() || !(thresholds[at] > 0)) continue;
    const double ratio = weights[at] / thresholds[at];
    if (std::isfinite(ratio)) found[i].ratio = ratio;
  }
  return found;
}

/// The clearest head of each offset first, then the others that have one, then those without, each by clearness.
std::vector<std::size_t> most_telling(const std::vector<Clearness>& heads, std::size_t most) {
  std::vector<std::size_t> order(heads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return heads[a].ratio > heads[b].ratio; });
  const auto known = [&](std::size_t head) { return !std::isnan(heads[head].offset); };
  const auto flat = std::stable_partition(order.begin(), order.end(), known);
  std::set<double> seen;
  std::stable_partition(order.begin(), flat, [&](std::size_t head) { return seen.insert(heads[head].offset).second; });
  order.resize(std::min(order.size(), most));
  std::sort(order.begin(), order.end());
  return order;
}

bool has_axis(const Field& field, std::string_view name) {
  return std::any_of(field.axes.begin(), field.axes.end(), [&](const Axis& axis) { return axis.name == name; });
}

/// Every head that any Field is about, in order.
std::vector<HeadName> known_heads(const Result& result) {
  std::set<std::pair<Index, Index>> heads;
  for (const Field& field : result.fields) {
    if (has_axis(field, "re_aimed_head"))
      for (const std::string& label : labels_of(field, "re_aimed_head")) {
        const HeadName name = parse_head_name(label);
        heads.emplace(name.layer, name.head);
      }
    if (!has_axis(field, "layer") || !has_axis(field, "head")) continue;
    for (const Index layer : whole_coordinates(field, "layer"))
      for (const Index head : whole_coordinates(field, "head")) heads.emplace(layer, head);
  }
  std::vector<HeadName> names;
  for (const auto& [layer, head] : heads) names.push_back({layer, head});
  return names;
}

/// "6 layers of 12 heads, L0H0 to L5H11", or where some are missing in between "5 heads, L0H1 to L4H9".
std::string range_text(const std::vector<HeadName>& heads) {
  if (heads.empty()) return "no heads";
  const HeadName& last = heads.back();
  const std::string range =
      fmt::format("{} to {}", head_name(heads.front().layer, heads.front().head), head_name(last.layer, last.head));
  if (static_cast<Index>(heads.size()) != (last.layer + 1) * (last.head + 1))
    return fmt::format("{} heads, {}", heads.size(), range);
  return fmt::format("{} layers of {} heads, {}", last.layer + 1, last.head + 1, range);
}

}  // namespace

std::vector<std::string> clearness_fields() {
  return {"measured_offset/offset", "measured_offset/weight", "measured_offset/threshold"};
}

void require_heads(const Result& result, const std::vector<std::string>& heads) {
  if (heads.empty()) return;
  const std::vector<HeadName> known = known_heads(result);
  for (const std::string& asked : heads)
    if (const HeadName name = parse_head_name(asked); std::find(known.begin(), known.end(), name) == known.end())
      throw ShapeError(
          fmt::format("there is no {}; the result has {}", head_name(name.layer, name.head), range_text(known)));
}

std::vector<ChosenHead> chosen_heads(const Result& result, std::string_view field, const FigureOptions& options,
                                     std::size_t most) {
  const auto layers = whole_coordinates(result.at(field), "layer");
  const auto heads = whole_coordinates(result.at(field), "head");
  std::vector<ChosenHead> all;
  for (const Index layer : layers)
    for (const Index head : heads) all.push_back({{layer, head}, all.size(), std::nan("")});
  if (all.empty()) throw ShapeError(fmt::format("{}: holds no head to draw", field));
  const auto found = measured(result, all, options.pairs);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].measured = found[i].offset;

  std::vector<ChosenHead> chosen;
  for (const std::string& asked : options.heads) {
    const HeadName name = parse_head_name(asked);
    const auto at = std::find_if(all.begin(), all.end(), [&](const ChosenHead& head) { return head.name == name; });
    if (at == all.end())
      throw ShapeError(fmt::format("{}: has no head {}; its heads are {} to {}", field, asked,
                                   head_name(all.front().name.layer, all.front().name.head),
                                   head_name(all.back().name.layer, all.back().name.head)));
    chosen.push_back(*at);
  }
  if (!chosen.empty()) return chosen;
  for (const std::size_t head : most_telling(found, most)) chosen.push_back(all[head]);
  return chosen;
}

}  // namespace headwave
