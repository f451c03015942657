#include "layer_split.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../drawing/field_values.h"

namespace headwave {

namespace {

constexpr const char* variance_share_name = "position_split/variance_share";
constexpr const char* spectrum_name = "position_split/spectrum";
constexpr const char* noise_name = "position_split/noise_share";
constexpr double darkest = 1e-3;  // of the largest amplitude
constexpr std::size_t most_pixels = 512;

}  // namespace

std::size_t LayerSplit::columns() const {
  return std::max<std::size_t>(1, (span.count - 1 + step - 1) / step);
}

double LayerSplit::cell(std::size_t layer, std::size_t column) const {
  double largest = std::nan("");
  for (std::size_t f = 1 + column * step; f < std::min(span.count, 1 + (column + 1) * step); ++f)
    if (const double value = (*spectrum)[layer * span.count + f]; std::isfinite(value) && value > 0)
      largest = std::fmax(largest, value);
  return largest;
}

LayerSplit layer_split(const Result& result) {
  LayerSplit split;
  const auto& shares = doubles_of(result, variance_share_name, {"layer", "part"});
  const Field& field = result.at(variance_share_name);
  split.layers = whole_coordinates(field, "layer");
  const std::size_t parts = labels_of(field, "part").size();
  for (std::size_t part = 0; part < state_parts.size(); ++part) {
    const std::size_t place = place_of(field, "part", state_parts[part]);
    for (std::size_t layer = 0; layer < split.layers.size(); ++layer)
      split.share[part].push_back(shares[layer * parts + place]);
  }
  split.spectrum = &doubles_of(result, spectrum_name, {"layer", "frequency"});
  split.span = frequency_span(result.at(spectrum_name), "T");
  if (split.layers.empty() || split.spectrum->size() != split.layers.size() * split.span.count)
    throw ShapeError(fmt::format("{}: expected the {} layers of {}, at least one, found {} values at {} frequencies",
                                 spectrum_name, split.layers.size(), variance_share_name, split.spectrum->size(),
                                 split.span.count));
  split.step = std::max<std::size_t>(1, (split.span.count - 1 + most_pixels - 1) / most_pixels);
  if (result.find(noise_name) == nullptr) return split;
  split.noise = doubles_of(result, noise_name, {"layer"});
  if (split.noise.size() != split.layers.size())
    throw ShapeError(fmt::format("{}: expected {} layers as in {}, found {}", noise_name, split.layers.size(),
                                 variance_share_name, split.noise.size()));
  return split;
}

ValueRange amplitude_range(const LayerSplit& split) {
  double low = std::nan(""), high = 0.0;
  for (std::size_t layer = 0; layer < split.layers.size(); ++layer)
    for (std::size_t column = 0; column < split.columns(); ++column)
      if (const double value = split.cell(layer, column); value > 0) {
        low = std::fmin(low, value);
        high = std::max(high, value);
      }
  if (!(high > 0)) return {0.1, 1.0};
  return {std::min(std::max(low, high * darkest), high / 2.5), high};
}

}  // namespace headwave
