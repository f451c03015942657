#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../attention/document.h"
#include "../numbers/matrix.h"
#include "field.h"

namespace headwave {

/// One attention head of a model: "L7H8" is head 8 of layer 7. Both count from 0.
struct HeadName {
  Index layer = 0;
  Index head = 0;

  auto operator<=>(const HeadName&) const = default;
};

/// A name from a file as an error quotes it: one short line of plain characters, others replaced by "?".
std::string quotable(std::string_view text);

/// The name a head has everywhere: head_name(7, 8) is "L7H8".
std::string head_name(Index layer, Index head);

/// An axis of heads by name: "L7H8", "L1H2".
Axis head_name_axis(std::string name, std::string long_name, const std::vector<HeadName>& heads);

/// Parses a head's name, written exactly as head_name() writes it: capital letters, no leading
/// zeros.
/// @param text  "L7H8", from anywhere
/// @throws FormatError if it is not such a name
HeadName parse_head_name(std::string_view text);

/// N of "strongest:N", which stands among names of heads for the N strongest heads of a result.
/// @returns nothing for other words
/// @throws FormatError if N is not a whole number above 0
std::optional<Index> strongest_count(std::string_view text);

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
