#include "wave_spectra.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "../statistics/quantile.h"

namespace headwave {

namespace {

constexpr double not_defined = std::numeric_limits<double>::quiet_NaN();

std::vector<Matrix*> layer_matrices(DocumentWaveSpectra& spectra) {
  return {&spectra.query,          &spectra.key,          &spectra.state,
          &spectra.query_shuffled, &spectra.key_shuffled, &spectra.state_shuffled};
}

std::vector<const Matrix*> layer_matrices(const DocumentWaveSpectra& spectra) {
  return {&spectra.query,          &spectra.key,          &spectra.state,
          &spectra.query_shuffled, &spectra.key_shuffled, &spectra.state_shuffled};
}

}  // namespace

Vector expected_maximum(const Matrix& amplitude, Index count) {
  const Index columns = amplitude.cols();
  if (count < 1 || count > columns) throw ShapeError(fmt::format("expected_maximum: {} of {} columns", count, columns));
  if (count == columns) return amplitude.rowwise().maxCoeff();
  // C(i-1, n-1) / C(N, n), from i = N down: each is the one before times (i - n) / (i - 1).
  Vector weight = Vector::Zero(columns);
  weight[columns - 1] = static_cast<double>(count) / static_cast<double>(columns);
  for (Index i = columns - 1; i >= count; --i)
    weight[i - 1] = weight[i] * static_cast<double>(i + 1 - count) / static_cast<double>(i);
  Vector result(amplitude.rows());
  Vector sorted(columns);
  for (Index f = 0; f < amplitude.rows(); ++f) {
    sorted = amplitude.row(f).transpose();
    std::sort(sorted.begin(), sorted.end());
    result[f] = weight.dot(sorted);
  }
  return result;
}

PeakShare peak_share(Eigen::Ref<const Eigen::VectorXcd> spectrum, Index length) {
  PeakShare peak;
  Vector power = spectrum.cwiseAbs2();
  power[0] = 0;
  for (Index f = 1; f < power.size(); ++f)
    if (2 * f != length) power[f] *= 2;
  const double whole = power.sum();
  if (power.size() < 2 || !(whole > std::numeric_limits<double>::epsilon() * std::norm(spectrum[0]))) return peak;
  power.maxCoeff(&peak.frequency);
  const Index first = std::max<Index>(1, peak.frequency - 1), last = std::min(power.size() - 1, peak.frequency + 1);
  peak.share = power.segment(first, last - first + 1).sum() / whole;
  return peak;
}

double periodic_threshold(Index length, const PeriodicOptions& options) {
  if (length < 4) return 1;
  std::vector<double> shares;
  constexpr Index batch = 250;
  for (Index start = 0; start < options.draws; start += batch) {
    Random random = Random(options.seed).stream(static_cast<std::uint64_t>(start));
    Matrix columns(length, std::min(batch, options.draws - start));
    for (Index i = 0; i < columns.size(); ++i) columns.data()[i] = random.normal();
    const MatrixC spectra = real_dft(columns);
    for (Index c = 0; c < spectra.cols(); ++c) shares.push_back(peak_share(spectra.col(c), length).share);
  }
  return quantile(shares, options.quantile);
}

bool is_periodic(const PeakShare& peak, Index length, double threshold, const PeriodicOptions& options) {
  return peak.share > threshold && peak.frequency >= options.lowest &&
         static_cast<double>(peak.frequency) * options.shortest <= static_cast<double>(length);
}

DocumentWaveSpectra::DocumentWaveSpectra(Index layers, Index rows, Index components, Index length) {
  for (Matrix* matrix : layer_matrices(*this)) *matrix = Matrix::Zero(layers, length / 2 + 1);
  periodic_query = periodic_key = Vector::Zero(rows);
  share = frequency = Matrix::Constant(rows * components, 2, not_defined);
}

WaveSpectraSum::WaveSpectraSum(HeadGrid grid, Index components, Index length, Index count,
                               const PeriodicOptions& options)
    : sum_{std::move(grid), components,           length, 0, count, periodic_threshold(length, options),
           options,         DocumentWaveSpectra()} {
  const Index rows = sum_.grid.rows();
  sum_.mean = DocumentWaveSpectra(static_cast<Index>(sum_.grid.layers.size()), rows, components, length);
  sum_.mean.share.setZero();
}

void WaveSpectraSum::add(const DocumentWaveSpectra& document) {
  const std::vector<Matrix*> sums = layer_matrices(sum_.mean);
  const std::vector<const Matrix*> parts = layer_matrices(document);
  for (std::size_t i = 0; i < sums.size(); ++i) *sums[i] += *parts[i];
  sum_.mean.periodic_query += document.periodic_query;
  sum_.mean.periodic_key += document.periodic_key;
  sum_.mean.share += document.share;
  if (sum_.documents == 0) sum_.mean.frequency = document.frequency;
  ++sum_.documents;
}

WaveSpectra WaveSpectraSum::spectra() const {
  WaveSpectra result = sum_;
  const auto documents = static_cast<double>(std::max<Index>(1, sum_.documents));
  for (Matrix* matrix : layer_matrices(result.mean)) *matrix /= documents;
  result.mean.periodic_query /= documents;
  result.mean.periodic_key /= documents;
  result.mean.share /= documents;
  return result;
}

std::vector<Field> describe(const WaveSpectra& spectra) {
  const Axis layers = layer_axis(spectra.grid.layers), heads = head_axis(spectra.grid.heads);
  const std::vector<Axis> lines{layers, frequency_axis(spectra.length)};
  const auto list = [](const auto& numbers) {
    return std::vector<double>(numbers.data(), numbers.data() + numbers.size());
  };
  const std::string of = "largest amplitude over heads and columns of ";
  const std::string shuffled = ", positions in another order";
  std::vector<Field> fields{
      make_field("wave_spectra/query", lines, "1", of + "redefined queries", list(spectra.mean.query)),
      make_field("wave_spectra/key", lines, "1", of + "redefined keys", list(spectra.mean.key)),
      make_field("wave_spectra/state", lines, "1", "largest amplitude over columns of the hidden states",
                 list(spectra.mean.state)),
      make_field("wave_spectra/query_shuffled", lines, "1", of + "redefined queries" + shuffled,
                 list(spectra.mean.query_shuffled)),
      make_field("wave_spectra/key_shuffled", lines, "1", of + "redefined keys" + shuffled,
                 list(spectra.mean.key_shuffled)),
      make_field("wave_spectra/state_shuffled", lines, "1",
                 "largest amplitude over columns of the hidden states" + shuffled, list(spectra.mean.state_shuffled))};
  for (Field& field : fields) {
    field.attributes["columns"] = static_cast<std::int64_t>(spectra.count);
    field.attributes["count"] = std::string("expected maximum over that many columns, whatever their number");
  }
  const std::vector<Axis> rows{layers, heads};
  const std::vector<Axis> columns{layers,
                                  heads,
                                  component_axis(spectra.components),
                                  {"side", "1", "whose columns", std::vector<std::string>{"query", "key"}}};
  std::vector<Field> periodic{
      make_field("periodic_columns/query", rows, "1", "periodic columns of redefined queries, mean over documents",
                 list(spectra.mean.periodic_query)),
      make_field("periodic_columns/key", rows, "1", "periodic columns of redefined keys, mean over documents",
                 list(spectra.mean.periodic_key)),
      make_field("periodic_columns/peak_share", columns, "1",
                 "share of a column's power within a bin of its peak, mean over documents", list(spectra.mean.share)),
      make_field("periodic_columns/peak_frequency", columns, "cycles/T", "where that peak is in the first document",
                 list(spectra.mean.frequency))};
  for (Field& field : periodic) {
    field.attributes["threshold"] = spectra.threshold;
    field.attributes["lowest_frequency"] = static_cast<std::int64_t>(spectra.periodic.lowest);
    field.attributes["shortest_period"] = spectra.periodic.shortest;
    field.attributes["quantile"] = spectra.periodic.quantile;
  }
  periodic[2].attributes["undefined"] = periodic[3].attributes["undefined"] =
      std::string("beyond the head's numerical rank");
  for (Field& field : periodic) fields.push_back(std::move(field));
  return fields;
}

}  // namespace headwave
