#include "state_moments.h"

#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "../../core/algebra/product.h"
#include "../../core/attention/probe.h"
#include "../../core/bytes/append.h"

namespace headwave {

namespace {

/// Keeps moments of the states that enter each layer.
class MomentsProbe : public Probe {
 public:
  explicit MomentsProbe(const Site& site) : site_(site), found_(site.grid.layers.size()) {}
  using Probe::see;
  void see(const LayerInput& input) override {
    const Index place = site_.grid.place_of(input.layer);
    if (input.kind != site_.kind || place < 0 || input.states.rows() != site_.length) return;
    found_[static_cast<std::size_t>(place)] = document_moments(input.states);
  }
  void see(const Tile& /*tile*/) override {}
  [[nodiscard]] std::vector<DocumentMoments> taken() { return std::move(found_); }

 private:
  const Site& site_;
  std::vector<DocumentMoments> found_;
};

class StateMomentsAnalysis : public DocumentAnalysis<std::vector<DocumentMoments>, std::vector<StateMoments>> {
 public:
  using DocumentAnalysis::DocumentAnalysis;
  [[nodiscard]] std::unique_ptr<Look> look(const Document& /*document*/, Index i) const override {
    if (site().number_of(i) < 0) return nullptr;
    return look_of(std::make_unique<MomentsProbe>(site()), &MomentsProbe::taken);
  }
  [[nodiscard]] std::vector<Field> finish(Finished& finished) override {
    finished.keep(JobMoments{std::move(sum_)});
    return {};
  }

 private:
  void add(std::vector<StateMoments>& sum, std::vector<DocumentMoments>&& found) const override {
    for (std::size_t layer = 0; layer < found.size(); ++layer) {
      if (sum.size() <= layer) sum.emplace_back(found[layer].states_by_position.rows(), found[layer].mean.size());
      sum[layer].add(found[layer]);
    }
  }
  void join(std::vector<StateMoments>& sum, std::vector<StateMoments>&& next) const override {
    if (sum.empty()) {
      sum = std::move(next);
      return;
    }
    for (std::size_t layer = 0; layer < sum.size(); ++layer) sum[layer].join(std::move(next[layer]));
  }
};

AnalysisCost state_moments_cost(const AnalysisSizes& sizes, const DocumentSizes& document,
                                const JobOptions& /*options*/) {
  AnalysisCost cost;
  if (document.number >= 0) {
    cost.document = 2.9e-11 * sizes.length * sizes.d_model * sizes.d_model * sizes.layers;
    cost.looking = 8 * sizes.layers * sizes.d_model * (sizes.length + sizes.d_model);
  }
  cost.kept = 8 * sizes.layers * sizes.d_model * (sizes.length + sizes.d_model + sizes.alike);
  return cost;
}

}  // namespace

DocumentMoments document_moments(MatrixView32 states) {
  if (states.empty())
    throw ShapeError(
        fmt::format("document_moments: expected states, got a matrix ({}, {})", states.rows(), states.cols()));
  if (!are_finite(states)) throw NumericError("document_moments: a hidden state is not finite");
  DocumentMoments moments;
  moments.states_by_position = states.cast<double>();
  moments.second = gram_of(moments.states_by_position);
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

void StateMoments::join(StateMoments&& next) {
  position_sum_ += next.position_sum_;
  second_sum_ += next.second_sum_;
  append(document_means_, std::move(next.document_means_));
  documents_ += next.documents_;
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

const AnalysisKind& state_moments_analysis() {
  static const AnalysisKind kind{.name = "state_moments",
                                 .finds = "moments of hidden states, by position and over all",
                                 .step = Step::positions,
                                 .needs = {Need::weights, Need::states, Need::equal_length},
                                 .chain = true,
                                 .listed = false,
                                 .make = make_of<StateMomentsAnalysis>,
                                 .cost = state_moments_cost};
  return kind;
}

namespace {

/// Rows without their mean, taken twice since the first is rounded; zero where they differ by less than `rounding`.
Matrix deviations(Matrix rows, double rounding) {
  for (int pass = 0; pass < 2; ++pass) rows.rowwise() -= rows.colwise().mean().eval();
  if (rows.norm() <= rounding) rows.setZero();
  return rows;
}

}  // namespace

StateParts state_parts(const StateMoments& layer) {
  const auto documents = static_cast<double>(layer.documents());
  const auto length = static_cast<double>(layer.length());
  const double square = layer.second_sum().trace();
  if (!std::isfinite(square)) throw NumericError("position_split: second moments are not finite");
  const double rounding = std::numeric_limits<double>::epsilon() *
                          (documents + length);  // of a mean over documents or positions, against its terms
  StateParts parts;
  parts.mean = layer.position_sum().colwise().sum() / (documents * length);
  parts.position = deviations(layer.position_sum() / documents, rounding * std::sqrt(square / documents));
  parts.context = deviations(layer.document_means(), rounding * std::sqrt(square / length));
  parts.residual = layer.second_sum();
  parts.residual -= documents * length * gram_of(parts.mean);
  parts.residual -= documents * gram_of(parts.position);
  parts.residual -= length * gram_of(parts.context);
  if (layer.documents() == 1 || layer.length() == 1 || parts.residual.trace() <= rounding * square)
    parts.residual.setZero();
  return parts;
}

}  // namespace headwave
