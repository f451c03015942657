#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "../arrays/gguf.h"

namespace headwave {

/// A GGUF file as what a folder of safetensors would be: tensors by the names, and with the rows, that the
/// family's map reads, and a config.json.
struct GgufModel {
  std::shared_ptr<const Checkpoint> checkpoint;
  /// What config.json would say; nothing: the architecture is not known, and tensors have the names that the
  /// file gives them.
  std::optional<nlohmann::json> config;
  std::string architecture;  ///< `general.architecture`
  std::string stored_as;     ///< of which types its tensors are: "F32 21, Q4_K 48 tensors, dequantised to float32"
};

/// Opens a GGUF file, or the first of several. data/models/gguf/ARCHITECTURE.toml (docs/gguf.md) says what its
/// tensors and keys are in the checkpoint that it was made of, and what llama.cpp's conversion changed, which
/// is undone when a tensor is read:
///
///     paired       rows of queries and keys, a head's channels m and m + r/2 side by side, back to their places
///     one_added    norms stored as 1 + weight
///     transposed   weights stored (out, in) that the checkpoint has as (in, out)
///
/// What the file does not say is left to the family's defaults, as llama.cpp leaves it to its own.
/// @param any  accept an architecture that is not known; otherwise it is refused
/// @throws IoError, FormatError naming the file, the key or tensor, what was expected and what was found
GgufModel gguf_model(const std::filesystem::path& path, bool any = false);

/// The architectures that are known: "gemma", "llama", ...
std::vector<std::string> known_architectures();

}  // namespace headwave
