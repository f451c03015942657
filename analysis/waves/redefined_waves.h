#pragma once

#include <vector>

#include "../../core/fields/field.h"
#include "../pass/analysis_kind.h"
#include "periodic_columns.h"

namespace headwave {

/// The most periodic columns of redefined queries and keys over the tokens of one document, to be drawn.
struct RedefinedWaves {
  Matrix query, key;  ///< (rows * waves, T)  NaN: fewer columns
  Matrix component;   ///< (rows, waves)  which they are, from 1
};

/// Keeps periodic columns of every head over one document: first the most periodic column, by the peak share of the
/// query column, of each range of periods [2, 8), [8, 32), [32, 128), ... tokens, then the most periodic of the others.
class RedefinedWavesListener : public WaveListener {
 public:
  /// @param waves  most columns of a head
  RedefinedWavesListener(const HeadGrid& grid, Index length, Index waves, const PeriodicOptions& options = {});
  void see(const HeadWaves& waves) override;
  [[nodiscard]] RedefinedWaves taken() { return std::move(found_); }

 private:
  Index waves_;
  PeriodicOptions options_;
  RedefinedWaves found_;
};

/// Fields redefined/query, redefined/key (layer, head, wave, position) and redefined/component.
std::vector<Field> describe(const RedefinedWaves& waves, const HeadGrid& grid);

/// In a job: redefined/..., of its first document.
const AnalysisKind& redefined_analysis();

}  // namespace headwave
