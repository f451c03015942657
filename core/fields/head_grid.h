#pragma once

#include <cstddef>
#include <vector>

#include "../attention/document.h"
#include "../numbers/matrix.h"
#include "field.h"
#include "head_name.h"

namespace headwave {

/// The layers and heads of an analysis. Rows of its matrices are (layer, head), layers in this order.
struct HeadGrid {
  std::vector<Index> layers;  ///< layer numbers, ascending
  Index heads = 0;
  [[nodiscard]] Index rows() const { return static_cast<Index>(layers.size()) * heads; }
  /// @returns the position of that layer in `layers`; -1: it is not among them
  [[nodiscard]] Index place_of(Index layer) const;
  /// @returns the row of head 0 of that layer
  /// @throws ShapeError if the layer is not among `layers`
  [[nodiscard]] Index first_row(Index layer) const;
};

/// Every head of a grid, in the order of its rows.
std::vector<HeadName> heads_of(const HeadGrid& grid);

/// Which query-key pairs a statistic counts: all; pairs without special tokens; pairs without special tokens and without
/// the first token of the document, which draws attention that has no better place to go (the sink).
enum class Pairs { all, without_special, without_sink };
constexpr std::size_t pairs_kinds = 3;
constexpr std::size_t all_pairs = static_cast<std::size_t>(Pairs::all);  ///< as an index
Axis pairs_axis();

/// Whether pairs of that kind include a position of a sequence.
bool counts(Pairs kind, const TokenSequence& tokens, Index position);

}  // namespace headwave
