#pragma once

// What a probe, or an analysis, is shown without a model.

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "../../analysis/registry/registry.h"
#include "../../analysis/waves/wave_chain.h"
#include "../../core/attention/probe.h"
#include "../../core/fields/head_name.h"
#include "../catch.h"
#include "found_field.h"

inline const headwave::HeadGrid one_head{{0}, 1};

/// So many tokens, some of them special.
inline headwave::Document document_of(headwave::Index length, const std::vector<headwave::Index>& special = {}) {
  headwave::Document document;
  document.ids.assign(static_cast<std::size_t>(length), 1);
  document.special.assign(static_cast<std::size_t>(length), 0);
  for (const headwave::Index i : special) document.special[static_cast<std::size_t>(i)] = 1;
  return document;
}

/// One head's weights as one tile.
inline void show(headwave::Probe& probe, const headwave::Matrix32& weights,
                 headwave::AttentionKind kind = headwave::AttentionKind::self) {
  headwave::Tile tile;
  tile.kind = kind;
  tile.queries = tile.keys = weights.rows();
  tile.weights = {weights};
  probe.see(tile);
}

/// The weights of a layer's heads, in tiles of so many query rows.
inline void show_heads(headwave::Probe& probe, const std::vector<headwave::Matrix32>& weights,
                       headwave::AttentionKind kind, headwave::Index tile_rows = 1000, headwave::Index layer = 0) {
  const headwave::Index queries = weights.front().rows();
  for (headwave::Index first = 0; first < queries; first += tile_rows) {
    headwave::Tile tile;
    tile.layer = layer;
    tile.kind = kind;
    tile.first_row = first;
    tile.queries = queries;
    tile.keys = weights.front().cols();
    for (const headwave::Matrix32& head : weights)
      tile.weights.emplace_back(head.middleRows(first, std::min(tile_rows, queries - first)));
    probe.see(tile);
  }
}

/// Equal within a tolerance, and undefined in the same places.
inline void check_same(const headwave::Matrix& found, const headwave::Matrix& expected, double tolerance) {
  REQUIRE(found.rows() == expected.rows());
  REQUIRE(found.cols() == expected.cols());
  for (headwave::Index i = 0; i < found.rows(); ++i)
    for (headwave::Index j = 0; j < found.cols(); ++j) {
      CAPTURE(i, j, found(i, j), expected(i, j));
      CHECK(std::isnan(found(i, j)) == std::isnan(expected(i, j)));
      if (!std::isnan(expected(i, j))) CHECK(std::abs(found(i, j) - expected(i, j)) <= tolerance);
    }
}

/// A document that an analysis looks at, and what its probe is shown of it.
struct ShownDocument {
  headwave::Document document;
  std::function<void(headwave::Probe&)> show;
};

/// Attention weights of the heads of layer 0 over one document.
inline ShownDocument shown_weights(const std::vector<headwave::Matrix32>& heads, headwave::Document document,
                                   headwave::AttentionKind kind = headwave::AttentionKind::self,
                                   headwave::Index tile_rows = 1000) {
  return {std::move(document), [=](headwave::Probe& probe) { show_heads(probe, heads, kind, tile_rows); }};
}

/// States that enter layer 0.
inline ShownDocument shown_states(const headwave::Matrix32& states) {
  return {document_of(states.rows()), [=](headwave::Probe& probe) {
            headwave::LayerInput input;
            input.states = states;
            probe.see(input);
          }};
}

/// What an analysis is run on. The first document's length is that of the wave chain.
struct TestPass {
  headwave::HeadGrid grid = one_head;
  headwave::AttentionKind kind = headwave::AttentionKind::self;
  headwave::Stack stack = {};
  headwave::JobOptions options = {};
  int threads = 1;
  headwave::Index longest = 0;  ///< tokens of the longest document, if none of these is as long

  /// Fields of an analysis over such documents, once those that it reads have run.
  [[nodiscard]] std::vector<headwave::Field> fields(std::string_view name,
                                                    const std::vector<ShownDocument>& documents) const {
    using namespace headwave;
    Model model;
    model.stack = stack;
    model.stack.block.heads = grid.heads;
    if (model.stack.block.kv_heads == 0) model.stack.block.kv_heads = grid.heads;
    model.stack.block.causal = kind == AttentionKind::causal;
    if (kind == AttentionKind::cross) model.decoder = model.stack;
    Site site;
    site.kind = kind;
    site.grid = grid;
    site.length = documents.front().document.queries(kind);
    site.key_length = documents.front().document.keys(kind);
    Index most = longest;
    for (const ShownDocument& one : documents) {
      site.numbers.push_back(one.document.queries(kind) == site.length ? site.documents++ : -1);
      most = std::max({most, one.document.queries(kind), one.document.keys(kind)});
    }
    const AnalysisInput input{model, documents.front().document, site, options, most, threads};
    Finished finished;
    return run(named(name), input, documents, finished);
  }

 private:
  static const headwave::AnalysisKind& named(std::string_view name) {
    for (const headwave::AnalysisKind* kind : headwave::analysis_kinds())
      if (kind->name == name) return *kind;
    throw headwave::ShapeError("no analysis " + std::string(name));
  }

  static std::vector<headwave::Field> run(const headwave::AnalysisKind& kind, const headwave::AnalysisInput& input,
                                          const std::vector<ShownDocument>& documents, headwave::Finished& finished) {
    using namespace headwave;
    for (const AnalysisKind* read : kind.reads) (void)run(*read, input, documents, finished);
    const std::unique_ptr<Analysis> analysis = kind.make(input);
    if (!analysis) return {};
    analysis->prepare(finished);
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const std::unique_ptr<Look> look = analysis->look(documents[i].document, static_cast<Index>(i));
      if (!look) continue;
      if (Probe* probe = look->probe()) documents[i].show(*probe);
      if (WaveListener* waves = look->waves()) {
        WaveProbe probe(input.model.stack, input.site.grid, input.site.kind, input.site.length,
                        finished.get<ChainHeads>().heads, {waves});
        documents[i].show(probe);
      }
      analysis->join(*look->taken());
    }
    return analysis->finish(finished);
  }
};
