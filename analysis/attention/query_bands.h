#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "../../core/attention/probe.h"
#include "../../core/fields/head_name.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

/// Bands of neighbouring query positions, and the offsets that their keys can have.
///
/// The width of a band is the smallest power of two with which at most `most` bands cover T queries; the last
/// band ends at T. So the bands of most jobs have the same edges, whatever the longest document. Sums over
/// the diagonals of all bands follow one another, band by band with ascending offsets: fewer than (bands + 1)
/// T numbers.
class QueryBands {
 public:
  QueryBands() = default;
  /// @param length  T of the longest document, in tokens
  /// @param most    bands at most, >= 1
  /// @param causal  no key comes after its query
  QueryBands(Index length, Index most, bool causal);

  [[nodiscard]] Index count() const { return static_cast<Index>(starts_.size()) - 1; }
  [[nodiscard]] Index width() const { return width_; }    ///< queries
  [[nodiscard]] Index length() const { return length_; }  ///< T
  [[nodiscard]] bool causal() const { return causal_; }
  [[nodiscard]] Index band_of(Index query) const { return query / width_; }

  /// Queries first(b) .. end(b) - 1.
  [[nodiscard]] Index first(Index band) const { return band * width_; }
  [[nodiscard]] Index end(Index band) const { return std::min(length_, first(band) + width_); }
  /// Offsets lowest(b) .. highest(b), key minus query.
  [[nodiscard]] Index lowest(Index band) const { return 1 - end(band); }
  [[nodiscard]] Index highest(Index band) const { return causal_ ? 0 : length_ - 1 - first(band); }

  /// Number of diagonals of all bands.
  [[nodiscard]] Index columns() const { return starts_.back(); }
  /// Column of diagonal t of a band.
  [[nodiscard]] Index column(Index band, Index t) const {
    return starts_[static_cast<std::size_t>(band)] + t - lowest(band);
  }

  /// Number of pairs (i, i+t) of a band in a document.
  /// @param tokens  of the document, at most T
  /// @param window  keys this far away are masked, |i - j| < window; 0: no limit
  [[nodiscard]] Index pairs(Index band, Index t, Index tokens, Index window) const;

 private:
  Index width_ = 1, length_ = 0;
  bool causal_ = false;
  std::vector<Index> starts_{0};  ///< (count + 1)
};

/// Neighbouring offsets: first <= t <= last.
struct OffsetBin {
  Index first = 0, last = 0;

  /// Its coordinate on an axis: the offset itself, or the middle of several.
  [[nodiscard]] double middle() const { return 0.5 * static_cast<double>(first + last); }
};

constexpr Index bins_per_doubling = 4;

/// Offsets -(T-1) .. T-1, ascending: each by itself up to the reach, then in bins whose edges lie at
/// (reach + 1) 2^(k/4), the last cut off where T ends; under a causal mask t <= 0 alone.
std::vector<OffsetBin> offset_bins(Index length, Index reach, bool causal);

/// Attention weights summed along the diagonals of every band b of queries. Columns as in QueryBands.
///
///     D_b(t) = sum over i in b of A[i, i+t]                                                    (1)
///
/// One document or a sum of documents: fewer than (bands + 1) T numbers for each head.
struct BandTraces {
  Matrix weight;   ///< (rows, columns)  D
  Matrix beyond;   ///< (rows, bands)    sum of the weights beyond the reach
  Matrix special;  ///< (rows, bands)    ... of those on special tokens and the document's first
  Vector pairs;    ///< (columns)        query-key pairs
  Vector queries;  ///< (bands)
  Vector uniform;  ///< (bands)          sum over queries of the share of their keys that lies beyond the reach
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.weight, self.beyond, self.special, self.pairs, self.queries, self.uniform);
  }
  BandTraces() = default;
  BandTraces(Index rows, const QueryBands& bands);
  void add(BandTraces&& next);
};

/// Sums the traces of one document.
class BandTraceProbe : public Probe {
 public:
  /// @param bands   of the longest document of the job
  /// @param reach   |t| up to which a key counts as near, in tokens
  /// @param apart   positions of special tokens and of the first, ascending
  BandTraceProbe(HeadGrid grid, QueryBands bands, Index reach, AttentionKind kind, std::vector<Index> apart = {});

  using Probe::see;
  /// @throws ShapeError if a tile has other heads than announced, queries that are not its keys, or more than T
  void see(const Tile& tile) override;

  /// The gathered sums.
  [[nodiscard]] BandTraces taken() { return std::move(traces_); }

 private:
  void add_row(const Tile& tile, Index head, Index r, Index query);
  void end_band(const Tile& tile, Index band);
  void count(const Tile& tile, Index band);

  HeadGrid grid_;
  QueryBands bands_;
  Index reach_;
  AttentionKind kind_;
  std::vector<Index> apart_;
  Index counted_ = -1;  ///< layer whose tiles count pairs and queries: the first with the widest window
  Index window_ = 0;    ///< its window
  BandTraces traces_;
};

/// Positions of special tokens and of the first token.
std::vector<Index> special_positions(const Document& document, AttentionKind kind);

}  // namespace headwave
