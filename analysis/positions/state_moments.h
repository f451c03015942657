#pragma once

#include <string_view>
#include <tuple>
#include <vector>

#include "../../core/numbers/matrix.h"
#include "../pass/analysis_kind.h"

namespace headwave {

/// What is kept of one layer's hidden states over one document of T tokens.
struct DocumentMoments {
  Matrix states_by_position;  ///< (T, d_model)        the states themselves, widened to double
  Matrix second;              ///< (d_model, d_model)  sum over positions of x_t^T x_t, not centred
  Vector mean;                ///< (d_model)           mean over positions
};

/// The moments of one document, in double from the first sum on.
///
///     second = sum_t x_t^T x_t,   mean = sum_t x_t / T                                         (1)
///
/// @param states  (T, d_model)  hidden states of one layer, T >= 1
/// @throws ShapeError if there are no rows or columns; NumericError if an entry is not finite
DocumentMoments document_moments(MatrixView32 states);

/// What is kept of one layer's hidden states h[c, t] over D documents of T tokens each.
///
///     position_sum[t] = sum_c h[c, t],   second_sum = sum_{c, t} h[c, t]^T h[c, t]             (2)
///     document_means[c] = mean_t h[c, t]                                                       (3)
///
/// Enough for the balanced two-way split into positions and documents (analysis/positions/position_split.h), and for canonical
/// correlations with anything that is the same in every document (analysis/positions/position_correlation.h): O(T d + d^2 + D d)
/// numbers in the place of D T d. All documents have one length, or the split would not be balanced.
class StateMoments {
 public:
  /// @param length   T >= 1
  /// @param d_model  >= 1
  /// @throws ShapeError if one of them is less
  StateMoments(Index length, Index d_model);
  StateMoments() = default;  ///< of nothing, to be read from bytes

  /// Adds the next document; the order of documents is that of the sums, so it decides the last digits.
  /// @throws ShapeError if it has another length or width
  void add(const DocumentMoments& document);
  /// Adds what the next documents, of the same length and width, came to.
  void join(StateMoments&& next);

  [[nodiscard]] Index documents() const { return documents_; }
  [[nodiscard]] Index length() const { return position_sum_.rows(); }
  [[nodiscard]] Index d_model() const { return position_sum_.cols(); }
  [[nodiscard]] Index tokens() const { return documents_ * length(); }        ///< D T
  [[nodiscard]] const Matrix& position_sum() const { return position_sum_; }  ///< (T, d_model)
  [[nodiscard]] const Matrix& second_sum() const { return second_sum_; }      ///< (d_model, d_model), symmetric
  [[nodiscard]] MatrixView document_means() const {                           ///< (D, d_model)
    return {document_means_.data(), documents_, d_model()};
  }
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.documents_, self.position_sum_, self.second_sum_, self.document_means_);
  }

 private:
  Index documents_ = 0;
  Matrix position_sum_;
  Matrix second_sum_;
  std::vector<double> document_means_;
};

/// What every analysis of several layers' moments expects of them.
/// @param layers         at least one, all of one length, width and number of documents
/// @param layer_numbers  (layers)
/// @param analysis       who asks, for the message
/// @throws ShapeError if it is otherwise
void check_layers(const std::vector<StateMoments>& layers, const std::vector<Index>& layer_numbers,
                  std::string_view analysis);

/// Of a job, by layer of the grid.
struct JobMoments {
  std::vector<StateMoments> layers;
};

/// In a job: JobMoments, for those who compare hidden states with positions; no Fields.
const AnalysisKind& state_moments_analysis();

/// One layer's hidden states in parts, balanced over documents c and positions t: x_ct = mean + pos_t + ctx_c + res_ct.
/// What is left of a part by rounding alone is zero.
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
