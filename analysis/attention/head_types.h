#pragma once

#include <cstdint>
#include <vector>

#include "../../core/attention/document.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis.h"

namespace headwave {

/// Scores of every head: means over a document's queries, then over documents. NaN: defined in no document.
///
///     argmax_share[t] = share of queries i whose largest weight A[i, j] is at j - i = t            (1)
///     positional_share = max_t argmax_share[t],  |t| <= reach                                       (2)
///     alpha_k = 1/(T-k) sum_{i>=k} A[i, k] under a causal mask, 1/T sum_i A[i, k] without            (3)
///
/// Ties in (1) go to the smaller |t|, then to the left. The largest alpha of (3) is sought among the keys
/// whose mean is over at least a quarter of the queries.
///
/// Duplicate and induction scores count only keys before the query. A query counts even if a window hides
/// these keys; the baseline respects the mask and the window. On repeated random tokens the induction score
/// is the mean weight on the token that followed the current one in the previous copy.
///
/// Names are their authors' and describe where weights lie, not why; see head_account(). On ordinary text an
/// induction head may be called a sink, since most queries give it nothing to copy. On short documents under
/// a causal mask uniform attention also gives much to the first key, so a sink must exceed its baseline too.
/// In cross-attention, scores that compare positions or tokens are undefined. Voita says "positional" for
/// `one offset`.
///
/// Source: Voita et al. 2019 (1, 2); Clark et al. 2019 (previous, next); Olsson et al. 2022 (induction);
/// Gu et al. 2025 (3), there 1-based.
enum class HeadScore : std::uint8_t {
  previous,            ///< mean of A[i, i-1] over i >= 1: the score of a previous-token head
  next,                ///< mean of A[i, i+1] over i < T-1; undefined under a causal mask
  duplicate,           ///< weight on earlier keys with the query's token id, over queries that have such keys
  duplicate_baseline,  ///< duplicate if all allowed keys shared equally what a learned sink leaves
  induction,           ///< weight on earlier keys right after the query's token id, over queries that have such keys
  induction_baseline,  ///< induction in the same case
  entropy,             ///< -sum_j A ln A, in nats; with a learned sink, of A / sum_j A
  entropy_share,       ///< entropy / ln(allowed keys), over queries with at least two; 1: uniform attention
  sink_first,          ///< alpha_0 of equation (3)
  sink_weight,         ///< max_k alpha_k
  special_weight,      ///< weight on special tokens
  learned_sink,        ///< 1 - sum_j A, the weight of a learned sink; undefined for heads without one
  previous_baseline,   ///< previous if all allowed keys had the same weight
  next_baseline,       ///< next in the same case
  sink_baseline,       ///< sink_weight in the same case
};
constexpr Index head_scores = 12, even_scores = 3;  ///< measured scores, followed by those of uniform attention

/// previous_baseline, next_baseline and sink_baseline of one document, under the mask of allowed_keys().
/// @returns (even_scores)  NaN where the score itself is undefined
Vector even_attention(Index queries, Index keys, AttentionKind kind, Index window, Index chunk = 0);

/// Head scores summed over documents.
struct HeadTypeSum {
  Index documents = 0;
  DefinedMean scores;                       ///< (head_scores + even_scores, rows)
  DefinedMean argmax_share;                 ///< (rows, 2 reach + 1)
  First<std::vector<Index>> sink_position;  ///< (rows)
};

/// In a job: head_types/...
extern const AnalysisKind head_types_analysis;

}  // namespace headwave
