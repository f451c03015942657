#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../pass/analysis_kind.h"
#include "../statistics/false_discovery.h"
#include "../statistics/quantile.h"
#include "delay.h"
#include "wave_chain.h"

namespace headwave {

/// Options of the null of the chain: heads whose keys read random directions of the hidden states with the
/// same gains. A real head must exceed what such a head shows.
struct RandomReadingOptions {
  Index draws = 20;       ///< random readings of the keys for each head
  Index rotations = 100;  ///< random rotations, of which every head takes `draws`: eigenvectors cost much
  std::uint64_t seed = 1;
  int threads = 1;  ///< changes no digit
};

/// Random frames of orthonormal columns, side by side.
/// @param width  columns of each, d_head or less
/// @returns (d_model, draws * width)
Matrix32 random_frames(Index d_model, Index width, const RandomReadingOptions& options);

/// Rotations between the directions of a query and random directions of a key, shared by heads of one rank.
class RandomRotations {
 public:
  RandomRotations() = default;
  RandomRotations(Index d_model, const std::vector<ChainHead>& heads, const RandomReadingOptions& options);

  /// One draw of a head. Every head takes its own from the pool, so that heads do not err together.
  [[nodiscard]] const PhaseRotation& of(Index row, Index rank, Index draw) const;

 private:
  std::vector<std::vector<PhaseRotation>> by_rank_;
  std::vector<std::vector<Index>> drawn_;  // by row: which of them
};

/// C(f) = sum_j gain[j] conj(F[Q_j](f)) F[K_j](f) of one head: the same as over the raw columns of queries
/// and keys.
/// @returns (floor(T/2) + 1)
Eigen::VectorXcd cross_spectrum(const HeadWaves& waves);

/// gain[j] conj(F[Q_j](f)), what a head multiplies keys with in C(f).
/// @returns (floor(T/2) + 1, k)
MatrixC gained_queries(const HeadWaves& waves);

/// C(f) with any key columns. With the columns of X times a random frame it is the cross-spectrum of a head
/// that reads random directions with the same gains.
/// @param gained  (floor(T/2) + 1, k)  gained_queries()
/// @param keys    (floor(T/2) + 1, k)  transform of the key columns
Eigen::VectorXcd cross_spectrum(const MatrixC& gained, const MatrixC& keys);

/// The cross-spectrum that the phases of M alone give to the queries' waves, C(f) = sum_p w_p lambda_p |F[Q
/// p](f)|^2 over its directions p, with w_p = sum_j gain[j] |p_j|^2 the gain that a direction carries. Where
/// every |p| turns its wave by the delay that the keys really have, it points where (1) of delay.h does.
/// @param gain       (k or more)  of the redefined columns
/// @param amplitude  (floor(T/2) + 1, k)  direction_spectra() of the queries
Eigen::VectorXcd phase_cross_spectrum(const PhaseRotation& rotation, const Vector& gain, const Matrix& amplitude);

/// Cross-spectra of documents, one by one, and those of their null summed over documents.
struct CrossSpectra {
  HeadGrid grid;                    ///< the same for all documents, as is the length
  Index length = 0;                 ///< T
  ByDocument<MatrixC> by_document;  ///< (floor(T/2) + 1, rows) each
  std::vector<MatrixC> null;        ///< one per draw, (floor(T/2) + 1, rows), summed over documents
  Index null_documents = 0;         ///< number of documents, from the first, over which the null is summed; 0: all
  CrossSpectra() = default;
  /// Of one document, all zeros.
  CrossSpectra(const HeadGrid& grid, Index length, Index draws);
  [[nodiscard]] MatrixC mean() const;  ///< (floor(T/2) + 1, rows)
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.by_document, self.null, self.null_documents);
  }
};

struct DelaySpectrumOptions : ResampleOptions {
  DelayOptions delay;
  double level = 0.05;  ///< share of the heads given an offset that may be false
};

/// The delay between every head's queries and keys, to a fraction of a token, with its interval over documents
/// and a test of its coherence: how well one delay fits all frequencies, against chance.
struct DelaySpectrum : NullTest {
  std::string name;       ///< of the Fields: "delay_spectrum"
  std::string long_name;  ///< what the cross-spectrum is of
  HeadGrid grid;
  Index length = 0, documents = 0;
  MatrixC cross;                        ///< (floor(T/2) + 1, rows)  mean over documents
  Matrix by_frequency;                  ///< (floor(T/2) + 1, rows)  tokens
  Vector estimate;                      ///< (rows)  t^ in tokens; NaN also at the end of the search
  Vector offset;                        ///< (rows)  t^ if the coherence exceeds its null; NaN otherwise
  std::vector<PredictedStatus> status;  ///< (rows)  whether there is an offset, and why not
  Vector coherence;                     ///< (rows)
  Vector runner_up, runner_up_share;    ///< (rows)
  Vector envelope_offset, envelope_phase, envelope_coherence;  ///< (rows)  envelope_delays() of the mean
  Vector lower, upper;  ///< (rows)  ends of the interval, tokens; NaN: too few documents
  DelaySpectrumOptions options;
};

/// The delay spectrometer: delays() of the mean cross-spectrum, with percentile intervals over documents
/// drawn with replacement, and p-values against the coherence of the null's draws. Where the null is drawn
/// over the first documents alone, p-values use the coherence over the same documents, since over more
/// documents noise averages out and coherence rises.
///
/// The percentiles are expanded for few documents, see bootstrap_tail(). An interval is about what t^ would
/// be over ever more documents, which is not quite the head's offset: waves between the bins draw t^ nearer
/// to 0 by up to about 7 / T tokens; and where states hold more than waves, every token also matches itself,
/// which adds a peak at 0.
///
/// The envelope says whether the frequencies of a head share a delay or a phase. No offset depends on it.
///
/// Source: Efron 1979, doi:10.1214/aos/1176344552, for the bootstrap; Hesterberg 2015,
/// doi:10.1080/00031305.2015.1089789, for few documents.
DelaySpectrum delay_spectrum(const CrossSpectra& spectra, std::string name, std::string long_name,
                             const DelaySpectrumOptions& options = {});

/// Fields <name>/...
std::vector<Field> describe(const DelaySpectrum& spectrum);

/// Gathers the cross-spectrum of every head over one document, and the cross-spectra of heads whose keys read
/// at random. The latter are computed in float, as states are, for all heads of a layer at once.
class ScoreDelayListener : public WaveListener {
 public:
  /// @param frames  random_frames(), (d_model, draws * d); must outlive the listener
  ScoreDelayListener(const HeadGrid& grid, Index length, Index draws, const Matrix32& frames);
  void begin(const WaveLayer& layer) override;
  void see(const HeadWaves& waves) override;
  void end(const WaveLayer& layer) override;
  [[nodiscard]] CrossSpectra taken() { return std::move(found_); }

 private:
  const Matrix32& frames_;
  Index heads_, draws_, width_;  ///< width: columns of one draw
  double key_scale_ = 1;         ///< that random keys are divided by: floats have few powers of ten
  Vector query_scale_;           ///< (heads)  the same of gained queries
  Matrix32 random_keys_;         ///< (floor(T/2) + 1, 2 * draws * width)  real parts of every draw, imaginary ones
  Matrix32 gained_;              ///< (floor(T/2) + 1, 2 * heads * width)  the same of every head's gained_queries()
  CrossSpectra found_;
};

/// The delay read from the scores: predicted offsets to parts of a token.
struct ScoreDelay {
  DelaySpectrum spectrum;
};

/// Of all documents of a job, as delay_spectrum() reads them with a job's options.
DelaySpectrum job_delay(CrossSpectra& spectra, const char* name, const char* long_name, const AnalysisInput& input);

/// In a job: delay_spectrum/... Keeps a ScoreDelay for comparison.
const AnalysisKind& delay_spectrum_analysis();

}  // namespace headwave
