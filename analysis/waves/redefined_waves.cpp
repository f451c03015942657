#include "redefined_waves.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "../../core/fields/fields.h"

namespace headwave {

namespace {

constexpr Index shown_waves = 4;  // of each head

class RedefinedAnalysis : public AnalysisOf<RedefinedWaves> {
 public:
  using AnalysisOf::AnalysisOf;
  [[nodiscard]] std::unique_ptr<Look> look(const Document& /*document*/, Index i) const override {
    if (site().number_of(i) != 0) return nullptr;
    return look_of<RedefinedWavesListener>(site().grid, site().length, shown_waves);
  }

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(RedefinedWaves& sum, Finished& /*finished*/) override {
    return before_position_term(describe(sum, site().grid), stack());
  }
};

}  // namespace

RedefinedWavesListener::RedefinedWavesListener(const HeadGrid& grid, Index length, Index waves,
                                               const PeriodicOptions& options)
    : waves_(waves), options_(options) {
  found_.query = found_.key = Matrix::Constant(grid.rows() * waves, length, not_defined);
  found_.component = Matrix::Constant(grid.rows(), waves, not_defined);
}

void RedefinedWavesListener::see(const HeadWaves& waves) {
  std::vector<PeakShare> peaks;
  for (Index j = 0; j < waves.rank(); ++j) peaks.push_back(peak_share(waves.query_spectrum.col(j), waves.length()));
  std::vector<Index> order(peaks.size());
  std::iota(order.begin(), order.end(), Index{0});
  const auto in_band = [&](Index j) {
    return is_periodic(peaks[static_cast<std::size_t>(j)], waves.length(), 0, options_);
  };
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    if (in_band(a) != in_band(b)) return in_band(a);
    return peaks[static_cast<std::size_t>(a)].share > peaks[static_cast<std::size_t>(b)].share;
  });
  // The most periodic column of every range of periods comes first, [2, 8), [8, 32), ... tokens: whatever the head's
  // offset, a shift by it is a visible part of a period in one of them.
  std::set<int> ranges;
  std::vector<Index> chosen, rest;
  for (const Index j : order) {
    const auto frequency = static_cast<double>(peaks[static_cast<std::size_t>(j)].frequency);
    const double period = static_cast<double>(waves.length()) / frequency;
    const bool first = in_band(j) && ranges.insert(static_cast<int>(std::floor(std::log2(period / 2) / 2))).second;
    (first ? chosen : rest).push_back(j);
  }
  chosen.insert(chosen.end(), rest.begin(), rest.end());
  const Index shown = std::min<Index>(waves_, static_cast<Index>(order.size()));
  for (Index w = 0; w < shown; ++w) {
    const Index j = chosen[static_cast<std::size_t>(w)], at = waves.row * waves_ + w;
    found_.query.row(at) = waves.query.col(j).transpose();
    found_.key.row(at) = waves.key.col(j).transpose();
    found_.component(waves.row, w) = static_cast<double>(j + 1);
  }
}

std::vector<Field> describe(const RedefinedWaves& shown, const HeadGrid& grid) {
  const Axis layer = layer_axis(grid.layers), head = head_axis(grid.heads);
  const Axis wave =
      counting_axis("wave", "1", "the most periodic column of each range of periods first", 1, shown.component.cols());
  const Axis position = counting_axis("position", "token", "position in the first document", 0, shown.query.cols() - 1);
  Fields fields("redefined");
  fields.add("query", {layer, head, wave, position}, "1", "a redefined query column over the first document",
             shown.query);
  fields.add("key", {layer, head, wave, position}, "1", "the redefined key column that goes with it", shown.key);
  fields.add("component", {layer, head, wave}, "1", "number of that column, by descending gain", shown.component);
  fields.note_all("undefined", "the head has fewer columns");
  return fields.taken();
}

const AnalysisKind& redefined_analysis() {
  static const AnalysisKind kind{.name = "redefined",
                                 .asks = "What do periodic redefined queries and keys look like in a document?",
                                 .needs = {Need::weights, Need::states, Need::equal_length},
                                 .reads = {qk_svd_analysis},
                                 .chain = true,
                                 .make = make_of<RedefinedAnalysis>};
  return kind;
}

}  // namespace headwave
