#pragma once

// Documents of random states, and their moments.

#include <cstdint>
#include <vector>

#include "../../analysis/positions/state_moments.h"
#include "../test_numbers.h"

inline std::vector<headwave::Matrix> random_documents(headwave::Index documents, headwave::Index length,
                                                      headwave::Index width, std::uint64_t seed) {
  std::vector<headwave::Matrix> result;
  for (headwave::Index c = 0; c < documents; ++c)
    result.push_back(random_matrix(length, width, seed + 100 * static_cast<std::uint64_t>(c)));
  return result;
}

inline headwave::StateMoments moments_of(const std::vector<headwave::Matrix>& documents) {
  headwave::StateMoments moments;
  for (const headwave::Matrix& states : documents)
    headwave::add_to(moments, headwave::StateMoments(headwave::Matrix32(states.cast<float>())));
  return moments;
}

/// Moments of no documents.
inline headwave::StateMoments no_moments(headwave::Index length, headwave::Index width) {
  headwave::StateMoments moments;
  moments.position_sum = headwave::Matrix::Zero(length, width);
  moments.second_sum = headwave::Matrix::Zero(width, width);
  return moments;
}
