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

/// Fills a pass with the sums over its documents: looks at all or some of them, or reads stored sums.
using Gather = std::function<void(DocumentPass& pass, StageReport& report)>;

/// Checks before the work that the source has the document of the attention maps.
/// @throws ShapeError if it does not
void require_maps(const JobOptions& options, const Source& source);

/// The result of a job for one kind of attention.
struct KindResult {
  AttentionKind kind = AttentionKind::self;
  Result result;
};

bool holds(const Result& result, std::string_view analysis);

/// Runs documents through a model and follows every head, from the positions to where attention lands, with
/// the analyses of chosen_analyses().
///
/// Each document is computed separately, and the results are added in a fixed order: threads, processes and
/// machines change no digit. Attention is seen tile by tile and never kept. Memory holds the weights, the
/// findings of one document per thread, and for each document traces (layers x heads x (2 reach + 1)) and
/// cross-spectra (layers x heads x T). Analyses that need documents of one length (spectra, delays, the split
/// of states) use those of the most common length; the provenance has their number.
///
/// @param progress  called from one thread at a time, not always the same; may be empty
/// @param gather    empty: all documents pass through the model here, DocumentPass::run()
/// @returns a result for each kind of attention in the model: one, or self, causal and cross
/// @throws ShapeError if there are no documents, or as require_in_range() and chosen_analyses(); Error as the
///         source, the model pass, the analyses and `gather` do
std::vector<KindResult> run_job_by_kind(const Model& model, const Source& source, const JobOptions& options = {},
                                        const ProgressCallback& progress = {}, const Gather& gather = {});

/// Runs some documents of a job without making a result; `gather` keeps their sums.
/// @throws Error as run_job_by_kind()
void run_part_of_job(const Model& model, const Source& source, const JobOptions& options,
                     const ProgressCallback& progress, const Gather& gather);

/// Runs a job with one kind of attention.
/// @throws ShapeError also if it is an encoder-decoder
Result run_job(const Model& model, const Source& source, const JobOptions& options = {},
               const ProgressCallback& progress = {});

}  // namespace headwave
