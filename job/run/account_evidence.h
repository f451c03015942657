#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../../analysis/pass/site.h"
#include "../../analysis/predictions/head_account.h"
#include "../../analysis/predictions/score_sources.h"
#include "../../core/model/model.h"
#include "../../core/model/source.h"

namespace headwave {

struct AccountEvidenceOptions {
  Index heads = 5;      ///< those with the largest strength
  Index documents = 8;  ///< of the account's, spread evenly
  Index together = 1;   ///< documents side by side; changes no digit
  int threads = 1;      ///< changes no digit
};

/// What the strongest heads of an account do when their keys are moved. S = shifts.
struct AccountEvidence {
  HeadGrid grid;
  bool rotary = false;              ///< queries were turned; else other rows of the position table were read
  Index documents = 0;              ///< that were looked at
  std::vector<Index> shifts;        ///< u in tokens
  Matrix followed;                  ///< (rows, S)  documents in which attention follows; NaN: not asked
  Matrix asked;                     ///< (rows, S)  documents in which it could; NaN: not asked
  std::vector<std::string> source;  ///< (rows)  what was taken out of the keys: "positions"; empty: nothing
  Vector weight, weight_without;    ///< (rows)  where the profile is largest: as it is, and without that source
};

/// Moves the keys of a few heads by u = -2, -1, 1, 2 tokens in the running model, and counts the documents in
/// which attention follows (followed_documents.h). A moved key is what the same token would have for a key u
/// tokens further on:
///
///     position table:  k'_j = k_j of the same text, read by moved_text(model, u)                (1)
///     rotary:          k'_j = k_j turned by u, made on the other side by turned_queries()      (2)
///
/// Queries stay, so attention of a head that reads positions alone moves by -u, all of it; that of a head
/// that finds words stays where they stand. What enters a layer is what the model as it is, or (1) by itself,
/// computes there: no head reads what another did with moved keys. Profiles are those of a document without
/// special tokens and the first.
///
/// Then removes from these heads' keys, with norms held, what the largest source of their position kernel
/// wrote there (StreamParts): k'_j = k_j - c_s,j W_K. Queries and all other heads stay as they are.
///
/// One pass of each document up to the last of the layers, in (1) another for every shift; then attention
/// alone of these layers, once for every shift.
///
/// @param account  of the site
/// @param sources  of the site; null: nothing is taken out
/// @param done     is told how many documents are through; may be empty
/// @throws ShapeError if there is no document, or no head has keys that can be moved; Error as the source and
///          the model pass
AccountEvidence account_evidence(const Model& model, const Source& source, const Site& site, const HeadAccount& account,
                                 const ScoreSources* sources, const AccountEvidenceOptions& options = {},
                                 const std::function<void(Index)>& done = {});

/// Why no keys can be moved: nothing of what heads read of positions can be, or the model is not run. Empty:
/// they can.
/// @param first  document of the source
std::string no_account_evidence(const Model& model, const AccountSite& site, const Document& first);

/// Fields account_evidence/...
std::vector<Field> describe(const AccountEvidence& evidence);

}  // namespace headwave
