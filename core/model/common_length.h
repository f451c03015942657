#pragma once

#include <vector>

#include "../numbers/matrix.h"

namespace headwave {

/// The most common length of documents, of two equally common ones the longer, and how many documents have it.
struct CommonLength {
  Index length = 0;  ///< T, tokens
  Index documents = 0;
};

CommonLength common_length(const std::vector<Index>& lengths);

}  // namespace headwave
