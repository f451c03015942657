#pragma once

#include <memory>

#include "../numbers/matrix.h"
#include "score_bias.h"

namespace headwave {

class RotaryTerm;
class DisentangledTerm;

/// How attention takes relative positions into account, beside or instead of a position table: in one of
/// three ways, or not at all.
struct PositionTerm {
  std::shared_ptr<const ScoreBias> added = nullptr;    ///< to the scaled scores, by offset
  std::shared_ptr<const RotaryTerm> turned = nullptr;  ///< turns queries and keys, each by its own position
  /// Says which vectors of relative positions queries and keys are held against.
  std::shared_ptr<const DisentangledTerm> compared = nullptr;

  explicit operator bool() const { return added || turned || compared; }
  /// "rotary", "relative buckets", "linear bias", "disentangled terms"; empty: nothing.
  [[nodiscard]] const char* name() const {
    if (turned) return "rotary";
    if (compared) return "disentangled terms";
    return added ? added->name() : "";
  }
};

}  // namespace headwave
