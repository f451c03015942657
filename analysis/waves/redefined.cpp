// The most periodic redefined queries and keys over one document.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "../../core/fields/fields.h"
#include "periodic_columns.h"

namespace headwave {

namespace {

constexpr Index shown_waves = 4;  // of each head

/// The most periodic columns of redefined queries and keys over the first document, for a figure.
struct RedefinedWaves {
  Matrix query, key;  ///< (rows * shown_waves, T)  NaN: fewer columns
  Matrix component;   ///< (rows, shown_waves)  their numbers, from 1
};

/// A head's columns in the order in which they are shown. First comes the most periodic column of each range
/// of periods, [2, 8), [8, 32), [32, 128), ... tokens, so that in one of them a shift by the head's offset is
/// a visible part of a period. The others follow. The peak share of the query column decides.
std::vector<Index> shown_columns(const HeadWaves& waves) {
  const Index length = waves.length();
  std::vector<PeakShare> peaks;
  for (Index j = 0; j < waves.rank(); ++j) peaks.push_back(peak_share(waves.query_spectrum.col(j), length));
  const auto peak = [&](Index j) -> const PeakShare& { return peaks[static_cast<std::size_t>(j)]; };
  const auto in_band = [&](Index j) { return peak(j).share > 0 && peak(j).in_band(length); };
  std::vector<Index> order(peaks.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return in_band(a) != in_band(b) ? in_band(a) : peak(a).share > peak(b).share;
  });
  std::set<int> ranges;
  std::vector<Index> chosen, rest;
  for (const Index j : order) {
    const double period = static_cast<double>(length) / static_cast<double>(peak(j).frequency);
    const bool first = in_band(j) && ranges.insert(static_cast<int>(std::floor(std::log2(period / 2) / 2))).second;
    (first ? chosen : rest).push_back(j);
  }
  append(chosen, std::move(rest));
  return chosen;
}

struct RedefinedAnalysis : AnalysisOf<RedefinedWaves> {
  using AnalysisOf::AnalysisOf;
  [[nodiscard]] std::unique_ptr<Look> look(const Document& /*document*/, Index i) const override {
    if (site().number_of(i) != 0) return nullptr;
    const Index rows = site().grid.rows();
    const Matrix none = Matrix::Constant(rows * shown_waves, site().length, not_defined);
    return observe_waves(RedefinedWaves{none, none, Matrix::Constant(rows, shown_waves, not_defined)},
                         [](RedefinedWaves& found, const HeadWaves& waves) {
                           const std::vector<Index> columns = shown_columns(waves);
                           for (Index w = 0; w < std::min(shown_waves, std::ssize(columns)); ++w) {
                             const Index j = columns[static_cast<std::size_t>(w)], at = waves.row * shown_waves + w;
                             found.query.row(at) = waves.query.col(j).transpose();
                             found.key.row(at) = waves.key.col(j).transpose();
                             found.component(waves.row, w) = static_cast<double>(j + 1);
                           }
                         });
  }
  [[nodiscard]] std::vector<Field> finish_sum(RedefinedWaves& sum, Finished& /*finished*/) override {
    const Axis layer = layer_axis(site().grid.layers), head = head_axis(site().grid.heads);
    const Axis wave =
        counting_axis("wave", "1", "the most periodic column of each range of periods first", 1, shown_waves);
    const Axis position = counting_axis("position", "token", "position in the first document", 0, site().length - 1);
    Fields fields("redefined");
    fields.add("query", {layer, head, wave, position}, "1", "a redefined query column over the first document",
               sum.query);
    fields.add("key", {layer, head, wave, position}, "1", "the redefined key column that belongs to the query column",
               sum.key);
    fields.add("component", {layer, head, wave}, "1", "number of the redefined column, by descending gain",
               sum.component);
    fields.note_all("undefined", "the head has fewer columns");
    return before_position_term(fields.taken(), stack());
  }
};

}  // namespace

extern const AnalysisKind redefined_analysis{
    .name = "redefined",
    .asks = "What do periodic redefined queries and keys look like in a document?",
    .equal_length = true,
    .reads = {&qk_svd_analysis},
    .chain = true,
    .make = make_of<RedefinedAnalysis>};

}  // namespace headwave
