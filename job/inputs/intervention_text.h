#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "job_input.h"

namespace headwave {

struct InterventionOptions {
  std::uint64_t seed = 1;  ///< seed of shuffled-words
  Index shuffles = 1;      ///< number of random orders of every document over which a job averages
};

/// Applies interventions that are given as text, in the same form on a command line, in a job file and in a
/// result's provenance:
///
///     words-only                      every position the same
///     positions-only                  every word the same
///     shuffled-words                  words in another order
///     without-heads=L0H1,L2H3         heads pruned; without-heads=cross:L0H1 in an encoder-decoder
///
/// Changes the input's model or source, in the given order, and records the list in the provenance as
/// `interventions`.
/// @throws FormatError if a text is none of these; ShapeError if the input is stored states or stored
///         attention, to which no intervention applies; any ShapeError that an intervention throws
void intervene(JobInput& input, const std::vector<std::string>& interventions, const InterventionOptions& options = {});

/// All interventions: "words-only, positions-only, shuffled-words or without-heads=HEADS".
std::string known_interventions();

}  // namespace headwave
