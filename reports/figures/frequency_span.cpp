#include "frequency_span.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"

namespace headwave {

FrequencySpan frequency_span(const Field& field, std::string_view attribute) {
  const auto frequency = coordinates(field, "frequency");
  for (std::size_t f = 0; f < frequency.size(); ++f)
    if (frequency[f] != static_cast<double>(f))
      throw ShapeError(
          fmt::format("{}: expected the frequencies 0, 1, 2, ..., found {} at place {}", field.name, frequency[f], f));
  FrequencySpan span{frequency.size(), 2 * static_cast<double>(std::max<std::size_t>(frequency.size() - 1, 1))};
  span.length = attribute_number(field.attributes, std::string(attribute), span.length);
  if (!(span.length >= 1) || std::floor(span.length / 2) + 1 != static_cast<double>(span.count))
    throw ShapeError(fmt::format("{}: {} = {} has other frequencies than the {} of its axis", field.name, attribute,
                                 span.length, span.count));
  return span;
}

std::size_t last_loud(const std::vector<double>& curve, double share) {
  double largest = 0.0;
  for (std::size_t f = 1; f < curve.size(); ++f)
    if (std::isfinite(curve[f])) largest = std::max(largest, curve[f]);
  std::size_t last = 0;
  for (std::size_t f = 1; f < curve.size(); ++f)
    if (std::isfinite(curve[f]) && curve[f] > share * largest) last = f;
  return last;
}

std::size_t last_shown(const FrequencySpan& span, std::size_t loud) {
  const auto least = std::max<std::size_t>(static_cast<std::size_t>(span.length / 8), 2);
  return std::max<std::size_t>(2, std::min(span.count - 1, std::max(least, loud + loud / 10)));
}

}  // namespace headwave
