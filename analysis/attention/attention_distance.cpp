#include "attention_distance.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <ranges>

#include <fmt/format.h>

#include "../../core/fields/fields.h"
#include "measured_offset.h"
#include "offset_bins.h"

namespace headwave {

namespace {

constexpr Index most_slashes = 8;  // of a head

/// What is known of one head: of all documents, or of all but a block.
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

/// Numbers of heads, and their standard errors.
struct Estimates {
  Matrix value;                 ///< (rows, columns)
  std::vector<Matrix> without;  ///< the same, each without one block of documents; none: fewer than two blocks

  [[nodiscard]] Matrix error() const {
    if (without.empty()) return Matrix::Constant(value.rows(), value.cols(), not_defined);
    const auto blocks = static_cast<double>(without.size());
    Matrix mean = Matrix::Zero(value.rows(), value.cols()), squares = mean;
    for (const Matrix& one : without) mean += one / blocks;
    for (const Matrix& one : without) squares += (one - mean).cwiseAbs2();
    return (squares * ((blocks - 1) / blocks)).cwiseSqrt();
  }
  /// The largest of each group of heads.
  [[nodiscard]] Estimates largest_of(Index groups) const {
    const auto largest = [groups](const Matrix& heads) {
      Matrix found(groups, heads.cols());
      const Index size = heads.rows() / groups;
      for (Index group = 0; group < groups; ++group)
        found.row(group) = heads.middleRows(group * size, size).colwise().maxCoeff();
      return found;
    };
    Estimates found{largest(value), {}};
    for (const Matrix& one : without) found.without.push_back(largest(one));
    return found;
  }
};

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

  /// @param measure  number of a head, of its SummedHead and the column
  template <class Measure>
  [[nodiscard]] Estimates of(Index columns, const Measure& measure) const {
    return estimates(kept_, sum_.kept, [&](const Matrix& regular, const Matrix& kept) {
      Matrix numbers(regular.rows(), columns);
      for (Index row = 0; row < regular.rows(); ++row) {
        const SummedHead head{regular.row(row).transpose(), kept(row, 0)};
        for (Index column = 0; column < columns; ++column) numbers(row, column) = measure(head, column);
      }
      return numbers;
    });
  }

  /// Mean weights of regular pairs at every distance; NaN: no pair.
  [[nodiscard]] Estimates mean_weights() const {
    return estimates(pairs_, sum_.regular_pairs, [](const Matrix& regular, const Matrix& pairs) {
      const Index heads = regular.rows() / pairs.rows();
      Matrix weights = regular;
      for (Index row = 0; row < weights.rows(); ++row) weights.row(row).array() /= pairs.row(row / heads).array();
      return weights;
    });
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
  /// @param measured  makes numbers of regular weights and of `beside`
  template <class Measured>
  [[nodiscard]] Estimates estimates(const Matrix& beside, const std::vector<Matrix>& beside_of_blocks,
                                    const Measured& measured) const {
    Estimates found{measured(regular_, beside), {}};
    for (std::size_t block = 0; sum_.regular.size() > 1 && block < sum_.regular.size(); ++block)
      found.without.push_back(measured(regular_ - sum_.regular[block], beside - beside_of_blocks[block]));
    return found;
  }

  const DistanceSum& sum_;
  Matrix regular_, pairs_, kept_;  // of all blocks
};

/// Adds of each head the distances with the largest mean weights.
void add_slashes(Fields& fields, const Axis& layer, const Axis& head, const Estimator& estimator,
                 const DistanceBins& bins) {
  const Estimates means = estimator.mean_weights();
  const Matrix error = means.error();
  Matrix at_one = estimator.pairs();  // pairs of one distance of each bin
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
  const std::string fewer = "there are fewer distances";
  fields.add("slash_distance", {layer, head, slash}, "token",
             "distances at which a regular pair has the largest mean weight; of a bin the least", distance, fewer);
  fields.add("slash_weight", {layer, head, slash}, "1", "that mean weight", weight, fewer);
  fields.add("slash_error", {layer, head, slash}, "1", "its standard error", weight_error,
             "fewer than two blocks of documents that have such a pair: only headwave.watch keeps blocks; or " + fewer);
}

/// Traces of a run as such a sum, of one block.
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
  constexpr auto without_sink = static_cast<std::size_t>(Pairs::without_sink);
  const Matrix& all = traces.trace[all_pairs];
  sum.regular.assign(1, Matrix(all.rows(), sum.bins.count()));
  sum.kept.assign(1, all.rowwise().sum());
  sum.weight.resize(all.rows(), sum.bins.count());
  for (Index row = 0; row < all.rows(); ++row) {
    sum.regular.front().row(row) = binned(traces.trace[without_sink].row(row)).transpose();
    sum.weight.row(row) = binned(all.row(row)).transpose();
  }
  const Index layers = std::ssize(traces.grid.layers);
  sum.pairs = binned(traces.count[all_pairs]).transpose().replicate(layers, 1);
  sum.regular_pairs.assign(1, binned(traces.count[without_sink]).transpose().replicate(layers, 1));
  return sum;
}

class AttentionDistanceAnalysis : public AnalysisOf<DistanceSum> {
 public:
  using AnalysisOf::AnalysisOf;

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(DistanceSum& sum, Finished& finished) override {
    if (sum.regular.empty()) sum = distance_sum(finished.get<OffsetTraces>());
    return attention_distances(sum, site().grid, stack().block.kv_heads);
  }
};

}  // namespace

std::vector<Field> attention_distances(const DistanceSum& sum, const HeadGrid& grid, Index kv_heads,
                                       const DistanceOptions& options) {
  const Estimator estimator(sum);
  const Axis layer = layer_axis(grid.layers), head = head_axis(grid.heads),
             distance{"distance", "token", "least distance |key - query| of a bin", sum.bins.first};
  Axis key_head = head_axis(kv_heads);
  key_head.name = "key_head";
  key_head.long_name = "key head, that a group of query heads shares";
  const char* const standard_error = "its standard error";
  const std::string few = "fewer than two blocks of documents: only headwave.watch keeps blocks";
  Fields fields("attention_distance");
  // A number of every head and of the largest of a key head's query heads, each with its error.
  const auto add = [&](const std::string& name, const std::string& unit, const std::vector<Axis>& more,
                       const std::string& text, const std::string& text_of_groups, const Estimates& found) {
    const Estimates groups = found.largest_of(std::ssize(grid.layers) * kv_heads);
    std::vector<Axis> heads{layer, head}, key_heads{layer, key_head};
    heads.insert(heads.end(), more.begin(), more.end());
    key_heads.insert(key_heads.end(), more.begin(), more.end());
    fields.add(name, heads, unit, text, found.value);
    fields.add(name + "_error", heads, unit, standard_error, found.error(), few);
    fields.add("key_head_" + name, key_heads, unit, text_of_groups, groups.value);
    fields.add("key_head_" + name + "_error", key_heads, unit, standard_error, groups.error(), few);
  };

  Matrix weight = sum.weight;
  for (Index row = 0; row < weight.rows(); ++row)
    for (Index bin = 0; bin < weight.cols(); ++bin) {
      const double pairs = sum.pairs(row / grid.heads, bin);
      weight(row, bin) = pairs > 0 ? weight(row, bin) / pairs : not_defined;
    }
  fields.add("last_distance", {distance}, "token", "largest distance of a bin", sum.bins.last);
  fields.add("weight", {layer, head, distance}, "1", "mean attention weight at that distance, on both sides", weight,
             "no pair has that distance");
  fields.add("held", {layer, head, distance}, "1",
             "share of attention up to the end of that bin, or on special and first tokens", estimator.held());
  const Estimates apart =
      estimator.of(1, [](const SummedHead& of, Index /*column*/) { return 1 - of.regular.sum() / of.kept; });
  fields.add("apart", {layer, head}, "1", "share of attention on pairs of a special or first token", apart.value);
  fields.add("apart_error", {layer, head}, "1", standard_error, apart.error(), few);
  for (const double share : options.shares) {
    const std::string text =
        fmt::format("tokens that hold {:g} % of the attention, beside special and first ones", 100 * share);
    add(fmt::format("window_{:g}", 100 * share), "token", {}, text, text + ": the most of a key head's query heads",
        estimator.of(1, [&](const SummedHead& of, Index /*column*/) { return smallest_window(of, sum.bins, share); }));
  }
  add_slashes(fields, layer, head, estimator, sum.bins);
  std::vector<Index> recent = options.recent;
  if (recent.empty())
    for (Index window = 64; window <= sum.bins.first.back(); window *= 4) recent.push_back(window);
  if (recent.empty()) return fields.taken();
  add("distant", "1", {{"recent", "token", "the last tokens before a query, itself among them", recent}},
      "share of attention farther away than the recent tokens, special and first ones left out",
      "the same: the most of a key head's query heads",
      estimator.of(std::ssize(recent), [&](const SummedHead& of, Index column) {
        return distant_share(of, sum.bins, recent[static_cast<std::size_t>(column)]);
      }));
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
