#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model_config.h"

namespace headwave {

/// What a config.json says, after a family read it as its own, that may change the numbers and was not read: names of
/// the keys that are there, hold something, are not known to leave the arithmetic alone (dropout, token ids, how text is
/// generated, bookkeeping), and were not asked for. Multipliers, soft caps, scales and norms of other models stand there.
std::vector<std::string> unread_arithmetic(const ModelConfig& config);

/// Whether a tensor that nothing reads is a prediction head's or a pooler's, which change neither attention nor states.
bool is_of_a_head(std::string_view tensor);

/// Of a model type whose code computes otherwise than the known family it looks like, without its config.json saying so:
/// what it does, in words. Empty of any other.
std::string silent_arithmetic(const std::string& model_type);

}  // namespace headwave
