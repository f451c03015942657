// What wrote what heads read: every family's states as a sum, a Llama's shares against PyTorch
// (tests/golden/make_sources.py), and waves whose writer is known: the position table, or a head of the layer before.

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <optional>

#include <Eigen/QR>

#include "../../analysis/why/stream_parts.h"
#include "../../core/algebra/product.h"
#include "../../core/fields/head_name.h"
#include "../../core/model/intervention.h"
#include "../../core/model/model_pass.h"
#include "../../core/planted/planted.h"
#include "../../job/inputs/intervention_text.h"
#include "../../job/inputs/job_input.h"
#include "../../job/run/job.h"
#include "../analysis/golden_json.h"
#include "../catch.h"

using namespace headwave;

namespace {

JobOptions sources_alone() {
  JobOptions options;
  options.only = {"score_sources"};
  options.draws = 3;
  return options;
}

/// Six documents of so many ids of 3 to 18, which every tiny model knows; in pairs for encoder-decoders.
void write_documents(const std::filesystem::path& file, int length, bool pairs) {
  std::ofstream out(file);
  for (int d = 0; d < 6; ++d) {
    std::string ids;
    for (int i = 0; i < length; ++i) ids += (i == 0 ? "" : ", ") + std::to_string(3 + (5 * d + i * i + 3 * i * d) % 16);
    out << (d == 0 ? "[" : ", ");
    if (pairs)
      out << R"({"source": [)" << ids << R"(], "target": [)" << ids << "]}";
    else
      out << "[" << ids << "]";
  }
  out << "]";
}

}  // namespace

TEST_CASE("in every family the sum over sources is what queries and keys are made of") {
  const TemporaryFolder folder;
  int families = 0, decoders = 0;
  for (const auto& entry : std::filesystem::directory_iterator(repository_file("tests/golden/families"))) {
    if (!entry.is_directory()) continue;
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    const bool pairs = name.starts_with("t5") || name == "bart" || name == "marian";
    write_documents(folder / "ids.json", name == "llama4" ? 7 : 12, pairs);  // whose chunks are of 7
    const JobInput input = ids_input(entry.path(), folder / "ids.json");
    JobOptions options = sources_alone();
    options.heads = {head_name(0, 0)};
    for (const KindResult& found : run_job_by_kind(input.model, *input.source, options)) {
      if (found.kind == AttentionKind::cross) continue;
      const Field& closure = found.result.at("score_sources/closure");
      for (const double miss : closure.doubles()) CHECK(miss < 2e-5);
      const Field& shares = found.result.at("score_sources/position_query");
      const auto sources = static_cast<std::size_t>(shares.axes.back().size());
      for (std::size_t row = 0; row < shares.doubles().size(); row += sources) {
        double sum = 0;
        for (std::size_t s = 0; s < sources; ++s) sum += shares.doubles()[row + s];
        CHECK(sum == Approx(1).margin(1e-4));
      }
      ++families;
      decoders += found.kind == AttentionKind::causal ? 1 : 0;
    }
  }
  CHECK(families > 45);
  CHECK(decoders > 20);
}

TEST_CASE("sources of a Llama's scores are PyTorch's") {
  NEEDS_SHARED("stories260K/model.safetensors");
  const nlohmann::json golden = golden_json("sources.json");
  const TemporaryFolder folder;
  std::ofstream(folder / "ids.json") << golden["ids"];
  const JobInput input = ids_input(shared_file("stories260K"), folder / "ids.json");
  JobOptions options = sources_alone();
  options.reach = 32;
  options.heads = {"L3H1"};
  const Result result = run_job(input.model, *input.source, options);
  const auto check = [&](const std::string& field, std::size_t first, const nlohmann::json& expected) {
    const std::vector<double>& found = result.at("score_sources/" + field).doubles();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(field, first, i);
      const double here = found[first + i];
      if (std::isnan(here)) continue;  // too small for shares
      const double there = expected[i].get<double>();
      CHECK(here == Approx(there).margin(2e-4).epsilon(2e-4));
    }
  };
  for (std::size_t layer = 0; layer < 5; ++layer)
    for (std::size_t head = 0; head < 8; ++head) {
      const nlohmann::json& expected = golden["layers"][layer];
      const std::size_t row = layer * 8 + head;
      CAPTURE(layer, head);
      check("position_query", row * 11, expected["query"][head]);
      check("position_key", row * 11, expected["key"][head]);
      CHECK(result.at("score_sources/kernel_sd").doubles()[row] ==
            Approx(expected["sd"][head].get<double>()).epsilon(1e-4));
      // At offsets -1, 0, 1: the last is masked.
      const std::vector<double>& content = result.at("score_sources/content").doubles();
      CHECK(content[40 + row] == Approx(expected["content"][head][0].get<double>()).margin(1e-5).epsilon(1e-4));
      CHECK(content[row] == Approx(expected["content"][head][1].get<double>()).margin(1e-5).epsilon(1e-4));
      CHECK(std::isnan(content[80 + row]));
      check("content_query", (40 + row) * 11, expected["content_query"][head][0]);
      check("content_key", (40 + row) * 11, expected["content_key"][head][0]);
      check("content_query", row * 11, expected["content_query"][head][1]);
    }
  check("earlier_query", 0, golden["earlier"][0]);
  check("earlier_key", 0, golden["earlier"][1]);
}

TEST_CASE("where one document is there, nobody asks for sources") {
  const TemporaryFolder folder;
  write_documents(folder / "ids.json", 12, false);
  const JobInput input = ids_input(repository_file("tests/golden/families/gpt2"), folder / "ids.json");
  CHECK(run_job(input.model, *input.source, sources_alone()).find("score_sources/closure") != nullptr);
  std::ofstream(folder / "one.json") << "[[3, 4, 5, 6, 7, 8, 9]]";
  const JobInput one = ids_input(repository_file("tests/golden/families/gpt2"), folder / "one.json");
  CHECK(run_job(one.model, *one.source, sources_alone()).find("score_sources/closure") == nullptr);
}

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

/// What the sources give to heads L1H0 (row 2) and L1H1 (row 3).
struct FoundSources {
  Result result;

  FoundSources(const Model& model, const Source& source) {
    JobOptions options = sources_alone();
    options.reach = 20;
    options.heads = {"L1H0", "L1H1"};
    result = run_job(model, source, options);
  }
  [[nodiscard]] double share(const char* field, Index row, const std::string& source) const {
    const Field& shares = result.at(std::string("score_sources/") + field);
    const auto& names = std::get<std::vector<std::string>>(shares.axes.back().values);
    const auto at = std::ranges::find(names, source) - names.begin();
    REQUIRE(at < std::ssize(names));
    return shares.doubles()[static_cast<std::size_t>(row * std::ssize(names) + at)];
  }
  [[nodiscard]] Vector kernel(Index row) const {
    const auto& all = result.at("score_sources/position_kernel").doubles();
    return Eigen::Map<const Vector>(all.data() + 41 * row, 41);
  }
};

/// The parts of the keys of L1H0 that come from some sources.
class KeyParts : public Probe {
 public:
  KeyParts(const Stack& stack, const Document& document, std::vector<StreamSource> apart)
      : stack_(stack), stream_(stack, document, 0, source_length, false, std::move(apart)) {}
  using Probe::see;
  [[nodiscard]] bool wants_projections() const override { return true; }
  void see(const Tile& /*tile*/) override {}
  void see(const StreamAddition& addition) override { stream_.add(addition); }
  void see(const LayerInput& input) override {
    if (input.layer == 1) parts = key_parts(stream_.entering(1), *input.weights, source_length, stack_.block, 0);
  }
  void see(const LayerProjections& projections) override {
    if (projections.layer == 1) whole = projections.key.leftCols(stack_.block.d_head);
  }
  [[nodiscard]] Matrix32 part(const StreamSource& source) const {
    const auto at = std::ranges::find(stream_.sources(), source) - stream_.sources().begin();
    return parts.middleRows(at * source_length, source_length);
  }

  Matrix32 parts, whole;

 private:
  const Stack& stack_;
  StreamParts stream_;
};

}  // namespace

TEST_CASE("a wave that an earlier head wrote comes from it, one of the table from the table") {
  const PlantedModel planted = copied_waves();
  const Copied copied(planted, 0);
  const FoundSources found(copied.model, *planted_documents(planted, 12, source_length, 5));
  CHECK(found.share("position_query", 2, "attention 0") > 0.95);
  CHECK(found.share("position_key", 2, "attention 0") > 0.95);
  CHECK(found.share("earlier_query", 0, "L0H0") > 0.95);  // and nobody else
  CHECK(std::abs(found.share("earlier_query", 0, "L0H1")) < 0.01);
  CHECK(found.share("position_query", 3, "positions") > 0.95);
  CHECK(found.share("position_key", 3, "positions") > 0.95);
  for (const double miss : found.result.at("score_sources/closure").doubles()) CHECK(miss < 1e-5);
}

TEST_CASE("taking a source away changes the kernel as its share says") {
  const PlantedModel planted = copied_waves();
  const Copied copied(planted, 0.7F);
  const auto documents = planted_documents(planted, 12, source_length, 6);
  const FoundSources found(copied.model, *documents), without(copied.without_copy, *documents);
  CHECK(found.share("position_query", 2, "attention 0") > 0);
  double sum = 0;
  for (const char* source : {"words", "positions", "constants", "attention 0", "feed-forward 0"})
    sum += found.share("position_query", 2, source);
  CHECK(sum == Approx(1));
  // What is left is the table's own part. The norm before it divides by less then: one factor for all offsets.
  const Vector left = without.kernel(2), whole = found.kernel(2);
  const Vector a = left.array() - left.mean(), b = whole.array() - whole.mean();
  CHECK(a.dot(b) / (a.norm() * b.norm()) > 0.9);
  CHECK(without.result.at("score_sources/kernel_sd").doubles()[2] <
        found.result.at("score_sources/kernel_sd").doubles()[2]);
  CHECK(without.share("position_query", 2, "positions") > 0.95);
}

TEST_CASE("what sources give to a head's keys adds up to them, whichever are told apart") {
  using Kind = StreamSource::Kind;
  const PlantedModel planted = copied_waves();
  const Copied copied(planted, 0.7F);
  const Document document = planted_documents(planted, 1, source_length, 7)->document(0);
  const StreamSource copy{Kind::attention, 0}, constants{Kind::constants};
  KeyParts every(copied.model.stack, document, {}), alone(copied.model.stack, document, {copy}),
      shifts(copied.model.stack, document, {constants});
  std::vector<Probe*> probes{&every, &alone, &shifts};
  model_pass(copied.model, document, probes);
  Matrix32 sum = Matrix32::Zero(source_length, planted.spec.d_head);
  for (Index row = 0; row < every.parts.rows(); row += source_length) sum += every.parts.middleRows(row, source_length);
  CHECK((sum - every.whole).cwiseAbs().maxCoeff() < 1e-5F * every.whole.cwiseAbs().maxCoeff());
  CHECK((alone.part(copy) - every.part(copy)).cwiseAbs().maxCoeff() < 1e-5F);
  CHECK((shifts.part(constants) - every.part(constants)).cwiseAbs().maxCoeff() < 1e-5F);  // nothing of the others
  CHECK(every.part(copy).cwiseAbs().maxCoeff() > 0.1F);
}
