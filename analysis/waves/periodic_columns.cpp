#include "periodic_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "../../core/fields/fields.h"
#include "../../core/numbers/fft.h"
#include "../../core/numbers/random.h"
#include "../statistics/quantile.h"

namespace headwave {

namespace {

class PeriodicColumnsAnalysis : public DocumentAnalysis<DocumentPeriodicColumns, PeriodicColumns> {
 public:
  explicit PeriodicColumnsAnalysis(const AnalysisInput& input)
      : DocumentAnalysis(input, [&site = input.site, d_head = input.stack().block.d_head,
                                 threshold = periodic_threshold(input.site.length)] {
          return periodic_columns(site.grid, d_head, threshold);
        }) {}

  [[nodiscard]] std::unique_ptr<Look> look(const Document& /*document*/, Index i) const override {
    if (site().number_of(i) < 0) return nullptr;
    return look_of(std::make_unique<PeriodicColumnsListener>(sum_.grid, sum_.components, sum_.threshold, sum_.options),
                   &PeriodicColumnsListener::taken);
  }
  [[nodiscard]] std::vector<Field> finish(Finished& /*finished*/) override {
    return before_position_term(describe(mean_of(std::move(sum_))), stack());
  }

 private:
  void add(PeriodicColumns& sum, DocumentPeriodicColumns&& found) const override { add_document(sum, found); }
  void join(PeriodicColumns& sum, PeriodicColumns&& next) const override { join_documents(sum, next); }
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

DocumentPeriodicColumns::DocumentPeriodicColumns(Index rows, Index components) {
  query = key = Vector::Zero(rows);
  share = frequency = Matrix::Constant(rows * components, 2, not_defined);
}

void PeriodicColumnsListener::see(const HeadWaves& waves) {
  const Index length = waves.length();
  for (Index j = 0; j < waves.rank(); ++j) {
    const PeakShare query = peak_share(waves.query_spectrum.col(j), length);
    const PeakShare key = peak_share(waves.key_spectrum.col(j), length);
    found_.query[waves.row] += is_periodic(query, length, threshold_, options_) ? 1 : 0;
    found_.key[waves.row] += is_periodic(key, length, threshold_, options_) ? 1 : 0;
    const Index at = component_row(waves.row, j, components_);
    found_.share.row(at) << query.share, key.share;
    found_.frequency.row(at) << static_cast<double>(query.frequency), static_cast<double>(key.frequency);
  }
}

PeriodicColumns periodic_columns(const HeadGrid& grid, Index components, double threshold,
                                 const PeriodicOptions& options) {
  PeriodicColumns sum{grid, components, 0, threshold, options, DocumentPeriodicColumns(grid.rows(), components)};
  sum.mean.share.setZero();
  return sum;
}

void add_document(PeriodicColumns& sum, const DocumentPeriodicColumns& document) {
  sum.mean.query += document.query;
  sum.mean.key += document.key;
  sum.mean.share += document.share;
  if (sum.documents == 0) sum.mean.frequency = document.frequency;
  ++sum.documents;
}

void join_documents(PeriodicColumns& sum, const PeriodicColumns& next) {
  sum.mean.query += next.mean.query;
  sum.mean.key += next.mean.key;
  sum.mean.share += next.mean.share;
  if (sum.documents == 0) sum.mean.frequency = next.mean.frequency;
  sum.documents += next.documents;
}

PeriodicColumns mean_of(PeriodicColumns sum) {
  const auto documents = static_cast<double>(std::max<Index>(1, sum.documents));
  sum.mean.query /= documents;
  sum.mean.key /= documents;
  sum.mean.share /= documents;
  return sum;
}

std::vector<Field> describe(const PeriodicColumns& columns) {
  const Axis layer = layer_axis(columns.grid.layers), head = head_axis(columns.grid.heads);
  const Axis side{"side", "1", "whose columns", std::vector<std::string>{"query", "key"}};
  const std::vector<Axis> by_column{layer, head, component_axis(columns.components), side};
  const DocumentPeriodicColumns& mean = columns.mean;
  const char* const beyond = "beyond the head's numerical rank";
  Fields fields("periodic_columns");
  fields.add("query", {layer, head}, "1", "periodic columns of redefined queries, mean over documents", mean.query);
  fields.add("key", {layer, head}, "1", "periodic columns of redefined keys, mean over documents", mean.key);
  fields
      .add("peak_share", by_column, "1", "share of a column's power within a bin of its peak, mean over documents",
           mean.share)
      .undefined(beyond);
  fields.add("peak_frequency", by_column, "cycles/T", "where that peak is in the first document", mean.frequency)
      .undefined(beyond);
  fields.note_all("threshold", columns.threshold)
      .note_all("lowest_frequency", columns.options.lowest)
      .note_all("shortest_period", columns.options.shortest)
      .note_all("quantile", columns.options.quantile);
  return fields.taken();
}

const AnalysisKind& periodic_columns_analysis() {
  static const AnalysisKind kind{.name = "periodic_columns",
                                 .finds = "periodic columns of redefined queries and keys",
                                 .step = Step::waves,
                                 .needs = {Need::weights, Need::states, Need::equal_length},
                                 .reads = {qk_svd_analysis},
                                 .chain = true,
                                 .make = make_of<PeriodicColumnsAnalysis>};
  return kind;
}

}  // namespace headwave
