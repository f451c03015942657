#pragma once

#include <cstddef>
#include <vector>

#include "../attention/document.h"
#include "../numbers/matrix.h"
#include "field.h"
#include "head_name.h"

namespace headwave {

/// The layers and heads that are looked at. Rows of an analysis' matrices are (layer, head), layers in this order.
struct HeadGrid {
  std::vector<Index> layers;  ///< layer numbers, ascending
  Index heads = 0;
  [[nodiscard]] Index rows() const { return static_cast<Index>(layers.size()) * heads; }
  /// @returns which of `layers` that layer is; -1: none
  [[nodiscard]] Index place_of(Index layer) const;
  /// @returns the row of head 0 of that layer
  /// @throws ShapeError if the layer is not among `layers`
  [[nodiscard]] Index first_row(Index layer) const;
};

/// Every head of a grid, in the order of its rows.
std::vector<HeadName> heads_of(const HeadGrid& grid);

/// Which query-key pairs a statistic counts: all; those without special tokens; those without special tokens and
/// without the first token of the document, where attention without a better place to go piles up (the sink).
enum class Pairs { all, without_special, without_sink };
constexpr std::size_t pairs_kinds = 3;
constexpr std::size_t all_pairs = static_cast<std::size_t>(Pairs::all);  ///< as an index
Axis pairs_axis();

/// Whether a position of a sequence belongs to pairs of that kind.
bool counts(Pairs kind, const TokenSequence& tokens, Index position);

}  // namespace headwave
