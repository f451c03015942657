#pragma once

#include <vector>

#include "../../core/fields/field.h"
#include "../../core/numbers/random.h"
#include "wave_head.h"

namespace headwave {

/// What columns show at their strongest, frequency by frequency.
///
///     max over n columns drawn from N, their mean over all draws = sum_i x_(i) C(i-1, n-1) / C(N, n)    (1)
///
/// with x_(1) <= ... <= x_(N) the amplitudes of all columns at a frequency. n = N is the plain maximum, which grows with
/// the number of columns: to compare 768 columns of states with 64 of queries, give both the smaller n.
/// @param amplitude  (frequencies, N)
/// @param count      n, from 1 to N
/// @returns (frequencies)
/// @throws ShapeError if count is outside
Vector expected_maximum(const Matrix& amplitude, Index count);

struct PeriodicOptions {
  Index lowest = 5;        ///< cycles per T: slower columns are drift
  double shortest = 4;     ///< tokens per cycle: faster columns are noise between neighbours; the band is fixed before
  double quantile = 0.99;  ///< of the same share in columns without order
  Index draws = 2000;      ///< of such columns
  std::uint64_t seed = 1;
};

/// The share of a column's power that its strongest line holds, and where that is.
struct PeakShare {
  Index frequency = 0;  ///< f >= 1 of the peak, cycles per T
  double share = 0;     ///< of the power at f >= 1 that lies within one bin of it; 0: the column is constant
};
/// @param spectrum  (floor(T/2) + 1)  transform of the column
PeakShare peak_share(Eigen::Ref<const Eigen::VectorXcd> spectrum, Index length);

/// What peak_share() exceeds in one of a hundred columns of T independent normal numbers.
///
/// Randomised phases alone would leave every |F[f]|, and so the share, as it was: the columns without order are those
/// whose power is random too, as in Fisher's test for a hidden periodicity.
///
/// Source: Fisher 1929, doi:10.1098/rspa.1929.0151; the criterion is this project's, the paper gives none.
double periodic_threshold(Index length, const PeriodicOptions& options = {});

/// Whether a column counts as periodic: its share exceeds the threshold and its peak lies inside the band.
bool is_periodic(const PeakShare& peak, Index length, double threshold, const PeriodicOptions& options);

/// What one document gives. Layers as in the grid.
struct DocumentWaveSpectra {
  Matrix query, key, state;                             ///< (layers, floor(T/2) + 1)  maxima as (1), counts equalised
  Matrix query_shuffled, key_shuffled, state_shuffled;  ///< the same with the positions in another order
  Vector periodic_query, periodic_key;                  ///< (rows)  number of periodic columns
  Matrix share;                                         ///< (rows * d_head, 2)  peak shares of query and key columns
  Matrix frequency;                                     ///< (rows * d_head, 2)  where those peaks are

  explicit DocumentWaveSpectra(Index layers = 0, Index rows = 0, Index components = 0, Index length = 0);
};

/// Means over documents.
struct WaveSpectra {
  HeadGrid grid;
  Index components = 0, length = 0, documents = 0, count = 0;  ///< count: n of (1)
  double threshold = 0;
  PeriodicOptions periodic;
  DocumentWaveSpectra mean;
};

class WaveSpectraSum {
 public:
  WaveSpectraSum(HeadGrid grid, Index components, Index length, Index count, const PeriodicOptions& options);
  [[nodiscard]] const WaveSpectra& settings() const { return sum_; }
  void add(const DocumentWaveSpectra& document);
  [[nodiscard]] WaveSpectra spectra() const;

 private:
  WaveSpectra sum_;
};

/// Fields wave_spectra/... and periodic_columns/...
std::vector<Field> describe(const WaveSpectra& spectra);

}  // namespace headwave
