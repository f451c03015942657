#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "analysis.h"

namespace headwave {

/// Where an analysis stands in the paper's argument.
enum class Step {
  landing,     ///< where attention lands
  positions,   ///< the wave in the positions, and in hidden states
  waves,       ///< the wave in queries and keys
  prediction,  ///< what the wave predicts, beside what is measured
};

/// What an analysis needs of a job. Where that is missing the analysis is left out, and the others go on.
enum class Need {
  weights,       ///< query and key projections
  positions,     ///< a position table
  states,        ///< hidden states, with the projections that read them
  attention,     ///< attention weights
  projections,   ///< queries and keys, and the scores that they give
  values,        ///< values and W_O
  rotary,        ///< rotary positions
  grid,          ///< patches of images on a grid
  equal_length,  ///< documents of one length: of others, the most common one counts
};

/// AnalysisKind::make of an analysis that has something to find at every site.
template <class Kind>
std::unique_ptr<Analysis> make_of(const AnalysisInput& input) {
  return std::make_unique<Kind>(input);
}

/// In the words of `headwave analyses`.
std::string_view text_of(Step step);
std::string_view text_of(Need need);

/// What is known of an analysis without running it.
struct AnalysisKind {
  using Of = const AnalysisKind& (*)();

  std::string_view name = {};   ///< "head_types": what it is asked for by
  std::string_view finds = {};  ///< one line for people
  Step step = Step::landing;
  std::vector<Need> needs = {};
  std::vector<Of> reads = {};         ///< analyses whose results it reads: they are done with it, before it
  std::vector<Of> reads_one_of = {};  ///< ... of which one at least must be there
  bool chain = false;                 ///< only where the wave chain can be followed, see Site::no_chain
  bool one_sequence = false;          ///< only where queries and keys stand in one sequence: not in cross-attention
  bool always = false;                ///< done whatever is asked for
  bool by_default = true;             ///< false: done only where it is asked for by name
  bool listed = true;                 ///< false: only what others read, with no Fields of its own
  /// Asked only where it applies(). @returns null where there is nothing for it at this site for another reason
  std::unique_ptr<Analysis> (*make)(const AnalysisInput&) = nullptr;
};

/// Whether an analysis is for a kind of attention at all, and what it needs of it is there.
bool applies(const AnalysisKind& kind, const Site& site);

}  // namespace headwave
