#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "packed_ids.h"

namespace headwave {

/// The ids of one document; a target beside them only for an encoder-decoder.
struct IdPair {
  Ids ids, target;
};

/// Documents that have no targets.
std::vector<IdPair> without_targets(std::vector<Ids> documents);

/// Token ids that are ready, as id_documents() describes them: document by document where they are told apart; else one
/// list, cut where it is long or a length was asked for. No more documents are kept than are wanted; the rest is looked
/// at all the same.
/// @param name  what messages call the text
/// @throws FormatError if the text is blank, or holds anything but token ids; as packed_ids()
std::vector<IdPair> listed_ids(std::string_view text, const std::string& name, const PackingOptions& options);

}  // namespace headwave
