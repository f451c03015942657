#include "sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace headwave {

namespace {

constexpr std::array<const char*, sign_steps> blocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<const char*, sign_steps> ascii{".", ":", "-", "=", "+", "*", "%", "@"};
constexpr const char* undefined_sign = "?";

const std::array<const char*, sign_steps>& ramp(Signs signs) {
  return signs == Signs::blocks ? blocks : ascii;
}

}  // namespace

SignScale sign_scale(const std::vector<double>& values) {
  SignScale scale{std::nan(""), std::nan(""), 0};
  for (const double value : values) {
    if (!std::isfinite(value)) {
      ++scale.undefined;
      continue;
    }
    scale.low = std::fmin(scale.low, value);
    scale.high = std::fmax(scale.high, value);
  }
  return scale;
}

std::string ramp_text(Signs signs) {
  std::string all;
  for (const char* sign : ramp(signs)) all += sign;
  return all;
}

std::string sign_of(double value, const SignScale& scale, Signs signs) {
  if (!std::isfinite(value)) return undefined_sign;
  const double share = scale.is_constant() ? 0 : (value - scale.low) / (scale.high - scale.low);
  const auto step = static_cast<std::size_t>(std::clamp(std::floor(share * sign_steps), 0.0, sign_steps - 1.0));
  return ramp(signs)[step];
}

std::string sparkline(const std::vector<double>& values, const SignScale& scale, Signs signs) {
  std::string line;
  for (const double value : values) line += sign_of(value, scale, signs);
  return line;
}

std::string scale_words(const SignScale& scale, const std::string& unit, Signs signs) {
  const std::string of = unit.empty() || unit == "1" ? "" : " " + unit;
  if (scale.is_empty()) return "no value is defined";
  const std::string absent = scale.undefined == 0 ? "" : fmt::format(", {} undefined", undefined_sign);
  if (scale.is_constant())
    return fmt::format("constant: every {}value is {:.4g}{}{}", scale.undefined == 0 ? "" : "defined ", scale.low, of,
                       absent);
  return fmt::format("scale: {} {:.4g} to {} {:.4g}{}, {} even steps {}{}", ramp(signs).front(), scale.low,
                     ramp(signs).back(), scale.high, of, sign_steps, ramp_text(signs), absent);
}

std::vector<double> in_groups(const std::vector<double>& values, Index group) {
  std::vector<double> means;
  for (auto begin = values.begin(); begin != values.end();) {
    const auto end = begin + std::min(group, static_cast<Index>(values.end() - begin));
    double sum = 0, count = 0;
    for (; begin != end; ++begin)
      if (std::isfinite(*begin)) {
        sum += *begin;
        ++count;
      }
    means.push_back(sum / count);
  }
  return means;
}

}  // namespace headwave
