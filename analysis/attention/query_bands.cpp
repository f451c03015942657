#include "query_bands.h"

#include <cmath>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "../statistics/quantile.h"

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
  weight = expected = variance = Matrix::Zero(rows, bands.columns());
  largest = beyond = special = Matrix::Zero(rows, bands.count());
  pairs = Vector::Zero(bands.columns());
  queries = uniform = Vector::Zero(bands.count());
}

void BandTraces::add(BandTraces&& next) {
  if (queries.size() == 0) {
    *this = std::move(next);
    return;
  }
  weight += next.weight;
  expected += next.expected;
  variance += next.variance;
  largest = largest.cwiseMax(next.largest);
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
    if (query == bands_.first(band)) begin_band(tile.heads());
    for (Index head = 0; head < tile.heads(); ++head)
      for (Index k = 0; k < rows; ++k) add_row(tile, head, r + k, query + k);
    if (query + rows == end) end_band(tile, band);
    r += rows;
  }
}

void BandTraceProbe::begin_band(Index heads) {
  sums_ = squares_ = Matrix::Zero(heads, bands_.length());
}

void BandTraceProbe::add_row(const Tile& tile, Index head, Index r, Index query) {
  const Index row = grid_.first_row(tile.layer) + head, band = bands_.band_of(query);
  const KeySpan open = tile.allowed_keys(query);
  const auto weights = tile.weights[static_cast<std::size_t>(head)].row(r);
  const float* const from = weights.data();
  double* const diagonal = &traces_.weight(row, bands_.column(band, -query));
  double* const sums = &sums_(head, 0);
  double* const squares = &squares_(head, 0);
  for (Index j = open.first; j < open.end(); ++j) {
    const double weight = from[j];
    diagonal[j] += weight;
    sums[j] += weight;
    squares[j] += weight * weight;
  }
  double& largest = traces_.largest(row, band);
  if (const Index left = query - reach_ - open.first; left > 0)
    largest = std::max<double>(largest, weights.segment(open.first, left).maxCoeff());
  if (const Index right = open.end() - (query + reach_ + 1); right > 0)
    largest = std::max<double>(largest, weights.segment(query + reach_ + 1, right).maxCoeff());
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
    add_expected(tile, band, row, head);
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

/// Equation (2): a difference of sums over the keys up to each.
void BandTraceProbe::add_expected(const Tile& tile, Index band, Index row, Index head) {
  const Index keys = tile.keys, begin = bands_.first(band), end = std::min(bands_.end(band), tile.queries);
  Vector mean = Vector::Zero(keys + 1), variance = Vector::Zero(keys + 1);
  for (Index j = 0; j < keys; ++j) {
    const Index first = kind_ == AttentionKind::causal ? std::max(begin, j)
                        : tile.window > 0              ? std::max(begin, j - tile.window + 1)
                                                       : begin;
    const Index last = tile.window > 0 ? std::min(end, j + tile.window) : end;
    const auto givers = static_cast<double>(std::max<Index>(0, last - first));
    const double m = givers > 0 ? sums_(head, j) / givers : 0.0;
    const double v = givers > 1 ? std::max(0.0, squares_(head, j) / givers - m * m) * givers / (givers - 1) : 0.0;
    mean[j + 1] = mean[j] + m;
    variance[j + 1] = variance[j] + v;
  }
  for (Index t = bands_.lowest(band); t <= bands_.highest(band); ++t) {
    if (bands_.pairs(band, t, keys, tile.window) == 0) continue;
    const Index from = std::max<Index>(0, begin + t), to = std::min(keys, end + t), column = bands_.column(band, t);
    traces_.expected(row, column) += mean[to] - mean[from];
    traces_.variance(row, column) += variance[to] - variance[from];
  }
}

std::vector<Index> special_positions(const Document& document, AttentionKind kind) {
  std::vector<Index> positions;
  const TokenSequence& tokens = document.key_tokens(kind);
  for (Index j = 0; j < document.keys(kind); ++j)
    if (!counts(Pairs::without_sink, tokens, j)) positions.push_back(j);
  return positions;
}

namespace {

bool in_band(const QueryBands& bands, Index band, Index t) {
  return t >= bands.lowest(band) && t <= bands.highest(band);
}

/// Number of offsets beyond the reach at which there are pairs.
Index looked_at(const BandTraces& traces, const QueryBands& bands, Index reach) {
  Index count = 0;
  for (Index band = 0; band < bands.count(); ++band)
    for (Index t = bands.lowest(band); t <= bands.highest(band); ++t)
      if (std::abs(t) > reach && traces.pairs[bands.column(band, t)] > 0) ++count;
  return count;
}

/// Whether the excess has its maximum within `apart` at t.
bool is_largest_around(const BandTraces& traces, const QueryBands& bands, Index row, Index band, Index t, Index apart) {
  for (const Index beside : {t - 1, t + 1})
    if (!in_band(bands, band, beside) || traces.pairs[bands.column(band, beside)] == 0) return false;
  const double here = band_excess(traces, bands, row, band, t);
  for (Index other = t - apart; other <= t + apart; ++other) {
    const double there = band_excess(traces, bands, row, band, other);
    if (there > here || (there == here && other < t)) return false;
  }
  return true;
}

}  // namespace

double band_excess(const BandTraces& traces, const QueryBands& bands, Index row, Index band, Index offset) {
  if (!in_band(bands, band, offset) || traces.queries[band] == 0) return 0;
  const Index column = bands.column(band, offset);
  return (traces.weight(row, column) - traces.expected(row, column)) / traces.queries[band];
}

std::vector<std::vector<BandPeak>> band_peaks(const BandTraces& traces, const QueryBands& bands, Index row,
                                              const BandPeakOptions& options) {
  const double tail = options.level / static_cast<double>(std::max<Index>(1, looked_at(traces, bands, options.reach)));
  std::vector<std::vector<BandPeak>> peaks(static_cast<std::size_t>(bands.count()));
  for (Index band = 0; band < bands.count(); ++band) {
    std::vector<BandPeak>& found = peaks[static_cast<std::size_t>(band)];
    for (Index t = bands.lowest(band); t <= bands.highest(band); ++t) {
      const double excess = band_excess(traces, bands, row, band, t);
      if (std::abs(t) <= options.reach || !(excess >= options.least_excess)) continue;
      const Index column = bands.column(band, t);
      const double bound = largest_excess(tail, traces.variance(row, column), traces.largest(row, band));
      if (!(excess * traces.queries[band] > bound)) continue;
      if (!is_largest_around(traces, bands, row, band, t, options.apart)) continue;
      const double pairs = traces.pairs[column];
      found.push_back({t, traces.weight(row, column) / pairs, traces.expected(row, column) / pairs, excess});
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const BandPeak& a, const BandPeak& b) { return a.excess > b.excess; });
    if (std::ssize(found) > options.most) found.resize(static_cast<std::size_t>(options.most));
  }
  return peaks;
}

}  // namespace headwave
