#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "analysis.h"

namespace headwave {

/// The part of the paper's argument that an analysis belongs to.
enum class Step {
  landing,     ///< where attention lands
  positions,   ///< the wave in the positions, and in hidden states
  waves,       ///< the wave in queries and keys
  prediction,  ///< what the wave predicts, compared with what is measured
};

/// What an analysis needs of a job. If it is missing, the analysis is skipped and the others run.
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

/// AnalysisKind::make of an analysis that runs at every site.
template <class Kind>
std::unique_ptr<Analysis> make_of(const AnalysisInput& input) {
  return std::make_unique<Kind>(input);
}

/// In the words of `headwave analyses`.
std::string_view text_of(Step step);
std::string_view text_of(Need need);

/// Sizes of one kind of attention in a job, as numbers to reckon with.
struct AnalysisSizes {
  double layers = 0, rows = 0;  ///< rows: heads of all layers
  double key_rows = 0;          ///< key heads of all layers
  double d_model = 0, d_head = 0;
  double documents = 0, longest = 0;  ///< all documents; tokens of the longest
  double alike = 0, length = 0;       ///< documents of the most common length, and that length: of the wave chain
  double table = 0;                   ///< rows of the position table
  double rotary_pairs = 0;            ///< pairs of channels that turn; 0: no rotary positions

  [[nodiscard]] double frequencies() const { return 0.5 * longest + 1; }
};

/// Of documents that are all alike, of any length.
/// @param lengths  tokens of each
AnalysisSizes analysis_sizes(const Stack& stack, const HeadGrid& grid, const std::vector<Index>& lengths);

/// One document among the sizes.
struct DocumentSizes {
  double tokens = 0;
  Index number = -1;  ///< among the documents of the most common length; -1: none of them
};

/// What an analysis is expected to take. Seconds are counts of the operations that grow fastest, times rates
/// measured once on one machine: how analyses compare and how each grows holds elsewhere too; the seconds do
/// not. Bytes are those of the largest matrices, what is small left out.
struct AnalysisCost {
  double before = 0;     ///< seconds of one core, once, before the documents
  double document = 0;   ///< ... for the document
  double after = 0;      ///< ... once, after the documents
  bool parallel = true;  ///< whether what comes after is spread over threads
  double entries = 0;    ///< numbers of 8 bytes in the result's large Fields, at most

  double prepared = 0;   ///< bytes that are made before the documents, and stay
  double kept = 0;       ///< ... that all documents come to, in memory as in the file of an unfinished run
  double looking = 0;    ///< ... while the document passes, what is found of it among them
  double showing = 0;    ///< ... while it passes one layer, beside that
  double finishing = 0;  ///< ... of each thread after the documents, beside what is kept and the Fields
};

/// What is known about an analysis without running it.
struct AnalysisKind {
  using Of = const AnalysisKind& (*)();

  std::string_view name = {};   ///< "head_types": its name for users
  std::string_view finds = {};  ///< one line for people
  Step step = Step::landing;
  std::vector<Need> needs = {};
  std::vector<Of> reads = {};                  ///< analyses whose results it reads; they run before it
  std::vector<Of> reads_one_of = {};           ///< analyses of which at least one must run
  std::vector<const OwnOption*> options = {};  ///< that this analysis alone reads
  bool chain = false;                          ///< runs only where the wave chain can be followed, see Site::no_chain
  bool one_sequence = false;                   ///< does not run in cross-attention
  bool always = false;                         ///< runs whatever is asked for
  bool by_default = true;                      ///< false: runs only if it is asked for by name
  bool listed = true;  ///< false: has no Fields and no name for users; only other analyses read it
  /// Called only if applies(). @returns null if the analysis has nothing to do at this site
  std::unique_ptr<Analysis> (*make)(const AnalysisInput&) = nullptr;
  AnalysisCost (*cost)(const AnalysisSizes&, const DocumentSizes&,
                       const JobOptions&) = nullptr;  ///< null: next to none
};

/// Whether an analysis can run at a site: the kind of attention fits and its needs are met.
bool applies(const AnalysisKind& kind, const Site& site);

}  // namespace headwave
