// Waves whose writer is known: the position table, or a head of the layer before.

#include "../../analysis/why/score_sources.h"

#include <cmath>
#include <numbers>

#include <Eigen/QR>

#include "../../core/algebra/product.h"
#include "../../core/model/intervention.h"
#include "../../core/model/model_pass.h"
#include "../../core/planted/planted.h"
#include "../catch.h"

using namespace headwave;

namespace {

constexpr Index wave_count = 3, source_length = 64;

PlantedHead wave_head(double offset, double amplitude) {
  return {PlantedKind::left, offset, std::vector<double>(wave_count, amplitude), 0};
}

/// Two layers of two heads. L0H0 looks at its own place and copies the waves it finds there to directions that nobody
/// else uses. L1H1 reads the waves of the table, L1H0 those and the copies, or the copies alone.
struct Copied {
  Model model;
  Model without_copy;  ///< L0H0 writes nothing

  /// @param table  what L1H0 reads of the table's waves, in units of what it reads of the copies
  explicit Copied(const PlantedModel& planted, float table) {
    const Index width = planted.spec.d_model;
    const Matrix rows = planted.model.stack.embedding.positions.cast<double>();
    Matrix phases(rows.rows(), 2 * wave_count);
    for (Index n = 0; n < rows.rows(); ++n)
      for (Index m = 0; m < wave_count; ++m) {
        const double at = 2 * std::numbers::pi * planted.spec.frequencies[static_cast<std::size_t>(m)] *
                          static_cast<double>(n) / static_cast<double>(planted.spec.length);
        phases(n, 2 * m) = std::cos(at);
        phases(n, 2 * m + 1) = std::sin(at);
      }
    const Matrix waves = phases.colPivHouseholderQr().solve(rows);  // (2 waves, width), orthonormal rows
    // Directions behind those of waves, words and the mean.
    Matrix used(width, 2 * wave_count + planted.model.stack.embedding.words.rows() + 1);
    used.leftCols(2 * wave_count) = waves.transpose();
    for (Index word = 0; word < planted.model.stack.embedding.words.rows(); ++word) {
      Vector32 row(width);
      planted.model.stack.embedding.words.copy_row(word, row.data());
      used.col(2 * wave_count + word) = row.cast<double>();
    }
    used.rightCols(1).setOnes();
    const Matrix frame = Matrix(used).householderQr().householderQ() * Matrix::Identity(width, width);
    const Matrix32 free = frame.rightCols(2 * wave_count).transpose().cast<float>();
    const Matrix32 known = waves.cast<float>();

    ChangedModel changed(planted.model);
    AttentionWeights& copier = changed.attention_of(AttentionKind::self, 0);
    Matrix32 value = Matrix32::Zero(copier.value.weight.rows(), width), output = Matrix32::Zero(width, value.rows());
    value.topRows(2 * wave_count) = known;
    output.leftCols(2 * wave_count) = free.transpose();
    copier.value.weight = changed.kept(std::move(value));
    copier.output.weight = changed.kept(std::move(output));
    AttentionWeights& reader = changed.attention_of(AttentionKind::self, 1);
    const Matrix32 read = known.transpose() * table + free.transpose();  // (width, 2 waves)
    for (Linear* side : {&reader.query, &reader.key}) {
      Matrix32 weights = side->weight;
      auto head = weights.topRows(planted.spec.d_head);
      head = product(product(Matrix32(head), known.transpose()), read.transpose());
      side->weight = changed.kept(std::move(weights));
    }
    model = changed.taken();
    without_copy = without_heads(model, {{0, 0}});
  }
};

PlantedModel copied_waves() {
  PlantedSpec spec;
  spec.length = source_length;
  spec.d_model = 96;
  spec.words = 24;
  spec.frequencies = {2.3, 5.7, 11.4};
  spec.heads = {{wave_head(0, 30), wave_head(-3, 2)}, {wave_head(-2, 3), wave_head(-1, 3)}};
  return planted_model(spec);
}

ScoreSources sources_of(const Model& model, const Source& source) {
  AccountSite site{{{0, 1}, 2}, AttentionKind::self, source_length, 20, &model.stack};
  AccountSums sums;
  std::vector<Index> numbers;
  for (Index i = 0; i < source.count(); ++i) {
    const Document document = source.document(i);
    AccountProbe probe(site, i, document, false);
    Probe* seen = &probe;
    model_pass(model, document, {&seen, 1});
    add_to(sums, probe.taken());
    numbers.push_back(i);
  }
  ScoreSourcesOptions options;
  options.heads = {{1, 0}, {1, 1}};
  return score_sources(model, source, numbers, {site, sums.halves}, options);
}

Index source_named(const ScoreSources& found, const std::string& name) {
  for (std::size_t s = 0; s < found.sources.size(); ++s)
    if (found.sources[s].name() == name) return static_cast<Index>(s);
  FAIL("no source " << name);
  return -1;
}

}  // namespace

TEST_CASE("a wave that an earlier head wrote comes from it, one of the table from the table") {
  const PlantedModel planted = copied_waves();
  const Copied copied(planted, 0);
  const auto documents = planted_documents(planted, 12, source_length, 5);
  const ScoreSources found = sources_of(copied.model, *documents);
  const Index positions = source_named(found, "positions"), attention = source_named(found, "attention 0");
  CHECK(found.query.position(2, attention) > 0.95);
  CHECK(found.key.position(2, attention) > 0.95);
  CHECK(found.earlier_query(0, 0) > 0.95);  // L0H0, and nobody else
  CHECK(std::abs(found.earlier_query(0, 1)) < 0.01);
  CHECK(found.query.position(3, positions) > 0.95);
  CHECK(found.key.position(3, positions) > 0.95);
  CHECK(found.closure.maxCoeff() < 1e-5);
}

TEST_CASE("taking a source away changes the kernel as its share says") {
  const PlantedModel planted = copied_waves();
  const Copied copied(planted, 0.7F);
  const auto documents = planted_documents(planted, 12, source_length, 6);
  const ScoreSources found = sources_of(copied.model, *documents);
  const Index positions = source_named(found, "positions"), attention = source_named(found, "attention 0");
  CHECK(found.query.position(2, attention) > 0);
  CHECK(found.query.position.row(2).sum() == Approx(1));
  const ScoreSources without = sources_of(copied.without_copy, *documents);
  // What is left is the table's own part. The norm before it divides by less then: one factor for all offsets.
  const Vector left = without.kernel.row(2).transpose(), whole = found.kernel.row(2).transpose();
  const Vector a = left.array() - left.mean(), b = whole.array() - whole.mean();
  CHECK(a.dot(b) / (a.norm() * b.norm()) > 0.9);
  CHECK(without.kernel_sd[2] < found.kernel_sd[2]);
  CHECK(without.query.position(2, positions) > 0.95);
}

TEST_CASE("what sources give to a head's keys adds up to them, whichever are told apart") {
  using Kind = StreamSource::Kind;
  const PlantedModel planted = copied_waves();
  const Copied copied(planted, 0.7F);
  const Document document = planted_documents(planted, 1, source_length, 7)->document(0);
  const std::vector<SourceOfKeys> all{{{1, 0}, {Kind::words}},
                                      {{1, 0}, {Kind::positions}},
                                      {{1, 0}, {Kind::constants}},
                                      {{1, 0}, {Kind::attention, 0}},
                                      {{1, 0}, {Kind::feed_forward, 0}}};
  const std::vector<SourceOfKeys> one{all[3]}, shifts{all[2]};
  SourceKeysProbe every(copied.model.stack, AttentionKind::self, document, all);
  SourceKeysProbe alone(copied.model.stack, AttentionKind::self, document, one);
  SourceKeysProbe constants(copied.model.stack, AttentionKind::self, document, shifts);
  AccountSite site{{{0, 1}, 2}, AttentionKind::self, source_length, 20, &copied.model.stack};
  AccountProbe whole(site, 0, document, true);
  std::vector<Probe*> probes{&every, &alone, &constants, &whole};
  model_pass(copied.model, document, probes);
  const std::vector<Matrix32> parts = every.taken();
  const Matrix32 keys = whole.taken().halves[0].layers[1].key.leftCols(planted.spec.d_head);
  Matrix32 sum = parts[0];
  for (std::size_t s = 1; s < parts.size(); ++s) sum += parts[s];
  CHECK((sum - keys).cwiseAbs().maxCoeff() < 1e-5F * keys.cwiseAbs().maxCoeff());
  CHECK((alone.taken()[0] - parts[3]).cwiseAbs().maxCoeff() < 1e-5F);
  CHECK((constants.taken()[0] - parts[2]).cwiseAbs().maxCoeff() < 1e-5F);  // and nothing of what is not told apart
  CHECK(parts[3].cwiseAbs().maxCoeff() > 0.1F);
}

TEST_CASE("parts that a norm is held for add up to what it makes of the sum") {
  Matrix32 parts(6, 4);  // three parts of two rows
  parts << 1, 2, 3, 4, -1, 0, 2, 1, 0, 1, 0, -3, 2, 2, -1, 0, 5, -2, 1, 1, 0, 3, 0, 2;
  const Vector32 scale = (Vector32(4) << 1, 2, 0.5, -1).finished(), shift = (Vector32(4) << 0, 1, 0, 3).finished();
  for (const NormKind kind : {NormKind::layer, NormKind::rms}) {
    const Norm norm{scale, kind == NormKind::layer ? VectorView32(shift) : VectorView32(), 1e-5F, kind};
    Matrix32 held = parts;
    hold_norm(norm, 2, 1, held);
    Matrix32 sum = parts.topRows(2) + parts.middleRows(2, 2) + parts.bottomRows(2);
    for (Index i = 0; i < 2; ++i) {
      const double mean = kind == NormKind::layer ? sum.row(i).cast<double>().mean() : 0;
      const double variance = (sum.row(i).cast<double>().array() - mean).square().mean() + 1e-5;
      for (Index j = 0; j < 4; ++j) {
        const double expected = (sum(i, j) - mean) / std::sqrt(variance) * static_cast<double>(scale[j]) +
                                (kind == NormKind::layer ? static_cast<double>(shift[j]) : 0);
        CHECK(held(i, j) + held(2 + i, j) + held(4 + i, j) == Approx(expected).margin(1e-6));
      }
    }
  }
}
