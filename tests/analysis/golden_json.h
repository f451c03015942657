#pragma once

// Numbers of golden JSON files as vectors and matrices.

#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "../../core/numbers/fft.h"
#include "../../core/numbers/matrix.h"
#include "../catch.h"

inline nlohmann::json golden_json(const std::string& name) {
  std::ifstream file(repository_file("tests/golden/" + name));
  return nlohmann::json::parse(file);
}

inline headwave::Vector vector_of(const nlohmann::json& list) {
  const auto values = list.get<std::vector<double>>();
  return Eigen::Map<const headwave::Vector>(values.data(), static_cast<headwave::Index>(values.size()));
}

inline headwave::Matrix matrix_of(const nlohmann::json& list) {
  const auto rows = list.get<std::vector<std::vector<double>>>();
  headwave::Matrix matrix(static_cast<headwave::Index>(rows.size()), static_cast<headwave::Index>(rows.front().size()));
  for (headwave::Index i = 0; i < matrix.rows(); ++i)
    for (headwave::Index j = 0; j < matrix.cols(); ++j)
      matrix(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  return matrix;
}

inline Eigen::VectorXcd complex_of(const nlohmann::json& parts) {
  const headwave::Vector re = vector_of(parts.at("re")), im = vector_of(parts.at("im"));
  return re.cast<std::complex<double>>() + std::complex<double>(0, 1) * im.cast<std::complex<double>>();
}
