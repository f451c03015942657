#pragma once

// Files that tests of this room read and write.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../../data/arrays/npy.h"
#include "../catch.h"

/// A tiny model of a family, with what transformers made of it.
inline std::filesystem::path family(const std::string& name) {
  return repository_file("tests/golden/families") / name;
}

/// Stored embeddings in a form that other programs write.
inline std::filesystem::path formats(const std::string& name) {
  return repository_file("tests/golden/stored/formats") / name;
}

inline std::string file_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A block of an array as floats, row-major.
inline std::vector<float> floats_of_block(const headwave::ReadableBytes& bytes, const headwave::PlacedNumbers& numbers,
                                          const headwave::ArrayBlock& block) {
  std::vector<float> values;
  read_block(bytes, numbers, block, headwave::room_in(values));
  return values;
}

/// The numbers of a .npy file as floats, row-major.
inline std::vector<float> npy_floats(const std::filesystem::path& path) {
  const headwave::FileBytes bytes(path);
  const headwave::NpyInfo info = headwave::npy_info(bytes, path.string());
  return floats_of_block(bytes, placed_numbers(info, path.string()), headwave::whole_block(info.shape));
}
