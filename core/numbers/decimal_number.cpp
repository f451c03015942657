#include "decimal_number.h"

#include <clocale>
#include <cmath>
#include <cstdlib>
#include <string>

#include <locale.h>  // NOLINT: newlocale() is POSIX's, not C++'s
#if __has_include(<xlocale.h>)
#include <xlocale.h>  // macOS has strtod_l() here
#endif

namespace headwave {

std::optional<double> decimal_number(std::string_view text) {
  // strtod() also accepts spaces, plus signs, hexadecimal numbers, inf and nan.
  if (text.empty() || text.front() == '+' || text.find_first_not_of("0123456789.eE+-") != std::string_view::npos)
    return std::nullopt;
  static const locale_t plain = ::newlocale(LC_ALL_MASK, "C", nullptr);
  const std::string terminated(text);
  char* end = nullptr;
  const double number = ::strtod_l(terminated.c_str(), &end, plain);
  return end == terminated.c_str() + terminated.size() && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

}  // namespace headwave
