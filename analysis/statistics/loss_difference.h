#pragma once

#include <vector>

#include "../../core/model/prediction.h"

namespace headwave {

/// Loss of all documents together.
PredictionLoss total(const std::vector<PredictionLoss>& losses);

/// Difference of two mean losses in nats per token, and its standard error over documents.
struct LossDifference {
  double mean = 0;
  double standard_error = 0;  ///< of the mean over documents, each weighted by its tokens; NaN of fewer than two
};

/// The difference of two mean losses of the same n documents, with w_i tokens each.
///
///     mean = sum_i d_i / W,   d_i = after_i - before_i summed over tokens,   W = sum_i w_i    (1)
///     standard_error = sqrt(n / (n - 1) sum_i (d_i - mean w_i)^2) / W                         (2)
///
/// Documents are what is drawn, not tokens: (2) is the delta method for a ratio of two sums over them. It is
/// of the difference document by document, so what makes a document hard under both models is not in it.
///
/// Source: this project's; (2) is the textbook error of a ratio estimate.
/// @param before  (n)
/// @param after   (n)
/// @throws ShapeError if the two are not of the same documents
LossDifference loss_difference(const std::vector<PredictionLoss>& before, const std::vector<PredictionLoss>& after);

}  // namespace headwave
