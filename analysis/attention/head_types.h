#pragma once

#include <cstdint>
#include <vector>

#include "../../core/attention/document.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis.h"

namespace headwave {

/// Scores of every head: means over the query rows of a document, then over documents. A is the head's
/// attention. NaN: defined in no document.
///
///     argmax_share[t] = share of queries i whose largest weight A[i, j] is at j - i = t            (1)
///     positional_share = max_t argmax_share[t],  |t| <= reach                                       (2)
///     alpha_k = 1/(T-k) sum_{i>=k} A[i, k] under a causal mask, 1/T sum_i A[i, k] without            (3)
///
/// In (1) the lesser |t| wins a tie, then the left. In (3) the largest alpha is sought among keys that at
/// least a quarter of the queries are averaged over.
///
/// Duplicate and induction scores count what precedes the query alone, wherever a window ends; the baseline
/// knows the mask and the window. On a text of random tokens, repeated, the induction score is the mean
/// weight on the token that followed the current one in the copy before. Thresholds see weights alone. On
/// ordinary text an induction head may be called a sink, since most queries give it nothing to copy. On short
/// documents under a causal mask the first key gets much from uniform attention too, so a sink must exceed that as well.
/// In cross-attention queries and keys are different sequences: what compares positions or tokens is undefined.
/// Names are their authors' and describe where weights lie, not why: see head_account(). Voita's "positional" is
/// `one offset` here.
///
/// Source: Voita et al. 2019 (1, 2); Clark et al. 2019 (previous, next); Olsson et al. 2022
/// (induction); Gu et al. 2025 (3), there 1-based.
enum class HeadScore : std::uint8_t {
  previous,            ///< mean of A[i, i-1] over i >= 1: the score of a previous-token head
  next,                ///< mean of A[i, i+1] over i < T-1; undefined under a causal mask
  duplicate,           ///< weight on earlier keys with the query's own token id, over queries that have one
  duplicate_baseline,  ///< the same if every allowed key had the same weight, of what a learned sink leaves
  induction,           ///< weight on earlier keys right after the query's own token id, over queries that have one
  induction_baseline,  ///< the same if every allowed key had the same weight
  entropy,             ///< -sum_j A ln A, in nats; with a learned sink, of A / sum_j A
  entropy_share,       ///< entropy / ln(allowed keys), over queries with at least two; 1: all keys alike
  sink_first,          ///< alpha_0 of equation (3)
  sink_weight,         ///< max_k alpha_k
  special_weight,      ///< weight on special tokens
  learned_sink,        ///< 1 - sum_j A, which a learned sink takes; undefined in heads without
  previous_baseline,   ///< previous if every key that a query may look at had the same weight
  next_baseline,       ///< next in the same case
  sink_baseline,       ///< sink_weight in the same case
};
constexpr Index head_scores = 12, even_scores = 3;  ///< measured ones, and after them those of uniform attention

/// previous_baseline, next_baseline and sink_baseline of one document, under the mask of allowed_keys().
/// @returns (even_scores)  NaN: undefined, as the score itself
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
