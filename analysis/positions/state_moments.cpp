#include "state_moments.h"

#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "../../core/algebra/product.h"
#include "../../core/attention/probe.h"

namespace headwave {

namespace {

/// Keeps moments of the states that enter each layer.
class MomentsProbe : public Probe {
 public:
  explicit MomentsProbe(const Site& site) : site_(site), found_{std::vector<StateMoments>(site.grid.layers.size())} {}
  using Probe::see;
  void see(const LayerInput& input) override {
    const Index place = site_.grid.place_of(input.layer);
    if (input.kind != site_.kind || place < 0 || input.states.rows() != site_.length) return;
    found_.layers[static_cast<std::size_t>(place)] = StateMoments(input.states);
  }
  void see(const Tile& /*tile*/) override {}
  [[nodiscard]] LayerMoments taken() { return std::move(found_); }

 private:
  const Site& site_;
  LayerMoments found_;
};

class StateMomentsAnalysis : public AnalysisOf<LayerMoments> {
 public:
  using AnalysisOf::AnalysisOf;
  [[nodiscard]] std::unique_ptr<Look> look(const Document& /*document*/, Index i) const override {
    return site().number_of(i) < 0 ? nullptr : look_of<MomentsProbe>(site());
  }

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(LayerMoments& sum, Finished& finished) override {
    finished.keep(std::move(sum));
    return {};
  }
};

}  // namespace

StateMoments::StateMoments(MatrixView32 states) : documents(1) {
  if (states.empty())
    throw ShapeError(fmt::format("StateMoments: expected states, got a matrix ({}, {})", states.rows(), states.cols()));
  if (!are_finite(states)) throw NumericError("StateMoments: a hidden state is not finite");
  position_sum = states.cast<double>();
  second_sum = gram_of(position_sum);
  const Eigen::RowVectorXd mean = position_sum.colwise().mean();
  mean_values.assign(mean.begin(), mean.end());
}

void check_layers(const std::vector<StateMoments>& layers, const std::vector<Index>& layer_numbers,
                  std::string_view analysis) {
  if (layers.empty() || layers.size() != layer_numbers.size())
    throw ShapeError(fmt::format("{}: {} layers came with {} layer numbers; expected as many, and at least one",
                                 analysis, layers.size(), layer_numbers.size()));
  const StateMoments& first = layers.front();
  for (const StateMoments& layer : layers)
    if (layer.length() != first.length() || layer.d_model() != first.d_model() || layer.documents != first.documents)
      throw ShapeError(fmt::format("{}: a layer has {} documents of states ({}, {}), the first layer {} of ({}, {})",
                                   analysis, layer.documents, layer.length(), layer.d_model(), first.documents,
                                   first.length(), first.d_model()));
}

const AnalysisKind& state_moments_analysis() {
  static const AnalysisKind kind{.name = "state_moments",
                                 .asks = "What are the moments of hidden states, by position and over all?",
                                 .needs = {Need::weights, Need::states, Need::equal_length},
                                 .chain = true,
                                 .listed = false,
                                 .make = make_of<StateMomentsAnalysis>};
  return kind;
}

namespace {

/// Rows without their mean, taken twice since the first is rounded; zero where they differ by less than
/// `rounding`.
Matrix deviations(Matrix rows, double rounding) {
  for (int pass = 0; pass < 2; ++pass) rows.rowwise() -= rows.colwise().mean().eval();
  if (rows.norm() <= rounding) rows.setZero();
  return rows;
}

}  // namespace

StateParts state_parts(const StateMoments& layer) {
  const auto documents = static_cast<double>(layer.documents);
  const auto length = static_cast<double>(layer.length());
  const double square = layer.second_sum.trace();
  if (!std::isfinite(square)) throw NumericError("position_split: second moments are not finite");
  const double rounding = std::numeric_limits<double>::epsilon() *
                          (documents + length);  // of a mean over documents or positions, against its terms
  StateParts parts;
  parts.mean = layer.position_sum.colwise().sum() / (documents * length);
  parts.position = deviations(layer.position_sum / documents, rounding * std::sqrt(square / documents));
  parts.context = deviations(layer.document_means(), rounding * std::sqrt(square / length));
  parts.residual = layer.second_sum;
  parts.residual -= documents * length * gram_of(parts.mean);
  parts.residual -= documents * gram_of(parts.position);
  parts.residual -= length * gram_of(parts.context);
  if (layer.documents == 1 || layer.length() == 1 || parts.residual.trace() <= rounding * square)
    parts.residual.setZero();
  return parts;
}

}  // namespace headwave
