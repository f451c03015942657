#include "strongest_pairs_table.h"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/visible_text.h"

namespace headwave {

namespace {

/// Tokens around a query and a key, each once, in the order of the document.
class Excerpt {
 public:
  /// @param tokens  (tokens around) texts; the middle one stands at `position`
  void add(Index position, std::span<const std::string> tokens) {
    const Index first = position - std::ssize(tokens) / 2;
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (!tokens[i].empty())
        texts_.insert({first + static_cast<Index>(i), shortened(visible_text(tokens[i]), longest)});
  }
  void mark(Index position, const char* open, const char* close) {
    if (const auto found = texts_.find(position); found != texts_.end()) found->second = open + found->second + close;
  }
  [[nodiscard]] std::string text() const {
    std::string line;
    Index before = 0;
    for (const auto& [position, text] : texts_) {
      if (!line.empty()) line += position == before + 1 ? " " : " ... ";
      line += text;
      before = position;
    }
    return line;
  }

 private:
  static constexpr Index longest = 20;  // columns of a token
  std::map<Index, std::string> texts_;
};

}  // namespace

const std::vector<std::string>& strongest_pair_fields() {
  static const std::vector<std::string> fields{"strongest_pairs/weight",      "strongest_pairs/document",
                                               "strongest_pairs/query",       "strongest_pairs/key",
                                               "strongest_pairs/query_token", "strongest_pairs/key_token"};
  return fields;
}

std::vector<TableColumn> strongest_pair_columns(const Result& result, const HeadName& head) {
  const auto numbers = [&](const char* name) -> const auto& {
    return counts_of(result, name, {"layer", "head", "pair"});
  };
  const auto texts = [&](const char* name) -> const auto& {
    return strings_of(result, name, {"layer", "head", "pair", "around"});
  };
  const std::vector<double>& weights = doubles_of(result, "strongest_pairs/weight", {"layer", "head", "pair"});
  const auto &documents = numbers("strongest_pairs/document"), &queries = numbers("strongest_pairs/query"),
             &keys = numbers("strongest_pairs/key");
  const auto &query_tokens = texts("strongest_pairs/query_token"), &key_tokens = texts("strongest_pairs/key_token");
  require_fitting(result, strongest_pair_fields());
  const FieldHeads heads = field_heads(result.at("strongest_pairs/weight"));
  const std::size_t row = heads.row_of(head);
  if (row == heads.size())
    throw ShapeError(fmt::format("strongest_pairs: there is no {}", head_name(head.layer, head.head)));
  const std::size_t count = weights.size() / heads.size(), around = query_tokens.size() / weights.size();
  const bool apart = attribute_text(result.provenance, "attention") == "cross";
  TableColumn weight{"weight", Align::right, {}}, offset{"offset", Align::right, {}},
      document{"document", Align::right, {}}, text{"text: [query], (key)", Align::left, {}};
  for (std::size_t i = row * count; i < (row + 1) * count && !std::isnan(weights[i]); ++i) {
    Excerpt query, key;
    Excerpt& of_key = apart ? key : query;
    query.add(queries[i], std::span(query_tokens).subspan(i * around, around));
    of_key.add(keys[i], std::span(key_tokens).subspan(i * around, around));
    of_key.mark(keys[i], "(", ")");
    query.mark(queries[i], "[", "]");
    weight.cells.push_back(fmt::format("{:.3f}", weights[i]));
    offset.cells.push_back(apart || keys[i] == queries[i] ? "0" : fmt::format("{:+}", keys[i] - queries[i]));
    document.cells.push_back(fmt::format("{}", documents[i]));
    text.cells.push_back(apart ? query.text() + "  " + key.text() : query.text());
  }
  if (apart) return {weight, document, text};
  return {weight, offset, document, text};
}

}  // namespace headwave
