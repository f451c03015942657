#pragma once

#include <map>
#include <tuple>

#include "../numbers/matrix.h"
#include "model.h"

namespace headwave {

/// How far a position table was trained.
struct TrainedRows {
  Index trained = 0;          ///< rows 0 .. trained - 1 hold positions that were learned
  Index rows = 0;             ///< rows of the table; equal to `trained` if no row looks untrained
  double trained_norm = 0;    ///< median norm of the trained rows
  double untrained_norm = 0;  ///< median norm of the rows after them; 0 where there are none, or they are zero

  [[nodiscard]] bool all() const { return trained == rows; }
};

/// The rows at the end of a position table that no training text reached still hold their initial values:
/// independent random numbers, or zeros. With s^2 the median squared norm of the last rows, a row x_n looks
/// learned if
///
///     |x_n|^2 > (1 + a) s^2,   or |x_n|^2 < (1 - a / 2) s^2,   or cos(x_n, x_{n-1}) > c          (1)
///     a = max(1, 3 sqrt(2 / d)),   c = max(1/2, 2.5 / sqrt(d))
///
/// that is, if its norm differs from that of initial values, or if it is more similar to the row before it
/// than random rows of d dimensions hardly ever are. The boundary b is where most rows before it look learned
/// and most after it do not,
///
///     b = argmax (learned rows before b + other rows from b on)                                  (2)
///
/// The rows from b on count as untrained if there are at least `fewest_untrained`, if three quarters of those
/// before b look learned, and if the second half of the rows from b on, which training texts have not reached
/// even now and then, looks like independent numbers, while the rows before b fail (4):
///
///     spread of norms <= 2 / sqrt(2 d) of their mean                                             (3)
///     mean squared cosine of two of them <= (1 + 4 sqrt(2 / pairs)) / d                          (4)
///
/// (4) says that rows spread over as many directions as random ones: their participation ratio is that of
/// noise. A table whose rows all look random counts as trained, whatever their norms; so does a sinusoidal
/// table. Rows of padding at the beginning do not matter.
///
/// What it leaves out: untrained rows in the middle of a table, or fewer than `fewest_untrained` of them.
///
/// @param table  (positions, d)
TrainedRows trained_rows(MatrixView32 table);

/// Fewer rows than this tell nothing about a table's end.
constexpr Index fewest_untrained = 8;

/// How many rows of the position table analyses of it read: the first `asked`, as many as there are at most;
/// 0: those that were trained.
Index rows_to_read(const Stack& stack, Index asked);

/// The positions as a layer's projections would see them without words:
///
///     post-norm:  embedding norm of (PE + token type 0), projected where embeddings are              (1)
///     pre-norm:   the layer's own norm of PE (+ token type 0, through the embedding norm where there is one)    (2)
///
/// For layer 0 this is what it sees; for others a proxy, since blocks between have changed it. Of a model with words see
/// EmbeddingMeans.
///
/// @returns (positions, d_model); empty where the model has no position table
/// @throws ShapeError if there is no such layer
Matrix layer_positions(const Stack& stack, Index layer);

/// Rows of the position table that tokens 0 .. length - 1 read, widened to double.
/// @returns (length, d_model), or as many rows as the table has; empty if the model has no table
Matrix position_rows(const Stack& stack, Index length);

/// Input of a layer's projections: its mean over words at each position, and its covariance over words at the
/// mean position:
///
///     position(n) = E_w norm(scale word_w + position_n + token type 0)                         (1)
///     C = Cov_w norm(scale word_w + mean position + token type 0)                              (2)
///
/// where norm is what stands between the sum of embeddings and the layer's projections: the norm of the
/// embeddings if there is one, then, in pre-norm models, the layer's own first norm. A norm divides by the length of what it gets, so (1) is not what
/// positions would be beside the mean word. Expectations are over all words equally. With centred
/// word u and position p, one norm is z = (u + p) / sigma with sigma^2 = (|u|^2 + |p|^2 + 2 u.p) / d + eps,
/// so that (1) is
///
///     1/V sum_w (u_w + p_n) / sigma_wn :  two products of (T, V) and (V, d), no norm word by word  (3)
///
/// Where embeddings are projected to the model's width both are projected after that.
///
/// Where an embedding norm and a layer's own follow each other, words are normalised one by one.
///
/// For layer 0 this is the model with its words in any order; above it a proxy, since blocks between have
/// changed both.
class EmbeddingMeans {
 public:
  /// @param stack    must outlive the means
  /// @param length   T, the first so many positions
  /// @param threads  change no digit
  /// @throws ShapeError if there are no words or fewer positions
  EmbeddingMeans(const Stack& stack, Index length, int threads = 1);

  /// (1). @returns (T, d_model)
  /// @throws ShapeError if there is no such layer, or embeddings are projected and then normalised by it
  [[nodiscard]] Matrix positions(Index layer);
  /// (2). @returns (d_model, d_model)
  /// @throws ShapeError if there is no such layer
  [[nodiscard]] Matrix word_covariance(Index layer);

 private:
  /// Of what comes out of a layer's own norm, before its scale and shift.
  struct Means {
    Matrix positions, covariance;
  };
  [[nodiscard]] Norm own_norm(Index layer) const;
  const Means& means(const Norm& own);
  [[nodiscard]] Matrix32 words(Index first, Index count) const;
  [[nodiscard]] Eigen::RowVectorXd share_of(const Matrix32& rows) const;
  [[nodiscard]] Matrix by_one_norm(const Norm& norm) const;
  [[nodiscard]] Matrix one_by_one(const Norm& own) const;
  [[nodiscard]] Matrix covariance(const Norm& own) const;

  const Stack& stack_;
  Index count_;  ///< of words
  Index length_;
  int threads_;
  Vector32 ones_;
  std::map<std::tuple<bool, float, NormKind>, Means> means_;  ///< by what layers' own norms have in common
};

}  // namespace headwave
