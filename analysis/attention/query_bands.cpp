#include "query_bands.h"

#include <cmath>
#include <ranges>
#include <utility>

#include <fmt/format.h>

namespace headwave {

QueryBands::QueryBands(Index length, Index most, bool causal) : length_(length), causal_(causal) {
  if (length < 1 || most < 1) throw ShapeError("QueryBands: expected at least one query and one band");
  while (width_ * most < length) width_ *= 2;
  for (Index band = 0; first(band) < length; ++band)
    starts_.push_back(starts_.back() + highest(band) - lowest(band) + 1);
}

Index QueryBands::pairs(Index band, Index t, Index tokens, Index window) const {
  if ((causal_ && t > 0) || (window > 0 && std::abs(t) >= window)) return 0;
  const Index from = std::max(first(band), -t), to = std::min({end(band), tokens, tokens - t});
  return std::max<Index>(0, to - from);
}

std::vector<OffsetBin> offset_bins(Index length, Index reach, bool causal) {
  std::vector<OffsetBin> right;
  for (Index t = 1; t <= std::min(reach, length - 1); ++t) right.push_back({t, t});
  for (Index k = 1, first = reach + 1; first < length; ++k) {
    const double doublings = static_cast<double>(k) / static_cast<double>(bins_per_doubling);
    const auto next = static_cast<Index>(std::ceil(static_cast<double>(reach + 1) * std::exp2(doublings)));
    if (next == first) continue;  // a short reach: the edges still lie within one token
    right.push_back({first, std::min(next, length) - 1});
    first = next;
  }
  std::vector<OffsetBin> bins;
  for (const OffsetBin& bin : right | std::views::reverse) bins.push_back({-bin.last, -bin.first});
  bins.push_back({0, 0});
  if (!causal) bins.insert(bins.end(), right.begin(), right.end());
  return bins;
}

BandTraces::BandTraces(Index rows, const QueryBands& bands) {
  weight = Matrix::Zero(rows, bands.columns());
  beyond = special = Matrix::Zero(rows, bands.count());
  pairs = Vector::Zero(bands.columns());
  queries = uniform = Vector::Zero(bands.count());
}

void BandTraces::add(BandTraces&& next) {
  if (queries.size() == 0) {
    *this = std::move(next);
    return;
  }
  weight += next.weight;
  beyond += next.beyond;
  special += next.special;
  pairs += next.pairs;
  queries += next.queries;
  uniform += next.uniform;
}

BandTraceProbe::BandTraceProbe(HeadGrid grid, QueryBands bands, Index reach, AttentionKind kind,
                               std::vector<Index> apart)
    : grid_(std::move(grid)),
      bands_(std::move(bands)),
      reach_(reach),
      kind_(kind),
      apart_(std::move(apart)),
      traces_(grid_.rows(), bands_) {}

void BandTraceProbe::see(const Tile& tile) {
  if (tile.kind != kind_) return;
  if (tile.heads() != grid_.heads || tile.queries != tile.keys || tile.queries > bands_.length())
    throw ShapeError(
        fmt::format("attention by query: a tile of {} heads over {} x {} positions came, expected {} over one sequence "
                    "of at most {}",
                    tile.heads(), tile.queries, tile.keys, grid_.heads, bands_.length()));
  for (Index r = 0; r < tile.rows();) {
    const Index query = tile.first_row + r, band = bands_.band_of(query);
    const Index end = std::min(bands_.end(band), tile.queries);
    const Index rows = std::min(tile.rows() - r, end - query);
    for (Index head = 0; head < tile.heads(); ++head)
      for (Index k = 0; k < rows; ++k) add_row(tile, head, r + k, query + k);
    if (query + rows == end) end_band(tile, band);
    r += rows;
  }
}

void BandTraceProbe::add_row(const Tile& tile, Index head, Index r, Index query) {
  const Index row = grid_.first_row(tile.layer) + head, band = bands_.band_of(query);
  const KeySpan open = tile.allowed_keys(query);
  const float* const from = tile.weights[static_cast<std::size_t>(head)].row(r).data();
  double* const diagonal = &traces_.weight(row, bands_.column(band, -query));
  for (Index j = open.first; j < open.end(); ++j) diagonal[j] += from[j];
  for (const Index j : apart_)
    if (std::abs(j - query) > reach_ && j >= open.first && j < open.end()) traces_.special(row, band) += from[j];
}

/// Called after the last query of a band.
void BandTraceProbe::end_band(const Tile& tile, Index band) {
  if (counted_ < 0 || (window_ > 0 && (tile.window == 0 || tile.window > window_))) {
    counted_ = tile.layer;
    window_ = tile.window;
  }
  if (counted_ == tile.layer) count(tile, band);
  for (Index head = 0; head < tile.heads(); ++head) {
    const Index row = grid_.first_row(tile.layer) + head;
    double& beyond = traces_.beyond(row, band);
    for (Index t = bands_.lowest(band); t < -reach_; ++t) beyond += traces_.weight(row, bands_.column(band, t));
    for (Index t = reach_ + 1; t <= bands_.highest(band); ++t) beyond += traces_.weight(row, bands_.column(band, t));
  }
}

/// Counts pairs and queries, which are the same in all layers with the widest window.
void BandTraceProbe::count(const Tile& tile, Index band) {
  traces_.queries[band] = traces_.uniform[band] = 0;
  for (Index i = bands_.first(band); i < std::min(bands_.end(band), tile.queries); ++i) {
    const KeySpan open = tile.allowed_keys(i);
    const Index far = std::max<Index>(0, i - reach_ - open.first) + std::max<Index>(0, open.end() - (i + reach_ + 1));
    traces_.queries[band] += 1;
    if (open.count > 0) traces_.uniform[band] += static_cast<double>(far) / static_cast<double>(open.count);
  }
  for (Index t = bands_.lowest(band); t <= bands_.highest(band); ++t)
    traces_.pairs[bands_.column(band, t)] = static_cast<double>(bands_.pairs(band, t, tile.keys, tile.window));
}

std::vector<Index> special_positions(const Document& document, AttentionKind kind) {
  std::vector<Index> positions;
  const TokenSequence& tokens = document.key_tokens(kind);
  for (Index j = 0; j < document.keys(kind); ++j)
    if (!counts(Pairs::without_sink, tokens, j)) positions.push_back(j);
  return positions;
}

}  // namespace headwave
