#include "delay_curves.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../drawing/field_values.h"

namespace headwave {

namespace {

constexpr const char* line_name = "delay_spectrum/by_frequency";
constexpr double loud_modulus = 0.01;  // of the largest |C(f)|

const std::vector<double>& lines(const Result& result, const char* name) {
  return doubles_of(result, name, {"layer", "head", "frequency"});
}

double number(const Result& result, const std::string& quantity, const ChosenHead& head, std::size_t heads) {
  const auto& values = doubles_of(result, "delay_spectrum/" + quantity, {"layer", "head"});
  if (values.size() != heads)
    throw ShapeError(fmt::format("delay_spectrum/{}: expected {} heads as in {}, found {}", quantity, heads, line_name,
                                 values.size()));
  return values[head.row];
}

/// The moduli of one head's cross-spectrum; NaN where it is not finite.
std::vector<double> moduli(const std::vector<double>& real, const std::vector<double>& imaginary, std::size_t first,
                           std::size_t count) {
  std::vector<double> modulus;
  for (std::size_t at = first; at < first + count; ++at) {
    const double size = std::hypot(real[at], imaginary[at]);
    modulus.push_back(std::isfinite(size) ? size : std::nan(""));
  }
  return modulus;
}

double largest_of(const std::vector<double>& modulus) {
  double largest = 0.0;
  for (std::size_t f = 1; f < modulus.size(); ++f) largest = std::fmax(largest, modulus[f]);
  return largest > 0 ? largest : 1.0;
}

}  // namespace

DelayCurves delay_curves(const Result& result, const FigureOptions& options) {
  const auto& delay = lines(result, line_name);
  const auto& real = lines(result, "delay_spectrum/cross_real");
  const auto& imaginary = lines(result, "delay_spectrum/cross_imaginary");
  DelayCurves curves;
  curves.span = frequency_span(result.at(line_name), "length");
  const std::size_t count = curves.span.count;
  const std::size_t heads = delay.size() / count;
  if (real.size() != delay.size() || imaginary.size() != delay.size())
    throw ShapeError(fmt::format("{}: expected as many values as in the cross-spectrum, found {}, {} and {}", line_name,
                                 delay.size(), real.size(), imaginary.size()));
  std::size_t loud = 0;
  for (const ChosenHead& head : chosen_heads(result, line_name, options)) {
    const auto first = static_cast<std::ptrdiff_t>(head.row * count);
    DelayCurve curve;
    curve.head = head;
    curve.delay.assign(delay.begin() + first, delay.begin() + first + static_cast<std::ptrdiff_t>(count));
    curve.modulus = moduli(real, imaginary, head.row * count, count);
    curve.largest = largest_of(curve.modulus);
    curve.estimate = number(result, "estimate", head, heads);
    curve.offset = number(result, "offset", head, heads);
    curve.lower = number(result, "lower", head, heads);
    curve.upper = number(result, "upper", head, heads);
    curve.coherence = number(result, "coherence", head, heads);
    loud = std::max(loud, last_loud(curve.modulus, loud_modulus));
    curves.heads.push_back(std::move(curve));
  }
  curves.last = last_shown(curves.span, loud);
  const auto& attributes = result.at("delay_spectrum/lower").attributes;
  if (const auto known = attributes.find("coverage"); known != attributes.end())
    if (const auto* coverage = std::get_if<double>(&known->second); coverage != nullptr && *coverage > 0)
      curves.coverage = *coverage;
  return curves;
}

}  // namespace headwave
