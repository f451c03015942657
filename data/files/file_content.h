#pragma once

#include <filesystem>
#include <string_view>

namespace headwave {

/// The format of a file by its bytes, whatever its name; words_of() has the words in this order.
enum class FileContent {
  other,  ///< none of these: a text, or unknown
  empty,
  hdf5,
  npy,
  safetensors,
  npz,      ///< a zip archive of .npy files
  pytorch,  ///< a zip archive with a pickle, or a bare pickle with PyTorch's mark
  pickle,
  zip,
  gguf,
  parquet,
  gzip,
  image,
  pdf
};

/// Known by magic numbers; of a zip archive by its first members, of a safetensors file by the length of its
/// header.
FileContent content_of(std::string_view bytes);

/// The same of a file, of which the first 4 MB are looked at; `other` of a folder.
/// @throws IoError if the file cannot be read
FileContent content_of_file(const std::filesystem::path& path);

/// "a PyTorch file", "a NumPy archive (.npz)"; empty for `other`.
std::string_view words_of(FileContent content);

}  // namespace headwave
