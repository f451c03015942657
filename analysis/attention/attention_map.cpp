#include "attention_map.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "../../core/fields/fields.h"

namespace headwave {

namespace {

std::string token_label(const TokenSequence& tokens, Index position) {
  const auto i = static_cast<std::size_t>(position);
  if (i < tokens.tokens.size()) return tokens.tokens[i];
  if (i < tokens.ids.size()) return std::to_string(tokens.ids[i]);
  return std::to_string(position);
}

Index whole_tiles(Index tokens, Index tile) {
  return (tokens + tile - 1) / tile;
}

/// How many tokens of `length` lie in the window.
Index shown_of(const MapOptions& options, Index length) {
  if (options.first >= length)
    throw ShapeError(
        fmt::format("attention maps: the window begins at token {}; expected one of the document's {}, 0 to {}",
                    options.first, length, length - 1));
  return std::min(options.tokens, length - std::max<Index>(options.first, 0));
}

/// First tokens of the candidate windows: side by side, at most eight. Where queries and keys are different
/// texts there is one.
std::vector<Index> begins_of(const MapOptions& options, AttentionKind kind, Index length) {
  constexpr Index most = 8;
  if (options.first != typical_window) return {options.first};
  const Index last = std::max<Index>(length - options.tokens, 0);
  const Index count = kind == AttentionKind::cross ? 1 : std::min(most, whole_tiles(length, options.tokens));
  std::vector<Index> begins{0};
  for (Index i = 1; i < count; ++i) begins.push_back(i * last / (count - 1));
  return begins;
}

/// (2 n - 1) means along the diagonals of a square; t = key - query from 1 - n on.
Vector diagonal_means(const Matrix32& weights) {
  const Index n = weights.rows();
  Vector means(2 * n - 1);
  for (Index t = 1 - n; t < n; ++t) means[t + n - 1] = weights.diagonal(t).cast<double>().mean();
  return means;
}

class AttentionMapAnalysis : public AnalysisOf<First<AttentionMaps>> {
 public:
  using AnalysisOf::AnalysisOf;
  /// A trial of a job may have fewer documents than the job: then its last one is mapped.
  [[nodiscard]] std::unique_ptr<Look> look(const Document& document, Index i) const override {
    if (i != std::min(options()[map_document_option], input().documents - 1)) return nullptr;
    const MapOptions window{.first = options()[map_first_option], .tokens = options()[map_tokens_option]};
    return look_of<AttentionMapProbe>(heads_of(site().grid), window, document, site().kind);
  }

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(First<AttentionMaps>& sum, Finished& /*finished*/) override {
    return describe(sum.value.value_or(AttentionMaps{}));
  }
};

}  // namespace

std::vector<std::string> token_labels(const TokenSequence& tokens, const Document& document) {
  const Index length = tokens.ids.empty() ? document.length() : static_cast<Index>(tokens.ids.size());
  std::vector<std::string> labels;
  for (Index i = 0; i < length; ++i) labels.push_back(token_label(tokens, i));
  return labels;
}

std::size_t typical_of(const std::vector<std::vector<Matrix32>>& windows, const std::vector<Vector>& document) {
  std::size_t least = 0;
  double least_difference = 0;
  for (std::size_t w = 0; w < windows.size(); ++w) {
    double difference = 0;
    for (std::size_t head = 0; head < document.size(); ++head) {
      const Index n = windows[w][head].rows(), half = n / 2;
      difference +=
          (diagonal_means(windows[w][head]) - document[head]).segment(n - 1 - half, 2 * half + 1).cwiseAbs().sum();
    }
    if (w == 0 || difference < least_difference) {
      least = w;
      least_difference = difference;
    }
  }
  return least;
}

AttentionMapProbe::AttentionMapProbe(std::vector<HeadName> heads, const MapOptions& options, const Document& document,
                                     AttentionKind kind)
    : kind_(kind) {
  maps_.heads = std::move(heads);
  maps_.document = document.name;
  maps_.tokens = token_labels(document.query_tokens(kind), document);
  maps_.key_tokens = token_labels(document.key_tokens(kind), document);
  maps_.special = document.query_tokens(kind).special;
  maps_.key_special = document.key_tokens(kind).special;
  queries_ = static_cast<Index>(maps_.tokens.size());
  keys_ = static_cast<Index>(maps_.key_tokens.size());
  const Index rows = shown_of(options, queries_), columns = shown_of(options, keys_);
  begins_ = begins_of(options, kind, queries_);
  windows_.assign(begins_.size(), std::vector<Matrix32>(maps_.heads.size(), Matrix32::Zero(rows, columns)));
  if (begins_.size() > 1) profile_.assign(maps_.heads.size(), Vector::Zero(2 * rows - 1));
  if (rows == queries_ && columns == keys_) return;
  maps_.query_tile = whole_tiles(queries_, options.tiles);
  maps_.key_tile = whole_tiles(keys_, options.tiles);
  maps_.largest.assign(maps_.heads.size(),
                       Matrix::Zero(whole_tiles(queries_, maps_.query_tile), whole_tiles(keys_, maps_.key_tile)));
  maps_.mean = maps_.largest;
}

void AttentionMapProbe::see(const Tile& tile) {
  if (tile.kind != kind_) return;
  for (std::size_t i = 0; i < maps_.heads.size(); ++i) {
    if (maps_.heads[i].layer != tile.layer || maps_.heads[i].head >= tile.heads()) continue;
    const auto& seen = tile.weights[static_cast<std::size_t>(maps_.heads[i].head)];
    for (std::size_t w = 0; w < begins_.size(); ++w) {
      Matrix32& weights = windows_[w][i];
      const Index first = std::max(tile.first_row, begins_[w]);
      const Index rows = std::min(tile.first_row + tile.rows(), begins_[w] + weights.rows()) - first;
      if (rows > 0)
        weights.middleRows(first - begins_[w], rows) =
            seen.block(first - tile.first_row, begins_[w], rows, weights.cols());
    }
    if (!maps_.largest.empty()) pool(tile, i);
    if (!profile_.empty()) add_to_profile(tile, i);
  }
}

void AttentionMapProbe::add_to_profile(const Tile& tile, std::size_t map) {
  const auto& seen = tile.weights[static_cast<std::size_t>(maps_.heads[map].head)];
  Vector& sums = profile_[map];
  const Index reach = sums.size() / 2;
  for (Index row = 0; row < tile.rows(); ++row) {
    const Index query = tile.first_row + row, first = std::max<Index>(query - reach, 0);
    const Index count = std::min(query + reach + 1, seen.cols()) - first;
    if (count > 0)
      sums.segment(first - query + reach, count) += seen.row(row).segment(first, count).cast<double>().transpose();
  }
}

void AttentionMapProbe::pool(const Tile& tile, std::size_t map) {
  const auto& seen = tile.weights[static_cast<std::size_t>(maps_.heads[map].head)];
  for (Index row = 0; row < tile.rows(); ++row) {
    const Index query = (tile.first_row + row) / maps_.query_tile;
    for (Index key = 0; key < maps_.mean[map].cols(); ++key) {
      const Index first = key * maps_.key_tile, count = std::min(maps_.key_tile, seen.cols() - first);
      if (count <= 0) break;
      const auto part = seen.row(row).segment(first, count);
      double& largest = maps_.largest[map](query, key);
      largest = std::max(largest, static_cast<double>(part.maxCoeff()));
      maps_.mean[map](query, key) += part.cast<double>().sum();
    }
  }
}

First<AttentionMaps> AttentionMapProbe::taken() const {
  AttentionMaps maps = maps_;
  std::size_t shown = 0;
  if (!profile_.empty()) {
    std::vector<Vector> means = profile_;
    for (Vector& mean : means)
      for (Index i = 0, reach = mean.size() / 2; i < mean.size(); ++i)
        mean[i] /= static_cast<double>(queries_ - std::abs(i - reach));
    shown = typical_of(windows_, means);
  }
  maps.first = begins_[shown];
  for (const Matrix32& weights : windows_[shown]) maps.weights.push_back(weights.cast<double>());
  for (Matrix& mean : maps.mean)
    for (Index i = 0; i < mean.rows(); ++i)
      for (Index j = 0; j < mean.cols(); ++j) {
        const Index pairs = std::min(maps.query_tile, queries_ - i * maps.query_tile) *
                            std::min(maps.key_tile, keys_ - j * maps.key_tile);
        mean(i, j) = static_cast<float>(mean(i, j) / static_cast<double>(pairs));  // as exact as a weight, and packs
      }
  return {std::move(maps)};
}

const AnalysisKind& attention_map_analysis() {
  static const AnalysisKind kind{.name = "attention_map",
                                 .asks = "What does attention look like, weight by weight, in one document?",
                                 .needs = {Need::attention},
                                 .options = {&map_document_option, &map_first_option, &map_tokens_option},
                                 .by_default = true,
                                 .make = make_of<AttentionMapAnalysis>};
  return kind;
}

namespace {

template <class Entry>
std::vector<Entry> part_of(const std::vector<Entry>& all, Index first, Index count) {
  if (all.empty()) return {};
  return {all.begin() + first, all.begin() + first + count};
}

/// The tokens of one side: those of the window, and where there are tiles all of the document's.
struct Side {
  std::string prefix;  ///< of names: "", "key_"
  std::string one;     ///< "query", "key"
  Axis window, document;
  const std::vector<std::string>& tokens;
  const std::vector<std::uint8_t>& special;
};

void add_tokens(Fields& fields, const Side& side, Index first, bool all) {
  const std::vector<std::string> meanings{"ordinary", "special"};
  const Index shown = side.window.size();
  fields.add(side.prefix + "token", {side.window}, "1", "text of the " + side.one, part_of(side.tokens, first, shown));
  if (!side.special.empty())
    fields.flags(side.prefix + "special", {side.window}, "whether the " + side.one + " is [CLS], </s> or the like",
                 part_of(side.special, first, shown), meanings);
  if (!all) return;
  fields.add("document_" + side.prefix + "token", {side.document}, "1", "text of the " + side.one, side.tokens);
  if (!side.special.empty())
    fields.flags("document_" + side.prefix + "special", {side.document},
                 "whether the " + side.one + " is [CLS], </s> or the like", side.special, meanings);
}

Axis position_axis(const std::string& name, const std::string& one, Index first, Index count) {
  return counting_axis(name, "token", one + " position", first, first + count - 1);
}

/// Coordinates are positions of the tiles' first tokens.
Axis tile_axis(const std::string& one, Index tiles, Index tile) {
  std::vector<std::int64_t> first;
  for (Index i = 0; i < tiles; ++i) first.push_back(i * tile);
  return {one + "_tile", "token", one + " position where the tile begins", std::move(first)};
}

}  // namespace

std::vector<Field> describe(const AttentionMaps& maps) {
  Fields fields("attention_map");
  const Index rows = maps.weights.empty() ? 0 : maps.weights.front().rows();
  const Index columns = maps.weights.empty() ? 0 : maps.weights.front().cols();
  const Axis head = head_name_axis("map_head", "head", maps.heads);
  const Side queries{"",
                     "query",
                     position_axis("query", "query", maps.first, rows),
                     position_axis("document_query", "query", 0, static_cast<Index>(maps.tokens.size())),
                     maps.tokens,
                     maps.special};
  const Side keys{"key_",
                  "key",
                  position_axis("key", "key", maps.first, columns),
                  position_axis("document_key", "key", 0, static_cast<Index>(maps.key_tokens.size())),
                  maps.key_tokens,
                  maps.key_special};
  fields.add("weight", {head, queries.window, keys.window}, "1", "attention weight of a query token on a key token",
             maps.weights);
  add_tokens(fields, queries, maps.first, !maps.largest.empty());
  add_tokens(fields, keys, maps.first, !maps.largest.empty());
  if (!maps.largest.empty()) {
    const Axis query_tile = tile_axis("query", maps.largest.front().rows(), maps.query_tile);
    const Axis key_tile = tile_axis("key", maps.largest.front().cols(), maps.key_tile);
    fields.add("largest", {head, query_tile, key_tile}, "1", "largest weight in a tile of the document", maps.largest);
    fields.add("mean", {head, query_tile, key_tile}, "1", "mean weight in a tile of the document", maps.mean);
    fields.note_all("query_tile", maps.query_tile).note_all("key_tile", maps.key_tile);
  }
  fields.note_all("document", maps.document);
  return fields.taken();
}

}  // namespace headwave
