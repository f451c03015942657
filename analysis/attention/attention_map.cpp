#include "attention_map.h"

#include <algorithm>
#include <utility>

#include "../../core/fields/fields.h"

namespace headwave {

namespace {

std::string token_label(const TokenSequence& tokens, Index position) {
  const auto i = static_cast<std::size_t>(position);
  if (i < tokens.tokens.size()) return tokens.tokens[i];
  if (i < tokens.ids.size()) return std::to_string(tokens.ids[i]);
  return std::to_string(position);
}

/// Of the first `most` tokens. Of stored states only the document knows how many there are.
std::vector<std::string> labels_of(const TokenSequence& tokens, const Document& document, Index most) {
  const Index length = tokens.ids.empty() ? document.length() : static_cast<Index>(tokens.ids.size());
  std::vector<std::string> labels;
  for (Index i = 0; i < std::min(most, length); ++i) labels.push_back(token_label(tokens, i));
  return labels;
}

class AttentionMapAnalysis : public DocumentAnalysis<AttentionMaps, AttentionMaps> {
 public:
  using DocumentAnalysis::DocumentAnalysis;
  [[nodiscard]] std::unique_ptr<Look> look(const Document& document, Index i) const override {
    if (i != 0) return nullptr;
    return look_of(
        std::make_unique<AttentionMapProbe>(heads_of(site().grid), options().map_tokens, document, site().kind),
        &AttentionMapProbe::maps);
  }
  [[nodiscard]] std::vector<Field> finish(Finished& /*finished*/) override { return describe(sum_); }

 private:
  void merge(AttentionMaps&& found) override { sum_ = std::move(found); }
};

AnalysisCost attention_map_cost(const AnalysisSizes& sizes, const DocumentSizes& document, const JobOptions& options) {
  AnalysisCost cost;
  const double shown = std::min(static_cast<double>(options.map_tokens), sizes.longest);
  cost.entries = sizes.rows * shown * shown;
  cost.kept = 8 * cost.entries;
  if (document.number == 0) cost.looking = 2 * cost.kept;
  return cost;
}

}  // namespace

AttentionMapProbe::AttentionMapProbe(std::vector<HeadName> heads, Index tokens, const Document& document,
                                     AttentionKind kind)
    : kind_(kind) {
  maps_.tokens = labels_of(document.query_tokens(kind), document, tokens);
  maps_.key_tokens = labels_of(document.key_tokens(kind), document, tokens);
  maps_.heads = std::move(heads);
  maps_.weights.assign(maps_.heads.size(), Matrix::Zero(static_cast<Index>(maps_.tokens.size()),
                                                        static_cast<Index>(maps_.key_tokens.size())));
  maps_.document = document.name;
}

void AttentionMapProbe::see(const Tile& tile) {
  if (tile.kind != kind_) return;
  const auto queries = static_cast<Index>(maps_.tokens.size());
  const auto keys = static_cast<Index>(maps_.key_tokens.size());
  const Index rows = std::min(tile.rows(), queries - tile.first_row);
  if (rows <= 0) return;
  for (std::size_t i = 0; i < maps_.heads.size(); ++i) {
    if (maps_.heads[i].layer != tile.layer || maps_.heads[i].head >= tile.heads()) continue;
    maps_.weights[i].middleRows(tile.first_row, rows) =
        tile.weights[static_cast<std::size_t>(maps_.heads[i].head)].topLeftCorner(rows, keys).cast<double>();
  }
}

std::vector<Field> describe(const AttentionMaps& maps) {
  const Axis head = head_name_axis("map_head", "head", maps.heads);
  const Axis query = counting_axis("query", "token", "query position", 0, static_cast<Index>(maps.tokens.size()) - 1);
  const Axis key = counting_axis("key", "token", "key position", 0, static_cast<Index>(maps.key_tokens.size()) - 1);
  Fields fields("attention_map");
  fields.add("weight", {head, query, key}, "1", "attention weight of a query token on a key token", maps.weights)
      .note("document", maps.document);
  fields.add("token", {query}, "1", "text of the query", maps.tokens);
  fields.add("key_token", {key}, "1", "text of the key", maps.key_tokens);
  return fields.taken();
}

const AnalysisKind& attention_map_analysis() {
  static const AnalysisKind kind{.name = "attention_map",
                                 .finds = "attention of the first tokens",
                                 .step = Step::landing,
                                 .needs = {Need::attention},
                                 .make = make_of<AttentionMapAnalysis>,
                                 .cost = attention_map_cost};
  return kind;
}

}  // namespace headwave
