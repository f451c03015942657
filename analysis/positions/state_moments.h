#pragma once

#include <string_view>
#include <tuple>
#include <vector>

#include "../../core/numbers/matrix.h"
#include "../pass/analysis_kind.h"

namespace headwave {

/// Moments of one layer's hidden states h[c, t] over D documents of T tokens each, in double from the first
/// sum on.
///
///     position_sum[t] = sum_c h[c, t],   second_sum = sum_{c, t} h[c, t]^T h[c, t]             (1)
///     document_means[c] = mean_t h[c, t]                                                       (2)
///
/// Enough for the balanced two-way split into positions and documents (position_split.h), and for canonical
/// correlations with anything that is the same in every document (position_correlation.h): O(T d + d^2 + D d)
/// numbers instead of D T d. All documents have one length, or the split would not be balanced.
struct StateMoments {
  Index documents = 0;
  Matrix position_sum;             ///< (T, d_model)
  Matrix second_sum;               ///< (d_model, d_model)  symmetric, not centred
  ByDocument<double> mean_values;  ///< (D * d_model)  document_means(), row by row
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.documents, self.position_sum, self.second_sum, self.mean_values);
  }

  StateMoments() = default;
  /// Of one document.
  /// @param states  (T, d_model)  hidden states of one layer, T >= 1
  /// @throws ShapeError if there are no rows or columns; NumericError if an entry is not finite
  explicit StateMoments(MatrixView32 states);

  [[nodiscard]] Index length() const { return position_sum.rows(); }
  [[nodiscard]] Index d_model() const { return position_sum.cols(); }
  [[nodiscard]] Index tokens() const { return documents * length(); }  ///< D T
  [[nodiscard]] MatrixView document_means() const { return {mean_values.data(), documents, d_model()}; }
};

/// Checks the moments of several layers.
/// @param layers         at least one, all of one length, width and number of documents
/// @param layer_numbers  (layers)
/// @param analysis       name of the caller, for the message
/// @throws ShapeError if these conditions do not hold
void check_layers(const std::vector<StateMoments>& layers, const std::vector<Index>& layer_numbers,
                  std::string_view analysis);

/// Moments of every layer of the grid.
struct LayerMoments {
  std::vector<StateMoments> layers;
};

/// In a job: no Fields. Keeps LayerMoments for analyses that compare hidden states with positions.
const AnalysisKind& state_moments_analysis();

/// One layer's hidden states in parts, balanced over documents c and positions t: x_ct = mean + pos_t + ctx_c
/// + res_ct. What is left of a part by rounding alone is zero.
struct StateParts {
  Matrix mean;      ///< (1, d_model)
  Matrix position;  ///< (T, d_model)  pos
  Matrix context;   ///< (D, d_model)  ctx
  Matrix residual;  ///< (d_model, d_model)  sum of res^T res over all tokens
};

/// With one document or one position the parts are exact: nothing is left as a residual.
///
/// Source: as analysis/positions/position_split.h.
/// @throws NumericError if the moments are not finite
StateParts state_parts(const StateMoments& layer);

}  // namespace headwave
