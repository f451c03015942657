#pragma once

#include <string>
#include <vector>

#include "../../core/model/model.h"
#include "../../core/model/source.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis.h"

namespace headwave {

/// Mean ablation of every head. In document d the output of a head is replaced by its mean over the other documents,
///
///     o'_i = 1/(N - 1) sum over e != d of o_i^e,                                                              (1)
///
/// over the other documents that reach the place i; where none does, the mean over all of their tokens. Everything after it is
/// recomputed from the layer of the head on. All tokens count, special and first ones too. With f the final states, and the loss the mean cross-entropy of the next token,
///
///     loss_h(d) = loss without head h - loss,   nat                                                           (2)
///     state_h(d) = mean over tokens of |f'_i - f_i| / |f_i|                                                   (3)
///
/// The placebo replaces o_i by o_i + |o'_i - o_i| r_i with a random direction r_i for every token: as large a change of the same
/// output. Both are 0 if the output is the same for all documents, or if W_O ignores it.
///
/// A head of layer l of L costs L - l layers, twice with the placebo, and each a product with the vocabulary.
///
/// Source: mean ablation, Wang et al. 2023, arXiv:2211.00593; Michel, Levy and Neubig 2019 (heads set to zero).
extern const AnalysisKind head_effect_analysis;

/// Why heads cannot be taken away; empty: they can.
std::string no_head_effects(const Model& model, const Source& source);

/// Documents of two or more tokens, at most `most`, spread evenly over a source.
std::vector<Document> documents_to_change(const Source& source, Index most);

/// Mean over documents of every row, with its interval and the chance of such a mean if the true one is 0:
///
///     t = mean / (s / sqrt n),   interval: mean +- t_{n-1} s / sqrt n                                         (4)
///
/// Documents count as independent, although their (1) share documents.
struct PairedMeans {
  Vector mean, lower, upper;  ///< (rows)  bounds are NaN for fewer than 3 documents
  Vector p_value;             ///< (rows)  two-sided
};

/// @param coverage  of the intervals
PairedMeans paired_means(const Matrix& differences, double coverage);

/// The chance that a head is said to matter although it does not. With c(d) the change without the head and e(d) that of the
/// placebo, a head matters if the mean of c differs from 0 and c lies beyond e: the mean of c - e has the sign of c. Both must
/// hold, so the chance is the larger of two,
///
///     p = max(p of c, p of c - e), by (4);   1 if the mean of c - e has another sign than the mean of c              (5)
///
/// The state's change is a norm, which is above 0 for every head: then p is that of c - e alone.
/// @param changes, placebo  (rows, documents)
/// @returns (rows)  NaN for fewer than 3 documents
Vector chance_to_matter(const Matrix& changes, const Matrix& placebo, bool is_norm);

}  // namespace headwave
