#pragma once

// What a maker script left in a file of tensors.

#include <algorithm>
#include <string>
#include <vector>

#include "../../data/arrays/safetensors.h"
#include "../catch.h"

/// The bytes of a tensor, row-major.
inline std::string golden_bytes(const headwave::SafetensorsFile& file, const std::string& name) {
  const headwave::TensorInfo* info = file.find(name);
  REQUIRE(info != nullptr);
  const auto bytes = file.bytes(*info);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A float32 tensor as matrices of its last two axes.
inline std::vector<headwave::MatrixView32> golden_matrices(const headwave::SafetensorsFile& file,
                                                           const std::string& name) {
  const headwave::TensorInfo* info = file.find(name);
  REQUIRE(info != nullptr);
  const headwave::Index rows = info->shape.size() < 2 ? 1 : info->shape[info->shape.size() - 2];
  const headwave::Index cols = info->shape.back();
  const auto* values = reinterpret_cast<const float*>(file.bytes(*info).data());
  std::vector<headwave::MatrixView32> matrices;
  for (headwave::Index at = 0; at < info->size(); at += rows * cols) matrices.emplace_back(values + at, rows, cols);
  return matrices;
}
