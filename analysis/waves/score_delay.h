#pragma once

#include <vector>

#include "../pass/analysis_kind.h"
#include "delay_spectrum.h"
#include "wave_probe.h"

namespace headwave {

/// What one document says of the delay between queries and keys.
struct DocumentCross {
  MatrixC cross;              ///< (floor(T/2) + 1, rows)
  std::vector<MatrixC> null;  ///< one per draw; empty: none was drawn over this document
};

/// Adds a document's cross-spectra to those of a job, in the order of documents.
void add_document(CrossSpectra& sum, DocumentCross&& document);
/// Adds what the next documents came to.
void join_documents(CrossSpectra& sum, CrossSpectra&& next);

/// Gathers the cross-spectrum of every head over one document, and those of heads whose keys read at random: these in float, as
/// states are, for all heads of a layer at once.
class ScoreDelayListener : public WaveListener {
 public:
  /// @param frames  random_frames(), (d_model, draws * d); must outlive the listener
  ScoreDelayListener(const HeadGrid& grid, Index length, Index draws, const Matrix32& frames);
  void begin(const WaveLayer& layer) override;
  void see(const HeadWaves& waves) override;
  void end(const WaveLayer& layer) override;
  [[nodiscard]] DocumentCross taken() { return std::move(found_); }

 private:
  const Matrix32& frames_;
  Index heads_, draws_, width_;  ///< width: columns of one draw
  double key_scale_ = 1;         ///< that random keys are divided by: floats have few powers of ten
  Vector query_scale_;           ///< (heads)  the same of gained queries
  Matrix32 random_keys_;         ///< (floor(T/2) + 1, 2 * draws * width)  real parts of every draw, imaginary ones
  Matrix32 gained_;              ///< (floor(T/2) + 1, 2 * heads * width)  the same of every head's gained_queries()
  DocumentCross found_;
};

/// The delay that the scores say: predicted offsets to parts of a token.
struct ScoreDelay {
  DelaySpectrum spectrum;
};

/// Of all documents of a job, as delay_spectrum() reads them with a job's options.
DelaySpectrum job_delay(const CrossSpectra& spectra, const char* name, const char* long_name,
                        const AnalysisInput& input);

/// In a job: delay_spectrum/..., a ScoreDelay for those who compare.
const AnalysisKind& delay_spectrum_analysis();

}  // namespace headwave
