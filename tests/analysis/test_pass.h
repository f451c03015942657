#pragma once

// What a probe is shown, without a model.

#include <algorithm>
#include <cmath>
#include <vector>

#include "../../core/attention/probe.h"
#include "../../core/fields/head_name.h"
#include "../catch.h"

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
