#pragma once

#include <map>
#include <tuple>

#include "../numbers/matrix.h"
#include "model.h"

namespace headwave {

/// How many rows of a position table were trained.
struct TrainedRows {
  Index trained = 0;          ///< rows 0 .. trained - 1 were trained
  Index rows = 0;             ///< all rows of the table
  double trained_norm = 0;    ///< median norm of the trained rows
  double untrained_norm = 0;  ///< median norm of the untrained rows; 0 if there are none

  [[nodiscard]] bool all() const { return trained == rows; }
};

/// Finds the untrained rows at the end of a position table. Rows that no training text reached still hold
/// their initial values: independent random numbers, or zeros. Let s^2 be the median squared norm of the last
/// sixteenth of the rows, but at least of 8 rows. A row x_n looks learned if
///
///     |x_n|^2 > (1 + a) s^2,   or |x_n|^2 < (1 - a / 2) s^2,   or cos(x_n, x_{n-1}) > c          (1)
///     a = max(1, 3 sqrt(2 / d)),   c = max(1/2, 2.5 / sqrt(d))
///
/// that is, if its norm differs from the norm of initial values, or if it resembles the row before it more
/// than random rows of d dimensions ever do in practice. The boundary b separates rows that mostly look
/// learned from rows that mostly do not look learned:
///
///     b = argmax (number of learned rows before b + number of other rows from b on)              (2)
///
/// The rows from b on count as untrained if there are at least `fewest_untrained` rows on either side of b,
/// at least three quarters of the rows before b look learned, the rows before b violate (4), and the second
/// half of the rows from b on satisfies (3) and (4), as independent numbers do. (A rare long training text
/// may have reached the first half.)
///
///     standard deviation of norms <= 2 / sqrt(2 d) of their mean                                 (3)
///     mean squared cosine of two rows <= (1 + 4 sqrt(2 / pairs)) / d                             (4)
///
/// (4) says that rows spread over as many directions as random rows: their participation ratio is the ratio
/// of noise. A table in which all rows look random counts as trained, whatever their norms, and so does a
/// sinusoidal table. Padding at the beginning does not matter. Untrained rows elsewhere are not found.
/// @param table  (positions, d)
TrainedRows trained_rows(MatrixView32 table);

/// The smallest number of untrained rows that trained_rows() can find.
constexpr Index fewest_untrained = 8;

/// Number of rows of the position table that analyses read: `asked` rows, but at most all rows. If `asked` is
/// 0, they read the trained rows.
Index rows_to_read(const Stack& stack, Index asked);

/// The input of a layer's projections if only positions were embedded, without words:
///
///     post-norm:  x = projection(embedding norm(PE + token type 0)), each part if the model has it     (1)
///     pre-norm:   the layer's own norm of x                                                            (2)
///
/// PE is the position table. For layer 0 this is exact. For other layers it is a proxy, since earlier blocks
/// changed x. EmbeddingMeans computes the same with words, averaged over all words.
/// @returns (positions, d_model); empty if the model has no position table
/// @throws ShapeError if there is no such layer
Matrix layer_positions(const Stack& stack, Index layer);

/// The rows of the position table that are added to tokens 0 .. length - 1, in double.
/// @returns (length, d_embedding), or as many rows as the table has; empty if the model has no table
Matrix position_rows(const Stack& stack, Index length);

/// Mean and covariance, over all words, of the input of a layer's projections. The mean is computed at each
/// position, the covariance at the mean position:
///
///     position(n) = E_w norm(scale word_w + position_n + token type 0)                         (1)
///     C = Cov_w norm(scale word_w + mean position + token type 0)                              (2)
///
/// Here norm stands for all norms between the sum of embeddings and the layer's projections: the norm of the
/// embeddings if there is one, then, in pre-norm models, the layer's own first norm. If embeddings are
/// projected to the model's width, both results are projected last. All words count equally. The mean
/// position is the mean of the trained rows, or of the first T rows if T is larger than their number.
///
/// A norm divides by a length that depends on the word, so (1) is not the norm of a position plus the mean
/// word. One norm, before its scale and shift, is z = (u + p) / sigma with sigma^2 = (|u|^2 + |p|^2 + 2 u.p)
/// / d + eps, where u is the scaled word with token type 0 and p the position, both centred if it is a layer
/// norm. So (1) needs only two matrix products for V words, and no norm word by word:
///
///     1/V sum_w (u_w + p_n) / sigma_wn,   O(T V d)                                             (3)
///
/// If there are two norms, one after the other, (3) does not apply, and every word is normalised by itself.
///
/// For layer 0 this describes the model with its words in random order. For other layers it is a proxy, since
/// earlier blocks changed the states.
class EmbeddingMeans {
 public:
  /// @param stack    must outlive the means
  /// @param length   T, the number of positions
  /// @param threads  the results do not depend on it
  /// @throws ShapeError if there are no words, or fewer than T positions
  EmbeddingMeans(const Stack& stack, Index length, int threads = 1);

  /// Equation (1).
  /// @returns (T, d_model)
  /// @throws ShapeError if there is no such layer, or a layer's own norm follows a projection of embeddings
  [[nodiscard]] Matrix positions(Index layer);
  /// Equation (2).
  /// @returns (d_model, d_model)
  /// @throws as positions()
  [[nodiscard]] Matrix word_covariance(Index layer);

 private:
  /// Both results before the scale and shift of the layer's own norm, so that layers can share them.
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
  Index count_;  ///< V
  Index length_;
  int threads_;
  Vector32 ones_;
  std::map<std::tuple<bool, float, NormKind>, Means> means_;  ///< keyed by the layer's own norm: exists, eps, kind
};

}  // namespace headwave
