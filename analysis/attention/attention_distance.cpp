#include "attention_distance.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <ranges>

#include <fmt/format.h>

#include "../../core/fields/fields.h"
#include "measured_offset.h"
#include "query_bands.h"

namespace headwave {

namespace {

class AttentionDistanceAnalysis : public AnalysisOf<DistanceSum> {
 public:
  using AnalysisOf::AnalysisOf;

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(DistanceSum& sum, Finished& finished) override {
    if (sum.regular.empty()) sum = distance_sum(finished.get<OffsetTraces>());
    return describe(attention_distances(sum, site().grid, stack().block.kv_heads));
  }
};

/// What is known of one head: of all documents, or of all but a block.
struct SummedHead {
  Vector regular;  ///< (bins)
  double kept = 0;
};

/// Share of a bin's distances that lie at `window` or beyond.
double beyond(const DistanceBins& bins, std::size_t bin, double window) {
  const auto first = static_cast<double>(bins.first[bin]), end = static_cast<double>(bins.last[bin] + 1);
  return std::clamp((end - window) / (end - first), 0.0, 1.0);
}

/// Equation (3).
double distant_share(const SummedHead& head, const DistanceBins& bins, Index recent) {
  double sum = 0;
  for (std::size_t bin = 0; bin < bins.first.size(); ++bin)
    sum += head.regular[static_cast<Index>(bin)] * beyond(bins, bin, static_cast<double>(recent));
  return sum / head.kept;
}

/// Equation (2).
double smallest_window(const SummedHead& head, const DistanceBins& bins, double share) {
  constexpr double rounding = 1e-12;  // what is lost of a share of 1
  double missing = share * head.kept * (1 - rounding) - (head.kept - head.regular.sum());
  if (!(missing > 0)) return missing <= 0 ? 0 : not_defined;
  for (std::size_t bin = 0; bin < bins.first.size(); ++bin) {
    const double here = head.regular[static_cast<Index>(bin)];
    const auto first = static_cast<double>(bins.first[bin]), end = static_cast<double>(bins.last[bin] + 1);
    if (here >= missing) return first + (end - first) * missing / here;
    missing -= here;
  }
  return static_cast<double>(bins.last.back() + 1);
}

Matrix largest_of_groups(const Matrix& heads, Index groups) {
  Matrix largest(groups, heads.cols());
  const Index size = heads.rows() / groups;
  for (Index group = 0; group < groups; ++group)
    largest.row(group) = heads.middleRows(group * size, size).colwise().maxCoeff();
  return largest;
}

/// @param without  the same numbers, each without one block of documents; none: there are fewer than two blocks
HeadEstimates jackknifed(Matrix all, const std::vector<Matrix>& without) {
  HeadEstimates found{std::move(all), {}};
  found.error = Matrix::Constant(found.value.rows(), found.value.cols(), not_defined);
  if (without.empty()) return found;
  const auto blocks = static_cast<double>(without.size());
  Matrix mean = Matrix::Zero(found.value.rows(), found.value.cols()), squares = mean;
  for (const Matrix& one : without) mean += one / blocks;
  for (const Matrix& one : without) squares += (one - mean).cwiseAbs2();
  found.error = (squares * ((blocks - 1) / blocks)).cwiseSqrt();
  return found;
}

/// Measures the heads of all documents, and of all but one block at a time.
class Estimator {
 public:
  explicit Estimator(const DistanceSum& sum) : sum_(sum) {
    for (std::size_t block = 0; block < sum.regular.size(); ++block) {
      add_to(regular_, Matrix(sum.regular[block]));
      add_to(pairs_, Matrix(sum.regular_pairs[block]));
      add_to(kept_, Matrix(sum.kept[block]));
    }
  }

  /// Estimates of every head, and of the largest of each group of heads.
  /// @param measure  number of a head, of its SummedHead and the column
  template <class Measure>
  [[nodiscard]] std::pair<HeadEstimates, HeadEstimates> of(Index columns, Index groups, const Measure& measure) const {
    const auto measured = [&](const Matrix& regular, const Matrix& kept) {
      Matrix numbers(regular.rows(), columns);
      for (Index row = 0; row < regular.rows(); ++row) {
        const SummedHead head{regular.row(row).transpose(), kept(row, 0)};
        for (Index column = 0; column < columns; ++column) numbers(row, column) = measure(head, column);
      }
      return numbers;
    };
    const Matrix all = measured(regular_, kept_);
    std::vector<Matrix> without = without_a_block(measured, kept_, sum_.kept);
    HeadEstimates heads = jackknifed(all, without);
    for (Matrix& one : without) one = largest_of_groups(one, groups);
    return {std::move(heads), jackknifed(largest_of_groups(all, groups), without)};
  }

  /// Mean weights of regular pairs at every distance; NaN: no pair.
  [[nodiscard]] HeadEstimates mean_weights() const {
    const auto mean = [](const Matrix& regular, const Matrix& pairs) -> Matrix {
      const Index heads = regular.rows() / pairs.rows();
      Matrix weights = regular;
      for (Index row = 0; row < weights.rows(); ++row) weights.row(row).array() /= pairs.row(row / heads).array();
      return weights;
    };
    return jackknifed(mean(regular_, pairs_), without_a_block(mean, pairs_, sum_.regular_pairs));
  }

  /// Pairs of regular tokens: (layers, bins).
  [[nodiscard]] const Matrix& pairs() const { return pairs_; }

  /// Equation (1), at the end of every bin.
  [[nodiscard]] Matrix held() const {
    Matrix held(regular_.rows(), regular_.cols());
    for (Index row = 0; row < held.rows(); ++row) {
      double sum = kept_(row, 0) - regular_.row(row).sum();
      for (Index bin = 0; bin < held.cols(); ++bin) held(row, bin) = (sum += regular_(row, bin)) / kept_(row, 0);
    }
    return held;
  }

 private:
  /// Numbers of all documents but one block at a time; none if there are fewer than two blocks.
  /// @param measured  makes them, of regular weights and of `beside`
  template <class Measured>
  [[nodiscard]] std::vector<Matrix> without_a_block(const Measured& measured, const Matrix& beside,
                                                    const std::vector<Matrix>& beside_of_blocks) const {
    std::vector<Matrix> without;
    for (std::size_t block = 0; sum_.regular.size() > 1 && block < sum_.regular.size(); ++block)
      without.push_back(measured(regular_ - sum_.regular[block], beside - beside_of_blocks[block]));
    return without;
  }

  const DistanceSum& sum_;
  Matrix regular_, pairs_, kept_;  // of all blocks
};

/// Of each head the distances with the largest mean weights.
/// @param pairs  (layers, bins)  of regular tokens
void set_slashes(AttentionDistances& found, const HeadEstimates& means, const Matrix& pairs) {
  const Index heads = means.value.rows();
  found.slash_distance = found.slash.value = found.slash.error = Matrix::Constant(heads, most_slashes, not_defined);
  Matrix at_one = pairs;  // of one distance of each bin
  for (Index bin = 0; bin < at_one.cols(); ++bin) {
    const auto b = static_cast<std::size_t>(bin);
    at_one.col(bin) /= static_cast<double>(found.bins.last[b] - found.bins.first[b] + 1);
  }
  const Vector most = at_one.rowwise().maxCoeff();
  for (Index row = 0; row < heads; ++row) {
    const Index layer = row / found.grid.heads;
    std::vector<Index> bins;
    for (Index bin = 0; bin < means.value.cols(); ++bin)
      if (!std::isnan(means.value(row, bin)) && 4 * at_one(layer, bin) >= most[layer]) bins.push_back(bin);
    std::ranges::stable_sort(bins, std::greater(), [&](Index bin) { return means.value(row, bin); });
    for (Index slash = 0; slash < std::min(most_slashes, std::ssize(bins)); ++slash) {
      const Index bin = bins[static_cast<std::size_t>(slash)];
      found.slash_distance(row, slash) = static_cast<double>(found.bins.first[static_cast<std::size_t>(bin)]);
      found.slash.value(row, slash) = means.value(row, bin);
      found.slash.error(row, slash) = means.error(row, bin);
    }
  }
}

/// 64, 256, 1024, ... as far as there are larger distances.
std::vector<Index> recent_windows(const DistanceBins& bins) {
  std::vector<Index> recent;
  for (Index window = 64; window <= bins.first.back(); window *= 4) recent.push_back(window);
  return recent;
}

}  // namespace

DistanceSum distance_sum(const OffsetTraces& traces) {
  constexpr Index exact = 128;
  const Index middle = traces.length - 1;
  DistanceSum sum;
  for (const OffsetBin& bin : offset_bins(traces.length, exact, true) | std::views::reverse) {
    sum.bins.first.push_back(-bin.last);
    sum.bins.last.push_back(-bin.first);
  }
  // Sums over a bin of one row of traces, of both sides.
  const auto binned = [&](const auto& row) {
    Vector result = Vector::Zero(sum.bins.count());
    for (std::size_t bin = 0; bin < sum.bins.first.size(); ++bin)
      for (Index d = sum.bins.first[bin]; d <= sum.bins.last[bin]; ++d) {
        double& here = result[static_cast<Index>(bin)];
        here += row[middle - d];
        if (d > 0) here += row[middle + d];
      }
    return result;
  };
  const Matrix& all = traces.trace[all_pairs];
  const Matrix& regular = traces.trace[static_cast<std::size_t>(Pairs::without_sink)];
  sum.regular.assign(1, Matrix(all.rows(), sum.bins.count()));
  sum.kept.assign(1, all.rowwise().sum());
  sum.weight.resize(all.rows(), sum.bins.count());
  for (Index row = 0; row < all.rows(); ++row) {
    sum.regular.front().row(row) = binned(regular.row(row)).transpose();
    sum.weight.row(row) = binned(all.row(row)).transpose();
  }
  const Index layers = std::ssize(traces.grid.layers);
  sum.pairs = binned(traces.count[all_pairs]).transpose().replicate(layers, 1);
  sum.regular_pairs.assign(
      1, binned(traces.count[static_cast<std::size_t>(Pairs::without_sink)]).transpose().replicate(layers, 1));
  return sum;
}

AttentionDistances attention_distances(const DistanceSum& sum, const HeadGrid& grid, Index kv_heads,
                                       const DistanceOptions& options) {
  AttentionDistances found;
  found.grid = grid;
  found.kv_heads = kv_heads;
  found.bins = sum.bins;
  found.shares = options.shares;
  found.recent = options.recent.empty() ? recent_windows(sum.bins) : options.recent;
  found.weight.resize(sum.weight.rows(), sum.weight.cols());
  for (Index row = 0; row < sum.weight.rows(); ++row)
    for (Index bin = 0; bin < sum.weight.cols(); ++bin) {
      const double pairs = sum.pairs(row / grid.heads, bin);
      found.weight(row, bin) = pairs > 0 ? sum.weight(row, bin) / pairs : not_defined;
    }
  const Estimator estimator(sum);
  found.held = estimator.held();
  const auto apart = [](const SummedHead& head, Index /*column*/) { return 1 - head.regular.sum() / head.kept; };
  const auto window = [&](const SummedHead& head, Index column) {
    return smallest_window(head, sum.bins, found.shares[static_cast<std::size_t>(column)]);
  };
  const auto distant = [&](const SummedHead& head, Index column) {
    return distant_share(head, sum.bins, found.recent[static_cast<std::size_t>(column)]);
  };
  const Index groups = std::ssize(grid.layers) * kv_heads, shares = std::ssize(found.shares);
  found.apart = estimator.of(1, groups, apart).first;
  std::tie(found.window, found.group_window) = estimator.of(shares, groups, window);
  std::tie(found.distant, found.group_distant) = estimator.of(std::ssize(found.recent), groups, distant);
  set_slashes(found, estimator.mean_weights(), estimator.pairs());
  return found;
}

std::vector<Field> describe(const AttentionDistances& distances) {
  const Axis layer = layer_axis(distances.grid.layers), head = head_axis(distances.grid.heads),
             distance{"distance", "token", "least distance |key - query| of a bin", distances.bins.first},
             recent{"recent", "token", "the last tokens before a query, itself among them", distances.recent};
  Axis key_head = head_axis(distances.kv_heads);
  const Axis slash = counting_axis("slash", "1", "rank by mean weight", 0, most_slashes - 1);
  const char* const standard_error = "its standard error";
  key_head.name = "key_head";
  key_head.long_name = "key head, that a group of query heads shares";
  const std::string few = "fewer than two blocks of documents: only headwave.watch keeps blocks";
  Fields fields("attention_distance");
  fields.add("last_distance", {distance}, "token", "largest distance of a bin", distances.bins.last);
  fields.add("weight", {layer, head, distance}, "1", "mean attention weight at that distance, on both sides",
             distances.weight, "no pair has that distance");
  fields.add("held", {layer, head, distance}, "1",
             "share of attention up to the end of that bin, or on special and first tokens", distances.held);
  fields.add("apart", {layer, head}, "1", "share of attention on pairs of a special or first token",
             distances.apart.value);
  fields.add("apart_error", {layer, head}, "1", standard_error, distances.apart.error, few);
  for (std::size_t share = 0; share < distances.shares.size(); ++share) {
    const auto column = static_cast<Index>(share);
    const std::string name = fmt::format("window_{:g}", 100 * distances.shares[share]),
                      what = fmt::format("tokens that hold {:g} % of the attention, beside special and first ones",
                                         100 * distances.shares[share]);
    fields.add(name, {layer, head}, "token", what, distances.window.value.col(column));
    fields.add(name + "_error", {layer, head}, "token", standard_error, distances.window.error.col(column), few);
    fields.add("key_head_" + name, {layer, key_head}, "token", what + ": the most of a key head's query heads",
               distances.group_window.value.col(column));
    fields.add("key_head_" + name + "_error", {layer, key_head}, "token", standard_error,
               distances.group_window.error.col(column), few);
  }
  const std::string fewer = "there are fewer distances";
  fields.add("slash_distance", {layer, head, slash}, "token",
             "distances at which a regular pair has the largest mean weight; of a bin the least",
             distances.slash_distance, fewer);
  fields.add("slash_weight", {layer, head, slash}, "1", "that mean weight", distances.slash.value, fewer);
  fields.add("slash_error", {layer, head, slash}, "1", standard_error, distances.slash.error,
             "fewer than two blocks of documents that have such a pair: only headwave.watch keeps blocks; or " + fewer);
  if (distances.recent.empty()) return fields.taken();
  fields.add("distant", {layer, head, recent}, "1",
             "share of attention farther away than the recent tokens, special and first ones left out",
             distances.distant.value);
  fields.add("distant_error", {layer, head, recent}, "1", standard_error, distances.distant.error, few);
  fields.add("key_head_distant", {layer, key_head, recent}, "1", "the same: the most of a key head's query heads",
             distances.group_distant.value);
  fields.add("key_head_distant_error", {layer, key_head, recent}, "1", standard_error, distances.group_distant.error,
             few);
  return fields.taken();
}

const AnalysisKind& attention_distance_analysis() {
  static const AnalysisKind kind{.name = "attention_distance",
                                 .asks = "How far does each head look, and which window would hold what it looks at?",
                                 .needs = {Need::attention},
                                 .reads = {measured_offset_analysis},
                                 .of_sums = true,
                                 .one_sequence = true,
                                 .by_default = true,
                                 .make = make_of<AttentionDistanceAnalysis>};
  return kind;
}

}  // namespace headwave
