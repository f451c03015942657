#include "phase_delay.h"

#include <algorithm>
#include <cmath>
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

namespace {

struct PhaseSums {
  PhaseSpectra spectra;
  CrossSpectra cross;

  PhaseSums(const Site& site, Index bins) : spectra(phase_spectra(site.grid, site.length, bins)) {
    cross.grid = site.grid;
    cross.length = site.length;
  }
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.spectra, self.cross);
  }
};

class PhaseDelayAnalysis : public DocumentAnalysis<DocumentPhases, PhaseSums> {
 public:
  explicit PhaseDelayAnalysis(const AnalysisInput& input)
      : DocumentAnalysis(input, [&site = input.site] { return PhaseSums(site, PhaseDelayOptions().bins); }) {}

  void prepare(Finished& finished) override {
    RandomReadingOptions reading;
    reading.draws = options().draws;
    reading.seed = options().seed;
    reading.threads = input().threads;
    rotations_ = RandomRotations(stack().d_model(), finished.get<WaveHeads>().heads, reading);
  }

  [[nodiscard]] std::unique_ptr<Look> look(const Document& /*document*/, Index i) const override {
    const Index number = site().number_of(i);
    if (number < 0) return nullptr;
    const Index draws = number < phases_.null_documents ? options().draws : 0;
    return look_of(std::make_unique<PhaseListener>(site().grid, site().length, phases_.bins, draws, rotations_),
                   &PhaseListener::taken);
  }

  [[nodiscard]] std::vector<Field> finish(Finished& finished) override {
    std::vector<Field> fields = describe(sum_.spectra);
    const DelaySpectrum delay = job_delay(sum_.cross, "phase_delay", "the rotation's phases on the queries", input());
    append(fields, describe(finished.keep(PhaseDelay{delay}).spectrum));
    return before_position_term(std::move(fields), stack());
  }

 private:
  void add(PhaseSums& sum, DocumentPhases&& found) const override {
    add_document(sum.cross, std::move(found.cross));
    sum.spectra.query += found.query;
    sum.spectra.key += found.key;
    ++sum.spectra.documents;
  }
  void join(PhaseSums& sum, PhaseSums&& next) const override {
    join_documents(sum.cross, std::move(next.cross));
    sum.spectra.query += next.spectra.query;
    sum.spectra.key += next.spectra.key;
    sum.spectra.documents += next.spectra.documents;
  }

  PhaseDelayOptions phases_;
  RandomRotations rotations_;
};

AnalysisCost phase_rotation_cost(const AnalysisSizes& sizes, const DocumentSizes& document, const JobOptions& options) {
  AnalysisCost cost;
  const PhaseDelayOptions phases;
  const auto draws = static_cast<double>(options.draws);
  const double spectra = 8 * 2 * static_cast<double>(phases.bins) * sizes.rows * (0.5 * sizes.length + 1);
  if (options.draws > 0) {
    const double rotations = std::max(draws, static_cast<double>(RandomReadingOptions().rotations));
    cost.before = 2.7e-8 * rotations * std::pow(sizes.d_head, 3);
    cost.prepared = 16 * rotations * sizes.d_head * sizes.d_head;
  }
  if (document.number >= 0) {
    const double here = document.number < phases.null_documents ? draws : 0.0;
    cost.document = (4.5e-8 + 1.3e-8 * here) * sizes.length * sizes.rows * sizes.d_head;
    cost.looking = spectra + cross_spectra_bytes(sizes, 1 + here);
  }
  cost.kept = spectra + cross_spectra_bytes(sizes, sizes.alike + draws);
  cost.after = job_delay_cost(sizes, options);
  cost.finishing = cross_spectra_bytes(sizes, 2);
  cost.entries = (2 * static_cast<double>(phases.bins) + 4) * sizes.rows * sizes.frequencies();
  return cost;
}

}  // namespace

PhaseListener::PhaseListener(const HeadGrid& grid, Index length, Index bins, Index draws,
                             const RandomRotations& rotations)
    : rotations_(rotations), spectra_(phase_spectra(grid, length, bins)) {
  cross_.cross = MatrixC::Zero(length / 2 + 1, grid.rows());
  cross_.null.assign(static_cast<std::size_t>(draws), cross_.cross);
}

void PhaseListener::see(const HeadWaves& waves) {
  if (waves.rank() == 0) return;
  const PhaseRotation& rotation = waves.head->rotation;
  const Vector& gain = waves.head->svd.gain;
  const Matrix query = direction_spectra(waves.query_spectrum, rotation);
  const Matrix key = direction_spectra(waves.key_spectrum, rotation);
  add_head(spectra_, waves.row, rotation, query, key);
  cross_.cross.col(waves.row) = phase_cross_spectrum(rotation, gain, query);
  for (std::size_t draw = 0; draw < cross_.null.size(); ++draw) {
    const PhaseRotation& random = rotations_.of(waves.row, waves.rank(), static_cast<Index>(draw));
    cross_.null[draw].col(waves.row) =
        phase_cross_spectrum(random, gain, direction_spectra(waves.query_spectrum, random));
  }
}

DocumentPhases PhaseListener::taken() {
  return {std::move(cross_), std::move(spectra_.query), std::move(spectra_.key)};
}

const AnalysisKind& phase_rotation_analysis() {
  static const AnalysisKind kind{.name = "phase_rotation",
                                 .finds = "phases between queries and keys, and the delay they predict",
                                 .step = Step::prediction,
                                 .needs = {Need::weights, Need::states, Need::equal_length},
                                 .reads = {qk_svd_analysis},
                                 .chain = true,
                                 .make = make_of<PhaseDelayAnalysis>,
                                 .cost = phase_rotation_cost};
  return kind;
}

}  // namespace headwave
