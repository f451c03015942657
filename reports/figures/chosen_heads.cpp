#include "chosen_heads.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/head_name.h"
#include "../tables/head_table.h"

namespace headwave {

namespace {

constexpr const char* every_pair = "all";

/// Every head that some Field describes, in order.
std::vector<HeadName> known_heads(const Result& result) {
  std::set<HeadName> heads;
  for (const Field& field : result.fields)
    if (has_axis(field, "layer") && has_axis(field, "head"))
      for (const HeadName& name : heads_of(field_heads(field))) heads.insert(name);
  return {heads.begin(), heads.end()};
}

/// "L0H0 to L5H11"
std::string range_text(const std::vector<HeadName>& heads) {
  return heads.empty() ? "no heads"
                       : fmt::format("{} to {}", head_name(heads.front().layer, heads.front().head),
                                     head_name(heads.back().layer, heads.back().head));
}

}  // namespace

std::vector<std::string> heads_asked_for(const Result& result, const std::vector<std::string>& heads) {
  std::vector<std::string> names;
  if (heads.empty()) return names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  const std::vector<HeadName> known = known_heads(result);
  for (const std::string& asked : heads) {
    if (const auto count = strongest_count(asked)) {
      const std::vector<HeadName> ranked = heads_by_strength(result);
      if (ranked.empty())
        throw ShapeError(
            "the strongest heads need measured or predicted offsets, which the result does not contain; name heads");
      for (std::size_t i = 0; i < std::min(ranked.size(), static_cast<std::size_t>(*count)); ++i)
        add(head_name(ranked[i].layer, ranked[i].head));
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
  if (heads.size() == 0) throw ShapeError(fmt::format("{}: contains no head to draw", field));
  const std::vector<HeadName> names = heads_of(heads);
  std::vector<std::size_t> rows;
  for (const std::string& asked : options.heads) {
    rows.push_back(heads.row_of(parse_head_name(asked)));
    if (rows.back() == heads.size())
      throw ShapeError(fmt::format("{}: there is no head {}; its heads are {}", field, asked, range_text(names)));
  }
  if (rows.empty()) {
    rows = table_order(result, names);
    rows.resize(std::min(rows.size(), most));
  }
  const std::vector<double> offsets = numbers_of_heads(result, measured_offset_field, every_pair, heads_of(heads));
  std::vector<ChosenHead> chosen;
  for (const std::size_t row : rows) chosen.push_back({names[row], row, offsets[row]});
  return chosen;
}

Figure drawn_heads(FigurePanels& panels, const std::vector<ChosenHead>& heads, const FieldHeads& all,
                   const FigureOptions& options) {
  panels.of = all.size();
  if (options.heads.empty()) panels.chosen = ", the strongest";
  return drawn_panels(panels, heads.size() * panels.each, options.width);
}

void add_head_axes(Panel& panel, const FieldHeads& heads, double points) {
  const auto names = [&](const std::vector<Index>& numbers, double inches, double away) {
    return Tics{.named = spaced(numbers, inches, 0.2), .points = points, .away = away};
  };
  panel.x = cells_across(heads.heads.size(), names(heads.heads, panel.width(), -0.4));
  panel.y = cells_down(heads.layers.size(), names(heads.layers, panel.height(), -0.5));
  panel.x.common = panel.y.common = true;
  panel.x.title = "head";
  panel.x.away = 0.3;
  panel.y.title = "layer";
  panel.y.away = 0.32;
}

bool any_finite(std::span<const double> numbers) {
  return std::ranges::any_of(numbers, [](double number) { return std::isfinite(number); });
}

std::string no_offsets(const Result& result, const FigureOptions& /*options*/) {
  const bool none = result.find(measured_offset_field) != nullptr &&
                    !any_finite(head_doubles(result, measured_offset_field, every_pair));
  return none ? "no head has a measured offset" : "";
}

std::string signed_offset(double offset) {
  if (std::isnan(offset)) return "none";
  return fmt::format("{}{:g}", offset < 0 ? "−" : offset > 0 ? "+" : "", std::abs(offset));
}

}  // namespace headwave
