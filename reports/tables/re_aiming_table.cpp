#include "re_aiming_table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/visible_text.h"

namespace headwave {

namespace {

std::string landing_text(double offset) {
  if (std::isnan(offset)) return "-";
  return offset == 0 ? "0" : fmt::format("{:+.0f}", offset);
}

/// "L0H2, L1H8 and L2H3"; of many the first.
std::string heads_text(const std::vector<std::string>& heads) {
  constexpr std::size_t named = 8;
  if (heads.size() > named) return fmt::format("{} heads", heads.size());
  if (heads.size() == 1) return heads.front();
  return fmt::format("{} and {}", fmt::join(heads.begin(), heads.end() - 1, ", "), heads.back());
}

}  // namespace

std::string re_aiming_sentence(const Result& result) {
  if (result.find("re_aiming/offset") == nullptr || result.find("re_aiming/follows") == nullptr) return {};
  const Field& field = result.at("re_aiming/offset");
  const auto& heads = labels_of(field, "re_aimed_head");
  const auto shifts = whole_coordinates(field, "shift");
  const auto& follows = doubles_of(result, "re_aiming/follows", {"re_aimed_head"});
  const auto tried = static_cast<double>(std::ranges::count_if(shifts, [](auto u) { return u != 0; }));
  double followed = 0, asked = 0;
  for (const double share : follows)
    if (!std::isnan(share)) {
      followed += std::round(share * tried);
      asked += tried;
    }
  if (heads.empty() || tried == 0) return {};
  const auto [first, last] = std::ranges::minmax(shifts);
  const std::string what =
      fmt::format("The keys of {} were re-aimed by u = {} to {} tokens", visible_text(heads_text(heads)),
                  landing_text(static_cast<double>(first)), landing_text(static_cast<double>(last)));
  if (asked == 0) return what + "; none of these heads had an offset that could move.";
  return fmt::format("{}: the offset at which they look moved by exactly -u in {:.0f} of {:.0f} trials.", what,
                     followed, asked);
}

std::vector<TableColumn> re_aiming_columns(const Result& result) {
  const Field* field = result.find("re_aiming/offset");
  if (field == nullptr) return {};
  const auto& offsets = doubles_of(result, "re_aiming/offset", {"re_aimed_head", "shift"});
  const auto& heads = labels_of(*field, "re_aimed_head");
  const auto shifts = whole_coordinates(*field, "shift");
  std::vector<TableColumn> columns{{"head", Align::left, {}}};
  for (const std::string& head : heads) columns.front().cells.push_back(visible_text(head));
  for (std::size_t s = 0; s < shifts.size(); ++s) {
    columns.push_back({fmt::format("u={}", shifts[s]), Align::right, {}});
    for (std::size_t h = 0; h < heads.size(); ++h)
      columns.back().cells.push_back(landing_text(offsets[h * shifts.size() + s]));
  }
  const auto add = [&](const char* name, const char* header, const auto& text) {
    if (result.find(name) == nullptr) return;
    columns.push_back({header, Align::right, {}});
    for (const double number : doubles_of(result, name, {"re_aimed_head"}))
      columns.back().cells.push_back(std::isnan(number) ? "-" : text(number));
    if (columns.back().cells.size() != heads.size())
      throw ShapeError(fmt::format("{}: expected {} heads, found {}", name, heads.size(), columns.back().cells.size()));
  };
  add("re_aiming/slope", "slope", [](double slope) { return fmt::format("{:.2f}", slope); });
  add("re_aiming/fitted", "fitted to", [&](double count) {
    return fmt::format("{:.0f} of {}", count, std::ranges::count_if(shifts, [](auto u) { return u != 0; }));
  });
  add("re_aiming/follows", "follows", [](double share) { return fmt::format("{:.0f} %", 100 * share); });
  return columns;
}

}  // namespace headwave
