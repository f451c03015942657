#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave {

/// The part of a result's attention maps that a figure shows, the same of every head. It reads the result's own numbers.
struct ShownMap {
  const std::vector<double>* weights = nullptr;  ///< (heads, queries, keys)
  Index queries = 0, keys = 0;                   ///< stored
  Index rows = 0, columns = 0, first = 0;        ///< shown, and from which position on
  std::vector<std::string> query_labels, key_labels;
  std::vector<std::uint8_t> query_special, key_special;  ///< 1: a special token
  std::string document;                                  ///< its name; empty where the result does not say

  [[nodiscard]] double weight(std::size_t head, Index query, Index key) const {
    return (*weights)[head * static_cast<std::size_t>(queries * keys) + static_cast<std::size_t>(query * keys + key)];
  }
  /// Of pairs without special tokens, which draw so much attention that beside it nothing else would be seen; 1 where
  /// that is nothing.
  [[nodiscard]] double largest(std::size_t head) const;
};

/// @param tokens  how many are shown at most, of those that there are
/// @throws ShapeError if there are none, or the Fields do not fit one another
ShownMap shown_map(const Result& result, Index tokens);

}  // namespace headwave
