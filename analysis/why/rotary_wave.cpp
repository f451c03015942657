// The offset at which the rotary wave of each head points.

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <memory>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>

#include "../../core/algebra/product.h"
#include "../../core/attention/position_term.h"
#include "../../core/attention/probe.h"
#include "../../core/fields/fields.h"
#include "../../core/numbers/fft.h"
#include "../../core/numbers/offset_peak.h"
#include "../../core/numbers/random.h"
#include "../../core/process/threads.h"
#include "../pass/analysis.h"
#include "../statistics/false_discovery.h"
#include "../statistics/quantile.h"

namespace headwave {

// The rotary wave: the score of a head's mean query and mean key at every offset, after rotation.
//
// As complex numbers before rotation, pair m of channels adds Re conj(q_m) k_m e^{i theta_m (j-i)} to the
// score. With means over tokens q^, k^:
//
//     C_m = scale conj(q^_m) k^_m,   kappa(t) = Re sum_m C_m e^{i theta_m t} + constant          (1)
//     t_m = -arg C_m / theta_m                                                                 (2)
//
// So pair m asks for the offset t_m, modulo its period 2 pi / theta_m, with weight |C_m|. As in
// phase_delay(), phase over frequency is an offset; here frequencies are known. kappa omits positions that
// mean queries and keys hold themselves, which head_account()'s position profile includes.
//
//     coherence = max_t kappa(t) / sum |C_m|                                                   (3)
//
// A pair that turns by less than half a turn within the search can hardly tell offsets apart: it gives nearly
// the same to all of them, or leans to one side. `agreement` is (3) over the other pairs alone: 1 if they all
// ask for one offset. Its null draws the phases of C_m at random and keeps |C_m|: p = (1 + draws that agree
// as much) / (1 + draws). With a small d_head, few pairs often agree by chance, so the test has little power.
//
// `use` says how much a head uses a pair, for any phases: mean modulus of its queries times that of its keys.
//
// Source: this project; rotation after Su et al. 2021, use of frequencies after Barbero et al. 2025.

/// Queries and keys of one document before rotation, averaged over all tokens except the first, the usual
/// sink. Rows are query heads; a shared key head is repeated in the row of every query head that reads it.
struct DocumentRotary {
  Matrix query, key;                  ///< (rows, d_head)  mean over tokens, with bias
  Matrix query_modulus, key_modulus;  ///< (rows, pairs)   mean modulus of a pair of channels
};

// Not in an unnamed namespace: GCC would fuse complex products in another order, and change the last digits.

/// Position kernels over the searched offsets. Heads of layers without rotation get zeros or NaN.
class RotarySearch {
 public:
  /// @param reach  largest |t| that is searched, in tokens
  RotarySearch(const Site& site, const Stack& stack, Index reach)
      : heads_(site.grid.heads), reach_(reach), score_scale_(stack.block.score_scale) {
    for (const Index layer : site.grid.layers) {
      const RotaryTerm* term = terms_.emplace_back(stack.rotary(layer));
      if (term != nullptr) turns_.try_emplace(term, *term, site, reach);
    }
  }

  /// (pairs)  theta of the first layer with rotation, in radians per token.
  [[nodiscard]] const Vector& frequency() const {
    return turns_.at(*std::ranges::find_if(terms_, [](const RotaryTerm* term) { return term != nullptr; })).frequency;
  }
  /// (layers, pairs)  theta; 0 for layers without rotation.
  [[nodiscard]] Matrix layer_frequency() const {
    Matrix all = Matrix::Zero(std::ssize(terms_), frequency().size());
    each([&](const Turn& turn, Index at) { all.row(at / heads_) = turn.frequency.transpose(); });
    return all;
  }
  /// C of (1), (rows, pairs).
  [[nodiscard]] MatrixC coefficients(const DocumentRotary& mean) const {
    MatrixC all = MatrixC::Zero(mean.query.rows(), frequency().size());
    each([&](const Turn& turn, Index at) {
      const double scale = score_scale_ * turn.term.attention_factor * turn.term.attention_factor;
      for (Index row = at; row < at + heads_; ++row)
        for (Index m = 0; m < all.cols(); ++m) {
          const auto [re, im] = channels_of(turn.term, m);
          all(row, m) = scale * std::complex<double>(mean.query(row, re), -mean.query(row, im)) *
                        std::complex<double>(mean.key(row, re), mean.key(row, im));
        }
    });
    return all;
  }
  /// Constant of (1), (rows): the score of channels that do not rotate.
  [[nodiscard]] Vector constant(const DocumentRotary& mean) const {
    Vector all = Vector::Constant(mean.query.rows(), not_defined);
    each([&](const Turn& turn, Index at) {
      const Index still = mean.query.cols() - turn.term.channels;
      const Matrix query = mean.query.middleRows(at, heads_), key = mean.key.middleRows(at, heads_);
      all.segment(at, heads_) =
          score_scale_ * query.rightCols(still).cwiseProduct(key.rightCols(still)).rowwise().sum();
    });
    return all;
  }
  /// kappa of (1) without the constant, (rows, 2 reach + 1); NaN where a causal mask forbids the offset.
  [[nodiscard]] Matrix kernel(const MatrixC& c) const {
    Matrix all = Matrix::Constant(c.rows(), 2 * reach_ + 1, not_defined);
    each([&](const Turn& turn, Index at) {
      all.block(at, 0, heads_, turn.wave.cols()) = turned(turn, c.middleRows(at, heads_));
    });
    return all;
  }
  /// Equation (3) over the pairs that turn at least half a turn within the search; NaN if there are none.
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
    Matrix wave;  ///< (2 pairs, offsets searched)  cosines of theta t, and below them negative sines
    Vector far;   ///< (pairs)  1 if a pair turns at least half a turn within the search, otherwise 0

    Turn(const RotaryTerm& of, const Site& site, Index reach)
        : term(of.options()), frequency(of.frequency(site.length)) {
      const Index searched = site.kind == AttentionKind::causal ? reach + 1 : 2 * reach + 1;
      const Index pairs = frequency.size();
      wave.resize(2 * pairs, searched);
      for (Index m = 0; m < pairs; ++m)
        for (Index t = 0; t < searched; ++t) {
          const double turn = frequency[m] * static_cast<double>(t - reach);
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
  /// Calls a function with the rotation and the first row of every layer with rotation.
  template <class Layer>
  void each(const Layer& layer) const {
    for (std::size_t l = 0; l < terms_.size(); ++l)
      if (terms_[l] != nullptr) layer(turns_.at(terms_[l]), static_cast<Index>(l) * heads_);
  }

  std::vector<const RotaryTerm*> terms_;  ///< [layer of the grid]  null: no rotation
  Index heads_, reach_;
  double score_scale_;
  std::map<const RotaryTerm*, Turn> turns_;
};

namespace {

using Complex = std::complex<double>;

/// Means over documents; document d counts times[d] times.
DocumentRotary mean_of(const std::vector<DocumentRotary>& documents, const std::vector<double>& times) {
  const double count = std::accumulate(times.begin(), times.end(), 0.0);
  DocumentRotary mean = documents.front();
  for (const auto part :
       {&DocumentRotary::query, &DocumentRotary::key, &DocumentRotary::query_modulus, &DocumentRotary::key_modulus}) {
    Matrix& sum = mean.*part;
    sum.setZero();
    for (std::size_t d = 0; d < documents.size(); ++d) sum += times[d] * (documents[d].*part);
    sum /= count;
  }
  return mean;
}

/// p-values of the agreement; NaN if no null was drawn, or no pair turns far enough.
Vector p_values_of(const Vector& agreement, const MatrixC& coefficient, const RotarySearch& search, Index draws,
                   const AnalysisInput& input) {
  Matrix null(agreement.size(), draws);
  parallel_for(draws, input.threads, [&](Index draw) {
    Random random = Random(input.options.seed).stream(static_cast<std::uint64_t>(draw));
    MatrixC c = coefficient;
    for (Complex& one : c.reshaped<Eigen::RowMajor>())
      one = std::polar(std::abs(one), 2 * std::numbers::pi * random.uniform());
    null.col(draw) = search.agreement(c);
  });
  Vector p_value = Vector::Constant(agreement.size(), not_defined);
  for (Index row = 0; row < p_value.size(); ++row) {
    if (draws == 0 || !are_finite(null.row(row))) continue;
    const auto as_much = (null.row(row).array() >= agreement[row]).count();
    p_value[row] = static_cast<double>(1 + as_much) / static_cast<double>(1 + draws);
  }
  return p_value;
}

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
    return describe(sum);
  }

 private:
  [[nodiscard]] std::vector<Field> describe(const std::vector<DocumentRotary>& documents) const;
  /// Whether a layer has rotation.
  [[nodiscard]] bool turns() const {
    return std::ranges::any_of(site().grid.layers, [&](Index layer) { return stack().rotary(layer) != nullptr; });
  }
};

std::vector<Field> RotaryWaveAnalysis::describe(const std::vector<DocumentRotary>& documents) const {
  const HeadGrid& grid = site().grid;
  const Index reach = std::min(options().reach, (site().length - 1) / 2);  // as in measured_offset()
  const Index draws = 50 * options().draws;                                // each is cheap
  ResampleOptions how;
  how.resamples = options().resamples;
  how.seed = options().seed;
  how.threads = input().threads;
  const RotarySearch search(site(), stack(), reach);
  const DocumentRotary mean = mean_of(documents, std::vector<double>(documents.size(), 1.0));
  const Vector frequency = search.frequency(), constant = search.constant(mean);
  const Matrix layer_frequency = search.layer_frequency();
  const MatrixC coefficient = search.coefficients(mean);
  const Matrix kernel = search.kernel(coefficient).colwise() + constant;
  const Vector agreement = search.agreement(coefficient);
  Matrix use = stack().block.score_scale * mean.query_modulus.cwiseProduct(mean.key_modulus);
  for (const Index layer : grid.layers)
    if (stack().rotary(layer) == nullptr) use.middleRows(grid.first_row(layer), grid.heads).setZero();
  const Vector p_value = p_values_of(agreement, coefficient, search, draws, input()), q_value = q_values(p_value);
  // Maximum of the kernel, the softmax there, and whether it exceeds chance.
  Vector estimate = Vector::Constant(grid.rows(), not_defined), offset = estimate, weight = estimate;
  std::vector<PredictedStatus> status;
  for (Index row = 0; row < grid.rows(); ++row) {
    const Vector own = kernel.row(row).transpose();
    const auto peak = offset_peak(own, site().kind == AttentionKind::causal);
    PredictedStatus& found = status.emplace_back(PredictedStatus::nothing);
    if (!peak || !(coefficient.row(row).cwiseAbs().sum() > 0)) continue;
    const double top = own[peak->offset + reach];
    weight[row] = 1 / (own.array() - top).isNaN().select(0, (own.array() - top).exp()).sum();
    if (!peak->at_edge) estimate[row] = static_cast<double>(peak->offset);
    const bool told = q_value[row] <= options().fdr;
    found = !told ? PredictedStatus::chance : peak->at_edge ? PredictedStatus::edge : PredictedStatus::offset;
    if (found == PredictedStatus::offset) offset[row] = estimate[row];
  }
  const BootstrapInterval ends =
      bootstrap_interval(estimate, std::ssize(documents), how, Random(how.seed), [&](const std::vector<double>& times) {
        const Matrix drawn = search.kernel(search.coefficients(mean_of(documents, times)));
        Vector estimates(drawn.rows());
        for (Index row = 0; row < drawn.rows(); ++row) estimates[row] = peak_offset(drawn.row(row).transpose(), reach);
        return estimates;
      });

  const Axis layer = layer_axis(grid.layers), head = head_axis(grid.heads);
  const Axis pair =
      counting_axis("pair", "1", "pair of channels that turn together, fastest first", 0, frequency.size() - 1);
  const std::vector<Axis> heads{layer, head}, pairs{layer, head, pair};
  const std::string at_end = "the position kernel is largest at the end of the search, |t| = reach";
  const std::string no_interval = "fewer than 5 documents, or no estimate";
  const std::string silent = "the mean query or the mean key is zero, or nothing turns";
  Fields fields("rotary_wave");
  fields.add("predicted_offset", heads, "token",
             "offset at which the position kernel is largest, where pairs agree more than chance", offset,
             "pairs agree no more than with random phases (q_value above level); or " + at_end);
  fields.add("estimate", heads, "token", "offset at which the position kernel is largest", estimate,
             silent + "; or " + at_end);
  fields.add("lower", heads, "token", "lower end of the interval of estimate", ends.lower, no_interval);
  fields.add("upper", heads, "token", "upper end of the interval of estimate", ends.upper, no_interval);
  fields.add("predicted_weight", heads, "1", "softmax of the position kernel at its maximum, over the offsets searched",
             weight, silent);
  fields.add("kernel", {layer, head, offset_axis("offset", -reach, reach)}, "1",
             "position kernel kappa(t): scaled score of the mean query and the mean key at an offset, the first token "
             "left out",
             kernel, "the causal mask forbids the offset, or nothing turns");
  fields
      .add("constant", heads, "1", "part of the kernel that channels which do not turn give to every offset", constant)
      .undefined_if_any("the layer turns nothing");
  fields.add("agreement", heads, "1",
             "coherence of the pairs that turn by half a turn or more within the search: 1 where all favour one offset",
             agreement, silent + "; or no pair turns as far");
  describe_p_values(fields, heads, p_value, q_value, {"agreement", "with random phases", "no null was drawn"});
  fields.add("frequency", {pair}, "radian/token", "angle by which a pair turns from one token to the next", frequency);
  if ((layer_frequency.rowwise() - frequency.transpose()).cwiseAbs().maxCoeff() > 0)
    fields.add("layer_frequency", {layer, pair}, "radian/token",
               "frequency of a pair in each layer, where layers differ; 0: the layer does not turn", layer_frequency);
  fields.add("coefficient_real", pairs, "1", "scale conj(mean query) mean key of a pair, real part",
             coefficient.real());
  fields.add("coefficient_imaginary", pairs, "1", "scale conj(mean query) mean key of a pair, imaginary part",
             coefficient.imag());
  fields.add("use", pairs, "1", "mean modulus of a pair's queries times that of its keys, scaled", use);
  add_status(fields, heads, status);
  fields.note_all("documents", std::ssize(documents))
      .note_all("length", site().length)
      .note_all("reach", reach)
      .note_all("level", options().fdr)
      .note_all("draws", draws)
      .note_all("resamples", how.resamples)
      .note_all("coverage", how.coverage)
      .note_all("seed", static_cast<std::int64_t>(how.seed));
  return fields.taken();
}

std::unique_ptr<Analysis> make_rotary_wave(const AnalysisInput& input) {
  return input.site.length < 3 ? nullptr : std::make_unique<RotaryWaveAnalysis>(input);
}

}  // namespace

extern const AnalysisKind rotary_wave_analysis{.name = "rotary_wave",
                                               .asks = "Where does the wave of rotary positions point?",
                                               .projections = true,
                                               .equal_length = true,
                                               .one_sequence = true,
                                               .by_default = true,
                                               .make = make_rotary_wave};

}  // namespace headwave
