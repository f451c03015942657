#include "../../analysis/predictions/offset_agreement.h"

#include <cmath>
#include <limits>

#include "../catch.h"

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

}  // namespace

TEST_CASE("predictions agree within their interval and half a token, and every other case has its name") {
  PositionAtlas atlas;
  atlas.grid = {{0}, 6};
  atlas.offset = list({-2, -1, not_defined, 0, not_defined, 3});
  atlas.weight = Vector::Constant(6, 0.3);
  DelaySpectrum scores;
  scores.grid = atlas.grid;
  scores.offset = list({-2.4, -2.6, -1, 0.2, not_defined, not_defined});
  scores.lower = list({not_defined, -2.7, -1.6, not_defined, not_defined, not_defined});
  scores.upper = list({not_defined, -2.4, -0.4, not_defined, not_defined, not_defined});
  scores.q_value = list({0.01, 0.01, 0.01, 0.01, 0.5, not_defined});
  const HeadAccount account = account_of({-2, 0, -2, 0, 4, -2}, {0, 0, 3, 0, 4, 1});
  const OffsetAgreement found = offset_agreement(measured(), {&account, &atlas, nullptr, &scores});
  using enum OffsetVerdict;
  CHECK(found.measured[3] == 0);
  // A mixed head may still look where its positions point; a head without a preference predicts nothing.
  CHECK(found.verdict[0] == std::vector{agrees, differs, agrees, agrees, undefined, unrealised});
  CHECK(found.weight[0][0] == 0.25);
  CHECK(std::isnan(found.weight[0][4]));
  CHECK(found.verdict[1] == std::vector{agrees, differs, unpredicted, agrees, undefined, unrealised});
  CHECK(found.weight[1][1] == 0.3);
  CHECK(found.verdict[2] == std::vector{undefined, undefined, undefined, undefined, undefined, undefined});
  CHECK(found.verdict[3] == std::vector{agrees, agrees, agrees, agrees, undefined, undefined});
  CHECK(std::isnan(found.weight[3][0]));
  const std::vector<Field> fields = describe(found);
  REQUIRE(fields.size() == 6);
  CHECK(fields[1].size() == 24);
  CHECK(std::isnan(fields[1].doubles()[4 * 4]));
  CHECK(fields[3].flag_meanings.at(4) == "unrealised");
  // Four heads have a measured offset, three at -2 and one at itself; the second of them is weak.
  CHECK(found.heads == std::array<Index, 2>{4, 3});
  CHECK(found.met[0][0] == 3);
  CHECK(found.met[0][1] == 2);
  CHECK(std::isnan(found.met[0][2]));
  CHECK(found.met[0][3] == 4);
  CHECK(found.met[1][3] == 3);
  CHECK(found.met[0][4] == 1);  // always 0
  CHECK(found.met[0][5] == 0);  // always -1
  CHECK(fields[5].doubles()[7 + 4] == 1);
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
  const OffsetAgreement found = offset_agreement(two, {nullptr, &atlas, nullptr, nullptr});
  constexpr auto weights = static_cast<std::size_t>(PredictionRoute::weights);
  using enum OffsetVerdict;
  CHECK(found.verdict[weights] == std::vector{unpredicted, unpredicted, agrees, differs});
  CHECK(found.predicted[weights][3] == -2);
  CHECK(found.weight[weights][2] == 0.7);
  CHECK(found.met[0][weights] == 1);
}

TEST_CASE("without a null no delay is called, and none counts as missed") {
  DelaySpectrum scores;
  scores.grid = {{0}, 6};
  scores.offset = scores.lower = scores.upper = scores.q_value = Vector::Constant(6, not_defined);
  const OffsetAgreement found = offset_agreement(measured(), {nullptr, nullptr, nullptr, &scores});
  CHECK(std::isnan(found.met[0][3]));
  CHECK(found.met[0][4] == 1);
}

TEST_CASE("attention that is largest where the search ends neither meets nor misses a prediction") {
  MeasuredOffsets cut = measured();
  cut.status[all][4] = OffsetStatus::edge;
  PositionAtlas atlas;
  atlas.grid = {{0}, 6};
  atlas.offset = list({-2, -1, not_defined, 0, 5, 3});
  atlas.weight = Vector::Constant(6, 0.3);
  const OffsetAgreement found = offset_agreement(cut, {nullptr, &atlas, nullptr, nullptr});
  CHECK(found.verdict[1][4] == OffsetVerdict::undefined);
  CHECK(found.verdict[1][5] == OffsetVerdict::unrealised);
  CHECK(found.heads[0] == 4);
}

TEST_CASE("of rotary positions the rotary wave takes the place of phases") {
  DelaySpectrum phases;
  phases.grid = {{0}, 6};
  phases.offset = phases.lower = phases.upper = Vector::Constant(6, not_defined);
  phases.q_value = Vector::Constant(6, 0.5);
  RotaryWave wave;
  wave.grid = phases.grid;
  wave.offset = list({-2, -3, -1, not_defined, not_defined, not_defined});
  wave.lower = list({-2, -3, -2, not_defined, not_defined, not_defined});
  wave.upper = list({-2, -3, -1, not_defined, not_defined, not_defined});
  wave.weight = Vector::Constant(6, 0.4);
  wave.q_value = list({0.01, 0.01, 0.01, 0.5, 0.5, not_defined});
  const OffsetAgreement found = offset_agreement(measured(), {nullptr, nullptr, &phases, nullptr, &wave});
  using enum OffsetVerdict;
  CHECK(found.verdict[2] == std::vector{agrees, differs, agrees, unpredicted, undefined, undefined});
  CHECK(found.weight[2][0] == 0.4);
  CHECK(found.met[0][2] == 2);
  wave.q_value = Vector::Constant(6, not_defined);
  const OffsetAgreement untested = offset_agreement(measured(), {nullptr, nullptr, &phases, nullptr, &wave});
  CHECK(std::isnan(untested.met[0][2]));
}

TEST_CASE("an atlas that is undefined predicts nothing") {
  PositionAtlas atlas;
  atlas.grid = {{0}, 6};
  atlas.undefined = "no position table";
  const OffsetAgreement found = offset_agreement(measured(), {nullptr, &atlas, nullptr, nullptr});
  CHECK(found.predicted[1].array().isNaN().all());
}
