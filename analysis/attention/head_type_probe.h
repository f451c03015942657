#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "../../core/attention/probe.h"
#include "../pass/analysis_kind.h"
#include "head_types.h"

namespace headwave {

/// Measures what type every head is of (head_types.h has the equations) while its weights pass by.
///
/// Rows of zeros, where a mask forbids every key, are no queries and are left out; of the sink's mean they are part.
/// Which keys hold the query's own token is looked up once per document; a head then costs one pass over its weights
/// and one step per pair of equal tokens, a layer heads^2 / 2 products per query-key pair for equation (4), which is
/// the square root of
///
///     |A_a * A_b|^2 = sum_ij A_a[i, j]^2 A_b[i, j]^2                                                (5)
///
/// Logarithms are in float, as the weights are; all else is in double.
class HeadTypeProbe : public Probe {
 public:
  /// @param document  the one that will pass by
  /// @param kind      the attention that is looked at; others pass unseen
  /// @throws ShapeError if the reach is negative, or ids and marks of special tokens differ in number
  HeadTypeProbe(HeadGrid grid, const Document& document, AttentionKind kind = AttentionKind::self,
                const HeadTypeOptions& options = {});

  using Probe::see;
  /// @throws ShapeError if a tile of that kind has other heads, layers or sequences than were announced; NumericError
  ///         if a weight is not finite: the model computed NaN or infinity
  void see(const Tile& tile) override;

  /// What was gathered.
  [[nodiscard]] DocumentHeadTypes types() const;

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
  void add_scores(const Query& query, Index row, const Eigen::Ref<const Eigen::RowVectorXf>& open);
  void add_argmax(const Query& query, Index row, const Eigen::Ref<const Eigen::RowVectorXf>& open, float largest);
  void add(HeadScore score, Index row, double value);
  void add_products(Index layer);
  void set_sink(Index row, DocumentHeadTypes& result) const;

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
  Vector seen_;                                 ///< (layers)  query rows that came
  Matrix columns_;                              ///< (rows, keys)  weight that each key gets
  std::vector<Matrix> products_;                ///< (heads, heads) each: equation (5), lower triangle
  Eigen::ArrayXd wide_;                         ///< (keys)  work space
  Matrix squares_;                              ///< (heads, keys or more)  of some queries' weights, side by side
  Index squared_ = 0;                           ///< columns of it
};

/// In a job: head_types/...
const AnalysisKind& head_types_analysis();

}  // namespace headwave
