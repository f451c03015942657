#pragma once

// Heads that look far: waves that come round again after 90 tokens.

#include <memory>
#include <vector>

#include "../../analysis/predictions/offset_by_query.h"
#include "../../core/model/model_pass.h"
#include "../../core/planted/planted.h"

namespace headwave {

constexpr Index alias_period = 90, alias_length = 256;

/// One layer: waves to -1 that are the same 90 tokens on, again and again; equal words; and words at random.
inline PlantedSpec alias_heads(std::uint64_t seed = 1) {
  PlantedSpec spec;
  spec.length = alias_length;
  spec.d_model = 160;
  spec.d_head = 96;
  spec.words = 96;
  spec.seed = seed;
  for (Index wave = 9; wave < 15; ++wave)
    spec.frequencies.push_back(static_cast<double>(wave * alias_length) / static_cast<double>(alias_period));
  spec.heads = {{{PlantedKind::left, -1, std::vector<double>(6, 1.2), 0},
                 {PlantedKind::content, 0, {}, 6.0},
                 {PlantedKind::noise, 0, {}, 1.0}}};
  return spec;
}

/// What a job would find in those documents, whose lengths may differ.
inline OffsetByQuery found_by_query(const PlantedModel& planted, const Source& source,
                                    const OffsetByQueryOptions& options = {}, Index most_bands = 8) {
  const Stack& stack = planted.model.stack;
  Index longest = 0;
  for (Index i = 0; i < source.count(); ++i) longest = std::max(longest, source.length(i));
  HeadGrid grid{{}, stack.block.heads};
  for (Index layer = 0; layer < stack.layers(); ++layer) grid.layers.push_back(layer);
  const QueryBands bands(longest, most_bands, false);
  OffsetByQuerySums sums;
  for (Index i = 0; i < source.count(); ++i) {
    const Document document = source.document(i);
    BandTraceProbe probe(grid, bands, options.reach, AttentionKind::self,
                         special_positions(document, AttentionKind::self));
    const std::vector<Probe*> probes{&probe};
    model_pass(planted.model, document, probes);
    add_to(sums, OffsetByQuerySums(probe.taken()));
  }
  return offset_by_query(grid, bands, sums, options);
}

}  // namespace headwave
