#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/model/model.h"
#include "../../core/model/source.h"

namespace headwave {

/// What a job computes, and how.
struct JobOptions {
  Index window = 10;          ///< heads are clustered by their traces at |t| <= window, in tokens; the published choice
  Index reach = 64;           ///< offsets are searched at |t| <= reach, in tokens
  double level = 0.01;        ///< chance that a head without a preference is given an offset
  Index clusters = 6;         ///< k of k-means; the published choice
  Index sweep_last = 12;      ///< quality of the clusters is given for k = 2 .. this
  Index score_window = 30;    ///< heads are clustered by their scores at |t| <= this, in tokens; the published choice
  Index score_clusters = 2;   ///< k for scores; the published choice
  Index atlas_draws = 40;     ///< random rotations behind the null of what positions predict
  Index draws = 20;           ///< random rotations behind the null of the delays of a text
  Index resamples = 200;      ///< of the documents, behind the intervals of the delays
  double false_share = 0.05;  ///< share of the heads called positional, by weights, phases or scores, that may be false
  std::vector<std::string> only;  ///< analyses of job_analyses() to do; empty: all. Traces and offsets always are
  Index map_tokens = 32;          ///< attention maps keep this many first tokens of the first document
  std::uint64_t seed = 1;         ///< of k-means and bootstrap
  int threads = 0;                ///< 0: one per core; changes no digit

  [[nodiscard]] bool wants(std::string_view analysis) const;
};

/// What can be asked for with `only`, in the order of the paper's argument: names and what they find.
struct JobAnalysis {
  std::string name, about;
};
const std::vector<JobAnalysis>& job_analyses();

/// Where a job stands.
struct JobProgress {
  std::string stage;  ///< "preparation", "attention", "head_cluster"
  Index done = 0;     ///< steps of the stage; all of them: it is over
  Index total = 0;
  double before = 0, here = 0, after = 0;  ///< work expected before, in and after the stage, in one unit; 0: unknown
};
using ProgressCallback = std::function<void(const JobProgress&)>;

/// What a job finds of one kind of attention.
struct KindResult {
  AttentionKind kind = AttentionKind::self;
  Result result;
};

/// Runs documents through a model and follows every head, from the positions to where attention lands: every analysis
/// of job_analyses(), or those of `only`.
///
/// What one document gives is computed apart, and the answer is a function of those parts merged in order: threads
/// change no digit. Attention itself is seen tile by tile and never kept; memory is the weights, one document's
/// findings per thread, and document by document (layers x heads x (2 reach + 1)) traces and (layers x heads x T)
/// cross-spectra. What needs documents of one length (spectra, delays, the split of states) is found from those of the
/// most common length; how many they are is in the provenance.
///
/// @param progress  called from one thread at a time, not always the same; may be empty
/// @returns a result for each kind of attention in the model: one, or self, causal and cross of an encoder-decoder
/// @throws Error as the source, the model pass and the analyses do
std::vector<KindResult> run_job_by_kind(const Model& model, const Source& source, const JobOptions& options = {},
                                        const ProgressCallback& progress = {});

/// The same for a model with one kind of attention.
/// @throws ShapeError also if it is an encoder-decoder
Result run_job(const Model& model, const Source& source, const JobOptions& options = {},
               const ProgressCallback& progress = {});

}  // namespace headwave
