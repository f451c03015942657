#pragma once

// Files that tests of this room read and write.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

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
