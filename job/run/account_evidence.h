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

constexpr Index evidence_documents = 8;  ///< at most, of the account's documents, spread evenly

struct AccountEvidenceOptions {
  Index together = 1;  ///< documents that pass side by side; does not change results
  int threads = 1;     ///< does not change results
};

/// Moves the keys of every head by u = 4 tokens in the running model, and measures how much of the head's
/// offset profile follows. A moved key is the key that the same token would have u tokens further on:
///
///     position table:  k'_j = k_j of the same text, read by moved_text(model, u)                (1)
///     rotary:          k'_j = k_j turned by u, made on the other side by turned_queries()      (2)
///
/// Queries stay. If a head reads only positions, all of its attention moves by -u; if it finds words, its
/// attention stays where they stand. Keys of (1) come from a pass of the moved model, all else from the model
/// as it is: no head reads what another did with moved keys. A causal head sees only keys with j + u <= i.
/// Take w and A^X of attention_bits(), A'^X with moved keys, and A*^X with unmoved keys, but only those that
/// stay visible when moved. With E the mean over chosen queries, of all documents, that see a text key at t,
///
///     p(t) = E w_i A^X_i(i+t),  p'(t) = E w_i A*^X_i(i+t),  p_u(t) = E w_i A'^X_i(i+t)
///     moved = argmin_a sum over t of (p_u(t) - a p(t + u) - (1 - a) p'(t))^2              (3)
///
/// over t with t and t + u at most 128, each seen by an eighth of the queries that see the best-seen offset.
/// `moved` is undefined if a window would hide more than a tenth of the moved profile. Its interval is a
/// jackknife over documents. u is 4 because a state also holds words of nearer tokens, which keep attention
/// in place.
///
/// Then takes the strongest head of each layer, and removes from its keys what the largest source of its
/// position kernel wrote there (StreamParts, norms held): k'_j = k_j - c_s,j W_K. The placebo removes c_s,j
/// W_K turned by random rotations: as much, in other directions. Queries and other heads stay unchanged.
///
/// Each document takes one pass, in (1) two.
///
/// @param account  the account of the site
/// @param sources  the sources of its keys; null: nothing is removed
/// @param done     receives the number of finished documents; may be empty
/// @returns Fields account_evidence/...
/// @throws ShapeError if there is no document; Error as the source and the model pass
std::vector<Field> account_evidence(const Model& model, const Source& source, const Site& site,
                                    const HeadAccount& account, const KeySources* sources,
                                    const AccountEvidenceOptions& options = {},
                                    const std::function<void(Index)>& done = {});

/// Why no keys can be moved: heads read no movable positions, or the model is not run. Empty if they can.
/// @param first  document of the source
std::string no_account_evidence(const Model& model, const AccountSite& site, const Document& first);

}  // namespace headwave
