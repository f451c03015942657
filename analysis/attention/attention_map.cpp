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

/// Of stored states only the document knows how many there are.
std::vector<std::string> labels_of(const TokenSequence& tokens, const Document& document) {
  const Index length = tokens.ids.empty() ? document.length() : static_cast<Index>(tokens.ids.size());
  std::vector<std::string> labels;
  for (Index i = 0; i < length; ++i) labels.push_back(token_label(tokens, i));
  return labels;
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
  return std::min(options.tokens, length - options.first);
}

template <class Entry>
std::vector<Entry> part_of(const std::vector<Entry>& all, Index first, Index count) {
  if (all.empty()) return {};
  return {all.begin() + first, all.begin() + first + count};
}

class AttentionMapAnalysis : public DocumentAnalysis<AttentionMaps, AttentionMaps> {
 public:
  using DocumentAnalysis::DocumentAnalysis;
  /// A trial of a job may have fewer documents than the job: then it looks at its last.
  [[nodiscard]] std::unique_ptr<Look> look(const Document& document, Index i) const override {
    if (i != std::min(options().map_document, input().documents - 1)) return nullptr;
    const MapOptions window{.first = options().map_first, .tokens = options().map_tokens};
    return look_of(std::make_unique<AttentionMapProbe>(heads_of(site().grid), window, document, site().kind),
                   &AttentionMapProbe::maps);
  }
  [[nodiscard]] std::vector<Field> finish(Finished& /*finished*/) override { return describe(sum_); }

 private:
  void merge(AttentionMaps&& found) override { sum_ = std::move(found); }
};

AnalysisCost attention_map_cost(const AnalysisSizes& sizes, const DocumentSizes& document, const JobOptions& options) {
  AnalysisCost cost;
  const double shown = std::min(static_cast<double>(options.map_tokens), sizes.longest);
  const auto longest = static_cast<Index>(sizes.longest);
  const auto tiles =
      shown < sizes.longest ? static_cast<double>(whole_tiles(longest, whole_tiles(longest, MapOptions().tiles))) : 0;
  cost.entries = sizes.rows * (shown * shown + 2 * tiles * tiles);
  cost.kept = 8 * cost.entries;
  if (document.number == 0) cost.looking = 2 * cost.kept;
  return cost;
}

}  // namespace

AttentionMapProbe::AttentionMapProbe(std::vector<HeadName> heads, const MapOptions& options, const Document& document,
                                     AttentionKind kind)
    : kind_(kind) {
  maps_.heads = std::move(heads);
  maps_.first = options.first;
  maps_.document = document.name;
  maps_.tokens = labels_of(document.query_tokens(kind), document);
  maps_.key_tokens = labels_of(document.key_tokens(kind), document);
  maps_.special = document.query_tokens(kind).special;
  maps_.key_special = document.key_tokens(kind).special;
  const auto queries = static_cast<Index>(maps_.tokens.size()), keys = static_cast<Index>(maps_.key_tokens.size());
  const Index rows = shown_of(options, queries), columns = shown_of(options, keys);
  maps_.weights.assign(maps_.heads.size(), Matrix::Zero(rows, columns));
  if (rows == queries && columns == keys) return;
  maps_.query_tile = whole_tiles(queries, options.tiles);
  maps_.key_tile = whole_tiles(keys, options.tiles);
  maps_.largest.assign(maps_.heads.size(),
                       Matrix::Zero(whole_tiles(queries, maps_.query_tile), whole_tiles(keys, maps_.key_tile)));
  maps_.mean = maps_.largest;
}

void AttentionMapProbe::see(const Tile& tile) {
  if (tile.kind != kind_) return;
  for (std::size_t i = 0; i < maps_.heads.size(); ++i) {
    if (maps_.heads[i].layer != tile.layer || maps_.heads[i].head >= tile.heads()) continue;
    Matrix& weights = maps_.weights[i];
    const auto& seen = tile.weights[static_cast<std::size_t>(maps_.heads[i].head)];
    const Index first = std::max(tile.first_row, maps_.first);
    const Index rows = std::min(tile.first_row + tile.rows(), maps_.first + weights.rows()) - first;
    if (rows > 0)
      weights.middleRows(first - maps_.first, rows) =
          seen.block(first - tile.first_row, maps_.first, rows, weights.cols()).cast<double>();
    if (!maps_.largest.empty()) pool(tile, i);
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

AttentionMaps AttentionMapProbe::maps() const {
  AttentionMaps maps = maps_;
  const auto queries = static_cast<Index>(maps.tokens.size()), keys = static_cast<Index>(maps.key_tokens.size());
  for (Matrix& mean : maps.mean)
    for (Index i = 0; i < mean.rows(); ++i)
      for (Index j = 0; j < mean.cols(); ++j) {
        const Index pairs = std::min(maps.query_tile, queries - i * maps.query_tile) *
                            std::min(maps.key_tile, keys - j * maps.key_tile);
        mean(i, j) = static_cast<float>(mean(i, j) / static_cast<double>(pairs));  // as exact as a weight, and packs
      }
  return maps;
}

namespace {

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
    fields.add("largest", {head, query_tile, key_tile}, "1", "largest weight in a tile of the document", maps.largest)
        .note("query_tile", maps.query_tile)
        .note("key_tile", maps.key_tile);
    fields.add("mean", {head, query_tile, key_tile}, "1", "mean weight in a tile of the document", maps.mean)
        .note("query_tile", maps.query_tile)
        .note("key_tile", maps.key_tile);
  }
  fields.note_all("document", maps.document);
  return fields.taken();
}

const AnalysisKind& attention_map_analysis() {
  static const AnalysisKind kind{.name = "attention_map",
                                 .finds = "attention of the first tokens, and in tiles of a whole document",
                                 .step = Step::landing,
                                 .needs = {Need::attention},
                                 .make = make_of<AttentionMapAnalysis>,
                                 .cost = attention_map_cost};
  return kind;
}

}  // namespace headwave
