#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "../../data/arrays/safetensors.h"
#include "../catch.h"

/// A copy of a model directory, to be broken.
inline void copy_model(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
}

inline std::string text_of_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Puts other text in the place of what must be there.
inline void replace_in(const std::filesystem::path& file, const std::string& what, const std::string& by) {
  std::string text = text_of_file(file);
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  text.replace(at, what.size(), by);
  std::ofstream(file) << text;
}

/// Puts NaN in the place of an entry of a float32 tensor.
inline void put_nan(const std::filesystem::path& file, const std::string& tensor, std::size_t entry = 0) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  std::size_t at = 0;
  {
    const headwave::SafetensorsFile raw(file);
    const auto info = std::ranges::find(raw.tensors(), tensor, &headwave::TensorInfo::name);
    REQUIRE(info != raw.tensors().end());
    at = std::filesystem::file_size(file) - raw.tensors().back().end + info->begin + entry * sizeof nan;
  }
  std::fstream edited(file, std::ios::in | std::ios::out | std::ios::binary);
  edited.seekp(static_cast<std::streamoff>(at));
  edited.write(reinterpret_cast<const char*>(&nan), sizeof nan);
  REQUIRE(edited.flush());
}
