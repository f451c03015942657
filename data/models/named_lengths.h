#pragma once

#include <filesystem>

#include "../../core/fields/field.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

/// The lengths that a checkpoint's files say it was trained on or truncates at, as far as documents exceed them:
///
///     sentence_bert_config.json  max_seq_length
///     tokenizer_config.json      model_max_length, unless it stands for "any" (1e30)
///     config.json                max_position_embeddings
///
/// A missing or unreadable file names none. sliding_window and original_max_position_embeddings are left out: models
/// read longer documents than these by design.
/// @param folder  of the checkpoint
/// @param tokens  of the longest document
/// @returns `named_length`, the shortest, and `named_lengths`, all of them in words; nothing if none is exceeded
Attributes exceeded_lengths(const std::filesystem::path& folder, Index tokens);

}  // namespace headwave
