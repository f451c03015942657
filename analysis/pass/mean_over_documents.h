#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "../../core/fields/fields.h"
#include "../../core/numbers/matrix.h"
#include "document_sum.h"

namespace headwave {

/// Mean over documents and its standard error. Each entry is averaged over the n documents that define it:
///
///     mean = sum x_d / n,   error = sqrt( max(0, sum x_d^2 / n - mean^2) / (n - 1) )             (1)
///
/// A standard deviation below 1e-8 of the mean is only rounding.
class MeanOverDocuments {
 public:
  MeanOverDocuments() = default;
  /// Sum of one document.
  /// @param values  NaN marks an undefined entry
  explicit MeanOverDocuments(const Matrix& values)
      : mean_(values), squares_(values.array().isNaN().select(0.0, values.array().square())) {}

  /// The mean of each entry; NaN if no document defines the entry.
  [[nodiscard]] Matrix mean() const { return mean_.value(); }
  /// The standard error of each entry; NaN if fewer than two documents define the entry.
  [[nodiscard]] Matrix error() const {
    Matrix error = mean();
    for (Index i = 0; i < error.size(); ++i) {
      const double n = mean_.count().data()[i], mean = error.data()[i];
      error.data()[i] = n > 1 ? std::sqrt(std::max(0.0, squares_.data()[i] / n - mean * mean) / (n - 1)) : not_defined;
    }
    return error;
  }

  /// Adds the Fields `quantity` and `quantity`_error from one row of mean() and error().
  /// @param undefined  why the mean can be NaN
  /// @param notes      notes on the mean; {{"column", "its header"}} makes the mean a column of the table
  void add_fields(Fields& fields, Index row, const std::string& quantity, const std::vector<Axis>& axes,
                  const std::string& unit, const std::string& long_name, const std::string& undefined,
                  const Attributes& notes = {}) const {
    fields.add(quantity, axes, unit, long_name, mean().row(row), undefined);
    for (const auto& [name, value] : notes) fields.note(name, value);
    fields.add(quantity + "_error", axes, unit, "standard error of " + quantity + " over documents", error().row(row),
               "fewer than two documents, or " + undefined);
  }

  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.mean_, self.squares_);
  }

 private:
  DefinedMean mean_;
  Matrix squares_;
};

}  // namespace headwave
