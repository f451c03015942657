#pragma once

// What a probe is shown, without a model.

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
