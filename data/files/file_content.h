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
  pytorch,  ///< a pickle, in a zip archive or bare
  zip,
  gguf
};

/// Known by magic numbers; of a zip archive by its first members, of a safetensors file by the length of its
/// header.
FileContent content_of(std::string_view bytes);

/// What a file is, by its first 4 MB; `other` for a folder.
/// @throws IoError if the file cannot be read
FileContent content_of_file(const std::filesystem::path& path);

/// "a PyTorch file", "a NumPy archive (.npz)"; empty for `other`.
std::string_view words_of(FileContent content);

/// What to give in place of a file in another format.
constexpr std::string_view expected_states =
    "stored states as HDF5, .npy, .npz or safetensors: load it in Python, and numpy.save('states.npy', x) writes what "
    "headwave reads";
constexpr std::string_view expected_weights =
    "the folder of a model with config.json and safetensors, or a .safetensors file: load the model with transformers, "
    "and model.save_pretrained(DIR) writes them";

/// The error about a file in a format that is not read: what it is, and what is expected.
/// @throws IoError if it cannot be read
FormatError foreign_file(const std::filesystem::path& file, std::string_view expected);

/// Refuses a pointer of Git LFS, a text that a clone without it holds in the place of a large file.
/// @param beginning  of the file, 64 bytes or more if it has them
/// @throws FormatError if it is one
void require_no_pointer(std::string_view beginning, const std::filesystem::path& file);

}  // namespace headwave
