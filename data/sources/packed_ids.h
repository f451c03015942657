#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "text_documents.h"

namespace headwave {

/// The token ids of one document, or of a long text.
using Ids = std::vector<std::int32_t>;

/// T where none is asked for and there is enough: 512, or the model's positions where they are fewer.
Index usual_length(const PackingOptions& options);

/// Consecutive pieces of a long list of ids, as many and as long as the options say.
/// @param opens, closes  the ids put around each document; -1: none
/// @param name           what messages call the file
/// @throws ShapeError if the length leaves no room between the special tokens; FormatError if the ids are too few for
///         the documents asked for
std::vector<Ids> packed_ids(const Ids& tokens, std::int32_t opens, std::int32_t closes, const PackingOptions& options,
                            const std::string& name);

}  // namespace headwave
