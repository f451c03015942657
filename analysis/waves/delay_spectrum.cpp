#include "delay_spectrum.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../../core/algebra/product.h"
#include "../../core/fields/fields.h"
#include "../../core/numbers/random.h"
#include "../../core/process/threads.h"
#include "../statistics/bootstrap.h"
#include "../statistics/false_discovery.h"
#include "../statistics/quantile.h"

namespace headwave {

namespace {

/// t^ of every head under resampled documents: (rows, resamples).
Matrix resampled(const CrossSpectra& spectra, const DelaySpectrumOptions& options) {
  const auto documents = static_cast<Index>(spectra.by_document.size());
  Matrix offsets(spectra.grid.rows(), options.resamples);
  parallel_for(options.resamples, options.threads, [&](Index resample) {
    Random random = Random(options.seed).stream(static_cast<std::uint64_t>(resample));
    const std::vector<double> times = drawn_times(documents, random);
    MatrixC sum = MatrixC::Zero(spectra.length / 2 + 1, spectra.grid.rows());
    for (std::size_t d = 0; d < times.size(); ++d)
      if (times[d] > 0) sum += times[d] * spectra.by_document[d];
    const std::vector<Delay> found = delays(sum, spectra.length, options.delay);
    for (std::size_t row = 0; row < found.size(); ++row) offsets(static_cast<Index>(row), resample) = found[row].offset;
  });
  return offsets;
}

void set_intervals(const CrossSpectra& spectra, DelaySpectrum& result) {
  const DelaySpectrumOptions& options = result.options;
  if (result.documents < std::max<Index>(2, options.least_documents) || options.resamples < 2) return;
  const Matrix offsets = resampled(spectra, options);
  const BootstrapInterval ends = bootstrap_interval(offsets, result.estimate, result.documents, options.coverage);
  result.lower = ends.lower;
  result.upper = ends.upper;
}

/// The heads' coherences over the documents that the null is of.
Vector coherence_like_null(const CrossSpectra& spectra, const DelaySpectrum& result) {
  if (spectra.null_documents == 0 || spectra.null_documents >= result.documents) return result.coherence;
  MatrixC sum = MatrixC::Zero(spectra.length / 2 + 1, spectra.grid.rows());
  for (Index d = 0; d < spectra.null_documents; ++d) sum += spectra.by_document[static_cast<std::size_t>(d)];
  const std::vector<Delay> found = delays(sum, spectra.length, result.options.delay);
  Vector coherence(result.coherence.size());
  for (Index row = 0; row < coherence.size(); ++row) coherence[row] = found[static_cast<std::size_t>(row)].coherence;
  return coherence;
}

void set_null(const CrossSpectra& spectra, DelaySpectrum& result) {
  const auto draws = static_cast<Index>(spectra.null.size());
  Matrix coherence(result.grid.rows(), draws);
  parallel_for(draws, result.options.threads, [&](Index draw) {
    const std::vector<Delay> found =
        delays(spectra.null[static_cast<std::size_t>(draw)], result.length, result.options.delay);
    for (std::size_t row = 0; row < found.size(); ++row)
      coherence(static_cast<Index>(row), draw) = found[row].coherence;
  });
  result.p_value = pooled_p_values(coherence_like_null(spectra, result), coherence, NullScale::coherence);
  result.q_value = q_values(result.p_value);
  result.null_median = row_quantiles(coherence, 0.5);
  result.null_quantile = row_quantiles(coherence, 1 - result.options.level);
}

/// What cannot be told from chance is no offset, wherever its maximum lies; what can is none at the end of the search.
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
  // At f >= 0 a direction and its conjugate are two terms of the sum, of different amplitude: nothing is lost.
  const Matrix parts = product(amplitude.cwiseAbs2(), weight);
  Eigen::VectorXcd cross(amplitude.rows());
  cross.real() = parts.col(0);
  cross.imag() = parts.col(1);
  return cross;
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
        &result.envelope_offset, &result.envelope_phase, &result.envelope_coherence, &result.lower, &result.upper,
        &result.null_median, &result.null_quantile, &result.p_value, &result.q_value})
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
  const Index reach = std::min(options.delay.reach, spectrum.length / 2);
  const std::string of = " of " + spectrum.long_name;
  const std::string nothing = "the head's scores have no frequency above 0";
  const std::string edge = "; or the maximum lies at the end of the search, |t| = reach";
  const std::string no_interval =
      "too few documents for an interval, or no estimate; an end at |t| = reach may lie beyond";
  const std::string no_null = "no null was drawn", no_other = "there is no other peak within the search";
  Fields fields(spectrum.name);
  fields.add("offset", heads, "token", "delay" + of + ", where it can be told from chance", spectrum.offset)
      .undefined("the coherence does not rise above its null (q_value above level), or there is none" + edge)
      .note("level", options.level)
      .note("reach", reach);
  fields.add("estimate", heads, "token", "delay" + of, spectrum.estimate)
      .undefined(nothing + edge)
      .note("reach", reach);
  fields.add("lower", heads, "token", "lower end of the interval of estimate", spectrum.lower)
      .undefined(no_interval)
      .note("coverage", options.coverage)
      .note("resamples", options.resamples);
  fields.add("upper", heads, "token", "upper end of the interval of estimate", spectrum.upper)
      .undefined(no_interval)
      .note("coverage", options.coverage)
      .note("resamples", options.resamples);
  fields.add("coherence", heads, "1", "share of the cross-spectrum that agrees on the delay", spectrum.coherence)
      .undefined(nothing);
  fields.add("null_median", heads, "1", "median of the coherence where keys read at random", spectrum.null_median)
      .undefined(no_null);
  fields
      .add("null_quantile", heads, "1", "quantile 1 - level of the coherence where keys read at random",
           spectrum.null_quantile)
      .undefined(no_null);
  fields
      .add("p_value", heads, "1", "chance of such a coherence where keys read at random, heads pooled",
           spectrum.p_value)
      .undefined(no_null);
  fields.add("q_value", heads, "1", "p_value adjusted for the number of heads", spectrum.q_value).undefined(no_null);
  fields.add("runner_up", heads, "token", "delay of the second highest peak", spectrum.runner_up).undefined(no_other);
  fields
      .add("runner_up_share", heads, "1", "height of the second highest peak over the highest",
           spectrum.runner_up_share)
      .undefined(no_other);
  fields
      .add("envelope_offset", heads, "token", "delay where all frequencies may share one phase more",
           spectrum.envelope_offset)
      .undefined(nothing + edge)
      .note("reach", reach);
  fields.add("envelope_phase", heads, "radian", "that phase: 0 of a delay alone", spectrum.envelope_phase)
      .undefined(nothing + edge);
  fields
      .add("envelope_coherence", heads, "1", "share of the cross-spectrum that agrees on both",
           spectrum.envelope_coherence)
      .undefined(nothing);
  fields
      .add("by_frequency", lines, "token", "delay of one frequency by itself, up to T / f",
           spectrum.by_frequency.transpose())
      .undefined("f = 0, or nothing at that frequency");
  fields.add("cross_real", lines, "1", "cross-spectrum, real part, mean over documents",
             spectrum.cross.real().transpose());
  fields.add("cross_imaginary", lines, "1", "cross-spectrum, imaginary part, mean over documents",
             spectrum.cross.imag().transpose());
  add_status(fields, heads, spectrum.status);
  fields.note_all("length", spectrum.length).note_all("documents", spectrum.documents);
  return fields.taken();
}

}  // namespace headwave
