#pragma once

#include <concepts>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

namespace headwave {

class StoredArrays;

/// Where stored states are: in a file or folder, or in arrays that somebody has opened already.
struct StatesAt {
  template <class Path>
  requires std::convertible_to<Path, std::filesystem::path> StatesAt(Path&& file)  // NOLINT: a path is a place
      : path(std::forward<Path>(file)) {}
  /// @param called  what messages call the arrays
  StatesAt(std::string called, std::shared_ptr<const StoredArrays> opened)
      : path(std::move(called)), arrays(std::move(opened)) {}

  std::filesystem::path path;
  std::shared_ptr<const StoredArrays> arrays;  ///< null: they are in the file
};

}  // namespace headwave
