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

constexpr Index evidence_documents = 8;  ///< of the account's, at most, spread evenly

struct AccountEvidenceOptions {
  Index together = 1;  ///< documents side by side; does not change results
  int threads = 1;     ///< does not change results
};

/// Moves the keys of every head by u = 4 tokens in the running model, and measures how much of its offset profile
/// follows. A moved key is what the same token would have for a key u tokens further on:
///
///     position table:  k'_j = k_j of the same text, read by moved_text(model, u)                (1)
///     rotary:          k'_j = k_j turned by u, made on the other side by turned_queries()      (2)
///
/// Queries stay, so attention of a head that reads positions alone moves by -u, all of it; that of a head that finds words
/// stays where they stand. What enters a layer is what the model as it is, or (1) by itself, computes there: no head reads
/// what another did with moved keys. A causal head sees the keys j + u <= i alone, those that are past where they now stand.
/// With w and A^X of attention_bits(), A'^X with moved keys, A*^X as it is, but within the keys that moved ones leave
/// visible, and means over the chosen queries of all documents that see a text key at offset t,
///
///     p(t) = E w_i A^X_i(i+t),  p'(t) = E w_i A*^X_i(i+t),  p_u(t) = E w_i A'^X_i(i+t)
///     moved = argmin_a sum over t of (p_u(t) - a p(t + u) - (1 - a) p'(t))^2              (3)
///
/// over the t and t + u, at most 128, that an eighth as many queries see as any. It is undefined if a window would
/// hide more than a tenth of the moved profile. The interval leaves out documents in turn. Four tokens, since the words of
/// nearer neighbours are in a state, too, and keep attention in place.
///
/// Then removes from the keys of the head of each layer with the largest strength, with norms held, what the largest
/// source of its position kernel wrote there (StreamParts): k'_j = k_j - c_s,j W_K. Its placebo removes c_s,j W_K turned by
/// a random rotation: as much, in other directions. Queries and all other heads stay as they are.
///
/// One pass of each document, in (1) two.
///
/// @param account  of the site
/// @param sources  of the site; null: nothing is taken out
/// @param done     is told how many documents are through; may be empty
/// @returns Fields account_evidence/...
/// @throws ShapeError if there is no document; Error as the source and the model pass
std::vector<Field> account_evidence(const Model& model, const Source& source, const Site& site,
                                    const HeadAccount& account, const KeySources* sources,
                                    const AccountEvidenceOptions& options = {},
                                    const std::function<void(Index)>& done = {});

/// Why no keys can be moved: nothing of what heads read of positions can be, or the model is not run. Empty:
/// they can.
/// @param first  document of the source
std::string no_account_evidence(const Model& model, const AccountSite& site, const Document& first);

}  // namespace headwave
