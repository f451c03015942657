#pragma once

#include <cstdint>
#include <filesystem>

namespace headwave {

/// The id that an encoder-decoder's decoder reads before all others: `decoder_start_token_id` of config.json,
/// or else of generation_config.json beside it.
/// @throws IoError if config.json cannot be read; FormatError if neither says it, or one is broken
std::int32_t decoder_start(const std::filesystem::path& folder);

}  // namespace headwave
