#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "../../core/attention/block.h"

namespace headwave {

class StoredArrays;

/// What is known of stored attention beside the arrays; nothing where nobody says.
struct StatedAttention {
  std::optional<Index> heads, d_head, window;
  std::optional<bool> causal, turned;
  std::optional<double> scale;
  bool operator==(const StatedAttention&) const = default;
};

/// "num_heads 8, causal 1"; "nothing" where nothing is said.
std::string text_of(const StatedAttention& stated);

/// What a map says, and where that is silent the numbers beside the arrays.
/// @throws FormatError if one is out of range
StatedAttention stated_attention(const StoredArrays& arrays, const StatedAttention& mapped);

/// What is said must be what the model does: states of another model would give attention that nobody computed.
/// @param path  for messages
/// @throws ShapeError if they differ
void require_same_attention(const std::filesystem::path& path, const StatedAttention& stated, const BlockSpec& spec);

}  // namespace headwave
