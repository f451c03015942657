#include "tics.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace headwave {

ValueRange range_with_zero(const std::vector<double>& values) {
  ValueRange range{0.0, 0.0};
  for (const double value : values)
    if (std::isfinite(value)) {
      range.low = std::min(range.low, value);
      range.high = std::max(range.high, value);
    }
  if (!(range.high > range.low)) return {};
  const double room = 0.07 * (range.high - range.low);
  return {range.low < 0 ? range.low - room : 0.0, range.high + room};
}

ValueRange range_around(const std::vector<double>& values, double room) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : values)
    if (std::isfinite(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  if (!(low <= high)) return {};
  const double around = high > low ? room * (high - low) : 1.0;
  return {low - around, high + around};
}

double tic_step(double range) {
  const double rough = range / 4;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double digit = rough / power;
  return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}

std::vector<Tic> every_nth(const std::vector<Index>& numbers, std::size_t n) {
  std::vector<Tic> tics;
  for (std::size_t i = 0; i < numbers.size(); i += n)
    tics.push_back({static_cast<double>(i), fmt::format("{}", numbers[i])});
  return tics;
}

std::vector<Tic> round_tics(const ValueRange& range) {
  std::vector<Tic> tics;
  const int first = static_cast<int>(std::floor(std::log10(range.low)));
  const int last = static_cast<int>(std::floor(std::log10(range.high)));
  for (int exponent = first; exponent <= last; ++exponent)
    for (const int digit : {1, 2, 5})
      if (const double number = digit * std::pow(10.0, exponent);
          number >= range.low * 0.999 && number <= range.high * 1.001)
        tics.push_back({number, fmt::format("{:g}", number)});
  if (tics.size() > 1 || range.high - range.low <= 1e-9 * range.high) return tics;
  tics.clear();
  const double step = tic_step(range.high - range.low);
  const auto first_step = static_cast<Index>(std::ceil(range.low / step));
  const auto last_step = static_cast<Index>(std::floor(range.high / step));
  for (Index i = first_step; i <= last_step; ++i) {
    const double number = static_cast<double>(i) * step;
    tics.push_back({number, fmt::format("{:.6g}", number)});
  }
  return tics;
}

}  // namespace headwave
