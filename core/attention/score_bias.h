#pragma once

#include "../numbers/matrix.h"

namespace headwave {

/// A bias that is added to the scaled scores and depends on the offset alone: an exact Toeplitz matrix.
class ScoreBias {
 public:
  ScoreBias() = default;
  ScoreBias(const ScoreBias&) = delete;
  ScoreBias& operator=(const ScoreBias&) = delete;
  virtual ~ScoreBias() = default;

  /// "linear bias", "relative buckets".
  [[nodiscard]] virtual const char* name() const = 0;

  /// The bias of a head at offsets t = -reach .. reach, key minus query.
  /// @returns (2 reach + 1)
  [[nodiscard]] virtual Vector kernel(Index head, Index reach) const = 0;
};

/// Linear biases (ALiBi): slope_h * t is added to the scaled score, t = key minus query, the slopes a
/// geometric sequence in the heads.
///
///     slope_h = 2^(-8 (h+1) / H)  where the number of heads H is a power of two               (1)
///
/// For other H the slopes are those of the power of two below, then every second one of the power above.
///
/// Source: Press, Smith and Lewis 2022, section 3.
class LinearBias : public ScoreBias {
 public:
  explicit LinearBias(Index heads);

  [[nodiscard]] const char* name() const override { return "linear bias"; }
  [[nodiscard]] Vector kernel(Index head, Index reach) const override;

 private:
  Vector slope_;
};

/// Biases given for every head and offset; zero at offsets beyond those.
class OffsetBias : public ScoreBias {
 public:
  /// @param bias  (heads, 2 reach + 1)  at offsets t = -reach .. reach, key minus query
  /// @throws ShapeError if the number of offsets is even
  explicit OffsetBias(Matrix bias);

  [[nodiscard]] const char* name() const override { return "offset bias"; }
  [[nodiscard]] Vector kernel(Index head, Index reach) const override;

 private:
  Matrix bias_;
};

struct BucketOptions {
  Index farthest = 128;       ///< distances from here on share the last bucket
  bool bidirectional = true;  ///< half of the buckets for keys to the right; otherwise these share bucket 0
};

/// Learned biases per head and bucket of distances (T5's relative attention): near distances have a bucket
/// each, far ones share buckets whose widths grow geometrically.
///
/// Source: Raffel et al. 2020, section 2.1.
class BucketBias : public ScoreBias {
 public:
  /// @param bias  (buckets, heads)
  /// @throws ShapeError if there are fewer than two buckets a side, or no distances beyond the single ones
  BucketBias(MatrixView32 bias, const BucketOptions& options);

  [[nodiscard]] const char* name() const override { return "relative buckets"; }
  [[nodiscard]] Vector kernel(Index head, Index reach) const override;

  /// Bucket of an offset, key minus query.
  [[nodiscard]] Index bucket(Index offset) const;

 private:
  Matrix bias_;
  BucketOptions options_;
};

}  // namespace headwave
