#pragma once

#include <map>
#include <tuple>

#include "../numbers/matrix.h"
#include "model.h"
#include "random_documents.h"

namespace headwave {

/// Input of a layer's projections: its mean over words at each position, and its covariance over words at the
/// mean position:
///
///     position(n) = E_w norm(scale word_w + position_n + token type 0)                         (1)
///     C = Cov_w norm(scale word_w + mean position + token type 0)                              (2)
///
/// with the norms of layer_positions(). A norm divides by the length of what it gets, so (1) is not what
/// positions would be beside the mean word. Expectations are over all words, by their chances. With centred
/// word u and position p, one norm is z = (u + p) / sigma with sigma^2 = (|u|^2 + |p|^2 + 2 u.p) / d + eps,
/// so that (1) is
///
///     sum_w c_w (u_w + p_n) / sigma_wn :  two products of (T, V) and (V, d), no norm word by word  (3)
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
  /// @param words    without ids: every word of the model alike
  /// @param length   T, the first so many positions
  /// @param threads  change no digit
  /// @throws ShapeError if there are no words or fewer positions, an id is not the model's, or there is not
  ///         one chance for each; NumericError if chances do not sum to a positive number
  EmbeddingMeans(const Stack& stack, WordChances words, Index length, int threads = 1);

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
  [[nodiscard]] Matrix by_one_norm(const Norm& norm) const;
  [[nodiscard]] Matrix one_by_one(const Norm& own) const;
  [[nodiscard]] Matrix covariance(const Norm& own) const;

  const Stack& stack_;
  WordChances words_;  ///< chances sum to 1
  Index length_;
  int threads_;
  Vector32 ones_;
  std::map<std::tuple<bool, float, NormKind>, Means> means_;  ///< by what layers' own norms have in common
};

}  // namespace headwave
