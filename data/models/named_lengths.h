#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

/// A length that a file of a checkpoint names, in tokens.
struct NamedLength {
  std::string file;  ///< "sentence_bert_config.json"
  std::string key;   ///< "max_seq_length"
  Index tokens = 0;
};

/// The lengths that a checkpoint's files say it was trained on or truncates at, the shortest first:
///
///     tokenizer.json             truncation.max_length
///     sentence_bert_config.json  max_seq_length
///     tokenizer_config.json      model_max_length, unless it stands for "any" (1e30)
///     config.json                max_position_embeddings
///
/// A missing or unreadable file names none. sliding_window and original_max_position_embeddings are left out: models
/// read longer documents than these by design.
/// @param folder  of the checkpoint; a file names none
std::vector<NamedLength> named_lengths(const std::filesystem::path& folder);

/// What a result remembers of the lengths that its longest document exceeds: `named_length`, the shortest, and
/// `named_lengths`, all of them in words. Empty if there is none.
Attributes exceeded_lengths(const std::filesystem::path& folder, Index tokens);

}  // namespace headwave
