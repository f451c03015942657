#pragma once

// Documents of random states, and their moments.

#include <cstdint>
#include <vector>

#include "../../analysis/positions/position_split.h"
#include "../test_numbers.h"
#include "found_field.h"

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
    headwave::add_to(moments, headwave::state_moments(headwave::Matrix32(states.cast<float>())));
  return moments;
}

/// Moments of no documents.
inline headwave::StateMoments no_moments(headwave::Index length, headwave::Index width) {
  headwave::StateMoments moments;
  moments.position_sum = headwave::Matrix::Zero(length, width);
  moments.second_sum = headwave::Matrix::Zero(width, width);
  return moments;
}

/// A Field as a matrix of so many columns.
inline headwave::Matrix matrix_of_field(const headwave::Field& field, headwave::Index columns) {
  const std::vector<double>& values = field.doubles();
  return Eigen::Map<const headwave::Matrix>(values.data(), std::ssize(values) / std::max<headwave::Index>(columns, 1),
                                            columns);
}

/// Why there is nothing but one undefined number; otherwise empty.
inline std::string undefined_reason(const std::vector<headwave::Field>& fields) {
  return fields.size() == 1 ? std::get<std::string>(fields.front().attributes.at("undefined")) : "";
}
