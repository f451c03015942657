#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "../../core/errors/error.h"

namespace headwave {

/// The format of a file, recognised by its bytes and not by its name. In the order of words_of().
enum class FileContent {
  other,  ///< a text, or an unknown format
  empty,
  hdf5,
  npy,
  safetensors,
  npz,      ///< a zip archive of .npy files
  pytorch,  ///< a pickle, in a zip archive or bare
  zip,
  gguf
};

/// Recognises the format of bytes by magic numbers, the kind of a zip archive by its first members, and
/// safetensors by the length of its header.
FileContent content_of(std::string_view bytes);

/// Recognises the format of a file by its first 4 MB; `other` for a folder.
/// @throws IoError if the file cannot be read
FileContent content_of_file(const std::filesystem::path& path);

/// A format in words: "a PyTorch file, a pickle", "a NumPy archive (.npz)"; empty for `other`.
std::string_view words_of(FileContent content);

/// What messages ask for if a file has another format.
constexpr std::string_view expected_states =
    "stored states as HDF5, .npy, .npz or safetensors: load it in Python, and numpy.save('states.npy', x) writes what "
    "headwave reads";
constexpr std::string_view expected_weights =
    "the folder of a model with config.json and safetensors, or a .safetensors file: load the model with transformers, "
    "and model.save_pretrained(DIR) writes them";

/// The error for a file in a format that headwave does not read. It names the formats found and expected.
/// @throws IoError if the file cannot be read
FormatError foreign_file(const std::filesystem::path& file, std::string_view expected);

/// Refuses a Git LFS pointer: a small text that stands for a large file in clones without Git LFS.
/// @param beginning  the file's first 64 bytes, or all of them if it is shorter
/// @throws FormatError if the file is a pointer
void require_no_pointer(std::string_view beginning, const std::filesystem::path& file);

}  // namespace headwave
