#pragma once

#include <array>
#include <vector>

#include "../drawing/strokes.h"
#include "frequency_span.h"

namespace headwave {

inline constexpr std::array state_parts{"position", "context", "residual"};

/// What hidden states are made of, layer by layer, and the spectrum of their position part as cells of a picture,
/// frequency 0 left out: where more than 512 frequencies would be shown, neighbours share a cell, which shows the largest.
struct LayerSplit {
  std::vector<Index> layers;
  std::array<std::vector<double>, state_parts.size()> share;  ///< (layers) each, of the variance
  std::vector<double> noise;                                  ///< (layers) of the variance; empty: not in the result
  const std::vector<double>* spectrum = nullptr;              ///< (layers, frequencies) amplitude
  FrequencySpan span;
  std::size_t step = 1;  ///< frequencies to a column of cells

  [[nodiscard]] std::size_t columns() const;
  /// @returns the amplitude shown, NaN if none is above 0
  [[nodiscard]] double cell(std::size_t layer, std::size_t column) const;
  /// Middle of a column, cycles per T tokens.
  [[nodiscard]] double frequency(std::size_t column) const {
    return 1 + static_cast<double>(column * step) + static_cast<double>(step - 1) / 2;
  }
};

/// @throws ShapeError if the Fields have other axes than described
LayerSplit layer_split(const Result& result);

/// The range of logarithmic colours: from the smallest amplitude, or three decades below the largest, to the largest;
/// a factor of 2.5 at least, so that there is a round number in it.
ValueRange amplitude_range(const LayerSplit& split);

}  // namespace headwave
