#pragma once

#include <algorithm>
#include <string>

#include "../../data/arrays/safetensors.h"

/// The tensor of that name; null: there is none.
inline const headwave::TensorInfo* tensor_in(const headwave::SafetensorsFile& file, const std::string& name) {
  const auto found = std::ranges::find(file.tensors(), name, &headwave::TensorInfo::name);
  return found == file.tensors().end() ? nullptr : &*found;
}
