#include "phase_delay.h"

#include <algorithm>
#include <numbers>
#include <utility>

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
  return {grid, length, bins, 1, none, none};
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

namespace {

class PhaseDelayAnalysis : public AnalysisOf<PhaseSums> {
 public:
  using AnalysisOf::AnalysisOf;

  void prepare(Finished& finished) override {
    RandomReadingOptions reading;
    reading.draws = options().draws;
    reading.seed = options().seed;
    reading.threads = input().threads;
    rotations_ = RandomRotations(stack().d_model(), finished.get<ChainHeads>().heads, reading);
  }

  [[nodiscard]] std::unique_ptr<Look> look(const Document& /*document*/, Index i) const override {
    const Index number = site().number_of(i);
    if (number < 0) return nullptr;
    const Index draws = number < phases_.null_documents ? options().draws : 0;
    return look_of<PhaseListener>(site().grid, site().length, phases_.bins, draws, rotations_);
  }

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(PhaseSums& sum, Finished& finished) override {
    sum.spectra.grid = site().grid;
    sum.spectra.length = site().length;
    sum.spectra.bins = phases_.bins;
    std::vector<Field> fields = describe(sum.spectra);
    const DelaySpectrum delay = job_delay(sum.cross, "phase_delay", "the rotation's phases on the queries", input());
    append(fields, describe(finished.keep(PhaseDelay{delay}).spectrum));
    return before_position_term(std::move(fields), stack());
  }

 private:
  PhaseDelayOptions phases_;
  RandomRotations rotations_;
};

}  // namespace

PhaseListener::PhaseListener(const HeadGrid& grid, Index length, Index bins, Index draws,
                             const RandomRotations& rotations)
    : rotations_(rotations), found_{phase_spectra(grid, length, bins), CrossSpectra(grid, length, draws)} {}

void PhaseListener::see(const HeadWaves& waves) {
  if (waves.rank() == 0) return;
  const PhaseRotation& rotation = waves.head->rotation;
  const Vector& gain = waves.head->svd.gain;
  const Matrix query = direction_spectra(waves.query_spectrum, rotation);
  const Matrix key = direction_spectra(waves.key_spectrum, rotation);
  add_head(found_.spectra, waves.row, rotation, query, key);
  found_.cross.by_document[0].col(waves.row) = phase_cross_spectrum(rotation, gain, query);
  for (std::size_t draw = 0; draw < found_.cross.null.size(); ++draw) {
    const PhaseRotation& random = rotations_.of(waves.row, waves.rank(), static_cast<Index>(draw));
    found_.cross.null[draw].col(waves.row) =
        phase_cross_spectrum(random, gain, direction_spectra(waves.query_spectrum, random));
  }
}

const AnalysisKind& phase_delay_analysis() {
  static const AnalysisKind kind{.name = "phase_delay",
                                 .asks = "Which delay do the phases between queries and keys predict?",
                                 .needs = {Need::weights, Need::states, Need::equal_length},
                                 .reads = {qk_svd_analysis},
                                 .chain = true,
                                 .make = make_of<PhaseDelayAnalysis>};
  return kind;
}

}  // namespace headwave
