#include "strongest_pairs.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "../../core/fields/fields.h"
#include "attention_map.h"

namespace headwave {

namespace {

TokenPair::Around around(const std::vector<std::string>& tokens, Index position) {
  TokenPair::Around texts;
  for (Index i = 0; i < std::ssize(texts); ++i) {
    const Index place = position - tokens_around + i;
    if (place >= 0 && place < std::ssize(tokens))
      texts[static_cast<std::size_t>(i)] = tokens[static_cast<std::size_t>(place)];
  }
  return texts;
}

class StrongestPairsAnalysis : public AnalysisOf<StrongestPairs> {
 public:
  using AnalysisOf::AnalysisOf;
  [[nodiscard]] std::unique_ptr<Look> look(const Document& document, Index i) const override {
    return look_of<StrongestPairProbe>(site().grid, document, i, site().kind);
  }

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(StrongestPairs& sum, Finished& /*finished*/) override {
    return describe(sum, site().grid);
  }
};

}  // namespace

void StrongestPairs::add(StrongestPairs&& next) {
  of_head.resize(std::max(of_head.size(), next.of_head.size()));
  for (std::size_t row = 0; row < next.of_head.size(); ++row) {
    std::vector<TokenPair>& kept = of_head[row];
    const auto here = std::ssize(kept);
    append(kept, std::move(next.of_head[row]));
    std::inplace_merge(kept.begin(), kept.begin() + here, kept.end(),
                       [](const TokenPair& a, const TokenPair& b) { return a.weight > b.weight; });
    if (std::ssize(kept) > strongest_pairs_kept) kept.resize(strongest_pairs_kept);
  }
}

StrongestPairProbe::StrongestPairProbe(HeadGrid grid, const Document& document, Index number, AttentionKind kind)
    : grid_(std::move(grid)),
      kind_(kind),
      number_(number),
      query_tokens_(token_labels(document.query_tokens(kind), document)),
      key_tokens_(token_labels(document.key_tokens(kind), document)),
      strongest_(static_cast<std::size_t>(grid_.rows())) {
  for (Index i = 0; i < std::ssize(query_tokens_); ++i)
    counted_queries_.push_back(counts(Pairs::without_sink, document.query_tokens(kind), i));
  for (Index j = 0; j < std::ssize(key_tokens_); ++j) {
    if (!counts(Pairs::without_sink, document.key_tokens(kind), j)) continue;
    if (counted_keys_.empty() || counted_keys_.back().end() != j) counted_keys_.push_back({j, 0});
    ++counted_keys_.back().count;
  }
}

/// @param weights  of one query on the keys from first_key on
void StrongestPairProbe::keep_largest(std::vector<Found>& strongest,
                                      const Eigen::Ref<const Eigen::RowVectorXf>& weights, Index query,
                                      Index first_key) {
  const auto smallest = [&] { return std::ssize(strongest) < strongest_pairs_kept ? 0.0F : strongest.back().weight; };
  if (!(weights.maxCoeff() > smallest())) return;
  for (Index k = 0; k < weights.size(); ++k) {
    if (!(weights[k] > smallest())) continue;
    const auto place = std::ranges::upper_bound(strongest, weights[k], std::ranges::greater(), &Found::weight);
    strongest.insert(place, {weights[k], query, first_key + k});
    if (std::ssize(strongest) > strongest_pairs_kept) strongest.pop_back();
  }
}

void StrongestPairProbe::see(const Tile& tile) {
  if (tile.kind != kind_) return;
  const Index first_row = grid_.first_row(tile.layer);
  for (Index head = 0; head < tile.heads(); ++head) {
    const MatrixView32& weights = tile.weights[static_cast<std::size_t>(head)];
    std::vector<Found>& strongest = strongest_[static_cast<std::size_t>(first_row + head)];
    for (Index r = 0; r < tile.rows(); ++r) {
      const Index query = tile.first_row + r;
      if (!counted_queries_[static_cast<std::size_t>(query)]) continue;
      const KeySpan open = tile.allowed_keys(query);
      for (const KeySpan& span : counted_keys_) {
        const Index first = std::max(span.first, open.first), count = std::min(span.end(), open.end()) - first;
        if (count > 0) keep_largest(strongest, weights.row(r).segment(first, count), query, first);
      }
    }
  }
}

StrongestPairs StrongestPairProbe::taken() const {
  StrongestPairs pairs;
  for (const std::vector<Found>& strongest : strongest_) {
    std::vector<TokenPair>& list = pairs.of_head.emplace_back();
    for (const auto& [weight, query, key] : strongest)
      list.push_back({weight, number_, query, key, around(query_tokens_, query), around(key_tokens_, key)});
  }
  return pairs;
}

std::vector<Field> describe(const StrongestPairs& pairs, const HeadGrid& grid) {
  // Places without a pair have a NaN, -1 and empty texts.
  static const TokenPair none{not_defined, -1, -1, -1, {}, {}};
  std::vector<const TokenPair*> all;
  for (std::size_t row = 0; row < static_cast<std::size_t>(grid.rows()); ++row)
    for (std::size_t i = 0; i < strongest_pairs_kept; ++i)
      all.push_back(row < pairs.of_head.size() && i < pairs.of_head[row].size() ? &pairs.of_head[row][i] : &none);
  const auto of_all = [&](auto member) {
    return all | std::views::transform([member](const TokenPair* pair) { return pair->*member; });
  };
  std::vector<Axis> axes{layer_axis(grid.layers), head_axis(grid.heads),
                         counting_axis("pair", "1", "rank by weight", 0, strongest_pairs_kept - 1)};
  const char* const fewer = "the head gives weight to fewer pairs";
  const std::string no_pair = std::string("-1: ") + fewer;
  Fields fields("strongest_pairs");
  fields.add("weight", axes, "1", "largest attention weights over all documents", of_all(&TokenPair::weight), fewer);
  fields.add("document", axes, "1", "number of the document", of_all(&TokenPair::document), no_pair);
  fields.add("query", axes, "token", "position of the query", of_all(&TokenPair::query), no_pair);
  fields.add("key", axes, "token", "position of the key", of_all(&TokenPair::key), no_pair);
  axes.push_back(
      counting_axis("around", "token", "position minus that of the query or key", -tokens_around, tokens_around));
  fields.add("query_token", axes, "1", "texts of the tokens around the query", of_all(&TokenPair::query_token));
  fields.add("key_token", axes, "1", "texts of the tokens around the key", of_all(&TokenPair::key_token));
  fields.note_all("left_out", "pairs with a special token or the first token of the document");
  return fields.taken();
}

const AnalysisKind& strongest_pairs_analysis() {
  static const AnalysisKind kind{.name = "strongest_pairs",
                                 .asks = "Which query-key pairs of all documents have the largest weights?",
                                 .needs = {Need::attention},
                                 .by_default = true,
                                 .make = make_of<StrongestPairsAnalysis>};
  return kind;
}

}  // namespace headwave
