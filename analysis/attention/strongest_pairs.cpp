// The query-key pairs with the largest attention weights of each head, over all documents.

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

#include "../../core/fields/fields.h"
#include "../pass/row_look.h"
#include "attention_map.h"

namespace headwave {

namespace {

constexpr Index pairs_kept = 10;    // of each head
constexpr Index tokens_around = 3;  // to either side of a query and of a key
using Around = std::array<std::string, 2 * tokens_around + 1>;

/// A query-key pair of one document, with the tokens around both.
struct TokenPair {
  double weight = 0;
  Index document = 0;             ///< its number in the job
  Index query = 0, key = 0;       ///< positions in the document
  Around query_token, key_token;  ///< texts of the tokens at position - tokens_around ..; "": outside the document
};

/// The pairs of every head with the largest weights, in descending order.
struct StrongestPairs {
  std::vector<std::vector<TokenPair>> of_head;  ///< (rows)  at most pairs_kept each

  /// Merges both lists; ties go to the earlier document.
  void add(StrongestPairs&& next) {
    of_head.resize(std::max(of_head.size(), next.of_head.size()));
    for (std::size_t row = 0; row < next.of_head.size(); ++row) {
      std::vector<TokenPair>& kept = of_head[row];
      const auto here = std::ssize(kept);
      append(kept, std::move(next.of_head[row]));
      std::inplace_merge(kept.begin(), kept.begin() + here, kept.end(),
                         [](const TokenPair& a, const TokenPair& b) { return a.weight > b.weight; });
      if (std::ssize(kept) > pairs_kept) kept.resize(pairs_kept);
    }
  }
};

/// Finds the strongest pairs of one document:
///
///     the pairs (i, j) with the largest A[i, j], i and j in Pairs::without_sink                  (1)
///
/// Pairs with a special or first token are omitted, since these draw attention that has no better place to
/// go, and so are pairs of weight 0. Ties go to the earlier query, then to the earlier key. No T x T matrix
/// is kept: a row is searched only if its largest weight exceeds the smallest kept.
class StrongestPairLook : public RowLook {
 public:
  StrongestPairLook(const Site& site, const Document& document, Index number)
      : RowLook(site),
        number_(number),
        query_tokens_(token_labels(document.query_tokens(site.kind), document)),
        key_tokens_(token_labels(document.key_tokens(site.kind), document)),
        strongest_(static_cast<std::size_t>(site.grid.rows())) {
    for (Index i = 0; i < std::ssize(query_tokens_); ++i)
      counted_queries_.push_back(counts(Pairs::without_sink, document.query_tokens(site.kind), i));
    for (Index j = 0; j < std::ssize(key_tokens_); ++j) {
      if (!counts(Pairs::without_sink, document.key_tokens(site.kind), j)) continue;
      if (counted_keys_.empty() || counted_keys_.back().end() != j) counted_keys_.push_back({j, 0});
      ++counted_keys_.back().count;
    }
  }

  [[nodiscard]] StrongestPairs taken() const {
    StrongestPairs pairs;
    for (const std::vector<Found>& strongest : strongest_) {
      std::vector<TokenPair>& list = pairs.of_head.emplace_back();
      for (const auto& [weight, query, key] : strongest)
        list.push_back({weight, number_, query, key, around(query_tokens_, query), around(key_tokens_, key)});
    }
    return pairs;
  }

 private:
  struct Found {
    float weight;
    Index query, key;
  };

  void row(const HeadRow& one) override {
    if (!counted_queries_[static_cast<std::size_t>(one.query)]) return;
    std::vector<Found>& strongest = strongest_[static_cast<std::size_t>(one.row)];
    const auto smallest = [&] { return std::ssize(strongest) < pairs_kept ? 0.0F : strongest.back().weight; };
    for (const KeySpan& span : counted_keys_) {
      const Index first = std::max(span.first, one.open.first), end = std::min(span.end(), one.open.end());
      if (first >= end) continue;
      const auto weights = one.weights.segment(first - one.open.first, end - first);
      if (!(weights.maxCoeff() > smallest())) continue;
      for (Index k = 0; k < weights.size(); ++k) {
        if (!(weights[k] > smallest())) continue;
        const auto place = std::ranges::upper_bound(strongest, weights[k], std::ranges::greater(), &Found::weight);
        strongest.insert(place, {weights[k], one.query, first + k});
        if (std::ssize(strongest) > pairs_kept) strongest.pop_back();
      }
    }
  }

  static Around around(const std::vector<std::string>& tokens, Index position) {
    Around texts;
    for (Index i = 0; i < std::ssize(texts); ++i) {
      const Index place = position - tokens_around + i;
      if (place >= 0 && place < std::ssize(tokens))
        texts[static_cast<std::size_t>(i)] = tokens[static_cast<std::size_t>(place)];
    }
    return texts;
  }

  Index number_;
  std::vector<std::string> query_tokens_, key_tokens_;
  std::vector<bool> counted_queries_;
  std::vector<KeySpan> counted_keys_;          // as few as possible
  std::vector<std::vector<Found>> strongest_;  // (rows)
};

struct StrongestPairsAnalysis : AnalysisOf<StrongestPairs> {
  using AnalysisOf::AnalysisOf;
  [[nodiscard]] std::unique_ptr<Look> look(const Document& document, Index i) const override {
    return look_of<StrongestPairLook>(site(), document, i);
  }
  [[nodiscard]] std::vector<Field> finish_sum(StrongestPairs& sum, Finished& /*finished*/) override {
    // Missing pairs have the weight NaN, -1 for numbers, and empty texts.
    sum.of_head.resize(static_cast<std::size_t>(site().grid.rows()));
    for (auto& pairs : sum.of_head) pairs.resize(pairs_kept, {not_defined, -1, -1, -1, {}, {}});
    const auto of_all = [&](auto member) {
      return sum.of_head | std::views::join |
             std::views::transform([member](const TokenPair& pair) { return pair.*member; });
    };
    std::vector<Axis> axes{layer_axis(site().grid.layers), head_axis(site().grid.heads),
                           counting_axis("pair", "1", "rank by weight", 0, pairs_kept - 1)};
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
};

}  // namespace

extern const AnalysisKind strongest_pairs_analysis{
    .name = "strongest_pairs",
    .asks = "Which query-key pairs of all documents have the largest weights?",
    .by_default = true,
    .make = make_of<StrongestPairsAnalysis>};

}  // namespace headwave
