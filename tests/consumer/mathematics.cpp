#include <cstdio>

#include "headwave/analysis/positions/position_spectrum.h"
#include "headwave/core/planted/planted.h"

int main() {
  const headwave::PlantedModel planted = headwave::planted_model(headwave::planted_bank());
  const headwave::Matrix positions = planted.model.stack.embedding.positions.cast<double>();
  const headwave::PositionSpectrum spectrum = headwave::position_spectrum(positions);
  std::printf("%d peaks\n", static_cast<int>(spectrum.peaks.size()));
  return spectrum.peaks.empty() ? 1 : 0;
}
