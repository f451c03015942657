#include "periodic_columns.h"

#include <algorithm>
#include <limits>

#include "../../core/fields/fields.h"
#include "../../core/numbers/fft.h"
#include "../../core/numbers/random.h"
#include "../statistics/quantile.h"

namespace headwave {

namespace {

constexpr Index lowest_frequency = 5;    // cycles per T: slower columns are drift
constexpr double shortest_period = 4;    // tokens per cycle: faster columns are noise between neighbours
constexpr double noise_quantile = 0.99;  // of the peak share in columns of noise

/// The peak share that one in a hundred columns of T independent normal numbers exceeds. Randomised phases
/// would not do as noise, since they keep every |F[f]| and so the share.
///
/// Source: Fisher 1929, doi:10.1098/rspa.1929.0151, tests hidden periodicity; the criterion is this project's.
double periodic_threshold(Index length) {
  if (length < 4) return 1;
  std::vector<double> shares;
  constexpr Index batch = 250, draws = 2000;
  for (Index start = 0; start < draws; start += batch) {
    Random random = Random(1).stream(static_cast<std::uint64_t>(start));
    Matrix columns(length, batch);
    for (Index i = 0; i < columns.size(); ++i) columns.data()[i] = random.normal();
    const MatrixC spectra = real_dft(columns);
    for (Index c = 0; c < spectra.cols(); ++c) shares.push_back(peak_share(spectra.col(c), length).share);
  }
  return quantile(shares, noise_quantile);
}

struct PeriodicColumns {
  Index documents = 0;
  Vector query, key;        ///< (rows)  number of periodic columns
  Matrix share;             ///< (rows * d_head, 2)  peak shares of query and key columns; NaN: beyond the rank
  First<Matrix> frequency;  ///< (rows * d_head, 2)  frequencies of these peaks in the first document, cycles per T
};

struct PeriodicColumnsAnalysis : AnalysisOf<PeriodicColumns> {
  explicit PeriodicColumnsAnalysis(const AnalysisInput& input)
      : AnalysisOf(input), threshold_(periodic_threshold(input.site.length)) {}

  [[nodiscard]] std::unique_ptr<Look> look(const Document& /*document*/, Index i) const override {
    if (site().number_of(i) < 0) return nullptr;
    const Index rows = site().grid.rows(), d_head = stack().block.d_head;
    const Vector none = Vector::Zero(rows);
    const Matrix unknown = Matrix::Constant(rows * d_head, 2, not_defined);
    return observe_waves(PeriodicColumns{1, none, none, unknown, {unknown}}, [this, d_head](PeriodicColumns& found,
                                                                                            const HeadWaves& waves) {
      for (Index j = 0; j < waves.rank(); ++j) {
        const Index at = component_row(waves.row, j, d_head), length = waves.length();
        const PeakShare query = peak_share(waves.query_spectrum.col(j), length);
        const PeakShare key = peak_share(waves.key_spectrum.col(j), length);
        found.query[waves.row] += is_periodic(query) ? 1 : 0;
        found.key[waves.row] += is_periodic(key) ? 1 : 0;
        found.share.row(at) << query.share, key.share;
        found.frequency.value->row(at) << static_cast<double>(query.frequency), static_cast<double>(key.frequency);
      }
    });
  }
  [[nodiscard]] std::vector<Field> finish_sum(PeriodicColumns& sum, Finished& /*finished*/) override {
    const auto documents = static_cast<double>(sum.documents);
    const std::vector<Axis> heads{layer_axis(site().grid.layers), head_axis(site().grid.heads)},
        columns{heads[0], heads[1], component_axis(stack().block.d_head),
                Axis{"side", "1", "whether the columns are those of queries or keys",
                     std::vector<std::string>{"query", "key"}}};
    const char* const beyond = "beyond the head's numerical rank";
    Fields fields("periodic_columns");
    fields.add("query", heads, "1", "periodic columns of redefined queries, mean over documents",
               sum.query / documents);
    fields.add("key", heads, "1", "periodic columns of redefined keys, mean over documents", sum.key / documents);
    fields.add("peak_share", columns, "1", "share of a column's power within a bin of its peak, mean over documents",
               sum.share / documents, beyond);
    fields.add("peak_frequency", columns, "cycles/T", "frequency of the column's peak in the first document",
               *sum.frequency.value, beyond);
    fields.note_all("threshold", threshold_)
        .note_all("lowest_frequency", lowest_frequency)
        .note_all("shortest_period", shortest_period)
        .note_all("quantile", noise_quantile);
    return before_position_term(fields.taken(), stack());
  }

 private:
  [[nodiscard]] bool is_periodic(const PeakShare& peak) const {
    return peak.share > threshold_ && peak.in_band(site().length);
  }

  double threshold_;
};

}  // namespace

bool PeakShare::in_band(Index length) const {
  return frequency >= lowest_frequency &&
         static_cast<double>(frequency) * shortest_period <= static_cast<double>(length);
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

extern const AnalysisKind periodic_columns_analysis{.name = "periodic_columns",
                                                    .asks = "Which columns of redefined queries and keys are periodic?",
                                                    .equal_length = true,
                                                    .reads = {&qk_svd_analysis},
                                                    .chain = true,
                                                    .make = make_of<PeriodicColumnsAnalysis>};

}  // namespace headwave
