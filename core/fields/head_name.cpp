#include "head_name.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "../errors/error.h"

namespace headwave {

namespace {

/// Reads `letter` and a number from the front of `rest`, and removes them.
std::optional<Index> take_number(char letter, std::string_view& rest) {
  if (rest.size() < 2 || rest[0] != letter || rest[1] < '0' || rest[1] > '9') return std::nullopt;
  if (rest[1] == '0' && rest.size() > 2 && rest[2] >= '0' && rest[2] <= '9') return std::nullopt;
  Index number = 0;
  const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), number);
  if (error != std::errc()) return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return number;
}

}  // namespace

std::string quotable(std::string_view text) {
  std::string shown(text.substr(0, 40));
  for (char& c : shown)
    if (c < ' ' || c > '~') c = '?';
  return text.size() > 40 ? shown + "..." : shown;
}

std::string head_name(Index layer, Index head) {
  return fmt::format("L{}H{}", layer, head);
}

Axis head_name_axis(std::string name, std::string long_name, const std::vector<HeadName>& heads) {
  std::vector<std::string> names;
  for (const HeadName& head : heads) names.push_back(head_name(head.layer, head.head));
  return {std::move(name), "1", std::move(long_name), std::move(names)};
}

HeadName parse_head_name(std::string_view text) {
  std::string_view rest = text;
  const auto layer = take_number('L', rest);
  const auto head = layer ? take_number('H', rest) : std::nullopt;
  if (!layer || !head || !rest.empty())
    throw FormatError(
        fmt::format("head '{}': expected a name like L7H8 (layers and heads count from 0)", quotable(text)));
  return {*layer, *head};
}

std::optional<Index> strongest_count(std::string_view text) {
  constexpr std::string_view word = "strongest:";
  if (!text.starts_with(word)) return std::nullopt;
  const std::string_view digits = text.substr(word.size());
  Index count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (error != std::errc() || end != digits.data() + digits.size() || count < 1)
    throw FormatError(fmt::format("heads '{}': expected strongest:N with a whole number N above 0, such as strongest:6",
                                  quotable(text)));
  return count;
}

Index HeadGrid::place_of(Index layer) const {
  const auto found = std::lower_bound(layers.begin(), layers.end(), layer);
  return found == layers.end() || *found != layer ? -1 : static_cast<Index>(found - layers.begin());
}

Index HeadGrid::first_row(Index layer) const {
  const Index place = place_of(layer);
  if (place < 0)
    throw ShapeError(
        fmt::format("layer {} is not among the {} layers of the analysis (counted from 0)", layer, layers.size()));
  return place * heads;
}

Axis pairs_axis() {
  return {"pairs", "1", "which query-key pairs are counted",
          std::vector<std::string>{"all", "without_special", "without_sink"}};
}

bool counts(Pairs kind, const TokenSequence& tokens, Index position) {
  if (kind == Pairs::all) return true;
  if (tokens.is_special(position)) return false;
  return kind == Pairs::without_special || position > 0;
}

std::vector<HeadName> heads_of(const HeadGrid& grid) {
  std::vector<HeadName> names;
  for (const Index layer : grid.layers)
    for (Index head = 0; head < grid.heads; ++head) names.push_back({layer, head});
  return names;
}

}  // namespace headwave
