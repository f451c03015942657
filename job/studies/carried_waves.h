#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

/// What carries a head's offset: its attention and its scores by offset, with words and positions, positions alone,
/// words alone, words in another order. One row for each condition and head, conditions outermost.
class CarriedWaves {
 public:
  /// @param reach  offsets |t| <= reach are kept, in tokens
  CarriedWaves(std::vector<HeadName> heads, Index reach);

  /// Takes a condition's rows from what a job found; a condition that could not be run is left out.
  /// @param result  with offset_trace/mean_weight, and with cross_covariance/weighted_centred where there is a chain
  void add(const std::string& condition, const Result& result);

  /// Fields carried_waves/mean_weight and carried_waves/weighted (condition, carried_head, carried_offset); none where
  /// nothing was added.
  [[nodiscard]] std::vector<Field> fields() const;

 private:
  std::vector<HeadName> heads_;
  std::vector<std::string> conditions_;
  Index reach_;
  std::vector<double> weight_, weighted_;
};

}  // namespace headwave
