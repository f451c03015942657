// Interventions on the planted model, whose heads are known to read positions and nothing else, or words and nothing
// else.

#include "../../core/model/intervention.h"

#include <array>
#include <cmath>

#include "../../analysis/attention/measured_offset.h"
#include "../../analysis/attention/offset_trace.h"
#include "../../core/model/model_pass.h"
#include "../../core/planted/planted.h"
#include "../catch.h"

using namespace headwave;

namespace {

struct MovedBank {
  PlantedModel planted = planted_model(planted_bank());
  std::unique_ptr<Source> documents = planted_documents(planted, 2, 512, 1);

  [[nodiscard]] MeasuredOffsets measured(const Model& model, const Source& source) const {
    std::vector<Index> layers;
    for (Index layer = 0; layer < model.stack.layers(); ++layer) layers.push_back(layer);
    const HeadGrid grid{layers, model.stack.block.heads};
    OffsetTraceSum sum;
    for (Index i = 0; i < source.count(); ++i) {
      const Document document = source.document(i);
      OffsetTraceProbe probe(grid, document, 64);
      const std::array<Probe*, 1> probes{&probe};
      model_pass(model, document, probes);
      add_to(sum, probe.taken());
    }
    return measured_offsets(offset_traces(sum, grid));
  }

  [[nodiscard]] const PlantedHead& head(Index row) const {
    const Index heads = planted.model.stack.block.heads;
    return planted.spec.heads[static_cast<std::size_t>(row / heads)][static_cast<std::size_t>(row % heads)];
  }
  [[nodiscard]] Index rows() const { return planted.model.stack.layers() * planted.model.stack.block.heads; }
};

}  // namespace

TEST_CASE("positional heads keep their offsets on positions only and on shuffled words, and lose them on words only") {
  const MovedBank bank;
  const MeasuredOffsets positions = bank.measured(positions_only(bank.planted.model), *bank.documents);
  const auto shuffled = shuffled_words(planted_documents(bank.planted, 2, 512, 1), 3);
  const MeasuredOffsets words_shuffled = bank.measured(bank.planted.model, *shuffled);
  const MeasuredOffsets words = bank.measured(words_only(bank.planted.model), *bank.documents);
  for (Index row = 0; row < bank.rows(); ++row) {
    CAPTURE(row);
    if (!bank.head(row).positional()) continue;
    CHECK(positions.offset[0][row] == bank.head(row).offset);
    CHECK(words_shuffled.offset[0][row] == bank.head(row).offset);
    CHECK(std::isnan(words.offset[0][row]));
  }
}

TEST_CASE("re-aiming the keys by u moves a positional head's offset by -u") {
  const MovedBank bank;
  std::vector<HeadName> heads;
  for (Index row = 0; row < bank.rows(); ++row)
    if (bank.head(row).positional())
      heads.push_back({row / bank.planted.model.stack.block.heads, row % bank.planted.model.stack.block.heads});
  REQUIRE(heads.size() >= 8);
  for (const Index u : {2, -3}) {
    const MeasuredOffsets moved = bank.measured(re_aimed(bank.planted.model, heads, u), *bank.documents);
    for (const HeadName& head : heads) {
      const Index row = head.layer * bank.planted.model.stack.block.heads + head.head;
      CAPTURE(u, row);
      if (bank.head(row).offset == static_cast<double>(u)) continue;  // it would land on itself
      CHECK(moved.offset[0][row] == bank.head(row).offset - static_cast<double>(u));
    }
  }
  CHECK_THROWS_AS(re_aimed(bank.planted.model, {{0, 0}}, 0), ShapeError);
  CHECK_THROWS_AS(re_aimed(bank.planted.model, {{0, 0}}, 512), ShapeError);
  CHECK_THROWS_WITH(re_aimed(bank.planted.model, {{9, 0}}, 1), ContainsSubstring("there is no L9H0"));
}

TEST_CASE("without the band of its waves a positional head has no offset, without another band nothing changes") {
  const MovedBank bank;
  Index lowest = 256, highest = 0;
  for (const double f : bank.planted.spec.frequencies) {
    lowest = std::min(lowest, static_cast<Index>(std::floor(f)));
    highest = std::max(highest, static_cast<Index>(std::ceil(f)));
  }
  // Frequencies off the bins leak: a wide margin takes nearly all of them.
  const Index first = std::max<Index>(0, lowest - 25), last = std::min<Index>(256, highest + 25);
  const MeasuredOffsets without = bank.measured(without_band(bank.planted.model, first, last), *bank.documents);
  Index left = 0, positional = 0;
  for (Index row = 0; row < bank.rows(); ++row) {
    if (!bank.head(row).positional()) continue;
    ++positional;
    left += without.weight[0][row] > 0.05 ? 1 : 0;
  }
  CHECK(positional >= 8);
  CHECK(left == 0);
  const MeasuredOffsets other = bank.measured(without_band(bank.planted.model, 200, 220), *bank.documents);
  for (Index row = 0; row < bank.rows(); ++row)
    if (bank.head(row).positional()) CHECK(other.offset[0][row] == bank.head(row).offset);
  CHECK_THROWS_WITH(without_band(bank.planted.model, 5, 257), ContainsSubstring("within 0 to 256"));
  CHECK_THROWS_AS(without_band(bank.planted.model, 5, 4), ShapeError);
}

TEST_CASE("with mean keys positional heads stay as they are, and heads that look for words see none") {
  const MovedBank bank;
  const auto many = planted_documents(bank.planted, 64, 64, 3);
  const Index heads = bank.planted.model.stack.block.heads;
  std::vector<HeadName> all;
  for (Index row = 0; row < bank.rows(); ++row) all.push_back({row / heads, row % heads});
  const Model changed = mean_keys(bank.planted.model, *many, all);

  // Attention to the same word, the place itself and both special tokens left out, of all attention that is not to these.
  class SameWord : public Probe {
   public:
    explicit SameWord(Index rows) : share(Vector::Zero(rows)) {}
    using Probe::see;
    void see(const Tile& tile) override {
      const auto& ids = tile.document->ids;
      for (Index head = 0; head < tile.heads(); ++head)
        for (Index i = 0; i < tile.rows(); ++i)
          for (Index j = 0; j < tile.keys; ++j)
            if (tile.first_row + i != j &&
                ids[static_cast<std::size_t>(tile.first_row + i)] == ids[static_cast<std::size_t>(j)])
              share[tile.layer * tile.heads() + head] += tile.weights[static_cast<std::size_t>(head)](i, j);
    }
    Vector share;
  };
  const auto seen = [&](const Model& model) {
    SameWord probe(bank.rows());
    const std::array<Probe*, 1> probes{&probe};
    for (Index i = 0; i < 8; ++i) model_pass(model, many->document(i), probes);
    return probe.share;
  };
  const MeasuredOffsets kept = bank.measured(changed, *many), was = bank.measured(bank.planted.model, *many);
  const Vector before = seen(bank.planted.model), after = seen(changed);
  Index positional = 0, content = 0;
  for (Index row = 0; row < bank.rows(); ++row) {
    CAPTURE(row);
    if (bank.head(row).positional()) {
      ++positional;
      CHECK(kept.offset[0][row] == bank.head(row).offset);
      // Words in the residual stream do not reach its keys at all.
      CHECK(kept.weight[0][row] == Approx(was.weight[0][row]).epsilon(1e-5));
    }
    if (bank.head(row).kind != PlantedKind::content) continue;
    ++content;
    CHECK(after[row] < before[row] / 4);
  }
  CHECK(positional >= 8);
  CHECK(content >= 1);
}
