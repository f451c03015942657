#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "../../core/errors/error.h"

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

/// What a file is, by its first 4 MB; `other` for a folder.
/// @throws IoError if the file cannot be read
FileContent content_of_file(const std::filesystem::path& path);

/// "a PyTorch file", "a NumPy archive (.npz)"; empty for `other`.
std::string_view words_of(FileContent content);

// Errors about files in formats that headwave does not read: what the file is, by its content or else by its
// name, and what to give instead.

/// For a file that was given as stored states.
/// @throws IoError if it cannot be read
FormatError foreign_states(const std::filesystem::path& file);

/// For a file that was given, or found in a folder, as a model's weights.
/// @throws IoError if it cannot be read
FormatError foreign_weights(const std::filesystem::path& file);

/// For any file.
/// @throws IoError if it cannot be read
FormatError foreign_file(const std::filesystem::path& file);

/// Refuses a pointer of Git LFS, a text that a clone without it holds in the place of a large file.
/// @param beginning  of the file, 64 bytes or more if it has them
/// @throws FormatError if it is one
void require_no_pointer(std::string_view beginning, const std::filesystem::path& file);

/// Whether a file's name is that of weights in another format: .bin, .pt, .ckpt, .gguf, .h5, .msgpack, .onnx,
/// ...
bool is_foreign_weights_name(const std::filesystem::path& file);

}  // namespace headwave
