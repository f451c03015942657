#include "position_spectrum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "../../core/fields/fields.h"
#include "../../core/model/layer_positions.h"
#include "../../core/model/model_pass.h"
#include "../statistics/quantile.h"

namespace headwave {

namespace {

SpectrumQuartiles quartiles_of(const Matrix& amplitude) {
  SpectrumQuartiles band{amplitude.rowwise().mean(), Vector(amplitude.rows()), Vector(amplitude.rows())};
  for (Index f = 0; f < amplitude.rows(); ++f) {
    const std::vector<double> columns(amplitude.row(f).begin(), amplitude.row(f).end());
    band.lower(f) = quantile(columns, 0.25);
    band.upper(f) = quantile(columns, 0.75);
  }
  return band;
}

// Equation (2); `square` = |pe|^2. Rounding that a transform leaves of constant columns is no energy.
Vector cumulative_energy_of(const Matrix& amplitude, Index length, double square) {
  Vector energy = 2.0 * amplitude.rowwise().squaredNorm();
  energy(0) = 0.0;
  if (length % 2 == 0) energy(length / 2) *= 0.5;
  const double all = square * static_cast<double>(length);  // Parseval: all frequencies of both signs, and the constant
  const double total = energy.sum();
  if (!std::isfinite(all + total))
    throw NumericError("position_spectrum: the entries are too large to be squared; scale the positions down");
  const double rounding = 64.0 * std::numeric_limits<double>::epsilon();
  if (total <= rounding * rounding * all) return Vector::Constant(energy.size(), not_defined);
  std::partial_sum(energy.begin(), energy.end(), energy.begin());
  return energy / energy(energy.size() - 1);
}

// Descent from f, in steps of `step`, before higher ground is reached; infinity if there is none.
double descent(const Vector& mean, Index f, Index step) {
  double lowest = mean(f);
  for (Index g = f + step; g >= 1 && g < mean.size(); g += step) {
    if (mean(g) > mean(f)) return mean(f) - lowest;
    lowest = std::min(lowest, mean(g));
  }
  return std::numeric_limits<double>::infinity();
}

// Without higher ground on either side, the prominence is the height above the lowest point of all.
double prominence(const Vector& mean, Index f) {
  const double lesser = std::min(descent(mean, f, -1), descent(mean, f, 1));
  return std::isfinite(lesser) ? lesser : mean(f) - mean.tail(mean.size() - 1).minCoeff();
}

// First bin of a rise or plateau that is followed by a fall; the ends of the range count as falls.
bool is_maximum(const Vector& mean, Index f) {
  if (f > 1 && mean(f - 1) >= mean(f)) return false;
  Index after = f + 1;
  while (after < mean.size() && mean(after) == mean(f)) ++after;
  return after == mean.size() || mean(after) < mean(f);
}

std::vector<SpectrumPeak> peaks_of(const Vector& mean, const PositionSpectrumOptions& options) {
  std::vector<SpectrumPeak> peaks;
  const double least = options.minimum_prominence * mean.tail(mean.size() - 1).maxCoeff();
  for (Index f = 1; f < mean.size(); ++f) {
    if (!is_maximum(mean, f)) continue;
    const double height = prominence(mean, f);
    if (height > 0.0 && height >= least) peaks.push_back({f, height});
  }
  std::stable_sort(peaks.begin(), peaks.end(),
                   [](const SpectrumPeak& a, const SpectrumPeak& b) { return a.prominence > b.prominence; });
  if (static_cast<Index>(peaks.size()) > options.peaks)
    peaks.resize(static_cast<std::size_t>(std::max<Index>(options.peaks, 0)));
  return peaks;
}

// Adds peaks as two arrays. Without peaks, one undefined entry: an axis has at least one.
void add_peaks(Fields& fields, const PositionSpectrum& spectrum) {
  std::vector<double> frequency, height;
  for (const SpectrumPeak& peak : spectrum.peaks) {
    frequency.push_back(static_cast<double>(peak.frequency));
    height.push_back(peak.prominence);
  }
  if (spectrum.peaks.empty()) frequency = height = {not_defined};
  const Axis peaks = counting_axis("peak", "1", "local maximum of the mean amplitude, most prominent first", 0,
                                   std::ssize(frequency) - 1);
  const char* const none = "no local maximum stands out";
  fields.add("peak_frequency", {peaks}, "cycles/T", "frequency of a peak", frequency).undefined_if_any(none);
  fields.add("peak_prominence", {peaks}, "1", "height of a peak above its surroundings", height).undefined_if_any(none);
  fields.note_all("minimum_prominence", spectrum.options.minimum_prominence);
}

/// Spectrum of the rows that the first document's tokens read, and of its words; without ids, of all rows.
/// Rows that look untrained are omitted unless rows_option asks for them.
struct PositionSpectrumAnalysis : Analysis {
  using Analysis::Analysis;
  [[nodiscard]] std::vector<Field> finish(Finished& /*finished*/) override {
    const Matrix positions = position_rows(stack(), rows_to_read(stack(), options()[rows_option]));
    if (input().first.ids.empty() || positions.size() == 0) return describe(position_spectrum(positions));
    const Matrix words = word_sequence(input().model, input().first, site().kind).cast<double>();
    const Index length = std::min(words.rows(), positions.rows());
    return describe(position_spectrum(positions.topRows(length), words.topRows(length)));
  }
};

}  // namespace

PositionSpectrum position_spectrum(MatrixView positions, MatrixView words, const PositionSpectrumOptions& options) {
  PositionSpectrum result;
  result.options = options;
  result.length = positions.rows();
  if (positions.empty())
    result.undefined = "no position table";
  else if (positions.rows() < 2)
    result.undefined = "one position has no frequency above 0";
  if (!result.undefined.empty()) return result;
  if (!words.empty() && words.rows() != positions.rows())
    throw ShapeError(
        fmt::format("position_spectrum: found {} positions but {} words; give as many rows of both, since frequencies "
                    "compare only between equal lengths",
                    positions.rows(), words.rows()));

  result.amplitude = amplitude_spectrum(positions, options.spectrum);
  result.positions = quartiles_of(result.amplitude);
  if (!words.empty()) result.words = quartiles_of(amplitude_spectrum(words, options.spectrum));
  result.cumulative_energy = cumulative_energy_of(result.amplitude, result.length, positions.squaredNorm());
  if (!result.cumulative_energy.hasNaN()) result.peaks = peaks_of(result.positions.mean, options);
  return result;
}

std::vector<Field> describe(const PositionSpectrum& spectrum) {
  Fields fields("position_spectrum");
  if (!spectrum.undefined.empty())
    return fields.absent("mean", "1", "amplitude spectrum of the position embedding", spectrum.undefined).taken();

  const SpectrumOptions& options = spectrum.options.spectrum;
  fields.note_all("T", spectrum.length)
      .note_all("window", name_of(options.window))
      .note_all("detrend", options.detrend  ? "linear"
                           : options.demean ? "mean"
                                            : "none")
      .note_all("normalisation", "none: a cosine of amplitude a has |DFT| = a T / 2");
  const Axis frequency =
      counting_axis("frequency", "cycles/T", "frequency in cycles per T positions", 0, spectrum.amplitude.rows() - 1);
  const auto add_band = [&](const std::string& prefix, const std::string& of, const std::string& whose,
                            const SpectrumQuartiles& band) {
    fields.add(prefix + "mean", {frequency}, "1", "mean over columns of the " + of + " amplitude spectrum", band.mean);
    fields.add(prefix + "lower_quartile", {frequency}, "1", "lower quartile over columns" + whose, band.lower);
    fields.add(prefix + "upper_quartile", {frequency}, "1", "upper quartile over columns" + whose, band.upper);
  };
  add_band("", "position embedding's", "", spectrum.positions);
  fields
      .add("cumulative_energy", {frequency}, "1", "share of non-constant energy at frequencies up to this",
           spectrum.cumulative_energy)
      .undefined_if_any("every column is constant");
  if (spectrum.words.mean.size() > 0) add_band("word_", "word embeddings'", ", word embeddings", spectrum.words);
  add_peaks(fields, spectrum);
  const Axis column =
      counting_axis("column", "1", "column of the position embedding, 0-based", 0, spectrum.amplitude.cols() - 1);
  fields.add("amplitude", {frequency, column}, "1", "amplitude spectrum of each column", spectrum.amplitude);
  return fields.taken();
}

extern const AnalysisKind position_spectrum_analysis{.name = "position_spectrum",
                                                     .asks = "Which frequencies does the position table hold?",
                                                     .options = {&rows_option},
                                                     .one_sequence = true,
                                                     .by_default = true,
                                                     .make = make_of<PositionSpectrumAnalysis>};

}  // namespace headwave
