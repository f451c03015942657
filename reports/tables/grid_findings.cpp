#include "grid_findings.h"

#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../drawing/field_values.h"

namespace headwave {

namespace {

constexpr const char *down_name = grid_names[0], *right_name = grid_names[1], *grid_status_name = grid_names[2],
                     *places_name = grid_names[3];

std::string words_of(double down, double right) {
  std::string words;
  if (down != 0) words = fmt::format("{:g} {}", std::abs(down), down > 0 ? "down" : "up");
  if (right != 0)
    words += fmt::format("{}{:g} {}", words.empty() ? "" : ", ", std::abs(right), right > 0 ? "right" : "left");
  return words.empty() ? "0" : words;
}

}  // namespace

std::vector<std::string> grid_findings(const Result& result, std::size_t heads) {
  std::vector<std::string> findings(heads);
  if (result.find(grid_status_name) == nullptr) return findings;
  const auto& down = doubles_of(result, down_name, {"layer", "head"});
  const auto& right = doubles_of(result, right_name, {"layer", "head"});
  const auto& status = flags_of(result, grid_status_name, {"layer", "head"});
  const auto& meanings = result.at(grid_status_name).flag_meanings;
  if (down.size() != heads || right.size() != heads || status.size() != heads)
    throw ShapeError(fmt::format("{}: expected {} heads, found {}", grid_status_name, heads, status.size()));
  for (std::size_t i = 0; i < heads; ++i) {
    const bool known = status[i] < meanings.size();
    findings[i] = std::isnan(down[i]) || std::isnan(right[i])
                      ? fmt::format("undefined ({})", known ? meanings[status[i]] : fmt::format("status {}", status[i]))
                      : words_of(down[i], right[i]);
  }
  return findings;
}

std::string grid_note(const Result& result) {
  const Field* places = result.find(places_name);
  if (places == nullptr || result.find(grid_status_name) == nullptr) return {};
  return fmt::format(
      "tokens are patches, row by row: offset +1 is the patch to the right (at the end of a row the first of the "
      "next), "
      "{:+d} the one below; `on the grid` counts rows and columns",
      places->axis("column").size());
}

}  // namespace headwave
