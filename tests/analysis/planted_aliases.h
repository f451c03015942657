#pragma once

// Heads whose far offsets are known: waves that come round again after 90 tokens, and words that do after 100.

#include <memory>
#include <optional>
#include <vector>

#include "../../analysis/predictions/offset_by_query.h"
#include "../../core/model/model_pass.h"
#include "../../core/model/random_documents.h"
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

/// One head with so many waves that they never come round again: nothing to see beyond a few tokens from -1.
inline PlantedSpec local_head(std::uint64_t seed = 1) {
  PlantedSpec spec = alias_heads(seed);
  spec.frequencies.clear();
  for (Index wave = 0; wave < 24; ++wave)
    spec.frequencies.push_back(4 + 4.9 * static_cast<double>(wave) + 0.31 * static_cast<double>(7 * wave * wave % 11));
  spec.heads = {{{PlantedKind::adjacent, -1, std::vector<double>(24, 0.7), 0}}};
  return spec;
}

/// Those words twice over, drawn anew in every document.
inline std::unique_ptr<Source> repeated_words(Index documents, std::uint64_t seed) {
  std::vector<std::int32_t> ids;
  for (Index word = 0; word < 96; ++word) ids.push_back(static_cast<std::int32_t>(planted_special_words + word));
  return repeated_tokens(ids, {.documents = documents, .period = 100, .repeats = 2, .opening = -1, .seed = seed});
}

/// What a job would find in those documents, whose lengths may differ: the account reads those as long as the first.
inline OffsetByQuery found_by_query(const PlantedModel& planted, const Source& source,
                                    const OffsetByQueryOptions& options = {}, Index most_bands = 8) {
  const Stack& stack = planted.model.stack;
  Index longest = 0;
  for (Index i = 0; i < source.count(); ++i) longest = std::max(longest, source.length(i));
  HeadGrid grid{{}, stack.block.heads};
  for (Index layer = 0; layer < stack.layers(); ++layer) grid.layers.push_back(layer);
  const QueryBands bands(longest, most_bands, false);
  AccountHalves halves;
  halves.site = {grid, AttentionKind::self, source.length(0), 8, &stack};
  OffsetByQuerySums sums;
  AccountSums account_sums;
  Index accounted = 0;
  for (Index i = 0; i < source.count(); ++i) {
    const Document document = source.document(i);
    BandTraceProbe probe(grid, bands, options.peaks.reach, AttentionKind::self,
                         special_positions(document, AttentionKind::self));
    std::vector<Probe*> probes{&probe};
    std::optional<AccountProbe> account;
    if (source.length(i) == halves.site.length)
      probes.push_back(&account.emplace(halves.site, accounted, document, false));
    model_pass(planted.model, document, probes);
    add_to(sums, OffsetByQuerySums(probe.taken()));
    if (!account) continue;
    add_to(account_sums, account->taken());
    ++accounted;
  }
  halves.halves = account_sums.halves;
  return offset_by_query(grid, bands, sums, &halves, options);
}

}  // namespace headwave
