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

/// A name from a file as an error quotes it: at most 40 characters, with "?" for all but printable ASCII.
std::string quotable(std::string_view text);

/// The name of a head: head_name(7, 8) is "L7H8".
std::string head_name(Index layer, Index head);

/// An axis of heads by name.
Axis head_name_axis(std::string name, std::string long_name, const std::vector<HeadName>& heads);

/// Parses a head's name, written exactly as by head_name(): capital letters, no leading zeros.
/// @throws FormatError if the text is not such a name
HeadName parse_head_name(std::string_view text);

/// Parses "strongest:N", which stands for the N strongest heads of a result in a list of heads.
/// @returns nothing for other words
/// @throws FormatError if N is not a whole number above 0
std::optional<Index> strongest_count(std::string_view text);

/// The layers and heads of an analysis. Rows of its matrices are (layer, head), layers in this order.
struct HeadGrid {
  std::vector<Index> layers;  ///< layer numbers, ascending
  Index heads = 0;
  [[nodiscard]] Index rows() const { return static_cast<Index>(layers.size()) * heads; }
  /// @returns the index of that layer in `layers`, or -1
  [[nodiscard]] Index place_of(Index layer) const;
  /// @returns the row of head 0 of that layer
  /// @throws ShapeError if the layer is not among `layers`
  [[nodiscard]] Index first_row(Index layer) const;
};

/// Every head of a grid, in the order of its rows.
std::vector<HeadName> heads_of(const HeadGrid& grid);

/// Which query-key pairs a statistic counts: all; pairs without special tokens; or pairs without special
/// tokens and the first token of the document, which is often a sink.
enum class Pairs { all, without_special, without_sink };
constexpr std::size_t pairs_kinds = 3;
constexpr std::size_t all_pairs = static_cast<std::size_t>(Pairs::all);  ///< as an index
Axis pairs_axis();

/// Whether pairs of that kind may contain a position of a sequence.
bool counts(Pairs kind, const TokenSequence& tokens, Index position);

}  // namespace headwave
