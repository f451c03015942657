#pragma once

#include <map>
#include <vector>

#include "../numbers/matrix.h"

namespace headwave {

/// The most common length of documents, of two equally common ones the larger, and how many documents have
/// it.
template <class Length>
struct CommonLength {
  Length length{};  ///< T in tokens, or the lengths of several sequences
  Index documents = 0;
};

template <class Length>
CommonLength<Length> common_length(const std::vector<Length>& lengths) {
  std::map<Length, Index> counts;
  for (const Length& length : lengths) ++counts[length];
  CommonLength<Length> common;
  for (const auto& [length, count] : counts)
    if (count >= common.documents) common = {length, count};
  return common;
}

}  // namespace headwave
