#include "../../job/studies/reproduction.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string_view>

#include "../../analysis/attention/head_clusters.h"
#include "../../core/planted/planted.h"
#include "../catch.h"
#include "failing_source.h"

using namespace headwave;

namespace {

/// Documents of the planted bank, opened anew for each run.
JobInput planted_input(const PlantedModel& planted) {
  JobInput input;
  input.model = planted.model;
  input.source = planted_documents(planted, 6, 128, 3);
  return input;
}

const ReproducedQuantity& quantity_of(const Reproduction& found, std::string_view name) {
  for (const ReproducedQuantity& quantity : found.quantities)
    if (quantity.name == name) return quantity;
  throw std::runtime_error("no quantity " + std::string(name));
}

}  // namespace

TEST_CASE("the paper's list comes for a model of which nothing is published, and is right on planted truth") {
  const PlantedModel planted = planted_model(planted_bank());
  const Reproduction found = reproduction([&] { return planted_input(planted); });
  CHECK(found.model.empty());
  const std::set<std::string> units{"ratio", "count", "layer", "token", "cycles/T"};
  for (const ReproducedQuantity& quantity : found.quantities) {
    CAPTURE(quantity.name);
    CHECK_FALSE(quantity.compared());
    CHECK(units.contains(quantity.unit));
  }
  CHECK(quantity_of(found, "heads in one or two clusters").measured == 1);
  // The bank's heads read waves alone: words change nothing, and without positions nothing is left.
  double positions = 0, words = 1, shuffled = 0;
  for (const ReproducedQuantity& quantity : found.quantities) {
    if (quantity.name.ends_with("positions only")) positions = quantity.measured;
    if (quantity.name.ends_with("words only")) words = quantity.measured;
    if (quantity.name.ends_with("words shuffled")) shuffled = quantity.measured;
  }
  CHECK(positions > 0.9);
  CHECK(words < 0.1);
  CHECK(shuffled == Approx(1).margin(0.05));
  const Field& measured = found.result.at("reproduction/measured");
  CHECK(measured.size() == static_cast<Index>(found.quantities.size()));
  CHECK(found.result.find("offset_agreement/verdict") != nullptr);
  const Field& carried = found.result.at("carried_waves/mean_weight");
  CHECK(carried.axes[0].size() == 4);
  CHECK(carried.axes[1].size() == 4);
  // The first head as it is: its weights are those of the run, and its largest is at its offset.
  const auto first = carried.doubles().begin(), largest = std::max_element(first, first + 61);
  CHECK(static_cast<double>(largest - first - 30) ==
        quantity_of(found, "offset of " + std::get<std::vector<std::string>>(carried.axes[1].values).front() +
                               ", the clearest head")
            .measured);
  CHECK_FALSE(std::isnan(found.result.at("carried_waves/weighted").doubles()[30]));
}

TEST_CASE("of a rotary model the list has the frequencies that its heads use, in place of a table's") {
  const Reproduction found = reproduction([] {
    return random_input(repository_file("tests/golden/families/llama"), {6, 12, 2, -1, 1}, false);
  });
  const auto cycles = found.result.at("rotary_wave/cycles").doubles();
  const double strongest = quantity_of(found, "strongest frequency of the positions").measured;
  CHECK(std::find(cycles.begin(), cycles.end(), strongest) != cycles.end());
  CHECK(quantity_of(found, "energy of the positions below 10 cycles").measured == Approx(1).margin(1e-12));
  CHECK(std::isnan(quantity_of(found, "highest peak of the positions").measured));
}

TEST_CASE("on a model of the published sizes the named heads are looked at, and told right from wrong") {
  PlantedSpec spec;
  spec.length = 128;
  spec.d_model = 768;
  spec.d_head = 16;
  spec.words = 16;
  spec.frequencies = {9.3, 10.4, 11.6, 12.6, 13.4, 15.4};
  const std::vector<double> sharp(6, 1.5);
  spec.heads.assign(12, std::vector<PlantedHead>(12, {PlantedKind::noise, 0, {}, 1.0}));
  spec.heads[7][8] = {PlantedKind::adjacent, -1, sharp, 0};
  spec.heads[1][2] = {PlantedKind::left, -3, sharp, 0};  // published: +1
  spec.heads[0][0] = {PlantedKind::left, -2, sharp, 0};
  spec.heads[6][4] = {PlantedKind::right, 3, sharp, 0};
  PlantedModel planted = planted_model(spec);
  planted.model.family = "roberta";
  JobOptions options;
  options.draws = 3;
  options.resamples = 2;
  const auto input = [&] {
    JobInput made;
    made.model = planted.model;
    made.source = planted_documents(planted, 3, 64, 3);
    return made;
  };
  const Reproduction found = reproduction(input, options);
  REQUIRE(found.model == "roberta-base");
  for (const Published& one : published_of("roberta-base")) {
    CAPTURE(one.quantity);
    CHECK(quantity_of(found, one.quantity).published == one.text);
  }
  const auto agrees = [&](const char* name) { return quantity_of(found, name).agrees(); };
  CHECK(quantity_of(found, "offset of L7H8").measured == -1);
  CHECK(agrees("offset of L7H8"));
  CHECK(quantity_of(found, "offset of L1H2").measured == -3);
  CHECK_FALSE(agrees("offset of L1H2"));
  CHECK(agrees("weighted sum of L7H8"));
  CHECK(quantity_of(found, "weighted sum of L0H0").measured == -2);
  CHECK(quantity_of(found, "phases of L0H0").measured == Approx(-2).margin(0.1));
  CHECK(agrees("phases of L0H0"));
  CHECK_FALSE(agrees("phases of L1H2"));
  // Planted heads read positions and no words: the published head has no spike then.
  CHECK_FALSE(agrees("weight of L7H8 at its offset, positions only"));
  CHECK(agrees("weight of L7H8 at its offset, words only"));
  CHECK(agrees("weight of L7H8 at its offset, words shuffled"));
  const auto& heads = std::get<std::vector<std::string>>(found.result.at("carried_waves/mean_weight").axes[1].values);
  CHECK(heads == std::vector<std::string>{"L7H8", "L1H2", "L0H0", "L6H4"});
}

TEST_CASE("published numbers belong to models of their sizes") {
  Model model;
  model.family = "roberta";
  model.stack.block.heads = 12;
  model.stack.blocks.resize(12);
  const Matrix32 words(3, 768);
  model.stack.embedding.words = words;
  CHECK(published_model(model) == "roberta-base");
  model.family = "gpt2";
  CHECK(published_model(model) == "gpt2");
  model.family = "bert";
  CHECK(published_model(model).empty());
  model.family = "roberta";
  model.stack.blocks.resize(6);
  CHECK(published_model(model).empty());
  CHECK(published_of("").empty());
  for (const char* name : {"roberta-base", "gpt2"}) {
    std::set<std::string> names;
    for (const Published& one : published_of(name)) {
      CAPTURE(one.quantity);
      CHECK(one.low <= one.high);
      CHECK_FALSE(one.text.empty());
      CHECK_FALSE(one.source.empty());
      CHECK(names.insert(one.quantity).second);
    }
  }
}

TEST_CASE("the paper's list is refused of encoder-decoders, and what stops a job or opens no input stops it") {
  const PlantedModel planted = planted_model(planted_bank());
  CHECK_THROWS_AS(reproduction([&] {
                    JobInput input = planted_input(planted);
                    input.model.decoder = input.model.stack;
                    return input;
                  }),
                  ShapeError);
  JobOptions options;
  options[clusters_option] = 0;
  CHECK_THROWS_AS(reproduction([&] { return planted_input(planted); }, options), ShapeError);
  const auto whole = planted_documents(planted, 2, 64, 3);
  const auto failing_at = [&](Index i) {
    return [&planted, &whole, i] {
      JobInput input;
      input.model = planted.model;
      input.source = std::make_unique<FailingSource>(*whole, i);
      return input;
    };
  };
  CHECK_THROWS_AS(reproduction(failing_at(1)), IoError);
  CHECK_THROWS_AS(reproduction(failing_at(-1)), ShapeError);
  CHECK_THROWS_AS(reproduction([]() -> JobInput { throw IoError("no model"); }), IoError);
}

TEST_CASE("a run is read of results that hold offsets, their weights and the weights they are among") {
  const Axis pairs{"pairs", "1", "", std::vector<std::string>{"all"}};
  const std::vector<Axis> heads{pairs, layer_axis(1), head_axis(2)};
  std::vector<Axis> with_offset = heads;
  with_offset.push_back({"offset", "token", "", std::vector<std::int64_t>{-1, 0, 1}});
  Result whole;
  whole.fields = {make_field("measured_offset/offset", heads, "token", "", {1, -1}),
                  make_field("measured_offset/weight", heads, "1", "", {0.5, 0.7}),
                  make_field("offset_trace/mean_weight", with_offset, "1", "", {0, 0.1, 0.5, 0.7, 0.1, 0})};
  CHECK(RunReadings(whole).weight_at({0, 1}, -1) == 0.7);
  for (std::size_t without = 0; without < whole.fields.size(); ++without) {
    Result result = whole;
    result.fields.erase(result.fields.begin() + static_cast<std::ptrdiff_t>(without));
    CAPTURE(whole.fields[without].name);
    CHECK_THROWS_AS(RunReadings(result), ShapeError);
    CHECK_THROWS_WITH(RunReadings(result), ContainsSubstring(whole.fields[without].name));
  }
}
