#pragma once

#include "position_term.h"

namespace headwave {

/// Linear biases (ALiBi): slope_h * t is added to the scaled score, t = key minus query, the slopes a geometric
/// sequence in the heads.
///
///     slope_h = 2^(-8 (h+1) / H)  where the number of heads H is a power of two               (1)
///
/// For other H the slopes are those of the power of two below, then every second one of the power above. The bias is an
/// exact Toeplitz matrix.
///
/// Source: Press, Smith and Lewis 2022, section 3.
class LinearBiasTerm : public PositionTerm {
 public:
  explicit LinearBiasTerm(Index heads);

  [[nodiscard]] const char* name() const override { return "linear bias"; }
  [[nodiscard]] Vector kernel(Index head, Index reach) const override;
  [[nodiscard]] PositionUse use() const override { return PositionUse::added; }

 private:
  Vector slope_;
};

/// Biases that are given: one for every head and offset, zero beyond those. An exact Toeplitz matrix.
class OffsetBiasTerm : public PositionTerm {
 public:
  /// @param bias  (heads, 2 reach + 1)  at offsets t = -reach .. reach, key minus query
  /// @throws ShapeError if the number of offsets is even
  explicit OffsetBiasTerm(Matrix bias);

  [[nodiscard]] const char* name() const override { return "offset bias"; }
  [[nodiscard]] Vector kernel(Index head, Index reach) const override;
  [[nodiscard]] PositionUse use() const override { return PositionUse::added; }

 private:
  Matrix bias_;
};

struct BucketOptions {
  Index farthest = 128;       ///< distances from here on share the last bucket
  bool bidirectional = true;  ///< half of the buckets for keys to the right; otherwise these share bucket 0
};

/// Learned biases per head and bucket of distances (T5's relative attention): near distances have a bucket each, far
/// ones share buckets whose widths grow geometrically. The bias is an exact Toeplitz matrix.
///
/// Source: Raffel et al. 2020, section 2.1.
class BucketTerm : public PositionTerm {
 public:
  /// @param bias  (buckets, heads)
  /// @throws ShapeError if there are fewer than two buckets a side, or no distances beyond the single ones
  BucketTerm(MatrixView32 bias, const BucketOptions& options);

  [[nodiscard]] const char* name() const override { return "relative buckets"; }
  [[nodiscard]] Vector kernel(Index head, Index reach) const override;
  [[nodiscard]] PositionUse use() const override { return PositionUse::added; }

  /// Bucket of an offset, key minus query.
  [[nodiscard]] Index bucket(Index offset) const;

 private:
  Matrix bias_;
  BucketOptions options_;
};

}  // namespace headwave
