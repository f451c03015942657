#pragma once

#include <vector>

#include "../attention/document.h"
#include "../fields/head_name.h"
#include "model.h"
#include "source.h"

namespace headwave {

struct MeanKeysOptions {
  AttentionKind kind = AttentionKind::self;  ///< which attention of an encoder-decoder; of any other model its only one
  int threads = 0;                           ///< 0: one per core; changes no digit
};

/// The model in which heads see where something stands, and no longer what: an intervention (intervention.h).
///
///     k_n' = mean over documents of k_n,   n = 0 .. T - 1                                     (1)
///
/// k_n is the key at position n with its bias, as projected by the model as it is, before any rotation; T the length of
/// the longest document. Position terms and rotations act on it as ever. What is left of the head is what its queries
/// make of positions: a head that reads nothing else stays as it was, one that reads words spreads over the positions.
/// Values stay each document's own.
///
/// A position that only some documents reach takes the mean over those; with N of them one N-th of it is the document's
/// own key. All means are taken in one pass, so those of later layers are of the model before any key was replaced.
/// Weights stay as trained: what reads those alone does not know of it.
///
/// Source: this project; mean ablation after Wang et al. 2023.
/// @param documents  two or more; the changed model refuses, by name, a document longer than all of these
/// @param heads      with every head that reads the same key head (grouped-query attention)
/// @throws ShapeError naming a head that is not there, or those that share its keys and are not named; if there are
///         fewer than two documents, or none that shows a head's keys
Model mean_keys(const Model& model, const Source& documents, const std::vector<HeadName>& heads,
                const MeanKeysOptions& options = {});

}  // namespace headwave
