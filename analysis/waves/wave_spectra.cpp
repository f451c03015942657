#include "wave_spectra.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "../../core/fields/fields.h"
#include "../../core/numbers/fft.h"
#include "../../core/numbers/random.h"

namespace headwave {

namespace {

/// As many columns as the fewest of states, queries and keys.
Index column_count(const Stack& stack) {
  const BlockSpec& block = stack.block;
  return std::min({stack.d_model(), block.heads * block.d_head, block.kv_heads * block.d_head});
}

class WaveSpectraAnalysis : public AnalysisOf<WaveSpectra> {
 public:
  using AnalysisOf::AnalysisOf;
  [[nodiscard]] std::unique_ptr<Look> look(const Document& /*document*/, Index i) const override {
    const Index number = site().number_of(i);
    if (number < 0) return nullptr;
    return look_of<WaveSpectraListener>(site().grid, stack().block.d_head, site().length, column_count(stack()),
                                        options().seed, number);
  }

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(WaveSpectra& sum, Finished& /*finished*/) override {
    return before_position_term(describe(sum, site().grid, site().length, column_count(stack())), stack());
  }
};

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

WaveSpectraListener::WaveSpectraListener(const HeadGrid& grid, Index components, Index length, Index count,
                                         std::uint64_t seed, Index number)
    : heads_(grid.heads),
      components_(components),
      count_(count),
      order_(static_cast<std::size_t>(length)),
      found_{1, {}, {}, {}, {}, {}, {}} {
  found_.query = found_.key = found_.state = Matrix::Zero(std::ssize(grid.layers), length / 2 + 1);
  found_.query_shuffled = found_.key_shuffled = found_.state_shuffled = found_.query;
  std::iota(order_.begin(), order_.end(), Index{0});
  Random random = Random(seed).stream(2000000 + static_cast<std::uint64_t>(number));
  random.shuffle(order_);
}

void WaveSpectraListener::begin(const WaveLayer& /*layer*/) {
  query_ = key_ = query_shuffled_ = key_shuffled_ = Matrix::Zero(found_.query.cols(), heads_ * components_);
}

void WaveSpectraListener::see(const HeadWaves& waves) {
  const Index first = (waves.row % heads_) * components_, k = waves.rank();
  query_.middleCols(first, k) = magnitudes(waves.query_spectrum);
  key_.middleCols(first, k) = magnitudes(waves.key_spectrum);
  query_shuffled_.middleCols(first, k) =
      amplitude_spectrum(Matrix(waves.query(order_, Eigen::seqN(0, waves.query.cols()))));
  key_shuffled_.middleCols(first, k) = amplitude_spectrum(Matrix(waves.key(order_, Eigen::seqN(0, waves.key.cols()))));
}

void WaveSpectraListener::end(const WaveLayer& layer) {
  const auto largest = [&](const Matrix& amplitude) { return expected_maximum(amplitude, count_).transpose().eval(); };
  found_.query.row(layer.place) = largest(query_);
  found_.key.row(layer.place) = largest(key_);
  found_.state.row(layer.place) = largest(magnitudes(layer.spectrum));
  found_.query_shuffled.row(layer.place) = largest(query_shuffled_);
  found_.key_shuffled.row(layer.place) = largest(key_shuffled_);
  found_.state_shuffled.row(layer.place) =
      largest(amplitude_spectrum(Matrix(layer.states(order_, Eigen::seqN(0, layer.states.cols())))));
}

std::vector<Field> describe(const WaveSpectra& spectra, const HeadGrid& grid, Index length, Index count) {
  const auto documents = static_cast<double>(spectra.documents);
  const std::vector<Axis> lines{layer_axis(grid.layers), frequency_axis(length)};
  const std::string among = fmt::format("largest amplitude expected among {} columns of ", count);
  const std::string of = among + "all heads' ", of_states = among + "the hidden states";
  const std::string shuffled = ", positions in another order";
  Fields fields("wave_spectra");
  fields.add("query", lines, "1", of + "redefined queries", spectra.query / documents);
  fields.add("key", lines, "1", of + "redefined keys", spectra.key / documents);
  fields.add("state", lines, "1", of_states, spectra.state / documents);
  fields.add("query_shuffled", lines, "1", of + "redefined queries" + shuffled, spectra.query_shuffled / documents);
  fields.add("key_shuffled", lines, "1", of + "redefined keys" + shuffled, spectra.key_shuffled / documents);
  fields.add("state_shuffled", lines, "1", of_states + shuffled, spectra.state_shuffled / documents);
  fields.note_all("columns", count).note_all("count", "expected maximum over that many columns, whatever their number");
  return fields.taken();
}

const AnalysisKind& wave_spectra_analysis() {
  static const AnalysisKind kind{
      .name = "wave_spectra",
      .asks = "Which frequencies do redefined queries and keys and hidden states hold, layer by layer?",
      .needs = {Need::weights, Need::states, Need::equal_length},
      .reads = {qk_svd_analysis},
      .chain = true,
      .make = make_of<WaveSpectraAnalysis>};
  return kind;
}

}  // namespace headwave
