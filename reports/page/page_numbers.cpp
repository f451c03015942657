#include "page_numbers.h"

#include <cmath>
#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../drawing/visible_text.h"

namespace headwave {

using nlohmann::ordered_json;

double rounded(double number) {
  return std::strtod(fmt::format("{:.7g}", number).c_str(), nullptr);
}

ordered_json number_json(double number) {
  return std::isfinite(number) ? ordered_json(rounded(number)) : ordered_json();
}

std::string remark_text(const Attribute& remark) {
  if (const auto* text = std::get_if<std::string>(&remark)) return visible_text(*text);
  if (const auto* number = std::get_if<double>(&remark)) return fmt::format("{}", *number);
  if (const auto* count = std::get_if<std::int64_t>(&remark)) return fmt::format("{}", *count);
  return fmt::format("{}", fmt::join(std::get<std::vector<double>>(remark), ", "));
}

ordered_json notes_json(const Field& field) {
  ordered_json notes = ordered_json::object();
  for (const auto& [name, remark] : field.attributes) notes[visible_text(name)] = remark_text(remark);
  return notes;
}

}  // namespace headwave
