#include "state_moments.h"

#include <fmt/format.h>

namespace headwave {

DocumentMoments document_moments(MatrixView32 states) {
  if (states.empty())
    throw ShapeError(
        fmt::format("document_moments: expected states, got a matrix ({}, {})", states.rows(), states.cols()));
  if (!states.allFinite()) throw NumericError("document_moments: a hidden state is not finite");
  DocumentMoments moments;
  moments.states_by_position = states.cast<double>();
  moments.second = Matrix::Zero(states.cols(), states.cols());
  moments.second.selfadjointView<Eigen::Lower>().rankUpdate(moments.states_by_position.transpose());
  moments.second.triangularView<Eigen::StrictlyUpper>() = moments.second.transpose();
  moments.mean = moments.states_by_position.colwise().mean();
  return moments;
}

StateMoments::StateMoments(Index length, Index d_model) {
  if (length < 1 || d_model < 1)
    throw ShapeError(fmt::format("StateMoments: expected positions and a width, got ({}, {})", length, d_model));
  position_sum_ = Matrix::Zero(length, d_model);
  second_sum_ = Matrix::Zero(d_model, d_model);
}

void StateMoments::add(const DocumentMoments& document) {
  const Matrix& states = document.states_by_position;
  const Index width = d_model();
  if (states.rows() != length() || states.cols() != width || document.second.rows() != width ||
      document.second.cols() != width || document.mean.size() != width)
    throw ShapeError(fmt::format(
        "StateMoments: expected a document of states ({}, {}), got states ({}, {}), second moments ({}, {}), mean ({})",
        length(), width, states.rows(), states.cols(), document.second.rows(), document.second.cols(),
        document.mean.size()));
  position_sum_ += states;
  second_sum_ += document.second;
  document_means_.insert(document_means_.end(), document.mean.begin(), document.mean.end());
  ++documents_;
}

void check_layers(const std::vector<StateMoments>& layers, const std::vector<Index>& layer_numbers,
                  std::string_view analysis) {
  if (layers.empty() || layers.size() != layer_numbers.size())
    throw ShapeError(fmt::format("{}: {} layers came with {} layer numbers; expected as many, and at least one",
                                 analysis, layers.size(), layer_numbers.size()));
  const StateMoments& first = layers.front();
  for (const StateMoments& layer : layers)
    if (layer.length() != first.length() || layer.d_model() != first.d_model() ||
        layer.documents() != first.documents())
      throw ShapeError(fmt::format("{}: a layer has {} documents of states ({}, {}), the first layer {} of ({}, {})",
                                   analysis, layer.documents(), layer.length(), layer.d_model(), first.documents(),
                                   first.length(), first.d_model()));
}

}  // namespace headwave
