#include "sites.h"

#include <compare>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "../../core/model/common_length.h"

namespace headwave {

namespace {

/// Why redefined queries and keys cannot be had of a kind of attention; empty: they can.
std::string no_chain(const Stack& stack, const Document& document, const Site& site) {
  if (site.kind == AttentionKind::cross) return "queries and keys of cross-attention stand in different sequences";
  if (!site.no_projections.empty()) return site.no_projections;
  if (!document.stored.empty() && document.stored.front().states.size() == 0)
    return "queries and keys were stored without the states and weights they come from";
  for (const Index layer : site.grid.layers)
    if (layer >= stack.layers() || stack.blocks[static_cast<std::size_t>(layer)].self.query.empty())
      return "no query and key weights";
  if (stack.normalises_heads()) return "queries and keys are normalised after projection: no W_Q W_K^T says what meets";
  return site.length < 2 ? "documents of one token have no waves" : "";
}

/// How many queries and keys a document has.
struct SequenceLengths {
  Index queries = 0, keys = 0;
  auto operator<=>(const SequenceLengths&) const = default;
};

/// Document by document. Only an encoder-decoder's differ from the document's length.
std::vector<SequenceLengths> sequence_lengths(const Model& model, const Source& source, AttentionKind kind) {
  std::vector<SequenceLengths> lengths;
  for (Index i = 0; i < source.count(); ++i) {
    if (!model.decoder) {
      lengths.push_back({source.length(i), source.length(i)});
      continue;
    }
    const Document document = source.document(i);
    lengths.push_back({document.queries(kind), document.keys(kind)});
  }
  return lengths;
}

/// Why tokens are no patches on a grid; empty: they are.
std::string no_grid(const PatchGrid& patches, const std::vector<SequenceLengths>& lengths) {
  if (patches.empty()) return "the model reads no images: its tokens stand in a row, on no grid";
  for (const SequenceLengths& length : lengths)
    if (length.queries != patches.positions())
      return fmt::format("a document has {} tokens, the model's grid {}", length.queries, patches.positions());
  return "";
}

void set_length(Site& site, const std::vector<SequenceLengths>& lengths) {
  const CommonLength<SequenceLengths> common = common_length(lengths);
  site.length = common.length.queries;
  site.key_length = common.length.keys;
  site.documents = common.documents;
  Index number = 0;
  for (const SequenceLengths& length : lengths) site.numbers.push_back(length == common.length ? number++ : -1);
}

}  // namespace

std::vector<Site> sites_of(const Model& model, const Source& source, const Document& first) {
  std::vector<Site> sites;
  for (const AttentionKind kind : model.kinds()) {
    const Stack& stack = model.stack_of(kind);
    std::set<Index> layers;
    for (const StoredLayer& stored : first.stored) layers.insert(stored.layer);
    if (first.stored.empty())
      for (Index layer = 0; layer < stack.layers(); ++layer) layers.insert(layer);
    Site site{kind, {{layers.begin(), layers.end()}, stack.block.heads}, 0, {}, 0, {}, {}, {}};
    const std::vector<SequenceLengths> lengths = sequence_lengths(model, source, kind);
    set_length(site, lengths);
    site.no_grid = no_grid(model.patches, lengths);
    if (!first.stored.empty() && !first.stored.front().attention.empty())
      site.no_projections = "needs queries and keys; the file holds finished attention";
    site.no_chain = no_chain(stack, first, site);
    sites.push_back(std::move(site));
  }
  return sites;
}

}  // namespace headwave
