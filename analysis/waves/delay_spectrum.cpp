#include "delay_spectrum.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "../../core/algebra/decompositions.h"
#include "../../core/algebra/product.h"
#include "../../core/fields/fields.h"
#include "../../core/numbers/fft.h"
#include "../../core/numbers/random.h"
#include "../../core/numbers/scale.h"
#include "../../core/process/threads.h"

namespace headwave {

namespace {

/// M of a head whose keys read k of d_model directions at random: no direction is kept as it is, as in M
/// itself where query and key have nothing in common. Which directions the query reads does not matter then.
PhaseRotation random_rotation(Index d_model, Index k, Random& random) {
  QkSvd frame;
  frame.query = Matrix::Identity(d_model, k);
  frame.key = random_frame(d_model, k, random);
  return phase_rotation(frame);
}

std::vector<PhaseRotation> random_rotations(Index d_model, Index rank, Index count,
                                            const RandomReadingOptions& options) {
  std::vector<PhaseRotation> rotations(static_cast<std::size_t>(count));
  parallel_for(count, options.threads, [&](Index i) {
    Random random = Random(options.seed).stream(1000000 + static_cast<std::uint64_t>(i));
    rotations[static_cast<std::size_t>(i)] = random_rotation(d_model, rank, random);
  });
  return rotations;
}

}  // namespace

Matrix32 random_frames(Index d_model, Index width, const RandomReadingOptions& options) {
  Matrix32 frames(d_model, options.draws * width);
  for (Index draw = 0; draw < options.draws; ++draw) {
    Random random = Random(options.seed).stream(static_cast<std::uint64_t>(draw));
    frames.middleCols(draw * width, width) = random_frame(d_model, width, random).cast<float>();
  }
  return frames;
}

RandomRotations::RandomRotations(Index d_model, const std::vector<ChainHead>& heads,
                                 const RandomReadingOptions& options) {
  const Index pool = std::max(options.draws, options.rotations);
  for (std::size_t row = 0; row < heads.size(); ++row) {
    const auto rank = static_cast<std::size_t>(heads[row].rank);
    by_rank_.resize(std::max(by_rank_.size(), rank + 1));
    if (by_rank_[rank].empty() && rank > 0 && options.draws > 0)
      by_rank_[rank] = random_rotations(d_model, heads[row].rank, pool, options);
    std::vector<Index> order(static_cast<std::size_t>(pool));
    std::iota(order.begin(), order.end(), Index{0});
    Random random = Random(options.seed).stream(3000000 + static_cast<std::uint64_t>(row));
    random.shuffle(order);
    order.resize(static_cast<std::size_t>(options.draws));
    drawn_.push_back(std::move(order));
  }
}

const PhaseRotation& RandomRotations::of(Index row, Index rank, Index draw) const {
  const Index which = drawn_[static_cast<std::size_t>(row)][static_cast<std::size_t>(draw)];
  return by_rank_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(which)];
}

namespace {

/// One number of every head's delay.
Vector numbers_of(const std::vector<Delay>& delays, double Delay::*number) {
  Vector numbers(std::ssize(delays));
  for (std::size_t row = 0; row < delays.size(); ++row) numbers[static_cast<Index>(row)] = delays[row].*number;
  return numbers;
}

/// Delays over the first documents, each counted so many times.
std::vector<Delay> delays_of(const CrossSpectra& spectra, const std::vector<double>& times,
                             const DelayOptions& options) {
  MatrixC sum = MatrixC::Zero(spectra.length / 2 + 1, spectra.grid.rows());
  for (std::size_t d = 0; d < times.size(); ++d)
    if (times[d] > 0) sum += times[d] * spectra.by_document[d];
  return delays(sum, spectra.length, options);
}

void set_intervals(const CrossSpectra& spectra, DelaySpectrum& result) {
  const DelaySpectrumOptions& options = result.options;
  BootstrapInterval ends = bootstrap_interval(
      result.estimate, result.documents, options, Random(options.seed), [&](const std::vector<double>& times) {
        return numbers_of(delays_of(spectra, times, options.delay), &Delay::offset);
      });
  result.lower = std::move(ends.lower);
  result.upper = std::move(ends.upper);
}

/// The heads' coherences over the documents that the null is of.
Vector coherence_like_null(const CrossSpectra& spectra, const DelaySpectrum& result) {
  if (spectra.null_documents == 0 || spectra.null_documents >= result.documents) return result.coherence;
  const std::vector<double> once(static_cast<std::size_t>(spectra.null_documents), 1.0);
  return numbers_of(delays_of(spectra, once, result.options.delay), &Delay::coherence);
}

void set_null(const CrossSpectra& spectra, DelaySpectrum& result) {
  Matrix coherence(result.grid.rows(), std::ssize(spectra.null));
  parallel_for(coherence.cols(), result.options.threads, [&](Index draw) {
    const MatrixC& cross = spectra.null[static_cast<std::size_t>(draw)];
    coherence.col(draw) = numbers_of(delays(cross, result.length, result.options.delay), &Delay::coherence);
  });
  static_cast<NullTest&>(result) =
      null_test(coherence_like_null(spectra, result), coherence, NullScale::coherence, result.options.level);
}

/// What cannot be told from chance is no offset, wherever its maximum lies; what can is none at the end of
/// the search.
void set_offsets(const std::vector<Delay>& found, DelaySpectrum& result) {
  for (Index row = 0; row < result.offset.size(); ++row) {
    const Delay& delay = found[static_cast<std::size_t>(row)];
    const bool told = result.q_value[row] <= result.options.level;
    const PredictedStatus status = std::isnan(delay.offset) ? PredictedStatus::nothing
                                   : !told                  ? PredictedStatus::chance
                                   : delay.at_edge          ? PredictedStatus::edge
                                                            : PredictedStatus::offset;
    result.status.push_back(status);
    if (status == PredictedStatus::offset) result.offset[row] = delay.offset;
  }
}

}  // namespace

Eigen::VectorXcd cross_spectrum(const HeadWaves& waves) {
  return cross_spectrum(gained_queries(waves), waves.key_spectrum);
}

MatrixC gained_queries(const HeadWaves& waves) {
  return waves.query_spectrum.conjugate().array().rowwise() *
         waves.head->svd.gain.head(waves.rank()).transpose().array().cast<std::complex<double>>();
}

Eigen::VectorXcd cross_spectrum(const MatrixC& gained, const MatrixC& keys) {
  return gained.cwiseProduct(keys).rowwise().sum();
}

Eigen::VectorXcd phase_cross_spectrum(const PhaseRotation& rotation, const Vector& gain, const Matrix& amplitude) {
  Matrix weight(rotation.rank(), 2);  // real and imaginary parts
  for (Index p = 0; p < weight.rows(); ++p) {
    const std::complex<double> turn = rotation.eigenvalue(p);
    weight.row(p) << turn.real(), turn.imag();
    weight.row(p) *= gain.head(rotation.rank()).dot(rotation.direction.col(p).cwiseAbs2());
  }
  // At f >= 0 a direction and its conjugate are two terms of the sum, of different amplitude: nothing is
  // lost.
  const Matrix parts = product(amplitude.cwiseAbs2(), weight);
  Eigen::VectorXcd cross(amplitude.rows());
  cross.real() = parts.col(0);
  cross.imag() = parts.col(1);
  return cross;
}

CrossSpectra::CrossSpectra(const HeadGrid& heads, Index tokens, Index draws) : grid(heads), length(tokens) {
  by_document.push_back(MatrixC::Zero(length / 2 + 1, grid.rows()));
  null.assign(static_cast<std::size_t>(draws), by_document[0]);
  null_documents = draws > 0 ? 1 : 0;
}

MatrixC CrossSpectra::mean() const {
  MatrixC sum = MatrixC::Zero(length / 2 + 1, grid.rows());
  for (const MatrixC& cross : by_document) sum += cross;
  return sum / static_cast<double>(std::max<std::size_t>(1, by_document.size()));
}

DelaySpectrum delay_spectrum(const CrossSpectra& spectra, std::string name, std::string long_name,
                             const DelaySpectrumOptions& options) {
  DelaySpectrum result;
  result.name = std::move(name);
  result.long_name = std::move(long_name);
  result.grid = spectra.grid;
  result.length = spectra.length;
  result.documents = static_cast<Index>(spectra.by_document.size());
  result.options = options;
  result.cross = spectra.mean();
  result.by_frequency = delay_by_frequency(result.cross, spectra.length);
  const Index rows = spectra.grid.rows();
  for (Vector* vector :
       {&result.estimate, &result.offset, &result.coherence, &result.runner_up, &result.runner_up_share,
        &result.envelope_offset, &result.envelope_phase, &result.envelope_coherence})
    *vector = Vector::Constant(rows, not_defined);
  const std::vector<Delay> found = delays(result.cross, spectra.length, options.delay);
  const std::vector<EnvelopeDelay> envelopes = envelope_delays(result.cross, spectra.length, options.delay);
  for (Index row = 0; row < rows; ++row) {
    const Delay& delay = found[static_cast<std::size_t>(row)];
    const EnvelopeDelay& envelope = envelopes[static_cast<std::size_t>(row)];
    result.estimate[row] = delay.at_edge ? not_defined : delay.offset;
    result.coherence[row] = delay.coherence;
    result.runner_up[row] = delay.runner_up;
    result.runner_up_share[row] = delay.runner_up_share;
    result.envelope_offset[row] = envelope.at_edge ? not_defined : envelope.offset;
    result.envelope_phase[row] = envelope.at_edge ? not_defined : envelope.phase;
    result.envelope_coherence[row] = envelope.coherence;
  }
  set_intervals(spectra, result);
  set_null(spectra, result);
  set_offsets(found, result);
  return result;
}

std::vector<Field> describe(const DelaySpectrum& spectrum) {
  const Axis layer = layer_axis(spectrum.grid.layers), head = head_axis(spectrum.grid.heads);
  const std::vector<Axis> heads{layer, head}, lines{layer, head, frequency_axis(spectrum.length)};
  const DelaySpectrumOptions& options = spectrum.options;
  const std::string of = " of " + spectrum.long_name;
  const std::string nothing = "the head's scores have no frequency above 0";
  const std::string edge = "; or the maximum lies at the end of the search, |t| = reach";
  const std::string no_interval =
      "too few documents for an interval, or no estimate; an end at |t| = reach may lie beyond";
  const std::string no_null = "no null was drawn", no_other = "there is no other peak within the search";
  Fields fields(spectrum.name);
  fields.add("predicted_offset", heads, "token", "delay" + of + ", where it can be told from chance", spectrum.offset,
             "the coherence does not rise above its null (q_value above level), or there is none" + edge);
  fields.add("estimate", heads, "token", "delay" + of, spectrum.estimate, nothing + edge);
  fields.add("lower", heads, "token", "lower end of the interval of estimate", spectrum.lower, no_interval);
  fields.add("upper", heads, "token", "upper end of the interval of estimate", spectrum.upper, no_interval);
  fields.add("coherence", heads, "1", "share of the cross-spectrum that agrees on the delay", spectrum.coherence,
             nothing);
  describe_null(fields, heads, spectrum, {"coherence", "where keys read at random, heads pooled", no_null});
  fields.add("runner_up", heads, "token", "delay of the second highest peak", spectrum.runner_up, no_other);
  fields.add("runner_up_share", heads, "1", "height of the second highest peak over the highest",
             spectrum.runner_up_share, no_other);
  fields.add("envelope_offset", heads, "token", "delay where all frequencies may share one phase more",
             spectrum.envelope_offset, nothing + edge);
  fields.add("envelope_phase", heads, "radian", "that phase: 0 of a delay alone", spectrum.envelope_phase,
             nothing + edge);
  fields.add("envelope_coherence", heads, "1", "share of the cross-spectrum that agrees on both",
             spectrum.envelope_coherence, nothing);
  fields.add("by_frequency", lines, "token", "delay of one frequency by itself, up to T / f",
             spectrum.by_frequency.transpose(), "f = 0, or nothing at that frequency");
  fields.add("cross_real", lines, "1", "cross-spectrum, real part, mean over documents",
             spectrum.cross.real().transpose());
  fields.add("cross_imaginary", lines, "1", "cross-spectrum, imaginary part, mean over documents",
             spectrum.cross.imag().transpose());
  add_status(fields, heads, spectrum.status);
  fields.note_all("length", spectrum.length)
      .note_all("documents", spectrum.documents)
      .note_all("level", options.level)
      .note_all("reach", std::min(options.delay.reach, spectrum.length / 2))
      .note_all("coverage", options.coverage)
      .note_all("resamples", options.resamples);
  return fields.taken();
}

namespace {

/// scale_of() the largest part of any entry.
double scale_of_parts(const MatrixC& values) {
  if (values.size() == 0) return 1;
  return scale_of(std::max(values.real().cwiseAbs().maxCoeff(), values.imag().cwiseAbs().maxCoeff()));
}

class ScoreDelayAnalysis : public AnalysisOf<CrossSpectra> {
 public:
  using AnalysisOf::AnalysisOf;
  void prepare(Finished& /*finished*/) override {
    RandomReadingOptions reading;
    reading.draws = options().draws;
    reading.seed = options().seed;
    frames_ = random_frames(stack().d_model(), std::min(stack().block.d_head, stack().d_model()), reading);
  }

  [[nodiscard]] std::unique_ptr<Look> look(const Document& /*document*/, Index i) const override {
    if (site().number_of(i) < 0) return nullptr;
    return look_of<ScoreDelayListener>(site().grid, site().length, options().draws, frames_);
  }

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(CrossSpectra& sum, Finished& finished) override {
    const DelaySpectrum delay = job_delay(sum, "delay_spectrum", "queries and keys", input());
    return before_position_term(describe(finished.keep(ScoreDelay{delay}).spectrum), stack());
  }

 private:
  Matrix32 frames_;
};

}  // namespace

ScoreDelayListener::ScoreDelayListener(const HeadGrid& grid, Index length, Index draws, const Matrix32& frames)
    : frames_(frames), heads_(grid.heads), draws_(draws), width_(frames.cols() / std::max<Index>(1, draws)) {
  found_ = CrossSpectra(grid, length, draws);
  random_keys_.resize(length / 2 + 1, 2 * draws * width_);
  gained_.resize(length / 2 + 1, 2 * heads_ * width_);
  query_scale_ = Vector::Ones(heads_);
}

void ScoreDelayListener::begin(const WaveLayer& layer) {
  if (draws_ == 0) return;
  key_scale_ = scale_of_parts(layer.spectrum);
  multiply(random_keys_.leftCols(draws_ * width_), (layer.spectrum.real() / key_scale_).cast<float>(), frames_);
  multiply(random_keys_.rightCols(draws_ * width_), (layer.spectrum.imag() / key_scale_).cast<float>(), frames_);
  gained_.setZero();  // beyond a head's rank
}

void ScoreDelayListener::see(const HeadWaves& waves) {
  const MatrixC gained = gained_queries(waves);
  found_.by_document[0].col(waves.row) = cross_spectrum(gained, waves.key_spectrum);
  if (draws_ == 0) return;
  const Index head = waves.row % heads_, first = head * width_;
  query_scale_[head] = scale_of_parts(gained);
  gained_.middleCols(first, gained.cols()) = (gained.real() / query_scale_[head]).cast<float>();
  gained_.middleCols(heads_ * width_ + first, gained.cols()) = (gained.imag() / query_scale_[head]).cast<float>();
}

void ScoreDelayListener::end(const WaveLayer& layer) {
  if (draws_ == 0) return;
  Matrix32 parts(2 * draws_, 2 * heads_);
  for (Index f = 0; f < gained_.rows(); ++f) {
    const MatrixView32 keys(random_keys_.row(f).data(), 2 * draws_, width_);
    const MatrixView32 queries(gained_.row(f).data(), 2 * heads_, width_);
    multiply(parts, keys, queries.transpose());
    const auto real = parts.topLeftCorner(draws_, heads_) - parts.bottomRightCorner(draws_, heads_);
    const auto imaginary = parts.topRightCorner(draws_, heads_) + parts.bottomLeftCorner(draws_, heads_);
    for (Index draw = 0; draw < draws_; ++draw)
      for (Index head = 0; head < heads_; ++head)
        found_.null[static_cast<std::size_t>(draw)](f, layer.place * heads_ + head) =
            key_scale_ * query_scale_[head] * std::complex<double>(real(draw, head), imaginary(draw, head));
  }
}

DelaySpectrum job_delay(CrossSpectra& spectra, const char* name, const char* long_name, const AnalysisInput& input) {
  spectra.grid = input.site.grid;
  spectra.length = input.site.length;
  DelaySpectrumOptions options;
  options.delay.reach = input.options.reach;
  options.resamples = input.options.resamples;
  options.level = input.options.false_share;
  options.seed = input.options.seed;
  options.threads = input.threads;
  return delay_spectrum(spectra, name, long_name, options);
}

const AnalysisKind& delay_spectrum_analysis() {
  static const AnalysisKind kind{
      .name = "delay_spectrum",
      .asks = "Which delay is there between queries and keys of the text, to parts of a token?",
      .needs = {Need::weights, Need::states, Need::equal_length},
      .reads = {qk_svd_analysis},
      .chain = true,
      .make = make_of<ScoreDelayAnalysis>};
  return kind;
}

}  // namespace headwave
