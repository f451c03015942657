#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "../../core/attention/position_term.h"
#include "../../core/attention/probe.h"
#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../../core/numbers/matrix.h"
#include "../../core/numbers/random.h"
#include "../attention/offset_trace.h"
#include "../pass/analysis_kind.h"
#include "account_documents.h"

namespace headwave {

/// The part that is swapped: whole keys, or only what a token adds to the mean key of its place.
enum class SwappedPart : std::uint8_t { keys, contents };

struct SwappedKeysOptions {
  SwappedPart part = SwappedPart::keys;
  double temperature = 0.05;  ///< of the weights of swaps, in attention weight: our choice
  Index queries = 128;        ///< of each document that are looked at, at most, evenly spread
  std::uint64_t seed = 1;
  int threads = 1;  ///< changes no digit
};

/// Two places whose keys are swapped.
struct KeySwap {
  Index a = 0, b = 0;
};

/// How far attention stays at its place, or moves with the token, when keys are swapped.
struct SwapScores {
  double positional = not_defined, symbolic = not_defined;  ///< in 0 .. 1; NaN: no swap says anything
};

/// Scores of one query. A are its attention weights, A' the same after the swaps:
///
///     v = (A_a, A_b),  v' = (A'_a, A'_b),  w = softmax over swaps of |A_a - A_b| / temperature     (1)
///     positional = sum over swaps of w cos(v', v),  symbolic = sum of w cos(v', (A_b, A_a))         (2)
///
/// Attention that stays at its place has positional 1; attention that moves with the token has symbolic 1;
/// uniform attention has both. Keys that the query may not look at, and pairs without any weight, are left
/// out.
///
/// All swaps are made at once: other keys change both entries of v' by one factor, which no cosine sees.
///
/// Source: Urrutia et al. 2026, section 3, where blocks of tokens are swapped; here a block is one token.
/// @param before  (n)  A
/// @param after   (n)  A'
/// @param open    keys that the query may look at
SwapScores swap_scores(VectorView32 before, VectorView32 after, const std::vector<KeySwap>& swaps, KeySpan open,
                       double temperature);

/// Every free place with another one, at random; of an odd number one stays.
/// @param stays  (n)  1: never moves
std::vector<KeySwap> random_swaps(const std::vector<std::uint8_t>& stays, Random& random);

/// Positional and symbolic scores of every head: equation (2), means over queries, then over documents.
struct SwappedKeys {
  Vector positional, symbolic;  ///< (rows)  NaN: no document, or, of contents, fewer than two documents
  Index documents = 0;          ///< whose keys were swapped
};

/// Swaps keys before a rotary term turns them, so that the place stays and the token moves, and attends as
/// the model does, with every mask and position term. In a model with a position table the key itself holds
/// its place and would carry it along: every head would be symbolic. There SwappedPart::contents swaps
/// d^K = k - m^K (head_account.h), with the mean keys of the other half of the documents. That is ours, after
/// the paper's idea; the paper is about rotary models.
///
/// Special tokens and the first token stay, and are no queries. Only documents kept whole
/// (AccountHalf::to_deal) count.
SwappedKeys swapped_keys(const AccountSums& sums, const AccountSite& site, const SwappedKeysOptions& options = {});

/// Sums over tokens of the queries, or of the keys, of heads before any rotation. x is one such vector.
struct VectorSums {
  Matrix sum;         ///< (rows, d_head)  of x
  Matrix squares;     ///< (rows, d_head)  of x_c^2
  Matrix norm;        ///< (rows, 1)       of |x|
  Matrix pair_norm;   ///< (rows, pairs)   of |x_m|, x_m the two channels that turn together as pair m
  DefinedMean share;  ///< (rows, 1)       rank_one_share() of each document
  VectorSums() = default;
  /// @param pairs  channel pairs that turn; 0: nothing turns
  VectorSums(Index rows, Index d_head, Index pairs);
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.sum, self.squares, self.norm, self.pair_norm, self.share);
  }
};

/// Sets the sums of one layer of one document.
/// @param vectors  (T, heads * d_head)
/// @param rotary   of the layer; null: nothing turns
/// @param row      of the layer's head 0 in the sums
void set_vectors(VectorSums& sums, MatrixView32 vectors, const RotaryTerm* rotary, Index row);

/// sigma_1^2 / sum_k sigma_k^2 of a matrix: 1 where every row is a multiple of one, at least 1 / columns.
/// @returns NaN where the matrix is zero
double rank_one_share(const Matrix& vectors);

/// Published scores of query vectors, or of key vectors. A key head is repeated for every head that reads it.
struct VectorScores {
  Vector rank_one_share;         ///< (rows)  mean over documents
  Vector resultant_length;       ///< (rows)  equation (1) of whole vectors; NaN: all are zero
  Matrix pair_resultant_length;  ///< (rows, pairs)  ... of each pair; NaN: the layer turns nothing
  Vector massive_values;         ///< (rows)  channels for which (3) holds
  Vector massive_ratio;          ///< (rows)  largest M_c over the mean M; NaN: all are zero
  Vector massive_channel;        ///< (rows)  where M_c is largest
};

/// Scores of a side's vectors.
///
///     resultant_length = |sum x| / sum |x|                                    (1)
///     M_c = sqrt(mean x_c^2)                                                  (2)
///     channel c is massive if M_c > massive * mean_c M_c                      (3)
///
/// Sums and means over all tokens; mean_c over the head's channels. (1) is 1 where all vectors have one
/// direction.
///
/// Source: Cheng et al. 2026 (rank-one share); Mao et al. 2026 (1); Jin et al. 2025 (2, 3).
/// @param grid    the heads that are scored
/// @param rotary  [layer of the grid] as set_vectors() had it
VectorScores vector_scores(const VectorSums& sums, const HeadGrid& grid, const std::vector<const RotaryTerm*>& rotary,
                           double massive);

struct PublishedScoreOptions {
  SwappedKeysOptions swapped;
  double massive = 5;  ///< a channel is massive if it exceeds the mean channel this many times
};

/// Published scores of heads, to compare with the account (head_account.h). They use the documents of the
/// account; only the slash score uses documents of every length.
///
/// Positional and symbolic scores: swap_scores(). Rank-one share, mean resultant length and massive values
/// of queries and keys: vector_scores(). Average slash score, the largest mean weight along a diagonal:
///
///     slash_score = max over |t| <= reach of the mean over documents of 1/(T-|t|) sum_i A[i, i+t]       (1)
///
/// It is published for t <= 0 under a causal mask; where there is none, t > 0 counts too. It is the weight
/// of measured_offset over all pairs. The first token and special tokens count as any other, as published;
/// swaps alone leave them where they are.
///
/// Source: Urrutia et al. 2026, arXiv:2511.11579; Cheng et al. 2026, arXiv:2601.08297 (1, rank-one share);
/// Mao et al. 2026, arXiv:2604.04921; Jin et al. 2025, arXiv:2502.01563.
struct PublishedScores {
  HeadGrid grid;
  PublishedScoreOptions options;
  Index documents = 0;
  SwappedKeys swapped;
  Index reach = 0;
  Vector slash_score, slash_offset;  ///< (rows)  NaN: no pair
  VectorScores query, key;
  bool turns = false;  ///< whether any layer turns its queries and keys
};

/// Sets equation (1).
/// @param reach  in tokens
void set_slash_scores(PublishedScores& scores, const OffsetTraces& traces, Index reach, bool causal);

/// Fields published_scores/... Without rotary positions there is no resultant length of pairs.
std::vector<Field> describe(const PublishedScores& scores);

/// In a job, only where it is asked for by name: published_scores/...
const AnalysisKind& published_scores_analysis();

}  // namespace headwave
