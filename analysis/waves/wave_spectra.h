#pragma once

#include <vector>

#include "../../core/fields/field.h"
#include "../pass/analysis_kind.h"
#include "wave_chain.h"

namespace headwave {

/// Expected maximum of the amplitudes of n columns, frequency by frequency.
///
///     mean over all draws of n from N columns of their maximum = sum_i x_(i) C(i-1, n-1) / C(N, n)    (1)
///
/// with x_(1) <= ... <= x_(N) the amplitudes of all columns at a frequency. n = N is the plain maximum, which
/// grows with the number of columns: to compare 768 columns of states with 64 of queries, give both the
/// smaller n.
/// @param amplitude  (frequencies, N)
/// @param count      n, from 1 to N
/// @returns (frequencies)
/// @throws ShapeError if count is outside
Vector expected_maximum(const Matrix& amplitude, Index count);

/// Expected maxima (1), counts equalised, of the amplitudes of redefined queries, redefined keys and hidden
/// states, summed over documents. Layers as in the grid.
struct WaveSpectra {
  Index documents = 0;
  Matrix query, key, state;                             ///< (layers, floor(T/2) + 1)
  Matrix query_shuffled, key_shuffled, state_shuffled;  ///< the same with the positions in another order
};

/// Gathers the spectra of every layer over one document: max over heads and columns of |F[Q]|, |F[K]| and
/// |F[X]|.
class WaveSpectraListener : public WaveListener {
 public:
  /// @param count   n of (1)
  /// @param number  of the document: what orders its positions anew
  WaveSpectraListener(const HeadGrid& grid, Index components, Index length, Index count, std::uint64_t seed,
                      Index number);
  void begin(const WaveLayer& layer) override;
  void see(const HeadWaves& waves) override;
  void end(const WaveLayer& layer) override;
  [[nodiscard]] WaveSpectra taken() { return std::move(found_); }

 private:
  Index heads_, components_, count_;
  std::vector<Index> order_;                            ///< the positions in another order
  Matrix query_, key_, query_shuffled_, key_shuffled_;  ///< (floor(T/2) + 1, heads * d_head) amplitudes of the layer
  WaveSpectra found_;
};

/// Fields wave_spectra/...: means over documents.
/// @param count  n of (1)
std::vector<Field> describe(const WaveSpectra& spectra, const HeadGrid& grid, Index length, Index count);

/// In a job: wave_spectra/...
const AnalysisKind& wave_spectra_analysis();

}  // namespace headwave
