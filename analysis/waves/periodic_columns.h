#pragma once

#include <cstdint>

#include "../../core/fields/field.h"
#include "wave_chain.h"

namespace headwave {

struct PeriodicOptions {
  Index lowest = 5;        ///< cycles per T: slower columns are drift
  double shortest = 4;     ///< tokens per cycle: faster columns are noise between neighbours
  double quantile = 0.99;  ///< of the same share in columns without order
  Index draws = 2000;      ///< of such columns
  std::uint64_t seed = 1;
};

/// The strongest line of a column's spectrum, and the share of the column's power that it holds.
struct PeakShare {
  Index frequency = 0;  ///< f >= 1 of the peak, cycles per T
  double share = 0;     ///< of the power at f >= 1 that lies within one bin of it; 0: the column is constant
};
/// @param spectrum  (floor(T/2) + 1)  transform of the column
PeakShare peak_share(Eigen::Ref<const Eigen::VectorXcd> spectrum, Index length);

/// The value that peak_share() exceeds in one of a hundred columns of T independent normal numbers.
///
/// Randomised phases alone would leave every |F[f]|, and so the share, as it was. In columns without order
/// the power is random too, as in Fisher's test for a hidden periodicity.
///
/// Source: Fisher 1929, doi:10.1098/rspa.1929.0151; the criterion is this project's, the paper gives none.
double periodic_threshold(Index length, const PeriodicOptions& options = {});

/// Whether a column counts as periodic: its share exceeds the threshold and its peak lies inside the band.
bool is_periodic(const PeakShare& peak, Index length, double threshold, const PeriodicOptions& options = {});

/// Periodic columns of redefined queries and keys, summed over documents.
struct PeriodicColumns {
  Index documents = 0;
  Vector query, key;        ///< (rows)  number of periodic columns
  Matrix share;             ///< (rows * d_head, 2)  peak shares of query and key columns; NaN: beyond the rank
  First<Matrix> frequency;  ///< (rows * d_head, 2)  where those peaks are in the first document, cycles per T
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.documents, self.query, self.key, self.share, self.frequency);
  }

  PeriodicColumns() = default;
  /// Of one document, before its heads are observed.
  PeriodicColumns(Index rows, Index components);
};

/// Looks at the columns of one head over one document.
/// @param threshold  periodic_threshold()
void observe(PeriodicColumns& document, const HeadWaves& waves, double threshold, const PeriodicOptions& options = {});

/// Fields periodic_columns/...: means over documents, frequencies of the first one.
std::vector<Field> describe(const PeriodicColumns& columns, const HeadGrid& grid, double threshold,
                            const PeriodicOptions& options = {});

/// In a job: periodic_columns/...
const AnalysisKind& periodic_columns_analysis();

}  // namespace headwave
