#pragma once

#include <functional>
#include <vector>

#include "../../analysis/pass/job_options.h"
#include "../../core/fields/field.h"
#include "../../core/model/model.h"
#include "../../core/model/source.h"
#include "progress.h"

namespace headwave {

class DocumentPass;

/// How a job's pass comes to what its documents give: it looks at them all, or some of them, or reads what others found.
using Gather = std::function<void(DocumentPass& pass, StageReport& report)>;

/// Said before the work is done, not after.
/// @throws ShapeError if attention maps are asked of a document, or of tokens, that the source has not
void require_maps(const JobOptions& options, const Source& source);

/// What a job finds of one kind of attention.
struct KindResult {
  AttentionKind kind = AttentionKind::self;
  Result result;
};

/// Runs documents through a model and follows every head, from the positions to where attention lands: every analysis
/// of analysis/registry, or those of `only`.
///
/// What one document gives is computed apart, and the answer is a function of those parts merged in a fixed order: neither
/// threads nor the processes and machines that documents are divided over change a digit. Attention itself is seen tile by tile and never kept; memory is the weights, one document's
/// findings per thread, and document by document (layers x heads x (2 reach + 1)) traces and (layers x heads x T)
/// cross-spectra. What needs documents of one length (spectra, delays, the split of states) is found from those of the
/// most common length; how many they are is in the provenance.
///
/// @param progress  called from one thread at a time, not always the same; may be empty
/// @param gather    empty: all documents pass through the model here, DocumentPass::run()
/// @returns a result for each kind of attention in the model: one, or self, causal and cross of an encoder-decoder
/// @throws ShapeError if there are no documents, or as require_in_range() and chosen_analyses(); Error as the source, the
///         model pass, the analyses and `gather` do
std::vector<KindResult> run_job_by_kind(const Model& model, const Source& source, const JobOptions& options = {},
                                        const ProgressCallback& progress = {}, const Gather& gather = {});

/// What becomes of some of its documents, with nothing made of it: `gather` keeps it.
/// @throws as run_job_by_kind()
void run_part_of_job(const Model& model, const Source& source, const JobOptions& options,
                     const ProgressCallback& progress, const Gather& gather);

/// The same for a model with one kind of attention.
/// @throws ShapeError also if it is an encoder-decoder
Result run_job(const Model& model, const Source& source, const JobOptions& options = {},
               const ProgressCallback& progress = {});

}  // namespace headwave
