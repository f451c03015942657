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
