#include "account_documents.h"

#include <memory>
#include <numeric>
#include <utility>

#include "../../core/attention/attend.h"
#include "../pass/even_spread.h"

namespace headwave {

bool is_dealt(Index number, Index documents, Index length, Index tokens) {
  constexpr Index least = 8;
  const Index dealt = std::max(least, 2 * ((tokens + 2 * length - 1) / (2 * length)));
  if (dealt >= documents || tokens == 0) return tokens > 0;
  const Index pairs = documents / 2, pair = number / 2;
  return pair < pairs && is_spread(pair, dealt / 2, pairs);
}

std::vector<std::uint8_t> places_that_stay(const TokenSequence& tokens, Index places) {
  std::vector<std::uint8_t> stays;
  for (Index i = 0; i < places; ++i) stays.push_back(i == 0 || tokens.is_special(i) ? 1 : 0);
  return stays;
}

std::vector<Index> free_places(const std::vector<std::uint8_t>& stays) {
  std::vector<Index> free;
  for (std::size_t i = 0; i < stays.size(); ++i)
    if (stays[i] == 0) free.push_back(static_cast<Index>(i));
  return free;
}

std::vector<Index> dealt_places(const std::vector<std::uint8_t>& stays, Random& random) {
  const std::vector<Index> free = free_places(stays);
  std::vector<Index> order = free, from(stays.size());
  random.shuffle(order);
  std::iota(from.begin(), from.end(), Index{0});
  for (std::size_t n = 0; n < free.size(); ++n) from[static_cast<std::size_t>(free[n])] = order[n];
  return from;
}

Matrix32 dealt(const Matrix32& mean, const Matrix32& own, const std::vector<Index>& from) {
  Matrix32 result = mean;
  for (Index i = 0; i < mean.rows(); ++i) {
    const Index source = from[static_cast<std::size_t>(i)];
    result.row(i) += own.row(source) - mean.row(source);
  }
  return result;
}

AccountProbe::AccountProbe(const AccountSite& site, Index number, const Document& document, bool dealt)
    : site_(site), dealt_(dealt) {
  document_.number = number;
  document_.query_stays = places_that_stay(document.query_tokens(site.kind), site.length);
  document_.key_stays = places_that_stay(document.key_tokens(site.kind), site.keys());
  document_.query_ids = document.query_tokens(site.kind).ids;
  document_.key_ids = document.key_tokens(site.kind).ids;
  document_.first_key_special = document.key_tokens(site.kind).is_special(0) ? 1 : 0;
  document_.layers.resize(site.grid.layers.size());
  weights_ = Matrix::Zero(site.grid.rows(), 2 * site.reach + 1);
}

void AccountProbe::see(const LayerProjections& projections) {
  const Index place = site_.grid.place_of(projections.layer);
  if (projections.kind != site_.kind || place < 0) return;
  document_.layers[static_cast<std::size_t>(place)] = {projections.query, projections.key};
}

void AccountProbe::see(const Tile& tile) {
  const Index place = site_.grid.place_of(tile.layer);
  if (tile.kind != site_.kind || place < 0) return;
  add_near_weights(tile, site_.reach, weights_.middleRows(place * site_.grid.heads, site_.grid.heads));
}

AccountSums AccountProbe::taken() {
  AccountSums sums;
  AccountHalf& half = sums.halves[static_cast<std::size_t>(document_.number % 2)];
  const auto group = static_cast<std::size_t>(document_.number / 2 % account_groups);
  half.documents = 1;
  half.group_documents.assign(account_groups, 0);
  half.group_documents[group] = 1;
  half.group_weights.resize(account_groups);
  half.group_weights[group] = std::move(weights_);
  if (dealt_) half.to_deal.push_back(document_);
  half.layers = std::move(document_.layers);
  return sums;
}

void add_near_weights(const Tile& tile, Index reach, Eigen::Ref<Matrix> sums) {
  for (Index r = 0; r < tile.rows(); ++r) {
    const Index i = tile.first_row + r;
    if (i == 0) continue;
    const KeySpan open = tile.allowed_keys(i);
    const Index first = std::max({Index{1}, open.first, i - reach}), end = std::min(open.end(), i + reach + 1);
    if (first >= end) continue;
    for (Index head = 0; head < tile.heads(); ++head)
      sums.row(head).segment(first - i + reach, end - first) +=
          tile.weights[static_cast<std::size_t>(head)].row(r).segment(first, end - first).cast<double>();
  }
}

void attend_layer(const AccountSite& site, std::size_t place, const Matrix32& query, const Matrix32& key,
                  const Matrix32& added, std::span<Probe* const> probes, Index head, const std::vector<RowSpan>& rows) {
  const BlockSpec& spec = site.stack->block;
  HeadInputs<float> inputs{query,        key, {}, spec.heads, spec.kv_heads, spec.score_scale, site.term(place),
                           spec.soft_cap};
  inputs.added = added;
  std::shared_ptr<const Block> weights;  // owns what position_key, position_query and sinks look at
  if (inputs.position_term.compared || site.stack->has_sinks()) {
    weights = site.stack->queries_and_keys(site.grid.layers[place]);
    inputs.position_key = weights->self.position_key;
    inputs.position_query = weights->self.position_query;
    inputs.sinks = weights->self.sinks;
    if (head >= 0 && !inputs.sinks.empty()) inputs.sinks = VectorView32(weights->self.sinks.data() + head, 1);
  }
  const Mask<float> mask{site.kind == AttentionKind::causal, {}, site.window(place), 0, rows};
  attend<float>(inputs, mask, {0, site.kind}, probes);
}

}  // namespace headwave
