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

/// A name from a file as error messages quote it. "..." replaces bytes after the first 40, "?" replaces all
/// but printable ASCII.
std::string quotable(std::string_view text);

/// The name of a head. For example, head_name(7, 8) is "L7H8".
std::string head_name(Index layer, Index head);

/// An axis whose coordinates are the names of heads.
Axis head_name_axis(std::string name, std::string long_name, const std::vector<HeadName>& heads);

/// Parses a head's name, which must be exactly as head_name() writes it: capital letters, no leading zeros.
/// @throws FormatError if the text is not such a name
HeadName parse_head_name(std::string_view text);

/// Parses "strongest:N". In a list of heads this entry stands for the N strongest heads of a result.
/// @returns N; no value if the text does not begin with "strongest:"
/// @throws FormatError if N is not a whole number above 0
std::optional<Index> strongest_count(std::string_view text);

/// The layers and heads of an analysis. Its matrices have one row per head: all heads of the first layer,
/// then all heads of the second layer, and so on.
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

/// Which query-key pairs a statistic counts: all pairs, pairs without special tokens, or pairs with neither
/// special tokens nor the document's first token, which is often a sink.
enum class Pairs { all, without_special, without_sink };
constexpr std::size_t pairs_kinds = 3;
constexpr std::size_t all_pairs = static_cast<std::size_t>(Pairs::all);  ///< the index of Pairs::all
Axis pairs_axis();

/// Whether pairs of that kind may contain the token at a position.
bool counts(Pairs kind, const TokenSequence& tokens, Index position);

}  // namespace headwave
