#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

/// A Field's numbers by (entry of the leading axes, entry of the others); nothing where there is no such Field.
struct FieldRows {
  Matrix values;
  const Field* field = nullptr;
};

/// What is read off one run's result, head by head. The result must outlive it.
class RunReadings {
 public:
  /// @param result  with measured_offset/offset and weight, and offset_trace/mean_weight
  /// @throws ShapeError if one of these is missing
  explicit RunReadings(const Result& result);

  /// @param leading  how many axes the rows run over; missing Fields, and those of fewer axes, have no rows
  [[nodiscard]] FieldRows rows_of(const std::string& name, std::size_t leading) const;

  [[nodiscard]] Index heads() const { return heads_; }  ///< of a layer
  [[nodiscard]] Index row(const HeadName& head) const { return head.layer * heads_ + head.head; }
  [[nodiscard]] const Vector& offsets() const { return offset_; }  ///< (rows)  tokens; NaN: the head has none
  [[nodiscard]] double offset(const HeadName& head) const { return offset_[row(head)]; }

  /// The heads with the largest weights at an offset of their own, the largest first.
  [[nodiscard]] std::vector<HeadName> clearest(Index most) const;

  /// Mean attention weight of a head at an offset, over all pairs; NaN at none.
  [[nodiscard]] double weight_at(const HeadName& head, double offset) const;

  /// Lag in tokens at which a row of a Field whose last axis is `lag` is largest among |t| <= 30, where the published
  /// heads cancel; NaN as peak_offset().
  [[nodiscard]] double peak_lag(const std::string& name, std::size_t leading, Index row) const;

  /// One number of a Field by layer and head; NaN where it is not there.
  [[nodiscard]] double number(const std::string& name, Index row) const;

 private:
  const Result& result_;
  Index heads_ = 0;
  Vector offset_, weight_;
};

}  // namespace headwave
