#include "strongest_heads.h"

#include <charconv>

#include <fmt/format.h>

#include "../errors/error.h"
#include "head_name.h"

namespace headwave {

std::optional<Index> strongest_count(std::string_view text) {
  constexpr std::string_view word = "strongest:";
  if (!text.starts_with(word)) return std::nullopt;
  const std::string_view digits = text.substr(word.size());
  Index count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (error != std::errc() || end != digits.data() + digits.size() || count < 1)
    throw FormatError(
        fmt::format("heads '{}': expected strongest:N with a whole number N above 0, as strongest:6", quotable(text)));
  return count;
}

}  // namespace headwave
