#pragma once

#include <string>
#include <vector>

#include "../../core/model/model.h"
#include "../../core/model/source.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis.h"

namespace headwave {

/// Mean ablation of every head. In document d a head's output is replaced by its mean over other documents:
///
///     o'_i = 1/(N - 1) sum over e != d of o_i^e                                                               (1)
///
/// The mean is over the other documents that reach place i. If none reaches it, the mean is over all their
/// tokens. The model is then recomputed from the layer of the head on. All tokens count, also special and
/// first tokens. With f the final states, and the loss the mean cross-entropy of the next token,
///
///     loss_h(d) = loss without head h - loss,   nat                                                           (2)
///     state_h(d) = mean over tokens of |f'_i - f_i| / |f_i|                                                   (3)
///
/// The placebo replaces o_i by o_i + |o'_i - o_i| r_i, with a random direction r_i for every token: a change
/// of the same size. (2), (3) and those of the placebo are 0 if all tokens have the same output.
///
/// For each head of layer l of L, and again for its placebo, L - l layers are recomputed. For the loss, the
/// final states are also multiplied by the vocabulary.
///
/// Source: mean ablation, Wang et al. 2023, arXiv:2211.00593; Michel, Levy and Neubig 2019 (heads set to zero).
extern const AnalysisKind head_effect_analysis;

/// Why heads cannot be ablated; empty if they can.
std::string no_head_effects(const Model& model, const Source& source);

/// At most `most` documents of two or more tokens, spread evenly over a source.
std::vector<Document> documents_to_change(const Source& source, Index most);

/// Mean of every row over documents, its interval, and its p-value under a true mean of 0:
///
///     t = mean / (s / sqrt n),   interval: mean +- t_{n-1} s / sqrt n                                         (4)
///
/// Documents count as independent, although the means (1) of two documents share most documents.
struct PairedMeans {
  Vector mean, lower, upper;  ///< (rows)  bounds are NaN if there are fewer than 3 documents
  Vector p_value;             ///< (rows)  two-sided
};

/// @param coverage  coverage of the intervals
PairedMeans paired_means(const Matrix& differences, double coverage);

/// The probability that a head is said to matter although it does not. Let c(d) be the change without the
/// head, and e(d) the change by the placebo. A head matters if the mean of c differs from 0 and c lies beyond
/// e, so that the means of c - e and c have the same sign. Both must hold, so the larger p-value counts:
///
///     p = max(p of c, p of c - e), by (4);   1 if the mean of c - e has another sign than the mean of c              (5)
///
/// The change of the state is a norm, which is above 0 for every head. So its p is that of c - e alone.
/// @param changes, placebo  (rows, documents)  c and e
/// @param is_norm           whether c and e are changes of the state
/// @returns (rows)  NaN if there are fewer than 3 documents
Vector chance_to_matter(const Matrix& changes, const Matrix& placebo, bool is_norm);

}  // namespace headwave
