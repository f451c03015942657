#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../../core/attention/document.h"
#include "../../core/attention/probe.h"
#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis_kind.h"

namespace headwave {

struct HeadTypeOptions {
  Index reach = 8;            ///< largest |t| at which a row's largest weight is recorded, in tokens
  double one_offset = 0.9;    ///< least share of queries whose largest weight lies at one offset (Voita et al. 2019)
  double neighbour = 0.5;     ///< mean weight on the token before, or after, must exceed this (Clark et al. 2019)
  double sink = 0.3;          ///< mean weight that one key gets must exceed this (Gu et al. 2025)
  double content = 0.4;       ///< duplicate and induction scores must exceed this: ours, nothing is published
  double content_ratio = 3;   ///< ... and this many times their baseline, as sinks must: ours as well
  Index least_documents = 8;  ///< fewer give no kind, as head_account() gives no verdict
};

/// Scores of every head: means over the query rows of a document, then over documents. A is the head's
/// attention.
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
};
constexpr std::size_t head_scores = 12;

/// The type of a head: the first that holds in the order of type_of(), else `other`. Names are their authors'
/// and describe where weights lie, not why: see head_account(). Voita's "positional" is `one_offset` here. Undefined:
/// too few documents.
enum class HeadType : std::uint8_t { other, previous, next, one_offset, duplicate, induction, sink, undefined };

/// Scores that uniform attention has, where every key that a query may look at gets the same weight.
enum class EvenScore : std::uint8_t { previous, next, sink_weight };
constexpr std::size_t even_scores = 3;

/// Head types of a job: means over the documents in which a quantity is defined. NaN: defined in no document.
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
/// In cross-attention queries and keys are different sequences: what
/// compares positions or tokens is undefined.
///
/// Source: Voita et al. 2019 (1, 2); Clark et al. 2019 (previous, next); Olsson et al. 2022
/// (induction); Gu et al. 2025 (3), there 1-based.
struct HeadTypes {
  HeadGrid grid;
  AttentionKind kind = AttentionKind::self;
  HeadTypeOptions options;
  Index documents = 0;
  Matrix scores;             ///< (head_scores, rows)
  Matrix even;               ///< (even_scores, rows)  scores of uniform attention
  Matrix argmax_share;       ///< (rows, 2 reach + 1)  equation (1)
  Vector positional_share;   ///< (rows)  equation (2)
  Vector positional_offset;  ///< (rows)  its t in tokens; NaN: none within reach, or at its end with half or less
  std::vector<Index> sink_position;  ///< (rows)  the key of sink_weight in the first document; -1: undefined
  std::vector<HeadType> types;       ///< (rows)

  /// One score of all heads: (rows).
  [[nodiscard]] Vector of(HeadScore score) const { return scores.row(static_cast<Index>(score)).transpose(); }
};

/// The scores of EvenScore over one document of uniform attention, under the mask of allowed_keys().
/// @returns (even_scores)  NaN: undefined, as the score itself
Vector even_attention(Index queries, Index keys, AttentionKind kind, Index window, Index chunk = 0);

/// Head scores summed over documents.
struct HeadTypeSum {
  Index documents = 0;
  DefinedMean scores;                       ///< (head_scores, rows)
  DefinedMean even;                         ///< (even_scores, rows)
  DefinedMean argmax_share;                 ///< (rows, 2 reach + 1)
  First<std::vector<Index>> sink_position;  ///< (rows)
};

/// Means over documents, and what every head is called.
/// @param sum  of at least one document
HeadTypes head_types(const HeadTypeSum& sum, const HeadGrid& grid, AttentionKind kind = AttentionKind::self,
                     const HeadTypeOptions& options = {});

/// Fields head_types/..., the name a head is given first.
std::vector<Field> describe(const HeadTypes& types);

/// Measures the scores of HeadTypes over one document.
///
/// A row of zeros, where the mask forbids every key, is omitted, except from the mean of a sink. Keys that
/// hold the query's own token are looked up once per document. A head then costs one pass over its weights
/// and one step per pair of equal tokens. Logarithms are in float, as the weights are; all else is in double.
class HeadTypeProbe : public Probe {
 public:
  /// @param document  the document that will be seen
  /// @param kind      the kind of attention to look at; other kinds are ignored
  /// @throws ShapeError if the reach is negative, or ids and marks of special tokens differ in number
  HeadTypeProbe(HeadGrid grid, const Document& document, AttentionKind kind = AttentionKind::self,
                const HeadTypeOptions& options = {});

  using Probe::see;
  /// @throws ShapeError if a tile of that kind has other heads, layers or sequences than were announced; NumericError
  ///         if a weight is not finite: the model computed NaN or infinity
  void see(const Tile& tile) override;

  [[nodiscard]] HeadTypeSum taken() const;

 private:
  /// The keys that a query may look at, and where among them its own token id stands.
  struct Query {
    Index position;
    KeySpan open;
    std::span<const Index> duplicates;  ///< earlier keys with the query's id
    std::span<const Index> before;      ///< keys with the query's id whose next key is earlier than the query
    bool has_duplicate, has_induction;  ///< whether there are any, window or not
  };

  [[nodiscard]] Query query_at(Index position, KeySpan open) const;
  void add_scores(const Query& query, Index row, const Eigen::Ref<const Eigen::RowVectorXf>& open, bool sinks);
  void add_argmax(const Query& query, Index row, const Eigen::Ref<const Eigen::RowVectorXf>& open, float largest);
  void add(HeadScore score, Index row, double value);
  void set_sink(Index row, Matrix& scores, std::vector<Index>& sink_position) const;

  HeadGrid grid_;
  AttentionKind kind_;
  Index reach_;
  Index queries_, keys_;
  bool knows_special_;
  std::vector<Index> special_;                  ///< positions of special keys
  std::vector<std::vector<Index>> same_token_;  ///< positions of one token id, ascending; one list per id
  std::vector<std::size_t> token_of_;           ///< which of these lists a query is in; empty: no ids
  Matrix sum_, count_;                          ///< (head_scores, rows)
  Matrix argmax_;                               ///< (rows, 2 reach + 1)  number of queries
  Vector live_;                                 ///< (rows)  rows that are not zero
  Matrix columns_;                              ///< (rows, keys)  weight that each key gets
  Matrix even_;                                 ///< (even_scores, rows)
};

/// In a job: head_types/...
const AnalysisKind& head_types_analysis();

}  // namespace headwave
