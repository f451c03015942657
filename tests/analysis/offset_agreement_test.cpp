#include "../../analysis/attention/measured_offset.h"
#include "../../analysis/registry/registry.h"
#include "../../analysis/why/head_account.h"
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

/// Seven heads: at -2, at -2, at -2, at itself, flat, flat, largest at the end of the search.
MeasuredOffsets measured() {
  MeasuredOffsets result;
  result.grid = {{0}, 7};
  result.offset[all] = list({-2, -2, -2, not_defined, not_defined, not_defined, not_defined});
  result.status[all] = {OffsetStatus::offset, OffsetStatus::offset, OffsetStatus::offset, OffsetStatus::own_token,
                        OffsetStatus::flat,   OffsetStatus::flat,   OffsetStatus::edge};
  return result;
}

/// @param verdicts  AccountVerdict
HeadAccount account_of(std::initializer_list<double> offsets, std::initializer_list<int> verdicts) {
  HeadAccount account;
  account.site.grid = {{0}, 7};
  account.documents = 8;
  account.offset[0] = list(offsets);
  for (const int verdict : verdicts) account.verdict.push_back(static_cast<AccountVerdict>(verdict));
  return account;
}

std::vector<Field> agreement(Finished& finished) {
  const Model model;
  const Document document;
  Site site;
  site.grid = {{0}, 7};
  const JobOptions options;
  for (const AnalysisKind* kind : analysis_kinds())
    if (kind->name == "offset_agreement") return kind->make({model, document, site, options})->finish(finished);
  throw ShapeError("no such analysis");
}

}  // namespace

TEST_CASE("what positions predict agrees within half a token, and every other case has its name") {
  Finished finished;
  finished.keep(measured());
  CHECK(agreement(finished).empty());
  // A mixed head may still look where its positions point; a head without a preference predicts nothing.
  finished.keep(account_of({-2, 0, -2, 0, 4, -2, -5}, {0, 0, 3, 0, 4, 1, 0}));
  const std::vector<Field> fields = agreement(finished);
  const Field& verdict = field_of(fields, "offset_agreement/verdict");
  std::vector<std::string> names;
  for (const std::uint8_t value : std::get<std::vector<std::uint8_t>>(verdict.values))
    names.push_back(verdict.flag_meanings.at(value));
  CHECK(names ==
        std::vector<std::string>{"agrees", "differs", "agrees", "agrees", "undefined", "unrealised", "undefined"});
  const auto& predicted = field_of(fields, "offset_agreement/predicted").doubles();
  CHECK(predicted[1] == 0);
  CHECK(std::isnan(predicted[4]));
}

TEST_CASE("a head with a measured offset and no prediction is unpredicted") {
  Finished finished;
  finished.keep(measured());
  finished.keep(account_of({not_defined, -2, -2, 0, 4, -2, -5}, {0, 4, 3, 0, 4, 1, 0}));
  const auto fields = agreement(finished);
  const auto& verdict = std::get<std::vector<std::uint8_t>>(field_of(fields, "offset_agreement/verdict").values);
  CHECK(verdict[0] == 3);
  CHECK(verdict[1] == 3);
}
