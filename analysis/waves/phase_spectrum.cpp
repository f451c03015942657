#include "phase_spectrum.h"

#include <algorithm>
#include <numbers>

#include "../../core/fields/fields.h"

namespace headwave {

Axis phase_axis(Index bins) {
  std::vector<double> centres;
  for (Index bin = 0; bin < bins; ++bin)
    centres.push_back(2 * std::numbers::pi * static_cast<double>(bin - (bins - 1) / 2) / static_cast<double>(bins));
  return {"phase", "rad", "phase by which keys run ahead of queries, middle of the bin", centres};
}

PhaseSpectra phase_spectra(const HeadGrid& grid, Index length, Index bins) {
  const Matrix none = Matrix::Zero(grid.rows(), (length / 2 + 1) * bins);
  return {grid, length, bins, 0, none, none};
}

void add_head(PhaseSpectra& document, Index row, const PhaseRotation& rotation, const Matrix& query_amplitude,
              const Matrix& key_amplitude) {
  for (Index p = 0; p < rotation.rank(); ++p) {
    const Index bin = phase_bin(rotation.phase[p], document.bins);
    for (Index f = 0; f < query_amplitude.rows(); ++f) {
      document.query(row, f * document.bins + bin) += query_amplitude(f, p);
      document.key(row, f * document.bins + bin) += key_amplitude(f, p);
    }
  }
}

std::vector<Field> describe(const PhaseSpectra& sum) {
  const std::vector<Axis> axes{layer_axis(sum.grid.layers), head_axis(sum.grid.heads), frequency_axis(sum.length),
                               phase_axis(sum.bins)};
  const auto documents = static_cast<double>(std::max<Index>(1, sum.documents));
  Fields fields("phase_spectrum");
  fields.add("query", axes, "1", "amplitude of redefined queries along directions of a phase", sum.query / documents);
  fields.add("key", axes, "1", "amplitude of redefined keys along directions of a phase", sum.key / documents);
  fields.note_all("length", sum.length);
  return fields.taken();
}

}  // namespace headwave
