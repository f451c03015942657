#pragma once

#include <cstdint>

#include "job.h"

namespace headwave {

/// The most that the result files of a job take on a disk, from sizes alone, before anything is computed. With R heads
/// in all layers, D documents of up to T tokens, t = 2 reach + 1 offsets, F = T/2 + 1 frequencies and d = d_head the
/// large Fields of one kind of attention have
///
///     6 R (2 T - 1) + (9 + D) R t           traces: of all documents, null, by document                    (1)
///     R m^2                                 maps of the first m tokens                                     (2)
///     (3 d + 2 + D) R t                     covariances of the columns, sums of the scores                 (3)
///     128 R F                               energy in frequency and phase                                  (4)
///     8 R F + 8 R T                         cross-spectra of two delays; periodic columns                  (5)
///     (F + 8) d_model                       spectrum of the position table                                 (6)
///
/// entries of 8 bytes; the many small ones are bounded all together. Packing makes the file smaller by a third, as a
/// rule: noise does not pack.
std::int64_t result_bytes(const Model& model, const Source& source, const JobOptions& options = {});

}  // namespace headwave
