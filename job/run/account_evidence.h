#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../../analysis/pass/site.h"
#include "../../analysis/why/head_account.h"
#include "../../analysis/why/stream_parts.h"
#include "../../core/model/model.h"
#include "../../core/model/source.h"

namespace headwave {

constexpr Index evidence_documents = 8;  ///< largest number of documents, spread evenly over those of the account

struct AccountEvidenceOptions {
  Index together = 1;  ///< number of documents that pass side by side; does not change results
  int threads = 1;     ///< does not change results
};

/// Moves the keys of every head by u = 4 tokens in the running model, and measures how much of the head's
/// offset profile follows. A moved key is the key that the same token would have u tokens further on:
///
///     position table:  k'_j = k_j of the same text, read by moved_text(model, u)                (1)
///     rotary:          k'_j = k_j turned by u, made on the other side by turned_queries()      (2)
///
/// Queries are not moved. If a head reads only positions, all of its attention moves by -u. If it finds
/// words, its attention stays where the words are. The keys of (1) come from a pass of the moved model.
/// Everything else comes from the model as it is, so that no head is affected by the moved keys of another
/// head. A causal head sees only moved keys with j + u <= i. Let w and A^X be as in attention_bits(). A'^X is
/// computed with moved keys, and A*^X with unmoved keys, but only with those that stay visible when moved. E
/// is the mean over chosen queries, in all documents, that see a text key at offset t:
///
///     p(t) = E w_i A^X_i(i+t),  p'(t) = E w_i A*^X_i(i+t),  p_u(t) = E w_i A'^X_i(i+t)
///     moved = argmin_a sum over t of (p_u(t) - a p(t + u) - (1 - a) p'(t))^2              (3)
///
/// The sum is over t with |t| <= 128 and |t + u| <= 128, where both offsets are seen by at least an eighth as
/// many queries as the best-seen offset. `moved` is undefined if a window would hide more than a tenth of the
/// moved profile. Its interval is a jackknife over documents. u is 4 and not 1, because a state also contains
/// words of nearer tokens, which keep attention in place.
///
/// A second experiment takes the strongest head of each layer, and removes from its keys what the largest
/// source of its position kernel wrote there (StreamParts, norms held): k'_j = k_j - c_s,j W_K. The placebo
/// removes c_s,j W_K after random rotations, which is as much in other directions. Queries and other heads
/// stay as they are.
///
/// Each document takes one pass, or two passes in (1).
///
/// @param sources  sources of the keys; null: the second experiment is omitted
/// @param done     receives the number of finished documents; may be empty
/// @returns Fields account_evidence/...
/// @throws ShapeError if there is no document; any Error that the source or the model pass throws
std::vector<Field> account_evidence(const Model& model, const Source& source, const Site& site,
                                    const HeadAccount& account, const KeySources* sources,
                                    const AccountEvidenceOptions& options = {},
                                    const std::function<void(Index)>& done = {});

/// Says why no keys can be moved: heads read no positions that can be moved, or the model is not run. Empty
/// if keys can be moved.
/// @param first  the source's first document
std::string no_account_evidence(const Model& model, const AccountSite& site, const Document& first);

}  // namespace headwave
