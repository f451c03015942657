#include "swapped_keys.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "../../core/process/threads.h"
#include "../pass/even_spread.h"

namespace headwave {

namespace {

/// Keeps the attention rows of chosen queries.
class ChosenRows : public Probe {
 public:
  /// @param queries  ascending
  ChosenRows(const std::vector<Index>& queries, Index heads, Index keys)
      : queries_(queries), rows_(static_cast<std::size_t>(heads), Matrix32(std::ssize(queries), keys)) {}
  using Probe::see;
  void see(const Tile& tile) override {
    for (; next_ < std::ssize(queries_); ++next_) {
      const Index row = queries_[static_cast<std::size_t>(next_)] - tile.first_row;
      if (row >= tile.rows()) return;
      for (std::size_t head = 0; head < rows_.size(); ++head) rows_[head].row(next_) = tile.weights[head].row(row);
    }
  }
  /// (queries, keys)
  [[nodiscard]] const Matrix32& of(Index head) const { return rows_[static_cast<std::size_t>(head)]; }

 private:
  const std::vector<Index>& queries_;
  std::vector<Matrix32> rows_;
  Index next_ = 0;
};

/// Up to so many places that are free to move, evenly spread.
std::vector<Index> spread_queries(const std::vector<std::uint8_t>& stays, Index most) {
  const std::vector<Index> free = free_places(stays);
  const Index count = std::ssize(free);
  std::vector<Index> chosen;
  for (Index n = 0; n < count; ++n)  // from the end: the first of each part
    if (is_spread(count - 1 - n, std::min(most, count), count)) chosen.push_back(free[static_cast<std::size_t>(n)]);
  return chosen;
}

Matrix32 with_swapped_rows(Matrix32 rows, const std::vector<KeySwap>& swaps) {
  for (const KeySwap& swap : swaps) rows.row(swap.a).swap(rows.row(swap.b));
  return rows;
}

/// Scores of a layer's heads in one document: (heads, 2), positional and symbolic.
/// @param mean_key  (T, kv_heads * d_head)  of each place; empty: whole keys are swapped
Matrix document_scores(const AccountSite& site, std::size_t place, const AccountDocument& document,
                       const Matrix32& mean_key, const std::vector<KeySwap>& swaps, const SwappedKeysOptions& options) {
  const LayerQueriesKeys& layer = document.layers[place];
  Matrix32 key;
  if (mean_key.size() == 0)
    key = with_swapped_rows(layer.key, swaps);
  else
    key = mean_key + with_swapped_rows(layer.key - mean_key, swaps);
  const std::vector<Index> queries = spread_queries(document.query_stays, options.queries);
  ChosenRows before(queries, site.grid.heads, site.length), after(queries, site.grid.heads, site.length);
  const std::array<Probe*, 1> watching{&before}, comparing{&after};
  attend_layer(site, place, layer.query, layer.key, {}, watching);
  attend_layer(site, place, layer.query, key, {}, comparing);
  DefinedMean mean(Matrix::Constant(site.grid.heads, 2, not_defined));
  Matrix scores(site.grid.heads, 2);
  for (Index n = 0; n < std::ssize(queries); ++n) {
    const KeySpan open = allowed_keys(queries[static_cast<std::size_t>(n)], site.length,
                                      site.kind == AttentionKind::causal, site.window(place));
    for (Index head = 0; head < site.grid.heads; ++head) {
      const VectorView32 was(before.of(head).row(n).data(), site.length), is(after.of(head).row(n).data(), site.length);
      const SwapScores one = swap_scores(was, is, swaps, open, options.temperature);
      scores(head, 0) = one.positional;
      scores(head, 1) = one.symbolic;
    }
    add_to(mean, DefinedMean(scores));
  }
  return mean.value();
}

}  // namespace

SwapScores swap_scores(VectorView32 before, VectorView32 after, const std::vector<KeySwap>& swaps, KeySpan open,
                       double temperature) {
  const auto is_open = [&](Index key) { return key >= open.first && key < open.end(); };
  const auto difference = [&](const KeySwap& swap) {
    return std::abs(static_cast<double>(before[swap.a]) - static_cast<double>(before[swap.b]));
  };
  double largest = 0, all = 0, positional = 0, symbolic = 0;
  for (const KeySwap& swap : swaps)
    if (is_open(swap.a) && is_open(swap.b)) largest = std::max(largest, difference(swap));
  for (const KeySwap& swap : swaps) {
    if (!is_open(swap.a) || !is_open(swap.b)) continue;
    const double a = before[swap.a], b = before[swap.b], new_a = after[swap.a], new_b = after[swap.b];
    const double lengths = std::hypot(a, b) * std::hypot(new_a, new_b);
    if (!(lengths > 0)) continue;
    const double weight = std::exp((difference(swap) - largest) / temperature);
    all += weight;
    positional += weight * (new_a * a + new_b * b) / lengths;
    symbolic += weight * (new_a * b + new_b * a) / lengths;
  }
  return {positional / all, symbolic / all};
}

std::vector<KeySwap> random_swaps(const std::vector<std::uint8_t>& stays, Random& random) {
  std::vector<Index> free = free_places(stays);
  random.shuffle(free);
  std::vector<KeySwap> swaps;
  for (std::size_t i = 1; i < free.size(); i += 2) swaps.push_back({free[i - 1], free[i]});
  return swaps;
}

SwappedKeys swapped_keys(const AccountSums& sums, const AccountSite& site, const SwappedKeysOptions& options) {
  const Random random(options.seed);
  const Index layers = std::ssize(site.grid.layers), heads = site.grid.heads;
  const bool contents = options.part == SwappedPart::contents;
  std::vector<Matrix> of_layers(static_cast<std::size_t>(layers));
  parallel_for(layers, options.threads, [&](Index l) {
    const auto place = static_cast<std::size_t>(l);
    DefinedMean mean(Matrix::Constant(heads, 2, not_defined));
    for (std::size_t half = 0; half < sums.halves.size(); ++half) {
      const AccountHalf& other = sums.halves[1 - half];
      if (contents && other.documents == 0) continue;
      const Matrix32 mean_key =
          contents ? Matrix32(other.layers[place].key / static_cast<float>(other.documents)) : Matrix32();
      for (const AccountDocument& document : sums.halves[half].to_deal) {
        Random own = random.stream(static_cast<std::uint64_t>(document.number));
        const std::vector<KeySwap> swaps = random_swaps(document.key_stays, own);
        add_to(mean, DefinedMean(document_scores(site, place, document, mean_key, swaps, options)));
      }
    }
    of_layers[place] = mean.value();
  });
  SwappedKeys found;
  found.positional = found.symbolic = Vector(site.grid.rows());
  for (Index l = 0; l < layers; ++l) {
    found.positional.segment(l * heads, heads) = of_layers[static_cast<std::size_t>(l)].col(0);
    found.symbolic.segment(l * heads, heads) = of_layers[static_cast<std::size_t>(l)].col(1);
  }
  for (const AccountHalf& half : sums.halves) found.documents += std::ssize(half.to_deal);
  return found;
}

}  // namespace headwave
