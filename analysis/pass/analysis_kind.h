#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "analysis.h"

namespace headwave {

/// What an analysis needs of a job. If it is missing, the analysis is skipped and the others run.
enum class Need {
  weights,       ///< query and key projections
  positions,     ///< a position table
  states,        ///< hidden states, with the projections that read them
  attention,     ///< attention weights
  projections,   ///< queries and keys, and the scores that they give
  values,        ///< values and W_O
  rotary,        ///< rotary positions
  equal_length,  ///< documents of one length; otherwise those of the most common length are used
};

/// AnalysisKind::make of an analysis that runs at every site.
template <class Kind>
std::unique_ptr<Analysis> make_of(const AnalysisInput& input) {
  return std::make_unique<Kind>(input);
}

/// The description of an analysis: everything that is known without running it.
struct AnalysisKind {
  using Of = const AnalysisKind& (*)();

  std::string_view name = {};  ///< "head_types": its name for users
  std::string_view asks = {};  ///< the question that it answers, one line for people
  std::vector<Need> needs = {};
  std::vector<Of> reads = {};                  ///< analyses whose results it reads; they run before it
  std::vector<const OwnOption*> options = {};  ///< that this analysis alone reads
  bool chain = false;                          ///< runs only where the wave chain can be followed, see Site::no_chain
  bool of_sums = false;                        ///< also runs on stored profiles: its sums over documents are read
  bool one_sequence = false;                   ///< does not run in cross-attention
  bool always = false;                         ///< runs whatever is asked for
  bool by_default = false;                     ///< runs in every job where it applies; others if they are asked for
  /// Called only if applies(). @returns null if the analysis has nothing to do at this site
  std::unique_ptr<Analysis> (*make)(const AnalysisInput&) = nullptr;
};

/// Whether an analysis can run at a site: the kind of attention fits and its needs are met.
bool applies(const AnalysisKind& kind, const Site& site);

}  // namespace headwave
