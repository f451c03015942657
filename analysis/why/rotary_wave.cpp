#include "rotary_wave.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <memory>
#include <numbers>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "../../core/algebra/product.h"
#include "../../core/attention/probe.h"
#include "../../core/fields/fields.h"
#include "../../core/numbers/offset_peak.h"
#include "../../core/numbers/random.h"
#include "../../core/process/threads.h"

namespace headwave {

// The class is not in an unnamed namespace: GCC would inline it more, fuse the products of complex numbers the other way
// round, and change the last digit of results.

/// Position kernels over the searched offsets. Heads of layers that turn nothing get zeros or NaN.
class RotarySearch {
 public:
  RotarySearch(const std::vector<const RotaryTerm*>& terms, Index heads, const RotaryWaveOptions& options)
      : terms_(terms), heads_(heads), options_(options) {
    for (const RotaryTerm* term : terms)
      if (term != nullptr) turns_.try_emplace(term, *term, options);
  }

  /// Of the first layer that turns.
  [[nodiscard]] const Vector& frequency() const {
    return turns_.at(*std::ranges::find_if(terms_, [](const RotaryTerm* term) { return term != nullptr; })).frequency;
  }
  /// (layers, pairs); 0 where nothing turns.
  [[nodiscard]] Matrix layer_frequency() const {
    Matrix all = Matrix::Zero(std::ssize(terms_), frequency().size());
    each([&](const Turn& turn, Index at) { all.row(at / heads_) = turn.frequency.transpose(); });
    return all;
  }
  /// Equation (1), without the constant.
  [[nodiscard]] MatrixC coefficients(const DocumentRotary& mean) const {
    MatrixC all = MatrixC::Zero(mean.query.rows(), frequency().size());
    each([&](const Turn& turn, Index at) {
      const double scale = options_.score_scale * turn.term.attention_factor * turn.term.attention_factor;
      for (Index row = at; row < at + heads_; ++row)
        for (Index m = 0; m < all.cols(); ++m) {
          const auto [re, im] = channels_of(turn.term, m);
          all(row, m) = scale * std::complex<double>(mean.query(row, re), -mean.query(row, im)) *
                        std::complex<double>(mean.key(row, re), mean.key(row, im));
        }
    });
    return all;
  }
  /// The constant of (1): channels that do not turn.
  [[nodiscard]] Vector constant(const DocumentRotary& mean) const {
    Vector all = Vector::Constant(mean.query.rows(), not_defined);
    each([&](const Turn& turn, Index at) {
      const Index still = mean.query.cols() - turn.term.channels;
      const Matrix query = mean.query.middleRows(at, heads_), key = mean.key.middleRows(at, heads_);
      all.segment(at, heads_) =
          options_.score_scale * query.rightCols(still).cwiseProduct(key.rightCols(still)).rowwise().sum();
    });
    return all;
  }
  /// (rows, 2 reach + 1); NaN where a causal mask forbids the offset.
  [[nodiscard]] Matrix kernel(const MatrixC& c) const {
    Matrix all = Matrix::Constant(c.rows(), 2 * options_.reach + 1, not_defined);
    each([&](const Turn& turn, Index at) {
      all.block(at, 0, heads_, turn.wave.cols()) = turned(turn, c.middleRows(at, heads_));
    });
    return all;
  }
  /// Equation (3) of the pairs that turn within the search; 0 / 0 is NaN.
  [[nodiscard]] Vector agreement(const MatrixC& c) const {
    Vector all = Vector::Constant(c.rows(), not_defined);
    each([&](const Turn& turn, Index at) {
      const MatrixC far = c.middleRows(at, heads_) * turn.far.cast<std::complex<double>>().asDiagonal();
      all.segment(at, heads_) = turned(turn, far).rowwise().maxCoeff().cwiseQuotient(far.cwiseAbs().rowwise().sum());
    });
    return all;
  }

 private:
  /// One rotation, which several layers may share.
  struct Turn {
    RotaryOptions term;
    Vector frequency;
    Matrix wave;  ///< (2 pairs, offsets searched)  cosines, and below them sines with their sign turned
    Vector far;   ///< (pairs)  1 where a pair turns by half a turn or more within the search, else 0

    Turn(const RotaryTerm& of, const RotaryWaveOptions& options)
        : term(of.options()), frequency(of.frequency(options.length)) {
      const Index searched = options.causal ? options.reach + 1 : 2 * options.reach + 1;
      const Index pairs = frequency.size();
      wave.resize(2 * pairs, searched);
      for (Index m = 0; m < pairs; ++m)
        for (Index t = 0; t < searched; ++t) {
          const double turn = frequency[m] * static_cast<double>(t - options.reach);
          wave(m, t) = std::cos(turn);
          wave(pairs + m, t) = -std::sin(turn);
        }
      far = (frequency.array() * static_cast<double>(searched - 1) >= std::numbers::pi).cast<double>();
    }
  };

  /// Re sum_m c_m e^{i theta_m t}: (rows, offsets searched)
  [[nodiscard]] static Matrix turned(const Turn& turn, const MatrixC& c) {
    Matrix parts(c.rows(), 2 * c.cols());
    parts << c.real(), c.imag();
    return product(parts, turn.wave);
  }
  /// Calls a function with the rotation and the first row of every layer that turns.
  template <class Layer>
  void each(const Layer& layer) const {
    for (std::size_t l = 0; l < terms_.size(); ++l)
      if (terms_[l] != nullptr) layer(turns_.at(terms_[l]), static_cast<Index>(l) * heads_);
  }

  std::vector<const RotaryTerm*> terms_;
  Index heads_;
  RotaryWaveOptions options_;
  std::map<const RotaryTerm*, Turn> turns_;
};

namespace {

using Complex = std::complex<double>;

/// Means over documents, each counted so many times.
DocumentRotary mean_of(const std::vector<DocumentRotary>& documents, const std::vector<double>& times) {
  DocumentRotary mean;
  double count = 0;
  for (std::size_t d = 0; d < documents.size(); ++d) {
    if (times[d] == 0) continue;
    const DocumentRotary& one = documents[d];
    if (count == 0) {
      mean = {times[d] * one.query, times[d] * one.key, times[d] * one.query_modulus, times[d] * one.key_modulus};
    } else {
      mean.query += times[d] * one.query;
      mean.key += times[d] * one.key;
      mean.query_modulus += times[d] * one.query_modulus;
      mean.key_modulus += times[d] * one.key_modulus;
    }
    count += times[d];
  }
  for (Matrix* sum : {&mean.query, &mean.key, &mean.query_modulus, &mean.key_modulus}) *sum /= count;
  return mean;
}

void set_interval(RotaryWave& result, const std::vector<DocumentRotary>& documents, const RotarySearch& search) {
  const RotaryWaveOptions& options = result.options;
  const BootstrapInterval ends = bootstrap_interval(
      result.estimate, result.documents, options, Random(options.seed), [&](const std::vector<double>& times) {
        const Matrix kernel = search.kernel(search.coefficients(mean_of(documents, times)));
        Vector estimates(kernel.rows());
        for (Index row = 0; row < kernel.rows(); ++row)
          estimates[row] = peak_offset(kernel.row(row).transpose(), options.reach);
        return estimates;
      });
  result.lower = ends.lower;
  result.upper = ends.upper;
}

void set_null(RotaryWave& result, const RotarySearch& search) {
  const Index rows = result.grid.rows(), draws = result.options.draws;
  Matrix null(rows, draws);
  parallel_for(draws, result.options.threads, [&](Index draw) {
    Random random = Random(result.options.seed).stream(static_cast<std::uint64_t>(draw));
    MatrixC c = result.coefficient;
    for (Complex& one : c.reshaped<Eigen::RowMajor>())
      one = std::polar(std::abs(one), 2 * std::numbers::pi * random.uniform());
    null.col(draw) = search.agreement(c);
  });
  result.p_value = Vector::Constant(rows, not_defined);
  for (Index row = 0; row < rows; ++row) {
    if (draws == 0 || !are_finite(null.row(row))) continue;
    const auto as_much = (null.row(row).array() >= result.agreement[row]).count();
    result.p_value[row] = static_cast<double>(1 + as_much) / static_cast<double>(1 + draws);
  }
  result.q_value = q_values(result.p_value);
}

void set_offsets(RotaryWave& result) {
  for (Index row = 0; row < result.grid.rows(); ++row) {
    const Vector kernel = result.kernel.row(row).transpose();
    const auto peak = offset_peak(kernel, result.options.causal);
    PredictedStatus status = PredictedStatus::nothing;
    if (peak && result.coefficient.row(row).cwiseAbs().sum() > 0) {
      const double top = kernel[peak->offset + result.options.reach];
      result.weight[row] = 1 / (kernel.array() - top).isNaN().select(0, (kernel.array() - top).exp()).sum();
      if (!peak->at_edge) result.estimate[row] = static_cast<double>(peak->offset);
      const bool told = result.q_value[row] <= result.options.level;
      status = !told ? PredictedStatus::chance : peak->at_edge ? PredictedStatus::edge : PredictedStatus::offset;
    }
    result.status.push_back(status);
    if (status == PredictedStatus::offset) result.offset[row] = result.estimate[row];
  }
}

}  // namespace

RotaryWave rotary_wave(const std::vector<DocumentRotary>& documents, const HeadGrid& grid,
                       const std::vector<const RotaryTerm*>& terms, const RotaryWaveOptions& options) {
  if (documents.empty()) throw ShapeError("rotary_wave: there is no document");
  if (terms.size() != grid.layers.size() || std::ranges::count(terms, nullptr) == std::ssize(terms))
    throw ShapeError(
        fmt::format("rotary_wave: {} rotations for {} layers; expected one for each, or null where a layer "
                    "turns nothing, and one that turns",
                    terms.size(), grid.layers.size()));
  const RotarySearch search(terms, grid.heads, options);
  const DocumentRotary mean = mean_of(documents, std::vector<double>(documents.size(), 1.0));
  RotaryWave result;
  result.grid = grid;
  result.options = options;
  result.documents = static_cast<Index>(documents.size());
  result.frequency = search.frequency();
  const Matrix layer_frequency = search.layer_frequency();
  if ((layer_frequency.rowwise() - result.frequency.transpose()).cwiseAbs().maxCoeff() > 0)
    result.layer_frequency = layer_frequency;
  result.coefficient = search.coefficients(mean);
  result.constant = search.constant(mean);
  result.kernel = search.kernel(result.coefficient).colwise() + result.constant;
  result.agreement = search.agreement(result.coefficient);
  result.use = options.score_scale * mean.query_modulus.cwiseProduct(mean.key_modulus);
  for (std::size_t layer = 0; layer < terms.size(); ++layer)
    if (terms[layer] == nullptr) result.use.middleRows(static_cast<Index>(layer) * grid.heads, grid.heads).setZero();
  result.estimate = result.offset = result.weight = Vector::Constant(grid.rows(), not_defined);
  set_null(result, search);
  set_offsets(result);
  set_interval(result, documents, search);
  return result;
}

namespace {

class RotaryProbe : public Probe {
 public:
  RotaryProbe(const Site& site, Index d_head, const RotaryOptions& options)
      : site_(site), d_head_(d_head), options_(options) {
    found_.query = found_.key = Matrix::Zero(site.grid.rows(), d_head);
    found_.query_modulus = found_.key_modulus = Matrix::Zero(site.grid.rows(), options.channels / 2);
  }
  [[nodiscard]] bool wants_projections() const override { return true; }
  using Probe::see;
  void see(const LayerProjections& projections) override {
    if (projections.kind != site_.kind || site_.grid.place_of(projections.layer) < 0 ||
        projections.query.rows() != site_.length)
      return;
    const Index kv_heads = projections.key.cols() / d_head_, group = site_.grid.heads / kv_heads;
    const auto average = [&](const MatrixView32& all, Index head, Matrix& mean, Matrix& modulus, Index row) {
      const Matrix tokens = all.block(1, head * d_head_, site_.length - 1, d_head_).cast<double>();
      mean.row(row) = tokens.colwise().mean();
      for (Index m = 0; m < modulus.cols(); ++m) {
        const auto [re, im] = channels_of(options_, m);
        modulus(row, m) = (tokens.col(re).cwiseAbs2() + tokens.col(im).cwiseAbs2()).cwiseSqrt().mean();
      }
    };
    for (Index head = 0; head < site_.grid.heads; ++head) {
      const Index row = site_.grid.first_row(projections.layer) + head;
      average(projections.query, head, found_.query, found_.query_modulus, row);
      average(projections.key, head / group, found_.key, found_.key_modulus, row);
    }
  }
  void see(const Tile& /*tile*/) override {}
  [[nodiscard]] ByDocument<DocumentRotary> taken() { return {std::move(found_)}; }

 private:
  const Site& site_;
  Index d_head_;
  RotaryOptions options_;
  DocumentRotary found_;
};

class RotaryWaveAnalysis : public AnalysisOf<ByDocument<DocumentRotary>> {
 public:
  using AnalysisOf::AnalysisOf;
  [[nodiscard]] std::unique_ptr<Look> look(const Document& /*document*/, Index i) const override {
    if (site().number_of(i) < 0 || !turns()) return nullptr;
    return look_of<RotaryProbe>(site(), stack().block.d_head, stack().rotary()->options());
  }

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(ByDocument<DocumentRotary>& sum, Finished& /*finished*/) override {
    if (!turns()) {
      Fields fields("rotary_wave");
      fields.absent("predicted_offset", "token", "offset at which the position kernel is largest",
                    "no rotary positions");
      return fields.taken();
    }
    RotaryWaveOptions how;
    how.reach = std::min(options().reach, (site().length - 1) / 2);  // as measured_offset() searches
    how.causal = site().kind == AttentionKind::causal;
    how.length = site().length;
    how.score_scale = stack().block.score_scale;
    how.draws = 50 * options().draws;  // each costs next to nothing
    how.level = options().fdr;
    how.resamples = options().resamples;
    how.seed = options().seed;
    how.threads = input().threads;
    std::vector<const RotaryTerm*> terms;
    for (const Index layer : site().grid.layers) terms.push_back(stack().rotary(layer));
    return describe(rotary_wave(sum, site().grid, terms, how));
  }

 private:
  /// Whether one of the layers does.
  [[nodiscard]] bool turns() const {
    return std::ranges::any_of(site().grid.layers, [&](Index layer) { return stack().rotary(layer) != nullptr; });
  }
};

std::unique_ptr<Analysis> make_rotary_wave(const AnalysisInput& input) {
  return input.site.length < 3 ? nullptr : std::make_unique<RotaryWaveAnalysis>(input);
}

}  // namespace

std::vector<Field> describe(const RotaryWave& wave) {
  const RotaryWaveOptions& options = wave.options;
  const Axis layer = layer_axis(wave.grid.layers), head = head_axis(wave.grid.heads);
  const Axis pair =
      counting_axis("pair", "1", "pair of channels that turn together, fastest first", 0, wave.frequency.size() - 1);
  const std::vector<Axis> heads{layer, head}, pairs{layer, head, pair};
  const std::string at_end = "the position kernel is largest at the end of the search, |t| = reach";
  const std::string no_interval = "fewer than 5 documents, or no estimate";
  const std::string silent = "the mean query or the mean key is zero, or nothing turns";
  Fields fields("rotary_wave");
  fields.add("predicted_offset", heads, "token",
             "offset at which the position kernel is largest, where pairs agree more than chance", wave.offset,
             "pairs agree no more than with random phases (q_value above level); or " + at_end);
  fields.add("estimate", heads, "token", "offset at which the position kernel is largest", wave.estimate,
             silent + "; or " + at_end);
  fields.add("lower", heads, "token", "lower end of the interval of estimate", wave.lower, no_interval);
  fields.add("upper", heads, "token", "upper end of the interval of estimate", wave.upper, no_interval);
  fields.add("predicted_weight", heads, "1", "softmax of the position kernel there, over the offsets searched",
             wave.weight, silent);
  fields.add("kernel", {layer, head, offset_axis("offset", -options.reach, options.reach)}, "1",
             "position kernel kappa(t): scaled score of the mean query and the mean key at an offset, the first token "
             "left out",
             wave.kernel, "the causal mask forbids the offset, or nothing turns");
  fields
      .add("constant", heads, "1", "the part of it that channels which do not turn give to every offset", wave.constant)
      .undefined_if_any("the layer turns nothing");
  fields.add(
      "agreement", heads, "1",
      "coherence of the pairs that turn by half a turn or more within the search: 1 where all ask for one offset",
      wave.agreement, silent + "; or no pair turns as far");
  describe_p_values(fields, heads, wave.p_value, wave.q_value,
                    {"agreement", "with random phases", "no null was drawn"});
  fields.add("frequency", {pair}, "radian/token", "by which a pair turns from one token to the next", wave.frequency);
  if (wave.layer_frequency.size() > 0)
    fields.add("layer_frequency", {layer, pair}, "radian/token",
               "frequency of a pair in each layer, where layers differ; 0: the layer does not turn",
               wave.layer_frequency);
  fields.add("coefficient_real", pairs, "1", "scale conj(mean query) mean key of a pair, real part",
             wave.coefficient.real());
  fields.add("coefficient_imaginary", pairs, "1", "scale conj(mean query) mean key of a pair, imaginary part",
             wave.coefficient.imag());
  fields.add("use", pairs, "1", "mean modulus of a pair's queries times that of its keys, scaled", wave.use);
  add_status(fields, heads, wave.status);
  fields.note_all("documents", wave.documents)
      .note_all("length", options.length)
      .note_all("reach", options.reach)
      .note_all("level", options.level)
      .note_all("draws", options.draws)
      .note_all("resamples", options.resamples)
      .note_all("coverage", options.coverage)
      .note_all("seed", static_cast<std::int64_t>(options.seed));
  return fields.taken();
}

extern const AnalysisKind rotary_wave_analysis{.name = "rotary_wave",
                                               .asks = "Where does the wave of rotary positions point?",
                                               .projections = true,
                                               .equal_length = true,
                                               .one_sequence = true,
                                               .by_default = true,
                                               .make = make_rotary_wave};

}  // namespace headwave
