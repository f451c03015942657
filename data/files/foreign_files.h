#pragma once

#include <filesystem>

#include "../../core/errors/error.h"

namespace headwave {

// Errors about files in formats that headwave does not read: what the file is, by its content or else by its
// name, and the line of Python that converts it.

/// For a file that was given as stored states.
/// @throws IoError if it cannot be read
FormatError foreign_states(const std::filesystem::path& file);

/// For a file that was given, or found in a folder, as a model's weights.
/// @throws IoError if it cannot be read
FormatError foreign_weights(const std::filesystem::path& file);

/// For any file.
/// @throws IoError if it cannot be read
FormatError foreign_file(const std::filesystem::path& file);

/// Whether a file's name is that of weights in another format: .bin, .pt, .ckpt, .gguf, .h5, .msgpack, .onnx,
/// ...
bool is_foreign_weights_name(const std::filesystem::path& file);

}  // namespace headwave
