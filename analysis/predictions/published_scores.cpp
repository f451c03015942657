#include "published_scores.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "../../core/algebra/decompositions.h"
#include "../../core/algebra/product.h"
#include "../../core/fields/fields.h"
#include "../../core/numbers/offset_peak.h"
#include "../../core/process/threads.h"
#include "../attention/measured_offset.h"
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

VectorSums::VectorSums(Index rows, Index d_head, Index pairs)
    : sum(Matrix::Zero(rows, d_head)),
      squares(sum),
      norm(Matrix::Zero(rows, 1)),
      pair_norm(Matrix::Zero(rows, pairs)),
      share(Matrix::Constant(rows, 1, not_defined)) {}

double rank_one_share(const Matrix& vectors) {
  const Matrix gram = gram_of(vectors);
  const double all = gram.trace();
  if (!(all > 0)) return not_defined;
  return symmetric_eigenvalues(gram)[gram.rows() - 1] / all;
}

void set_vectors(VectorSums& sums, MatrixView32 vectors, const RotaryTerm* rotary, Index row) {
  const Index d_head = sums.sum.cols(), heads = vectors.cols() / d_head;
  Matrix shares = Matrix::Constant(sums.sum.rows(), 1, not_defined);
  for (Index head = 0; head < heads; ++head) {
    const Matrix own = vectors.middleCols(head * d_head, d_head).cast<double>();
    const Index at = row + head;
    sums.sum.row(at) = own.colwise().sum();
    sums.squares.row(at) = own.colwise().squaredNorm();
    sums.norm(at, 0) = own.rowwise().norm().sum();
    shares(at, 0) = rank_one_share(own);
    for (Index pair = 0; rotary != nullptr && 2 * pair < rotary->options().channels; ++pair) {
      const auto [a, b] = channels_of(rotary->options(), pair);
      sums.pair_norm(at, pair) = (own.col(a).array().square() + own.col(b).array().square()).sqrt().sum();
    }
  }
  add_to(sums.share, DefinedMean(shares));
}

VectorScores vector_scores(const VectorSums& sums, const HeadGrid& grid, const std::vector<const RotaryTerm*>& rotary,
                           double massive) {
  const Index layers = std::ssize(grid.layers), own_heads = sums.sum.rows() / layers;
  const Matrix share = sums.share.value();
  VectorScores scores;
  scores.rank_one_share = scores.resultant_length = scores.massive_values = scores.massive_ratio =
      scores.massive_channel = Vector(grid.rows());
  scores.pair_resultant_length = Matrix::Constant(grid.rows(), sums.pair_norm.cols(), not_defined);
  for (Index l = 0; l < layers; ++l)
    for (Index head = 0; head < grid.heads; ++head) {
      const Index row = l * grid.heads + head, from = l * own_heads + head / (grid.heads / own_heads);
      scores.rank_one_share[row] = share(from, 0);
      scores.resultant_length[row] = sums.sum.row(from).norm() / sums.norm(from, 0);
      const Vector size = sums.squares.row(from).cwiseSqrt().transpose();
      Index largest = 0;
      scores.massive_ratio[row] = size.maxCoeff(&largest) / size.mean();
      scores.massive_channel[row] = static_cast<double>(largest);
      scores.massive_values[row] = static_cast<double>((size.array() > massive * size.mean()).count());
      const RotaryTerm* term = rotary[static_cast<std::size_t>(l)];
      for (Index pair = 0; term != nullptr && 2 * pair < term->options().channels; ++pair) {
        const auto [a, b] = channels_of(term->options(), pair);
        scores.pair_resultant_length(row, pair) =
            std::hypot(sums.sum(from, a), sums.sum(from, b)) / sums.pair_norm(from, pair);
      }
    }
  return scores;
}

namespace {

constexpr const char* urrutia = "Urrutia et al. 2026, arXiv:2511.11579";
constexpr const char* cheng = "Cheng et al. 2026, arXiv:2601.08297";
constexpr const char* mao = "Mao et al. 2026, arXiv:2604.04921";
constexpr const char* jin = "Jin et al. 2025, arXiv:2502.01563";

/// The rotary term of every layer of a grid; null: it turns nothing.
std::vector<const RotaryTerm*> rotary_terms(const Stack& stack, const HeadGrid& grid) {
  std::vector<const RotaryTerm*> terms;
  for (const Index layer : grid.layers) terms.push_back(stack.rotary(layer));
  return terms;
}

Index most_pairs(const std::vector<const RotaryTerm*>& terms) {
  Index pairs = 0;
  for (const RotaryTerm* term : terms)
    if (term != nullptr) pairs = std::max(pairs, term->options().channels / 2);
  return pairs;
}

struct ScoredSums {
  AccountSums account;  ///< queries and keys, no weights
  VectorSums query, key;
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.account, self.query, self.key);
  }
};

/// Watches the queries and keys of one document.
class ScoredProbe : public Probe {
 public:
  ScoredProbe(const AccountSite& site, Index number, const Document& document, bool kept)
      : site_(site), terms_(rotary_terms(*site.stack, site.grid)), account_(site, number, document, kept) {
    const BlockSpec& spec = site.stack->block;
    const Index layers = std::ssize(site.grid.layers), pairs = most_pairs(terms_);
    query_ = VectorSums(layers * spec.heads, spec.d_head, pairs);
    key_ = VectorSums(layers * spec.kv_heads, spec.d_head, pairs);
  }
  [[nodiscard]] bool wants_projections() const override { return true; }
  using Probe::see;
  void see(const Tile& /*tile*/) override {}
  void see(const LayerProjections& projections) override {
    account_.see(projections);
    const Index place = site_.grid.place_of(projections.layer);
    if (projections.kind != site_.kind || place < 0) return;
    const RotaryTerm* rotary = terms_[static_cast<std::size_t>(place)];
    set_vectors(query_, projections.query, rotary, place * site_.stack->block.heads);
    set_vectors(key_, projections.key, rotary, place * site_.stack->block.kv_heads);
  }
  [[nodiscard]] ScoredSums taken() { return {account_.taken(), std::move(query_), std::move(key_)}; }

 private:
  AccountSite site_;
  std::vector<const RotaryTerm*> terms_;
  AccountProbe account_;
  VectorSums query_, key_;
};

class PublishedScoresAnalysis : public AnalysisOf<ScoredSums> {
 public:
  explicit PublishedScoresAnalysis(const AnalysisInput& input)
      : AnalysisOf(input),
        site_{input.site.grid, input.site.kind, input.site.length, 0, &input.stack()},
        kept_(dealt_documents(input.site.documents, input.site.length, input.options.dealt_tokens)) {}

  [[nodiscard]] std::unique_ptr<Look> look(const Document& document, Index i) const override {
    const Index number = site().number_of(i);
    if (number < 0) return nullptr;
    return look_of<ScoredProbe>(site_, number, document, is_dealt(number, site().documents, kept_));
  }

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(ScoredSums& sum, Finished& finished) override {
    PublishedScores scores;
    scores.grid = site().grid;
    scores.documents = sum.account.documents();
    SwappedKeysOptions& how = scores.options.swapped;
    // Where the key itself may hold its place, its content alone is moved.
    const bool in_keys = !input().knows_positions() || !stack().embedding.positions.empty();
    how.part = in_keys ? SwappedPart::contents : SwappedPart::keys;
    how.seed = options().seed;
    how.threads = input().threads;
    scores.swapped = swapped_keys(sum.account, site_, how);
    const auto& traces = finished.get<OffsetTraces>();
    const Index reach = std::min(traces.reach, (site().length - 1) / 2);  // as measured_offset() searches
    set_slash_scores(scores, traces, reach, site_.kind == AttentionKind::causal);
    const std::vector<const RotaryTerm*> terms = rotary_terms(stack(), scores.grid);
    scores.query = vector_scores(sum.query, scores.grid, terms, scores.options.massive);
    scores.key = vector_scores(sum.key, scores.grid, terms, scores.options.massive);
    scores.turns = most_pairs(terms) > 0;
    return describe(scores);
  }

 private:
  AccountSite site_;
  Index kept_;  ///< documents whose keys are swapped
};

std::unique_ptr<Analysis> make_published_scores(const AnalysisInput& input) {
  return input.site.length < 3 ? nullptr : std::make_unique<PublishedScoresAnalysis>(input);
}

}  // namespace

void set_slash_scores(PublishedScores& scores, const OffsetTraces& traces, Index reach, bool causal) {
  const Matrix& weight = traces.weight[all_pairs];
  scores.reach = reach;
  scores.slash_score = scores.slash_offset = Vector::Constant(weight.rows(), not_defined);
  for (Index row = 0; row < weight.rows(); ++row) {
    const Vector near = weight.row(row).segment(weight.cols() / 2 - reach, 2 * reach + 1).transpose();
    const auto peak = offset_peak(near, causal);
    if (!peak) continue;
    scores.slash_score[row] = near[peak->offset + reach];
    scores.slash_offset[row] = static_cast<double>(peak->offset);
  }
}

std::vector<Field> describe(const PublishedScores& scores) {
  const Axis layer = layer_axis(scores.grid.layers), head = head_axis(scores.grid.heads);
  const Axis side{"side", "1", "whether a number is about queries or about keys",
                  std::vector<std::string>{"query", "key"}};
  const std::vector<Axis> heads{layer, head}, of_sides{side, layer, head};
  const SwappedKeysOptions& swapped = scores.options.swapped;
  const bool contents = swapped.part == SwappedPart::contents;
  const auto both = [&](auto member) { return std::vector{scores.query.*member, scores.key.*member}; };
  const char* const no_swap = "no document was kept to swap its keys; or, where contents are swapped, there is one";
  const char* const zero = "all vectors are zero";
  Fields fields("published_scores");
  const auto say_swap = [&] {
    fields.undefined(no_swap)
        .note("source", urrutia)
        .note("swapped", contents ? "contents: keys less the mean key of their place" : "keys before any rotation")
        .note("temperature", swapped.temperature)
        .note("swapped_documents", scores.swapped.documents);
  };
  fields.add("positional_score", heads, "1", "how far attention stays at its place when keys are swapped",
             scores.swapped.positional);
  say_swap();
  fields.add("symbolic_score", heads, "1", "how far attention moves with its token when keys are swapped",
             scores.swapped.symbolic);
  say_swap();
  const auto say_slash = [&] {
    fields.undefined("no pair of tokens is that near and allowed by the mask")
        .note("source", cheng)
        .note("documents", std::string("all, of every length"));
  };
  fields.add("slash_score", heads, "1", "average slash score: largest mean attention weight along a diagonal",
             scores.slash_score);
  say_slash();
  fields.note("reach", scores.reach);
  fields.add("slash_offset", heads, "token", "the offset of that diagonal", scores.slash_offset);
  say_slash();
  fields
      .add("rank_one_share", of_sides, "1",
           "share of the squared singular values that is the largest one's, mean over documents",
           both(&VectorScores::rank_one_share), zero)
      .note("source", cheng);
  fields
      .add("resultant_length", of_sides, "1",
           "mean resultant length: length of the mean vector over the mean length of vectors",
           both(&VectorScores::resultant_length), zero)
      .note("source", mao);
  if (scores.turns)
    fields
        .add("pair_resultant_length",
             {side, layer, head,
              counting_axis("pair", "1", "pair of channels that turn together, fastest first", 0,
                            scores.query.pair_resultant_length.cols() - 1)},
             "1", "mean resultant length of every pair of channels that turn together",
             std::vector{scores.query.pair_resultant_length, scores.key.pair_resultant_length},
             "the layer does not turn this pair, or all vectors are zero")
        .note("source", mao);
  fields.add("massive_values", of_sides, "1", "number of massive channels", both(&VectorScores::massive_values));
  fields.note("source", jin).note("threshold", scores.options.massive);
  fields
      .add("massive_ratio", of_sides, "1", "root mean square of the largest channel over that of the mean channel",
           both(&VectorScores::massive_ratio), zero)
      .note("source", jin);
  fields.add("massive_channel", of_sides, "1", "the largest channel", both(&VectorScores::massive_channel));
  fields.note("source", jin);
  fields.note_all("documents", scores.documents);
  return fields.taken();
}

const AnalysisKind& published_scores_analysis() {
  static const AnalysisKind kind{
      .name = "published_scores",
      .asks = "What do published scores say: positional, symbolic, slash, rank one, massive values?",
      .step = Step::prediction,
      .needs = {Need::attention, Need::projections, Need::equal_length},
      .reads = {measured_offset_analysis},
      .one_sequence = true,
      .make = make_published_scores};
  return kind;
}

}  // namespace headwave
