#include "phase_delay.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "../../core/algebra/decompositions.h"
#include "../../core/algebra/product.h"
#include "../../core/fields/fields.h"
#include "../../core/numbers/random.h"
#include "../../core/process/threads.h"
#include "wave_chain.h"

namespace headwave {

Axis phase_axis(Index bins) {
  std::vector<double> centres;
  for (Index bin = 0; bin < bins; ++bin)
    centres.push_back(2 * std::numbers::pi * static_cast<double>(bin - (bins - 1) / 2) / static_cast<double>(bins));
  return {"phase", "rad", "phase by which keys run ahead of queries, middle of the bin", centres};
}

void add_phases(Matrix& spectra, Index row, const PhaseRotation& rotation, const Matrix& amplitude, Index bins) {
  for (Index p = 0; p < rotation.rank(); ++p)
    for (Index f = 0, bin = phase_bin(rotation.phase[p], bins); f < amplitude.rows(); ++f)
      spectra(row, f * bins + bin) += amplitude(f, p);
}

Eigen::VectorXcd phase_cross_spectrum(const PhaseRotation& rotation, const Vector& gain, const Matrix& amplitude) {
  Matrix weight(rotation.rank(), 2);  // real and imaginary parts
  for (Index p = 0; p < weight.rows(); ++p) {
    const std::complex<double> turn = rotation.eigenvalue(p);
    weight.row(p) << turn.real(), turn.imag();
    weight.row(p) *= gain.head(rotation.rank()).dot(rotation.direction.col(p).cwiseAbs2());
  }
  // For f >= 0 a direction and its conjugate are two terms of the sum with different amplitudes.
  const Matrix parts = product(amplitude.cwiseAbs2(), weight);
  Eigen::VectorXcd cross(amplitude.rows());
  cross.real() = parts.col(0);
  cross.imag() = parts.col(1);
  return cross;
}

namespace {

/// One number of every head's delay.
Vector numbers_of(const std::vector<Delay>& delays, double Delay::*number) {
  Vector numbers(std::ssize(delays));
  for (std::size_t row = 0; row < delays.size(); ++row) numbers[static_cast<Index>(row)] = delays[row].*number;
  return numbers;
}

/// Sum over the first documents, each multiplied by its number of times.
MatrixC sum_of(const CrossSpectra& spectra, const std::vector<double>& times) {
  MatrixC sum = MatrixC::Zero(spectra.by_document.front().rows(), spectra.by_document.front().cols());
  for (std::size_t d = 0; d < times.size(); ++d)
    if (times[d] > 0) sum += times[d] * spectra.by_document[d];
  return sum;
}

Vector p_values_of(const CrossSpectra& spectra, Index length, const Vector& coherence,
                   const PhaseDelayOptions& options) {
  Matrix null(coherence.size(), std::ssize(spectra.null));
  parallel_for(null.cols(), options.threads, [&](Index draw) {
    const MatrixC& cross = spectra.null[static_cast<std::size_t>(draw)];
    null.col(draw) = numbers_of(delays(cross, length, options.delay), &Delay::coherence);
  });
  Vector like_null = coherence;  // over the documents of the null
  if (spectra.null_documents > 0 && spectra.null_documents < std::ssize(spectra.by_document)) {
    const std::vector<double> once(static_cast<std::size_t>(spectra.null_documents), 1.0);
    like_null = numbers_of(delays(sum_of(spectra, once), length, options.delay), &Delay::coherence);
  }
  return pooled_p_values(like_null, null, NullScale::coherence);
}

constexpr Index phase_bins = 64;
constexpr Index null_documents = 2;  // documents over which the null is drawn: each costs a transform per draw

/// Rotations between the query directions and random key directions, shared by heads of the same rank.
class RandomRotations {
 public:
  RandomRotations() = default;
  RandomRotations(Index d_model, const std::vector<ChainHead>& heads, Index draws, std::uint64_t seed, int threads) {
    const Index pool = std::max<Index>(draws, 100);  // eigenvectors are slow: each head takes some of these
    for (std::size_t row = 0; row < heads.size(); ++row) {
      const auto rank = static_cast<std::size_t>(heads[row].rank);
      by_rank_.resize(std::max(by_rank_.size(), rank + 1));
      std::vector<PhaseRotation>& rotations = by_rank_[rank];
      if (rotations.empty() && rank > 0 && draws > 0) {
        rotations.resize(static_cast<std::size_t>(pool));
        parallel_for(pool, threads, [&](Index i) {
          Random random = Random(seed).stream(1000000 + static_cast<std::uint64_t>(i));
          // Random key directions are distributed alike around any query directions: these can be fixed.
          QkSvd frame;
          frame.query = Matrix::Identity(d_model, heads[row].rank);
          frame.key = random_frame(d_model, heads[row].rank, random);
          rotations[static_cast<std::size_t>(i)] = phase_rotation(frame);
        });
      }
      std::vector<Index> order(static_cast<std::size_t>(pool));
      std::iota(order.begin(), order.end(), Index{0});
      Random random = Random(seed).stream(3000000 + static_cast<std::uint64_t>(row));
      random.shuffle(order);
      order.resize(static_cast<std::size_t>(draws));
      drawn_.push_back(std::move(order));
    }
  }

  /// One draw of a head. Heads take different draws from the pool, so that they do not err together.
  [[nodiscard]] const PhaseRotation& of(Index row, Index rank, std::size_t draw) const {
    const Index which = drawn_[static_cast<std::size_t>(row)][draw];
    return by_rank_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(which)];
  }

 private:
  std::vector<std::vector<PhaseRotation>> by_rank_;
  std::vector<std::vector<Index>> drawn_;  // [row]  rotations that it takes
};

/// Histograms of phases and cross-spectra, summed over documents.
struct PhaseSums {
  Matrix query, key;  // (rows, (floor(T/2) + 1) * bins)  equation (1)
  CrossSpectra cross;
};

struct PhaseDelayAnalysis : AnalysisOf<PhaseSums> {
  using AnalysisOf::AnalysisOf;
  void prepare(Finished& finished) override {
    rotations_ = RandomRotations(stack().d_model(), finished.get<ChainHeads>().heads, options().draws, options().seed,
                                 input().threads);
  }
  [[nodiscard]] std::unique_ptr<Look> look(const Document& /*document*/, Index i) const override {
    const Index number = site().number_of(i);
    if (number < 0) return nullptr;
    const Index lines = site().length / 2 + 1, rows = site().grid.rows();
    const std::size_t draws = number < null_documents ? static_cast<std::size_t>(options().draws) : 0;
    PhaseSums sums;
    sums.query = sums.key = Matrix::Zero(rows, lines * phase_bins);
    sums.cross.by_document.push_back(MatrixC::Zero(lines, rows));
    sums.cross.null.assign(draws, sums.cross.by_document[0]);
    sums.cross.null_documents = draws > 0 ? 1 : 0;
    return observe_waves(std::move(sums), [this](PhaseSums& found, const HeadWaves& waves) { add(found, waves); });
  }
  [[nodiscard]] std::vector<Field> finish_sum(PhaseSums& sum, Finished& finished) override;

 private:
  /// Adds (1) and (2) of a head over one document, and (2) for random rotations.
  void add(PhaseSums& found, const HeadWaves& waves) const {
    if (waves.rank() == 0) return;
    const PhaseRotation& rotation = waves.head->rotation;
    const Vector& gain = waves.head->svd.gain;
    const Matrix query = direction_spectra(waves.query_spectrum, rotation);
    add_phases(found.query, waves.row, rotation, query, phase_bins);
    add_phases(found.key, waves.row, rotation, direction_spectra(waves.key_spectrum, rotation), phase_bins);
    found.cross.by_document[0].col(waves.row) = phase_cross_spectrum(rotation, gain, query);
    for (std::size_t draw = 0; draw < found.cross.null.size(); ++draw) {
      const PhaseRotation& random = rotations_.of(waves.row, waves.rank(), draw);
      found.cross.null[draw].col(waves.row) =
          phase_cross_spectrum(random, gain, direction_spectra(waves.query_spectrum, random));
    }
  }

  RandomRotations rotations_;
};

std::vector<Field> PhaseDelayAnalysis::finish_sum(PhaseSums& sum, Finished& /*finished*/) {
  const Index length = site().length, documents = std::ssize(sum.cross.by_document);
  PhaseDelayOptions how;
  how.delay.reach = options().reach;
  how.resamples = options().resamples;
  how.level = options().fdr;
  how.seed = options().seed;
  how.threads = input().threads;
  const PhaseDelay found = phase_delay(sum.cross, length, how);

  const std::vector<Axis> heads{layer_axis(site().grid.layers), head_axis(site().grid.heads)},
      lines{heads[0], heads[1], frequency_axis(length)}, bins{heads[0], heads[1], lines[2], phase_axis(phase_bins)};
  Fields spectra("phase_spectrum");
  spectra.add("query", bins, "1", "amplitude of redefined queries along directions of a phase",
              sum.query / static_cast<double>(documents));
  spectra.add("key", bins, "1", "amplitude of redefined keys along directions of a phase",
              sum.key / static_cast<double>(documents));
  spectra.note_all("length", length);

  const std::string of = " of the rotation's phases on the queries";
  const std::string nothing = "the head's scores have no frequency above 0";
  const std::string edge = "; or the maximum lies at the end of the search, |t| = reach";
  const std::string no_interval =
      "too few documents for an interval, or no estimate; an end at |t| = reach may lie beyond";
  const std::string no_other = "there is no other peak within the search";
  Fields fields("phase_delay");
  fields.add("predicted_offset", heads, "token", "delay" + of + ", where it can be told from chance", found.offset,
             "the coherence does not rise above its null (q_value above level), or no null was drawn" + edge);
  fields.add("estimate", heads, "token", "delay" + of, found.estimate, nothing + edge);
  fields.add("lower", heads, "token", "lower end of the interval of estimate", found.lower, no_interval);
  fields.add("upper", heads, "token", "upper end of the interval of estimate", found.upper, no_interval);
  fields.add("coherence", heads, "1", "share of the cross-spectrum that agrees on the delay", found.coherence, nothing);
  describe_p_values(fields, heads, found.p_value, found.q_value,
                    {"coherence", "where keys read at random, heads pooled", "no null was drawn"});
  fields.add("runner_up", heads, "token", "delay of the second highest peak", found.runner_up, no_other);
  fields.add("runner_up_share", heads, "1", "height of the second highest peak over the highest", found.runner_up_share,
             no_other);
  fields.add("by_frequency", lines, "token", "delay of one frequency by itself, up to T / f",
             delay_by_frequency(found.cross, length).transpose(), "f = 0, or nothing at that frequency");
  fields.add("cross_real", lines, "1", "cross-spectrum, real part, mean over documents",
             found.cross.real().transpose());
  fields.add("cross_imaginary", lines, "1", "cross-spectrum, imaginary part, mean over documents",
             found.cross.imag().transpose());
  add_status(fields, heads, found.status);
  fields.note_all("length", length)
      .note_all("documents", documents)
      .note_all("level", how.level)
      .note_all("reach", std::min(how.delay.reach, length / 2))
      .note_all("coverage", how.coverage)
      .note_all("resamples", how.resamples);
  return before_position_term(spectra.append(fields.taken()).taken(), stack());
}

}  // namespace

PhaseDelay phase_delay(const CrossSpectra& spectra, Index length, const PhaseDelayOptions& options) {
  const Index documents = std::ssize(spectra.by_document);
  PhaseDelay result;
  result.cross = sum_of(spectra, std::vector<double>(spectra.by_document.size(), 1.0)) / static_cast<double>(documents);
  const std::vector<Delay> found = delays(result.cross, length, options.delay);
  result.coherence = numbers_of(found, &Delay::coherence);
  result.runner_up = numbers_of(found, &Delay::runner_up);
  result.runner_up_share = numbers_of(found, &Delay::runner_up_share);
  result.estimate = numbers_of(found, &Delay::offset);
  for (std::size_t row = 0; row < found.size(); ++row)
    if (found[row].at_edge) result.estimate[static_cast<Index>(row)] = not_defined;
  const BootstrapInterval ends = bootstrap_interval(
      result.estimate, documents, options, Random(options.seed), [&](const std::vector<double>& times) {
        return numbers_of(delays(sum_of(spectra, times), length, options.delay), &Delay::offset);
      });
  result.lower = ends.lower;
  result.upper = ends.upper;
  result.p_value = p_values_of(spectra, length, result.coherence, options);
  result.q_value = q_values(result.p_value);
  // A delay that chance explains has the status `chance`, also at the end of the search.
  result.offset = Vector::Constant(std::ssize(found), not_defined);
  for (Index row = 0; row < result.offset.size(); ++row) {
    const Delay& delay = found[static_cast<std::size_t>(row)];
    result.status.push_back(std::isnan(delay.offset)                  ? PredictedStatus::nothing
                            : !(result.q_value[row] <= options.level) ? PredictedStatus::chance
                            : delay.at_edge                           ? PredictedStatus::edge
                                                                      : PredictedStatus::offset);
    if (result.status.back() == PredictedStatus::offset) result.offset[row] = delay.offset;
  }
  return result;
}

extern const AnalysisKind phase_delay_analysis{.name = "phase_delay",
                                               .asks = "Which delay do the phases between queries and keys predict?",
                                               .equal_length = true,
                                               .reads = {&qk_svd_analysis},
                                               .chain = true,
                                               .make = make_of<PhaseDelayAnalysis>};

}  // namespace headwave
