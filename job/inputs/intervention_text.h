#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "job_input.h"

namespace headwave {

struct InterventionOptions {
  std::uint64_t seed = 1;  ///< of shuffled words
  Index shuffles = 1;      ///< orders of every document that a job averages over
  int threads = 0;         ///< for reading documents; 0: one per core; changes no digit
};

/// Applies interventions that are given as text, the same in a command line, a job file and a result's
/// provenance:
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
/// Changes the input's model or source, in the order given, and notes the list in the provenance as
/// `interventions`.
///
/// States captured from a changed model (`captured_interventions`) are run with the same model: the list
/// begins with the interventions that changed it, see interventions_again(). Later ones act on the
/// projections of the stored states.
/// @throws FormatError if a text is none of these; ShapeError as the interventions do, if the list does not
///         begin as the states demand, or if a later intervention has no effect on stored states
void intervene(JobInput& input, const std::vector<std::string>& interventions, const InterventionOptions& options = {});

/// The interventions of captured states that a run of the states has to repeat: those that changed the model.
/// For stored queries and keys, changes of their means are omitted, since the stored keys have them already.
std::vector<std::string> interventions_again(std::string_view captured, bool projections);

/// Refuses to capture states from which no run could compute queries and keys again: mean keys are of all
/// documents and of the model before other changes.
/// @throws ShapeError
void require_capturable(const std::vector<std::string>& interventions);

/// "words-only, positions-only, ... or mean-keys=HEADS".
/// @param of_projections  only those that change the projections of a layer: they can be applied to stored
///                        states
std::string known_interventions(bool of_projections = false);

}  // namespace headwave
