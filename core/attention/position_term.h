#pragma once

#include "../numbers/matrix.h"

namespace headwave {

/// How a position term enters attention: its kernel is added to the scaled scores; queries and keys are turned by it; or
/// they are held against vectors of relative positions, so that what is added depends on what stands there.
enum class PositionUse { added, turned, compared };

/// What a model's attention knows of relative positions, beside or instead of a position table: attend() applies it,
/// and it can be asked for its own kernel.
class PositionTerm {
 public:
  PositionTerm() = default;
  PositionTerm(const PositionTerm&) = delete;
  PositionTerm& operator=(const PositionTerm&) = delete;
  virtual ~PositionTerm() = default;

  /// "rotary", "relative buckets", "linear bias".
  [[nodiscard]] virtual const char* name() const = 0;

  /// What the term does by itself at offsets t = -reach .. reach, key minus query: the bias it adds to a head's scaled
  /// score; of a rotation, the factor by which it changes q.k of equal vectors, averaged over channels.
  /// @returns (2 reach + 1)
  /// @throws ShapeError of a term that is compared: it has none by itself
  [[nodiscard]] virtual Vector kernel(Index head, Index reach) const = 0;

  [[nodiscard]] virtual PositionUse use() const = 0;

  /// Turns the queries or keys of a whole sequence in place; row n stands at position n. Other terms do nothing.
  /// @param rows  (T, heads * d_head)
  virtual void turn(Matrix32& /*rows*/, Index /*d_head*/) const {}
  virtual void turn(Matrix& /*rows*/, Index /*d_head*/) const {}

  /// Of a term that is compared: which row of a layer's position keys and queries stands for an offset, key minus query;
  /// never a larger one for a larger offset.
  [[nodiscard]] virtual Index row(Index /*offset*/) const { return 0; }
};

}  // namespace headwave
