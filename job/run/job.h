#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "../../analysis/pass/job_options.h"
#include "../../core/fields/field.h"
#include "../../core/model/model.h"
#include "../../core/model/source.h"
#include "progress.h"

namespace headwave {

class DocumentPass;

/// Fills a pass with the sums over its documents, by running all or some of them, or by reading stored sums.
using Gather = std::function<void(DocumentPass& pass, StageReport& report)>;

/// Checks that the source has the document that the attention maps show. Call this before the work.
/// @throws ShapeError if it does not
void require_maps(const JobOptions& options, const Source& source);

/// The result of a job for one kind of attention.
struct KindResult {
  AttentionKind kind = AttentionKind::self;
  Result result;
};

bool holds(const Result& result, std::string_view analysis);

/// Runs documents through a model, and studies every head, from the positions to where its attention goes,
/// with the analyses of chosen_analyses().
///
/// Each document is computed separately, and the results are added in a fixed order, so the numbers of
/// threads, processes and machines change no digit. Attention is seen tile by tile and never kept. Memory
/// holds the weights, the sums of one document per thread, and for each document traces (layers x heads x (2
/// reach + 1)) and cross-spectra (layers x heads x T). Analyses that need documents of one length (spectra,
/// delays, the split of states) use the documents of the most common length; the provenance says how many
/// these are.
///
/// @param progress  called from one thread at a time, but not always the same thread; may be empty
/// @param gather    fills the pass; empty: all documents are run here (DocumentPass::run())
/// @returns one result for each kind of attention in the model: one kind, or self, causal and cross
/// @throws ShapeError if there are no documents; any Error that require_in_range(), chosen_analyses(), the
///         source, the model pass, the analyses and `gather` throw
std::vector<KindResult> run_job_by_kind(const Model& model, const Source& source, const JobOptions& options = {},
                                        const ProgressCallback& progress = {}, const Gather& gather = {});

/// Runs some documents of a job without making a result. `gather` keeps their sums.
/// @throws Error as run_job_by_kind()
void run_part_of_job(const Model& model, const Source& source, const JobOptions& options,
                     const ProgressCallback& progress, const Gather& gather);

/// Runs a job whose model has one kind of attention.
/// @throws Error as run_job_by_kind(); ShapeError also if the model is an encoder-decoder
Result run_job(const Model& model, const Source& source, const JobOptions& options = {},
               const ProgressCallback& progress = {});

}  // namespace headwave
