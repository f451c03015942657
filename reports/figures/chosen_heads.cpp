#include "chosen_heads.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../../core/fields/strongest_heads.h"
#include "../drawing/page.h"
#include "../tables/head_table.h"

namespace headwave {

namespace {

/// The measured offset of each head, wherever the result's own grid has it; NaN: undefined, or not in the result.
std::vector<double> measured_offsets_of(const Result& result, const std::vector<HeadName>& names,
                                        const std::string& pairs) {
  std::vector<double> offsets(names.size(), std::nan(""));
  if (result.find("measured_offset/offset") == nullptr) return offsets;
  const std::vector<double> all = head_doubles(result, "measured_offset/offset", pairs);
  const FieldHeads heads = field_heads(result.at("measured_offset/offset"));
  for (std::size_t i = 0; i < names.size(); ++i)
    if (const std::size_t row = heads.row_of(names[i]); row < all.size()) offsets[i] = all[row];
  return offsets;
}

/// Places of heads in the order of the table, the strongest first; as they stand if the result has no such order.
std::vector<std::size_t> table_order(const Result& result, const std::vector<HeadName>& names) {
  std::vector<std::size_t> places(names.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (result.find("measured_offset/offset") == nullptr) return places;
  const std::vector<std::string> table = names_by_strength(result);
  std::vector<std::ptrdiff_t> rank;
  for (const HeadName& name : names)
    rank.push_back(std::ranges::find(table, head_name(name.layer, name.head)) - table.begin());
  std::ranges::stable_sort(places, {}, [&](std::size_t place) { return rank[place]; });
  return places;
}

/// The strength of each head: of the account, or where the result has none the mean weight at the measured offset.
std::vector<double> named_strengths(const Result& result, const std::vector<HeadName>& names,
                                    const std::string& pairs) {
  std::vector<double> strengths(names.size(), std::nan(""));
  for (const char* name : {"head_account/strength", "measured_offset/weight"}) {
    if (result.find(name) == nullptr) continue;
    const std::vector<double> all = head_doubles(result, name, pairs);
    const FieldHeads known = field_heads(result.at(name));
    for (std::size_t i = 0; i < names.size(); ++i)
      if (const std::size_t at = known.row_of(names[i]); at < all.size()) strengths[i] = all[at];
    break;
  }
  return strengths;
}

std::vector<HeadName> every_name(const FieldHeads& heads) {
  std::vector<HeadName> names;
  for (std::size_t row = 0; row < heads.size(); ++row) names.push_back(heads[row]);
  return names;
}

/// Every head that any Field is about, in order.
std::vector<HeadName> known_heads(const Result& result) {
  std::set<HeadName> heads;
  for (const Field& field : result.fields) {
    if (!has_axis(field, "layer") || !has_axis(field, "head")) continue;
    const FieldHeads all = field_heads(field);
    for (std::size_t row = 0; row < all.size(); ++row) heads.insert(all[row]);
  }
  return {heads.begin(), heads.end()};
}

/// "6 layers of 12 heads, L0H0 to L5H11", or where some are missing in between "5 heads, L0H1 to L4H9".
std::string range_text(const std::vector<HeadName>& heads) {
  if (heads.empty()) return "no heads";
  const HeadName& last = heads.back();
  const std::string range =
      fmt::format("{} to {}", head_name(heads.front().layer, heads.front().head), head_name(last.layer, last.head));
  if (std::ssize(heads) != (last.layer + 1) * (last.head + 1)) return fmt::format("{} heads, {}", heads.size(), range);
  return fmt::format("{} layers of {} heads, {}", last.layer + 1, last.head + 1, range);
}

}  // namespace

std::vector<std::string> strength_fields() {
  return {"measured_offset/offset", "measured_offset/weight", "measured_offset/threshold", "measured_offset/chance",
          "head_account/strength"};
}

std::vector<std::string> heads_asked_for(const Result& result, const std::vector<std::string>& heads) {
  std::vector<std::string> names;
  if (heads.empty()) return names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  const std::vector<HeadName> known = known_heads(result);
  for (const std::string& asked : heads) {
    if (const auto count = strongest_count(asked)) {
      const std::vector<std::string> ranked = names_by_strength(result);
      for (const std::string& name : std::span(ranked).first(std::min(ranked.size(), static_cast<std::size_t>(*count))))
        add(name);
      continue;
    }
    const HeadName name = parse_head_name(asked);
    if (std::ranges::find(known, name) == known.end())
      throw ShapeError(
          fmt::format("there is no {}; the result has {}", head_name(name.layer, name.head), range_text(known)));
    add(asked);
  }
  return names;
}

std::vector<ChosenHead> chosen_heads(const Result& result, std::string_view field, const FigureOptions& options,
                                     std::size_t most) {
  const FieldHeads heads = field_heads(result.at(field));
  if (heads.size() == 0) throw ShapeError(fmt::format("{}: holds no head to draw", field));
  const std::vector<HeadName> names = every_name(heads);
  std::vector<std::size_t> rows;
  for (const std::string& asked : options.heads) {
    rows.push_back(heads.row_of(parse_head_name(asked)));
    if (rows.back() == heads.size())
      throw ShapeError(fmt::format("{}: has no head {}; its heads are {} to {}", field, asked,
                                   head_name(names.front().layer, names.front().head),
                                   head_name(names.back().layer, names.back().head)));
  }
  if (rows.empty()) {
    rows = table_order(result, names);
    rows.resize(std::min(rows.size(), most));
  }
  const std::vector<double> offsets = measured_offsets_of(result, names, options.pairs);
  std::vector<ChosenHead> chosen;
  for (const std::size_t row : rows) chosen.push_back({names[row], row, offsets[row]});
  return chosen;
}

std::vector<ChosenHead> heads_on_page(const Result& result, std::string_view field, const FigureOptions& options,
                                      PanelFlow& flow, std::size_t most) {
  std::vector<ChosenHead> heads = chosen_heads(result, field, options, most);
  flow = lowered(flow, heads.size() * flow.each, options.style);
  const std::size_t fit = panels_that_fit(flow, heads.size() * flow.each, options.style) / flow.each;
  if (!options.heads.empty()) {
    if (fit < heads.size())
      flow.cut = fmt::format("the first {} of the {} heads asked for: the page holds no more", fit, heads.size());
    heads.resize(fit);
    return heads;
  }
  if (fit < heads.size()) heads = chosen_heads(result, field, options, fit);
  if (const std::size_t all = field_heads(result.at(field)).size(); heads.size() < all)
    flow.shown = fmt::format("{} of {} heads are shown, the strongest.", heads.size(), all);
  return heads;
}

void add_head_axes(Panel& panel, const FieldHeads& heads, double points) {
  const auto across = static_cast<double>(heads.heads.size()), down = static_cast<double>(heads.layers.size());
  panel.common_x_axis({-0.5, across - 0.5},
                      {.named = spaced(heads.heads, panel.width(), 0.2), .points = points, .away = -0.4});
  panel.common_y_axis({down - 0.5, -0.5},
                      {.named = spaced(heads.layers, panel.height(), 0.2), .points = points, .away = -0.5});
  if (panel.is_lowest()) panel.title_below("head", 0.3);
  if (panel.is_leftmost()) panel.title_left("layer", 0.32);
}

std::vector<std::size_t> descending(const std::vector<double>& numbers) {
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto rank = [&](std::size_t i) { return std::isnan(numbers[i]) ? -HUGE_VAL : numbers[i]; };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return rank(a) > rank(b); });
  return order;
}

std::vector<double> head_strengths(const Result& result, const FieldHeads& heads, const std::string& pairs) {
  return named_strengths(result, every_name(heads), pairs);
}

std::string no_offsets(const Result& result, const FigureOptions& options) {
  constexpr const char* name = "measured_offset/offset";
  if (result.find(name) == nullptr) return "";
  const std::vector<double> offsets = head_doubles(result, name, options.pairs);
  const bool any = std::ranges::any_of(offsets, [](double offset) { return std::isfinite(offset); });
  return any ? "" : "no head has a measured offset";
}

std::vector<std::size_t> chosen_maps(const Result& result, const FigureOptions& options,
                                     const std::vector<double>& largest, std::size_t most) {
  constexpr double worth_seeing = 0.1;  // of the largest weight of all maps
  const Field& field = result.at("attention_map/weight");
  std::vector<std::size_t> maps;
  for (const std::string& head : options.heads) {
    (void)parse_head_name(head);
    maps.push_back(place_of(field, "map_head", head));
  }
  if (!maps.empty()) return maps;
  std::vector<HeadName> names;
  for (const std::string& name : labels_of(field, "map_head")) names.push_back(parse_head_name(name));
  std::vector<std::size_t> order = table_order(result, names);
  const double bound = worth_seeing * *std::ranges::max_element(largest);
  std::erase_if(order, [&](std::size_t map) { return largest[map] < bound; });
  order.resize(std::min(order.size(), most));
  return order;
}

std::string signed_offset(double offset) {
  if (std::isnan(offset)) return "none";
  return fmt::format("{}{:g}", offset < 0 ? "−" : offset > 0 ? "+" : "", std::abs(offset));
}

std::string pointed_offset(double offset, double window) {
  if (offset < -window) return "← " + signed_offset(offset);
  return offset > window ? signed_offset(offset) + " →" : signed_offset(offset);
}

}  // namespace headwave
