#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "job_input.h"

namespace headwave {

struct InterventionOptions {
  std::uint64_t seed = 1;  ///< of shuffled words
  Index shuffles = 1;      ///< orders of every document, over which a job averages
  int threads = 0;         ///< where documents are read for an intervention; 0: one per core; changes no digit
};

/// Interventions as text, so that a command line, a job file and a result's provenance say the same:
///
///     words-only                      every position the same
///     positions-only                  every word the same
///     shuffled-words                  words in another order
///     without-heads=L0H1,L2H3         heads pruned; without-heads=cross:L0H1 in an encoder-decoder
///     without-band=40:60              cycles per T taken out of the position table, T the length of most documents
///     re-aim=L2H3,L4H1:+2             keys of heads re-aimed by so many tokens
///     turn=L2H3,L4H1:+2               heads with rotary positions turned by so many tokens; turn=causal:L0H1:+2
///     without-pairs=5:9               pairs of rotary channels, the fastest first, taken out of all queries
///     mean-keys=L2H3,L4H1             keys of heads replaced by their mean over the input's documents
///
/// Changes the input's model or source, in the order given, and notes them in its provenance as `interventions`.
///
/// States that were captured of a changed model (`captured_interventions`) are run with the same model: the list begins with
/// what changed it, interventions_again(). What comes after acts on the layers' projections of the states as they are
/// stored.
/// @throws FormatError if a text is none of these; ShapeError as the interventions do, if the list does not begin so, or if
///         one that comes after has no effect on what is stored
void intervene(JobInput& input, const std::vector<std::string>& interventions, const InterventionOptions& options = {});

/// Of the `interventions` with which states were captured those that a run of them has to repeat: all that changed the
/// model. Of queries and keys those that changed their means are left out, which are stored.
std::vector<std::string> interventions_again(std::string_view captured, bool projections);

/// Refuses to capture states of which no run could make queries and keys again: means over documents are of the model
/// before other changes, and of all documents.
/// @throws ShapeError
void require_capturable(const std::vector<std::string>& interventions);

/// "words-only, positions-only, ... or mean-keys=HEADS".
///
/// @param of_projections  only those that change what a layer makes of the states that enter it: stored states can be
///                        run with these
std::string known_interventions(bool of_projections = false);

}  // namespace headwave
