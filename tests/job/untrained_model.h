#pragma once

#include <cmath>
#include <filesystem>
#include <vector>

#include "../../core/numbers/matrix.h"
#include "../../core/numbers/random.h"
#include "../../data/arrays/safetensors.h"
#include "../catch.h"

/// A copy of the golden BERT (40 positions) whose table has waves in its first 26 rows and what training began with in
/// the other 14.
inline std::filesystem::path model_with_untrained_rows(const TemporaryFolder& folder) {
  using namespace headwave;
  const std::filesystem::path from = repository_file("tests/golden/models/bert"), to = folder / "untrained";
  std::filesystem::copy(from, to);
  const SafetensorsFile file(from / "model.safetensors");
  std::vector<NamedTensor> tensors;
  Matrix32 table;
  for (const TensorInfo& tensor : file.tensors()) {
    const auto* values = reinterpret_cast<const float*>(file.bytes(tensor).data());
    if (tensor.name.ends_with("position_embeddings.weight")) {
      Random random(3);
      table.resize(tensor.shape[0], tensor.shape[1]);
      for (float& entry : table.reshaped()) entry = static_cast<float>(0.02 * random.normal());
      for (Index n = 0; n < 26; ++n)
        for (Index c = 0; c < table.cols(); ++c)
          table(n, c) +=
              static_cast<float>(0.2 * std::cos(0.2 * static_cast<double>(n) + 1.7 * static_cast<double>(c)));
      values = table.data();
    }
    tensors.push_back({tensor.name, tensor.shape, values});
  }
  write_safetensors(to / "model.safetensors", tensors);
  return to;
}
