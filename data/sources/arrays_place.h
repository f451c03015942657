#pragma once

#include <concepts>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

namespace headwave {

class NamedArrays;

/// Where arrays are: in a file or folder, or in memory.
struct ArraysPlace {
  template <class Path>
  requires std::convertible_to<Path, std::filesystem::path> ArraysPlace(Path&& file)  // NOLINT: a path is a place
      : path(std::forward<Path>(file)) {}
  /// @param called  what messages call the arrays
  ArraysPlace(std::string called, std::shared_ptr<const NamedArrays> in_memory)
      : path(std::move(called)), arrays(std::move(in_memory)) {}

  std::filesystem::path path;
  std::shared_ptr<const NamedArrays> arrays;  ///< null: in the file or folder
};

}  // namespace headwave
