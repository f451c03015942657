#include "periodic_columns.h"

#include <algorithm>
#include <limits>

#include "../../core/fields/fields.h"
#include "../../core/numbers/fft.h"
#include "../../core/numbers/random.h"
#include "../statistics/quantile.h"

namespace headwave {

namespace {

class PeriodicColumnsAnalysis : public AnalysisOf<PeriodicColumns> {
 public:
  explicit PeriodicColumnsAnalysis(const AnalysisInput& input)
      : AnalysisOf(input), threshold_(periodic_threshold(input.site.length)) {}

  [[nodiscard]] std::unique_ptr<Look> look(const Document& /*document*/, Index i) const override {
    if (site().number_of(i) < 0) return nullptr;
    return observe_waves(PeriodicColumns(site().grid.rows(), stack().block.d_head),
                         [this](PeriodicColumns& found, const HeadWaves& waves) { observe(found, waves, threshold_); });
  }

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(PeriodicColumns& sum, Finished& /*finished*/) override {
    return before_position_term(describe(sum, site().grid, threshold_), stack());
  }

 private:
  double threshold_;
};

}  // namespace

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

PeriodicColumns::PeriodicColumns(Index rows, Index components) : documents(1) {
  query = key = Vector::Zero(rows);
  share = Matrix::Constant(rows * components, 2, not_defined);
  frequency.value = share;
}

void observe(PeriodicColumns& document, const HeadWaves& waves, double threshold, const PeriodicOptions& options) {
  const Index length = waves.length(), components = document.share.rows() / document.query.size();
  for (Index j = 0; j < waves.rank(); ++j) {
    const PeakShare query = peak_share(waves.query_spectrum.col(j), length);
    const PeakShare key = peak_share(waves.key_spectrum.col(j), length);
    document.query[waves.row] += is_periodic(query, length, threshold, options) ? 1 : 0;
    document.key[waves.row] += is_periodic(key, length, threshold, options) ? 1 : 0;
    const Index at = component_row(waves.row, j, components);
    document.share.row(at) << query.share, key.share;
    document.frequency.value->row(at) << static_cast<double>(query.frequency), static_cast<double>(key.frequency);
  }
}

std::vector<Field> describe(const PeriodicColumns& columns, const HeadGrid& grid, double threshold,
                            const PeriodicOptions& options) {
  const auto documents = static_cast<double>(columns.documents);
  const Axis layer = layer_axis(grid.layers), head = head_axis(grid.heads);
  const Axis component = component_axis(columns.share.rows() / grid.rows());
  const Axis side{"side", "1", "whose columns", std::vector<std::string>{"query", "key"}};
  const std::vector<Axis> by_column{layer, head, component, side};
  const char* const beyond = "beyond the head's numerical rank";
  Fields fields("periodic_columns");
  fields.add("query", {layer, head}, "1", "periodic columns of redefined queries, mean over documents",
             columns.query / documents);
  fields.add("key", {layer, head}, "1", "periodic columns of redefined keys, mean over documents",
             columns.key / documents);
  fields.add("peak_share", by_column, "1", "share of a column's power within a bin of its peak, mean over documents",
             columns.share / documents, beyond);
  fields.add("peak_frequency", by_column, "cycles/T", "frequency of that peak in the first document",
             *columns.frequency.value, beyond);
  fields.note_all("threshold", threshold)
      .note_all("lowest_frequency", options.lowest)
      .note_all("shortest_period", options.shortest)
      .note_all("quantile", options.quantile);
  return fields.taken();
}

const AnalysisKind& periodic_columns_analysis() {
  static const AnalysisKind kind{.name = "periodic_columns",
                                 .asks = "Which columns of redefined queries and keys are periodic?",
                                 .needs = {Need::weights, Need::states, Need::equal_length},
                                 .reads = {qk_svd_analysis},
                                 .chain = true,
                                 .make = make_of<PeriodicColumnsAnalysis>};
  return kind;
}

}  // namespace headwave
