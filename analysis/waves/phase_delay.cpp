#include "phase_delay.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headwave {

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
                                 .make = make_of<PhaseDelayAnalysis>};
  return kind;
}

}  // namespace headwave
