#include "attention_distance.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <ranges>

#include <fmt/format.h>

#include "../../core/fields/fields.h"
#include "measured_offset.h"

namespace headwave {

namespace {

constexpr Index most_slashes = 8;  // of a head

/// Sums of one head: over all documents, or over all but one block.
struct SummedHead {
  Vector regular;  ///< (bins)
  double kept = 0;
};

/// Equation (3).
double distant_share(const SummedHead& head, const DistanceBins& bins, Index recent) {
  double sum = 0;
  for (std::size_t bin = 0; bin < bins.first.size(); ++bin) {
    const auto first = static_cast<double>(bins.first[bin]), end = static_cast<double>(bins.last[bin] + 1);
    const double beyond = std::clamp((end - static_cast<double>(recent)) / (end - first), 0.0, 1.0);
    sum += head.regular[static_cast<Index>(bin)] * beyond;
  }
  return sum / head.kept;
}

/// Equation (2).
double smallest_window(const SummedHead& head, const DistanceBins& bins, double share) {
  constexpr double rounding = 1e-12;  // rounding of a share of 1
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

/// Numbers for each head, with jackknife standard errors.
struct Estimates {
  Matrix value;                 ///< (rows, columns)
  std::vector<Matrix> without;  ///< the same without one block of documents each; empty: fewer than two blocks

  /// @param measured  computes the numbers from a DistanceBlock
  template <class Measured>
  Estimates(const DistanceBlock& whole, const std::vector<DistanceBlock>& blocks, const Measured& measured)
      : value(measured(whole)) {
    for (std::size_t block = 0; blocks.size() > 1 && block < blocks.size(); ++block)
      without.push_back(measured(DistanceBlock{whole.regular - blocks[block].regular, whole.pairs - blocks[block].pairs,
                                               whole.kept - blocks[block].kept}));
  }

  [[nodiscard]] Matrix error() const {
    if (without.empty()) return Matrix::Constant(value.rows(), value.cols(), not_defined);
    const auto blocks = static_cast<double>(without.size());
    Matrix mean = Matrix::Zero(value.rows(), value.cols()), squares = mean;
    for (const Matrix& one : without) mean += one / blocks;
    for (const Matrix& one : without) squares += (one - mean).cwiseAbs2();
    return (squares * ((blocks - 1) / blocks)).cwiseSqrt();
  }

  /// The largest of each of `groups` groups of heads.
  [[nodiscard]] Estimates largest_of(Index groups) const {
    Estimates found = *this;
    const auto reduce = [groups](Matrix& heads) {
      const Index size = heads.rows() / groups;
      Matrix largest(groups, heads.cols());
      for (Index group = 0; group < groups; ++group)
        largest.row(group) = heads.middleRows(group * size, size).colwise().maxCoeff();
      heads = largest;
    };
    reduce(found.value);
    for (Matrix& one : found.without) reduce(one);
    return found;
  }
};

/// A function of a DistanceBlock that applies `number` to every head and column.
template <class Number>
auto by_head(Index columns, const Number& number) {
  return [columns, number](const DistanceBlock& of) {
    Matrix numbers(of.regular.rows(), columns);
    for (Index row = 0; row < numbers.rows(); ++row) {
      const SummedHead head{of.regular.row(row).transpose(), of.kept(row, 0)};
      for (Index column = 0; column < columns; ++column) numbers(row, column) = number(head, column);
    }
    return numbers;
  };
}

/// Weights divided by pairs, which have a row per head or per layer; NaN: no pair.
Matrix mean_weights(const Matrix& weights, const Matrix& pairs) {
  Matrix means = weights;
  for (Index row = 0; row < means.rows(); ++row)
    means.row(row).array() /= pairs.row(row * pairs.rows() / means.rows()).array();
  return means;
}

/// Equation (1), at the end of every bin.
Matrix held_of(const DistanceBlock& whole) {
  Matrix held(whole.regular.rows(), whole.regular.cols());
  for (Index row = 0; row < held.rows(); ++row) {
    double sum = whole.kept(row, 0) - whole.regular.row(row).sum();
    for (Index bin = 0; bin < held.cols(); ++bin)
      held(row, bin) = (sum += whole.regular(row, bin)) / whole.kept(row, 0);
  }
  return held;
}

/// Adds the distances at which each head's mean weight is largest.
void add_slashes(Fields& fields, const Axis& layer, const Axis& head, const DistanceBlock& whole,
                 const DistanceSum& sum) {
  const DistanceBins& bins = sum.bins;
  const Estimates means(whole, sum.blocks, [](const DistanceBlock& of) { return mean_weights(of.regular, of.pairs); });
  const Matrix error = means.error();
  Matrix at_one = whole.pairs;  // pairs at one distance of each bin
  for (Index bin = 0; bin < at_one.cols(); ++bin) {
    const auto b = static_cast<std::size_t>(bin);
    at_one.col(bin) /= static_cast<double>(bins.last[b] - bins.first[b] + 1);
  }
  const Vector most = at_one.rowwise().maxCoeff();
  Matrix distance = Matrix::Constant(means.value.rows(), most_slashes, not_defined), weight = distance,
         weight_error = distance;
  for (Index row = 0; row < distance.rows(); ++row) {
    const Index of_layer = row / head.size();
    std::vector<Index> order;
    for (Index bin = 0; bin < means.value.cols(); ++bin)
      if (!std::isnan(means.value(row, bin)) && 4 * at_one(of_layer, bin) >= most[of_layer]) order.push_back(bin);
    std::ranges::stable_sort(order, std::greater(), [&](Index bin) { return means.value(row, bin); });
    for (Index slash = 0; slash < std::min(most_slashes, std::ssize(order)); ++slash) {
      const Index bin = order[static_cast<std::size_t>(slash)];
      distance(row, slash) = static_cast<double>(bins.first[static_cast<std::size_t>(bin)]);
      weight(row, slash) = means.value(row, bin);
      weight_error(row, slash) = error(row, bin);
    }
  }
  const Axis slash = counting_axis("slash", "1", "rank by mean weight", 0, most_slashes - 1);
  const std::string fewer = "there are fewer distances than ranks";
  fields.add("slash_distance", {layer, head, slash}, "token",
             "distances of the largest mean weights, without special and first tokens; of a bin its smallest distance",
             distance, fewer);
  fields.add("slash_weight", {layer, head, slash}, "1", "mean weight at slash_distance", weight, fewer);
  fields.add("slash_error", {layer, head, slash}, "1", "standard error of slash_weight", weight_error,
             "fewer than two blocks of documents that have such a pair: only headwave.watch keeps blocks; or " + fewer);
}

/// The traces of a run as a DistanceSum of one block. Means stand for sums: only ratios are read.
DistanceSum distance_sum(const OffsetTraces& traces) {
  constexpr Index exact = 128;
  const Index middle = traces.length - 1;
  DistanceSum sum;
  for (const OffsetBin& bin : offset_bins(traces.length, exact, true) | std::views::reverse) {
    sum.bins.first.push_back(-bin.last);
    sum.bins.last.push_back(-bin.first);
  }
  // Sums one row of traces over each bin, left and right together.
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
  constexpr auto without_sink = static_cast<std::size_t>(Pairs::without_sink);
  const Matrix& all = traces.trace[all_pairs];
  const Index layers = std::ssize(traces.grid.layers);
  DistanceBlock& regular = sum.blocks.emplace_back();
  regular.regular = sum.weight = Matrix(all.rows(), sum.bins.count());
  regular.kept = all.rowwise().sum();
  for (Index row = 0; row < all.rows(); ++row) {
    regular.regular.row(row) = binned(traces.trace[without_sink].row(row)).transpose();
    sum.weight.row(row) = binned(all.row(row)).transpose();
  }
  sum.pairs = binned(traces.count[all_pairs]).transpose().replicate(layers, 1);
  regular.pairs = binned(traces.count[without_sink]).transpose().replicate(layers, 1);
  return sum;
}

struct AttentionDistanceAnalysis : AnalysisOf<DistanceSum> {
  using AnalysisOf::AnalysisOf;
  [[nodiscard]] std::vector<Field> finish_sum(DistanceSum& sum, Finished& finished) override {
    if (sum.blocks.empty()) sum = distance_sum(finished.get<OffsetTraces>());
    return attention_distances(sum, site().grid, stack().block.kv_heads);
  }
};

}  // namespace

std::vector<Field> attention_distances(const DistanceSum& sum, const HeadGrid& grid, Index kv_heads,
                                       const DistanceOptions& options) {
  DistanceBlock whole;
  for (const DistanceBlock& block : sum.blocks) add_to(whole, DistanceBlock(block));
  const auto estimated = [&](const auto& measured) { return Estimates(whole, sum.blocks, measured); };
  const Axis layer = layer_axis(grid.layers), head = head_axis(grid.heads),
             distance{"distance", "token", "smallest distance |key - query| of a bin", sum.bins.first};
  Axis key_head = head_axis(kv_heads);
  key_head.name = "key_head";
  key_head.long_name = "key head, shared by a group of query heads";
  const std::string standard_error = "standard error of ";
  const std::string few = "fewer than two blocks of documents: only headwave.watch keeps blocks";
  Fields fields("attention_distance");
  // Adds a number of every head and of the largest query head of each key head, with their errors.
  const auto add = [&](const std::string& name, const std::string& unit, const std::vector<Axis>& more,
                       const std::string& text, const std::string& text_of_groups, const Estimates& found) {
    const Estimates groups = found.largest_of(std::ssize(grid.layers) * kv_heads);
    std::vector<Axis> heads{layer, head}, key_heads{layer, key_head};
    heads.insert(heads.end(), more.begin(), more.end());
    key_heads.insert(key_heads.end(), more.begin(), more.end());
    fields.add(name, heads, unit, text, found.value);
    fields.add(name + "_error", heads, unit, standard_error + name, found.error(), few);
    fields.add("key_head_" + name, key_heads, unit, text_of_groups, groups.value);
    fields.add("key_head_" + name + "_error", key_heads, unit, standard_error + "key_head_" + name, groups.error(),
               few);
  };

  fields.add("last_distance", {distance}, "token", "largest distance of a bin", sum.bins.last);
  fields.add("weight", {layer, head, distance}, "1", "mean attention weight at that distance, on both sides",
             mean_weights(sum.weight, sum.pairs), "no pair has that distance");
  fields.add("held", {layer, head, distance}, "1",
             "share of attention up to the end of the bin, plus that on special and first tokens", held_of(whole));
  const Estimates apart =
      estimated(by_head(1, [](const SummedHead& of, Index /*column*/) { return 1 - of.regular.sum() / of.kept; }));
  fields.add("apart", {layer, head}, "1", "share of attention on pairs with a special or first token", apart.value);
  fields.add("apart_error", {layer, head}, "1", standard_error + "apart", apart.error(), few);
  for (const double share : options.shares) {
    const std::string text = fmt::format(
        "smallest window of nearest tokens that, with special and first tokens, holds {:g} % of the attention",
        100 * share);
    add(fmt::format("window_{:g}", 100 * share), "token", {}, text, text + "; the largest of a key head's query heads",
        estimated(
            by_head(1, [&](const SummedHead& of, Index /*column*/) { return smallest_window(of, sum.bins, share); })));
  }
  add_slashes(fields, layer, head, whole, sum);
  std::vector<Index> recent = options.recent;
  if (recent.empty())
    for (Index window = 64; window <= sum.bins.first.back(); window *= 4) recent.push_back(window);
  if (recent.empty()) return fields.taken();
  add("distant", "1", {{"recent", "token", "window of nearest tokens, the query included", recent}},
      "share of attention beyond that window, without that on special and first tokens",
      "largest distant share of a key head's query heads",
      estimated(by_head(std::ssize(recent), [&](const SummedHead& of, Index column) {
        return distant_share(of, sum.bins, recent[static_cast<std::size_t>(column)]);
      })));
  return fields.taken();
}

extern const AnalysisKind attention_distance_analysis{
    .name = "attention_distance",
    .asks = "How far does each head look, and which window would hold what it looks at?",
    .reads = {&measured_offset_analysis},
    .of_sums = true,
    .one_sequence = true,
    .by_default = true,
    .make = make_of<AttentionDistanceAnalysis>};

}  // namespace headwave
