#include <cmath>
#include <limits>

#include "../../analysis/attention/measured_offset.h"
#include "../../analysis/predictions/head_account.h"
#include "../../analysis/predictions/position_atlas.h"
#include "../../analysis/predictions/rotary_wave.h"
#include "../../analysis/registry/registry.h"
#include "../../analysis/waves/phase_delay.h"
#include "../catch.h"
#include "found_field.h"

using namespace headwave;

namespace {

constexpr auto all = static_cast<std::size_t>(Pairs::all);

Vector list(std::initializer_list<double> numbers) {
  Vector vector(static_cast<Index>(numbers.size()));
  std::copy(numbers.begin(), numbers.end(), vector.begin());
  return vector;
}

/// Six heads: at -2, at -2, at -2, at itself, flat, flat.
MeasuredOffsets measured() {
  MeasuredOffsets result;
  result.grid = {{0}, 6};
  result.offset[all] = list({-2, -2, -2, not_defined, not_defined, not_defined});
  result.weight[all] = list({0.5, 0.04, 0.2, 0.3, 0.9, 0.9});
  result.status[all] = {OffsetStatus::offset, OffsetStatus::offset, OffsetStatus::offset,
                        OffsetStatus::self,   OffsetStatus::flat,   OffsetStatus::flat};
  return result;
}

/// @param verdicts  AccountVerdict
HeadAccount account_of(std::initializer_list<double> offsets, std::initializer_list<int> verdicts) {
  HeadAccount account;
  account.site.grid = {{0}, 6};
  account.documents = 8;
  account.offset[0] = list(offsets);
  account.weight[0] = Vector::Constant(6, 0.25);
  for (const int verdict : verdicts) account.verdict.push_back(static_cast<AccountVerdict>(verdict));
  return account;
}

PositionAtlas atlas_of(std::initializer_list<double> offsets) {
  PositionAtlas atlas;
  atlas.grid = {{0}, 6};
  atlas.offset = list(offsets);
  atlas.weight = Vector::Constant(6, 0.3);
  return atlas;
}

/// What is said of predictions that other analyses have kept.
template <class... Predictions>
std::vector<Field> agreement(const MeasuredOffsets& offsets, const Predictions&... predictions) {
  Finished finished;
  finished.keep(offsets);
  (finished.keep(predictions), ...);
  const Model model;
  const Document document;
  Site site;
  site.grid = offsets.grid;
  const JobOptions options;
  for (const AnalysisKind* kind : analysis_kinds())
    if (kind->name == "offset_agreement") return kind->make({model, document, site, options})->finish(finished);
  throw ShapeError("no such analysis");
}

constexpr std::size_t routes = 3, position = 0, weights = 1, phases = 2;

/// The verdicts of a route, as their names.
std::vector<std::string> verdicts(const std::vector<Field>& fields, std::size_t route) {
  const Field& field = field_of(fields, "offset_agreement/verdict");
  const auto& values = std::get<std::vector<std::uint8_t>>(field.values);
  std::vector<std::string> names;
  for (std::size_t i = route; i < values.size(); i += routes) names.push_back(field.flag_meanings.at(values[i]));
  return names;
}

double predicted(const std::vector<Field>& fields, const char* quantity, std::size_t row, std::size_t route) {
  return field_of(fields, std::string("offset_agreement/") + quantity).doubles()[row * routes + route];
}

/// @param counted  0: all heads with a measured offset, 1: strong ones
double met(const std::vector<Field>& fields, std::size_t route, std::size_t counted = 0) {
  return field_of(fields, "offset_agreement/met").doubles()[counted * (routes + 3) + route];
}

}  // namespace

TEST_CASE("predictions agree within their interval and half a token, and every other case has its name") {
  PhaseDelay delay;
  delay.offset = list({-2.4, -2.6, -1, 0.2, not_defined, not_defined});
  delay.lower = list({not_defined, -2.7, -1.6, not_defined, not_defined, not_defined});
  delay.upper = list({not_defined, -2.4, -0.4, not_defined, not_defined, not_defined});
  delay.q_value = list({0.01, 0.01, 0.01, 0.01, 0.5, not_defined});
  const std::vector<Field> fields = agreement(measured(), account_of({-2, 0, -2, 0, 4, -2}, {0, 0, 3, 0, 4, 1}),
                                              atlas_of({-2, -1, not_defined, 0, not_defined, 3}), delay);
  CHECK(field_of(fields, "offset_agreement/measured").doubles()[3] == 0);
  // A mixed head may still look where its positions point; a head without a preference predicts nothing.
  CHECK(verdicts(fields, position) ==
        std::vector<std::string>{"agrees", "differs", "agrees", "agrees", "undefined", "unrealised"});
  CHECK(predicted(fields, "weight", 0, position) == 0.25);
  CHECK(std::isnan(predicted(fields, "weight", 4, position)));
  CHECK(verdicts(fields, weights) ==
        std::vector<std::string>{"agrees", "differs", "unpredicted", "agrees", "undefined", "unrealised"});
  CHECK(predicted(fields, "weight", 1, weights) == 0.3);
  CHECK(verdicts(fields, phases) ==
        std::vector<std::string>{"agrees", "agrees", "agrees", "agrees", "undefined", "undefined"});
  CHECK(std::isnan(predicted(fields, "weight", 0, phases)));
  CHECK(std::isnan(predicted(fields, "predicted", 4, position)));
  // Four heads have a measured offset, three at -2 and one at itself; the second of them is weak.
  CHECK(std::get<std::vector<std::int64_t>>(field_of(fields, "offset_agreement/heads").values) ==
        std::vector<std::int64_t>{4, 3});
  CHECK(met(fields, position) == 3);
  CHECK(met(fields, weights) == 2);
  CHECK(met(fields, phases) == 4);
  CHECK(met(fields, phases, 1) == 3);
  CHECK(met(fields, routes) == 1);      // always 0
  CHECK(met(fields, routes + 1) == 0);  // always -1
  CHECK(met(fields, routes, 1) == 1);
}

TEST_CASE("an atlas of other layers predicts for the heads that both have") {
  MeasuredOffsets two;
  two.grid = {{1, 4}, 2};
  two.offset[all] = list({-1, 2, 3, -3});
  two.weight[all] = Vector::Constant(4, 0.5);
  two.status[all].assign(4, OffsetStatus::offset);
  PositionAtlas atlas;
  atlas.grid = {{0, 2, 4}, 2};
  atlas.offset = list({-1, 2, -1, 2, 3, -2});
  atlas.weight = list({0.1, 0.1, 0.1, 0.1, 0.7, 0.8});
  const std::vector<Field> fields = agreement(two, atlas);
  CHECK(verdicts(fields, weights) == std::vector<std::string>{"unpredicted", "unpredicted", "agrees", "differs"});
  CHECK(predicted(fields, "predicted", 3, weights) == -2);
  CHECK(predicted(fields, "weight", 2, weights) == 0.7);
  CHECK(met(fields, weights) == 1);
}

TEST_CASE("without a null no delay is called, and none counts as missed") {
  PhaseDelay delay;
  delay.offset = delay.lower = delay.upper = delay.q_value = Vector::Constant(6, not_defined);
  const std::vector<Field> fields = agreement(measured(), delay);
  CHECK(std::isnan(met(fields, phases)));
  CHECK(met(fields, routes) == 1);
}

TEST_CASE("attention that is largest where the search ends neither meets nor misses a prediction") {
  MeasuredOffsets cut = measured();
  cut.status[all][4] = OffsetStatus::edge;
  const std::vector<Field> fields = agreement(cut, atlas_of({-2, -1, not_defined, 0, 5, 3}));
  CHECK(verdicts(fields, weights)[4] == "undefined");
  CHECK(verdicts(fields, weights)[5] == "unrealised");
  CHECK(std::get<std::vector<std::int64_t>>(field_of(fields, "offset_agreement/heads").values)[0] == 4);
}

TEST_CASE("of rotary positions the rotary wave takes the place of phases") {
  PhaseDelay delay;
  delay.offset = delay.lower = delay.upper = Vector::Constant(6, not_defined);
  delay.q_value = Vector::Constant(6, 0.5);
  RotaryWave wave;
  wave.offset = list({-2, -3, -1, not_defined, not_defined, not_defined});
  wave.lower = list({-2, -3, -2, not_defined, not_defined, not_defined});
  wave.upper = list({-2, -3, -1, not_defined, not_defined, not_defined});
  wave.weight = Vector::Constant(6, 0.4);
  wave.q_value = list({0.01, 0.01, 0.01, 0.5, 0.5, not_defined});
  const std::vector<Field> fields = agreement(measured(), delay, wave);
  CHECK(verdicts(fields, phases) ==
        std::vector<std::string>{"agrees", "differs", "agrees", "unpredicted", "undefined", "undefined"});
  CHECK(predicted(fields, "weight", 0, phases) == 0.4);
  CHECK(met(fields, phases) == 2);
  wave.q_value = Vector::Constant(6, not_defined);
  CHECK(std::isnan(met(agreement(measured(), delay, wave), phases)));
}

TEST_CASE("an atlas that is undefined predicts nothing, and without any prediction nothing is said") {
  PositionAtlas atlas = atlas_of({-2, -2, -2, -2, -2, -2});
  atlas.undefined = "no position table";
  const std::vector<Field> fields = agreement(measured(), atlas);
  for (std::size_t row = 0; row < 6; ++row) CHECK(std::isnan(predicted(fields, "predicted", row, weights)));
  CHECK(agreement(measured()).empty());
}
