#pragma once

#include <filesystem>

#include "../../core/errors/error.h"

namespace headwave {

// Errors about files that other programs write and headwave does not read: what a file is, by its content where that
// tells and else by its name, and the Python that turns it into one that is read, on one line.

/// Of a file that was given as stored states.
/// @throws IoError if it cannot be read
FormatError foreign_states(const std::filesystem::path& file);

/// Of a file that was given, or found in a folder, as a model's weights.
/// @throws IoError if it cannot be read
FormatError foreign_weights(const std::filesystem::path& file);

/// Of any file.
/// @throws IoError if it cannot be read
FormatError foreign_file(const std::filesystem::path& file);

/// Whether a file's name is that of weights in another format: .bin, .pt, .ckpt, .gguf, .h5, .msgpack, .onnx, ...
bool is_foreign_weights_name(const std::filesystem::path& file);

}  // namespace headwave
