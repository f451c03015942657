#include "probe.h"

namespace headwave {

namespace {

std::vector<Matrix32> rounded(const std::vector<MatrixView>& matrices) {
  std::vector<Matrix32> result;
  result.reserve(matrices.size());
  for (const MatrixView& matrix : matrices) result.emplace_back(matrix.cast<float>());
  return result;
}

}  // namespace

void Probe::see(const Tile64& tile) {
  const std::vector<Matrix32> weights = rounded(tile.weights);
  const std::vector<Matrix32> scores = rounded(tile.scores);
  see(Tile{tile.layer,
           tile.kind,
           tile.first_row,
           tile.queries,
           tile.keys,
           tile.window,
           {weights.begin(), weights.end()},
           {scores.begin(), scores.end()},
           tile.chunk,
           tile.sinks});
}

}  // namespace headwave
