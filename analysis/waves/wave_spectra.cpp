// Frequencies of redefined queries and keys and of hidden states, layer by layer.

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "../../core/fields/fields.h"
#include "../../core/numbers/fft.h"
#include "../../core/numbers/random.h"
#include "wave_chain.h"

namespace headwave {

namespace {

/// Expected maximum of the amplitudes of n columns at each frequency.
///
///     mean over all draws of n from N columns of their maximum = sum_i x_(i) C(i-1, n-1) / C(N, n)    (1)
///
/// where x_(1) <= ... <= x_(N) are the amplitudes of all columns at a frequency. The plain maximum, n = N,
/// grows with the number of columns; 768 columns of states and 64 of queries compare at the smaller n.
/// @param amplitude  (frequencies, N)
/// @param count      n, from 1 to N
/// @returns (frequencies)
Eigen::RowVectorXd expected_maximum(const Matrix& amplitude, Index count) {
  const Index columns = amplitude.cols();
  if (count == columns) return amplitude.rowwise().maxCoeff().transpose();
  // C(i-1, n-1) / C(N, n), from i = N down: times (i - n) / (i - 1) at each step.
  Vector weight = Vector::Zero(columns), sorted(columns);
  weight[columns - 1] = static_cast<double>(count) / static_cast<double>(columns);
  for (Index i = columns - 1; i >= count; --i)
    weight[i - 1] = weight[i] * static_cast<double>(i + 1 - count) / static_cast<double>(i);
  Eigen::RowVectorXd result(amplitude.rows());
  for (Index f = 0; f < amplitude.rows(); ++f) {
    sorted = amplitude.row(f).transpose();
    std::sort(sorted.begin(), sorted.end());
    result[f] = weight.dot(sorted);
  }
  return result;
}

/// Kinds of columns; from `shuffled` on, the same three with shuffled positions.
struct ColumnsOf {
  enum : std::size_t { query, key, state, shuffled };
  static constexpr std::array<const char*, shuffled> names{"query", "key", "state"},
      texts{"all heads' redefined queries", "all heads' redefined keys", "the hidden states"};
};

struct WaveSpectra {
  Index documents = 0;
  std::array<Matrix, 2 * ColumnsOf::shuffled> largest;  ///< (layers, floor(T/2) + 1)  expected maxima (1)
};

class WaveSpectraListener : public WaveListener {
 public:
  /// @param count   n of (1)
  /// @param number  of the document, which seeds the shuffle
  WaveSpectraListener(const Site& site, Index d_head, Index count, std::uint64_t seed, Index number)
      : heads_(site.grid.heads), d_head_(d_head), count_(count), order_(static_cast<std::size_t>(site.length)) {
    found_.documents = 1;
    found_.largest.fill(Matrix::Zero(std::ssize(site.grid.layers), site.length / 2 + 1));
    std::iota(order_.begin(), order_.end(), Index{0});
    Random random = Random(seed).stream(2000000 + static_cast<std::uint64_t>(number));
    random.shuffle(order_);
  }
  void begin(const WaveLayer& layer) override {
    amplitude_.fill(Matrix::Zero(layer.spectrum.rows(), heads_ * d_head_));
  }
  void see(const HeadWaves& waves) override {
    const Index first = (waves.row % heads_) * d_head_, k = waves.rank();
    amplitude_[ColumnsOf::query].middleCols(first, k) = magnitudes(waves.query_spectrum);
    amplitude_[ColumnsOf::key].middleCols(first, k) = magnitudes(waves.key_spectrum);
    amplitude_[ColumnsOf::shuffled + ColumnsOf::query].middleCols(first, k) =
        amplitude_spectrum(in_other_order(waves.query));
    amplitude_[ColumnsOf::shuffled + ColumnsOf::key].middleCols(first, k) =
        amplitude_spectrum(in_other_order(waves.key));
  }
  void end(const WaveLayer& layer) override {
    amplitude_[ColumnsOf::state] = magnitudes(layer.spectrum);
    amplitude_[ColumnsOf::shuffled + ColumnsOf::state] = amplitude_spectrum(in_other_order(layer.states));
    for (std::size_t i = 0; i < amplitude_.size(); ++i)
      found_.largest[i].row(layer.place) = expected_maximum(amplitude_[i], count_);
  }
  [[nodiscard]] WaveSpectra taken() { return std::move(found_); }

 private:
  [[nodiscard]] Matrix in_other_order(const Matrix& rows) const { return rows(order_, Eigen::all); }

  Index heads_, d_head_, count_;
  std::vector<Index> order_;                               // shuffled positions
  std::array<Matrix, 2 * ColumnsOf::shuffled> amplitude_;  // (floor(T/2) + 1, columns)  of one layer
  WaveSpectra found_;
};

struct WaveSpectraAnalysis : AnalysisOf<WaveSpectra> {
  using AnalysisOf::AnalysisOf;
  [[nodiscard]] std::unique_ptr<Look> look(const Document& /*document*/, Index i) const override {
    const Index number = site().number_of(i);
    if (number < 0) return nullptr;
    return look_of<WaveSpectraListener>(site(), stack().block.d_head, count(), options().seed, number);
  }
  [[nodiscard]] std::vector<Field> finish_sum(WaveSpectra& sum, Finished& /*finished*/) override {
    const std::vector<Axis> lines{layer_axis(site().grid.layers), frequency_axis(site().length)};
    Fields fields("wave_spectra");
    for (std::size_t i = 0; i < sum.largest.size(); ++i) {
      const std::size_t of = i % ColumnsOf::shuffled;
      const bool in_order = i == of;
      fields.add(std::string(ColumnsOf::names[of]) + (in_order ? "" : "_shuffled"), lines, "1",
                 fmt::format("largest amplitude expected among {} columns of {}{}", count(), ColumnsOf::texts[of],
                             in_order ? "" : ", positions in another order"),
                 sum.largest[i] / static_cast<double>(sum.documents));
    }
    fields.note_all("columns", count())
        .note_all("count", "expected maximum over that many columns, whatever their number");
    return before_position_term(fields.taken(), stack());
  }

 private:
  /// Number of columns compared: the smallest of states, queries and keys.
  [[nodiscard]] Index count() const {
    const BlockSpec& block = stack().block;
    return std::min({stack().d_model(), block.heads * block.d_head, block.kv_heads * block.d_head});
  }
};

}  // namespace

extern const AnalysisKind wave_spectra_analysis{
    .name = "wave_spectra",
    .asks = "Which frequencies do redefined queries and keys and hidden states hold, layer by layer?",
    .equal_length = true,
    .reads = {&qk_svd_analysis},
    .chain = true,
    .make = make_of<WaveSpectraAnalysis>};

}  // namespace headwave
