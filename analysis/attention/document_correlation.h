#pragma once

#include <tuple>
#include <utility>
#include <vector>

#include "../../core/attention/probe.h"
#include "../../core/fields/head_name.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

/// Sample of query-key pairs at which attention weights of documents are compared. All documents use the same
/// pairs of places, that is, of token positions.
///
/// Pairs come in groups of one key and up to 8 queries. The places of a group lie among the first L tokens of
/// the longest document. From group to group L grows evenly from 4 to T, so shorter documents contain some of
/// the groups. Place 0 is omitted, since it is often a sink. The sample depends only on T and the mask.
class PlacePairs {
 public:
  struct Pair {
    Index query = 0, key = 0;  ///< places, from 0; under a causal mask key < query
  };

  static constexpr Index most = 2048;

  /// @param length  T, tokens of the longest document; below 4 there are no pairs
  PlacePairs(Index length, AttentionKind kind);

  [[nodiscard]] Index count() const { return static_cast<Index>(pairs_.size()); }
  [[nodiscard]] Index length() const { return length_; }
  [[nodiscard]] const Pair& pair(Index i) const { return pairs_[static_cast<std::size_t>(i)]; }
  /// Index of the first pair of each group, then the number of all pairs.
  [[nodiscard]] const std::vector<Index>& groups() const { return groups_; }
  /// Indices of the pairs with this query.
  [[nodiscard]] const std::vector<Index>& of_query(Index query) const {
    return by_query_[static_cast<std::size_t>(query)];
  }

 private:
  Index length_;
  std::vector<Pair> pairs_;
  std::vector<Index> groups_{0};
  std::vector<std::vector<Index>> by_query_;  ///< [query]
};

/// Collects one document's attention weights at the pairs of a PlacePairs.
class PlacePairWeights {
 public:
  /// @param pairs  must outlive this object
  PlacePairWeights(const PlacePairs& pairs, const HeadGrid& grid, const Document& document, AttentionKind kind);

  void see(const Tile& tile, Index first_row);

  /// Deviations of the weights from the mean of their group, in units of their root mean square.
  ///
  ///     x_ij = weight A[i, j]; under a causal mask times the number of keys that query i may look at
  ///     z_ij = (x_ij - mean of the group) / rms of these differences over the head's pairs             (1)
  ///
  /// Subtracting the mean of the group removes the attention that a key draws from all queries alike.
  /// @returns (rows, pairs)  NaN if the pair is outside the document or masked, if it contains a special
  ///          token, or if no other pair of its group is left
  [[nodiscard]] Matrix32 deviations() const;

 private:
  const PlacePairs& pairs_;
  AttentionKind kind_;
  std::vector<bool> query_counts_, key_counts_;
  Matrix32 weights_;  ///< (rows, pairs)  x; NaN: no such pair
};

/// Correlation of attention weights between two documents, over the same pairs of places, for each head.
///
///     r = sum over pairs of sum_{d != d'} z_d z_d' / sum over pairs of n (n - 1)                     (2)
///
/// where n documents contain a pair. r is the mean correlation between two documents (an intraclass
/// correlation). Sums over documents are enough, since sum_{d != d'} z_d z_d' = (sum_d z_d)^2 - sum_d z_d^2.
///
/// The moments of a sum over documents follow from r and from v_d and w_d, the variance and third central
/// moment of the summand X_d of document d. The deviation of X_d is modelled as sqrt(r) F + sqrt(1 - r) E_d.
/// F is the same in all documents, each document has its own E_d, and all of them have the same skewness:
///
///     Var[sum_d X_d]          = (1 - r) sum v_d + r (sum sqrt v_d)^2                                  (3)
///     third moment of the sum = [(1 - r)^(3/2) sum w_d + r^(3/2) (sum cbrt w_d)^3] / [(1 - r)^(3/2) + r^(3/2)]   (4)
///
/// If r = 0, documents are independent and their moments add up. If r = 1, all documents count as one.
///
/// Source: Kish 1965, Survey Sampling, for the design effect 1 + (N - 1) r, to which (3) reduces for equal v.
class DocumentCorrelation {
 public:
  DocumentCorrelation() = default;
  /// Sums of one document.
  /// @param deviations  (rows, pairs)  z of (1); without columns, nothing is compared
  DocumentCorrelation(Index heads, Matrix32 deviations) : heads_(heads), alone_(std::move(deviations)) {}
  /// Sums of several documents, computed elsewhere.
  /// @param sum        (rows, pairs)    sum_d z_d
  /// @param documents  (layers, pairs)  n
  /// @param squares    (rows)           sum over documents and pairs of z^2
  DocumentCorrelation(Index heads, Matrix sum, Matrix documents, Vector squares)
      : heads_(heads), sum_(std::move(sum)), documents_(std::move(documents)), squares_(std::move(squares)) {}

  void add(DocumentCorrelation&& next);

  /// @returns (rows)  r of (2), clamped to 0 .. 1; NaN if no two documents contain the same pair
  [[nodiscard]] Vector correlation() const;

  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.heads_, self.sum_, self.documents_, self.squares_, self.alone_);
  }

 private:
  void add_document(const Matrix32& deviations);

  Index heads_ = 0;
  Matrix sum_;        ///< (rows, pairs)    sum_d z_d
  Matrix documents_;  ///< (layers, pairs)  n
  Vector squares_;    ///< (rows)           sum over documents and pairs of z^2
  Matrix32 alone_;    ///< (rows, pairs)    z of one document that is not in the sums yet
};

/// Variance (3). A NaN correlation counts as 1: nothing shows that a second document adds information.
/// @param variances   sum v_d
/// @param deviations  sum sqrt v_d
double correlated_variance(double correlation, double variances, double deviations);

/// Third central moment (4). A NaN correlation counts as 1.
/// @param thirds  sum w_d
/// @param roots   sum cbrt w_d
double correlated_third(double correlation, double thirds, double roots);

/// The columns of a matrix for offsets |t| <= reach. Offset 0 is the middle column.
Matrix middle_columns(const Matrix& of, Index reach);

/// Sums over documents from which (3) and (4) are computed.
class NullMoments {
 public:
  NullMoments() = default;
  /// Sums of one document.
  /// @param variances, thirds  (rows, columns)  v and w
  NullMoments(const Matrix& variances, const Matrix& thirds);
  /// Sums of several documents, computed elsewhere.
  /// @param deviations, roots  (rows, columns)  sums of sqrt v and of cbrt w
  NullMoments(Matrix variances, Matrix deviations, Matrix thirds, Matrix roots)
      : variances_(std::move(variances)),
        deviations_(std::move(deviations)),
        thirds_(std::move(thirds)),
        roots_(std::move(roots)) {}

  [[nodiscard]] const Matrix& variances() const { return variances_; }
  [[nodiscard]] const Matrix& thirds() const { return thirds_; }

  /// Standard deviation and skewness of the sum over documents.
  struct Spread {
    Matrix deviation, skewness;  ///< (rows, columns)
  };
  /// @param correlation  (rows)  r of (2)
  [[nodiscard]] Spread of_sum(const Vector& correlation) const;
  /// These sums for the offsets |t| <= reach only, see middle_columns().
  [[nodiscard]] NullMoments within(Index reach) const;

  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.variances_, self.deviations_, self.thirds_, self.roots_);
  }

 private:
  Matrix variances_, deviations_, thirds_, roots_;  ///< (rows, columns)  as in correlated_variance() and _third()
};

}  // namespace headwave
