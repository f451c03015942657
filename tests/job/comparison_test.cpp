#include "../../job/studies/comparison.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../../core/fields/fields.h"
#include "../../core/numbers/random.h"
#include "../catch.h"

using namespace headwave;

namespace {

constexpr Index layers = 2, heads = 3, reach = 2, length = 11;

/// Six heads that look at the token before, head L1H1 at `offset` in place of it.
Result looking(Index offset, std::uint64_t seed, Index documents = 10) {
  Random random(seed);
  std::vector<double> traces, offsets;
  for (Index d = 0; d < documents; ++d)
    for (Index h = 0; h < layers * heads; ++h)
      for (Index t = -reach; t <= reach; ++t) {
        const double weight = t == (h == 4 ? offset : -1) ? 0.6 : 0.1;
        traces.push_back((weight + 0.02 * random.normal()) * static_cast<double>(length - std::abs(t)));
      }
  for (std::size_t kind = 0; kind < pairs_kinds; ++kind)
    for (Index h = 0; h < layers * heads; ++h) offsets.push_back(static_cast<double>(h == 4 ? offset : -1));
  const Axis layer = layer_axis(layers), head = head_axis(heads);
  Fields traced("offset_trace"), measured("measured_offset");
  traced.add("by_document", {document_axis(documents), layer, head, offset_axis("near_offset", -reach, reach)}, "1",
             "attention", traces);
  traced.add("length", {document_axis(documents)}, "token", "length",
             std::vector<std::int64_t>(static_cast<std::size_t>(documents), length));
  measured.add("offset", {pairs_axis(), layer, head}, "token", "offset", offsets);
  Result result{"", traced.taken(), {{"attention", "self"}, {"source", "text"}, {"source_sha256", "ab"}}};
  append(result.fields, measured.taken());
  return result;
}

/// An entry of comparison/QUANTITY.
double number(const Result& compared, const char* quantity, const char* measure, std::size_t row) {
  const std::string name = std::string("comparison/") + quantity;
  return head_doubles(compared, name, measure)[row];
}

std::vector<std::string> verdicts(const Result& compared, const char* measure) {
  return head_meanings(compared, "comparison/verdict", measure);
}

bool changed(const Result& compared, std::size_t row) {
  return flags_of(compared, "comparison/changed", {"layer", "head"})[row] == 1;
}

bool any_changed(const Result& compared) {
  return std::ranges::count(flags_of(compared, "comparison/changed", {"layer", "head"}), 1) > 0;
}

}  // namespace

TEST_CASE("the head that looks elsewhere has changed, by as much, and no other head") {
  const Result first = looking(-1, 1);
  Result second = looking(1, 3);
  for (const bool paired : {true, false}) {
    if (!paired) second.provenance["source_sha256"] = std::string("cd");
    const Result compared = comparison(first, second, {"one", "other"});
    CHECK(attribute_text(compared.at("comparison/first").attributes, "documents_paired") == (paired ? "yes" : "no"));
    CHECK(counts_of(compared, "comparison/rank", {"layer", "head"})[4] == 0);
    for (std::size_t row = 0; row < layers * heads; ++row) CHECK(changed(compared, row) == (row == 4));
    CHECK(number(compared, "second", "offset", 4) == 1);
    CHECK(verdicts(compared, "offset")[4] == "beyond");
    const auto weight = [&](const char* quantity) { return number(compared, quantity, "weight_at_first", 4); };
    CHECK(weight("second") - weight("first") == Approx(-0.5).margin(0.05));
    CHECK((weight("lower") < -0.45 && weight("upper") > -0.55));
    CHECK(compared.fields.front().name == "comparison/first");
    CHECK((compared.find("comparison/set_to") == nullptr) == paired);
    if (!paired)
      CHECK(std::get<std::vector<std::string>>(compared.at("comparison/set_to").values) ==
            std::vector<std::string>{"ab", "cd"});
    CHECK(attribute_text(compared.provenance, "comparable") ==
          (paired ? "comparable head by head: one model, the same 10 documents of 11 tokens"
                  : "comparable head by head: one model, 10 documents of 11 tokens against 10 others, so a change may "
                    "come from the texts"));
    CHECK(attribute_text(compared.provenance, "decided_by") ==
          (paired ? "10 pairs of blocks of documents" : "5 and 5 blocks of documents"));
  }
}

TEST_CASE("a result has not changed against itself") {
  const Result compared = comparison(looking(-1, 1), looking(-1, 1));
  CHECK_FALSE(any_changed(compared));
  CHECK(verdicts(compared, "offset")[0] == "within");
}

TEST_CASE("where an interval is in neither result the difference stands alone, and what one lacks is undefined") {
  const auto with_shares = [](double share) {
    Result result = looking(-1, 1);
    Fields types("head_types");
    types.add("previous", {layer_axis(layers), head_axis(heads)}, "1", "", std::vector<double>(6, share));
    append(result.fields, types.taken());
    return result;
  };
  CHECK(verdicts(comparison(with_shares(0.1), with_shares(0.9)), "previous")[0] == "no interval");
  CHECK(verdicts(comparison(with_shares(0.1), with_shares(not_defined)), "previous")[0] == "undefined");
}

TEST_CASE("intervals must stand apart when widened for as many as there are") {
  const auto with_shares = [](double share, double half) {
    Result result = looking(-1, 1);
    Fields delay("phase_delay");
    const std::vector<Axis> axes{layer_axis(layers), head_axis(heads)};
    for (const auto& [name, value] :
         {std::pair{"predicted_offset", share}, {"lower", share - half}, {"upper", share + half}})
      delay.add(name, axes, "token", "", std::vector<double>(6, value)).note("coverage", 0.9);
    append(result.fields, delay.taken());
    return result;
  };
  // k = z(0.05 / 24) / z(0.05) = 2.866 / 1.645: two half widths of 1 reach 3.485 tokens.
  const auto verdict = [&](double share) {
    return verdicts(comparison(with_shares(0, 1), with_shares(share, 1)), "by_phases")[0];
  };
  CHECK(verdict(3.4) == "within");
  CHECK(verdict(3.6) == "beyond");
  // Where no interval is defined the difference stands alone.
  CHECK(verdicts(comparison(with_shares(0, not_defined), with_shares(1, not_defined)), "by_phases")[0] ==
        "no interval");
}

TEST_CASE("parts of a profile without strength have not changed, whatever they are") {
  const auto accounted = [](double part, const std::vector<std::uint8_t>& verdicts) {
    Result result = looking(-1, 1);
    const Axis cause{"cause", "1", "", std::vector<std::string>{"position", "own token", "context"}};
    const std::vector<Axis> axes{layer_axis(layers), head_axis(heads)}, parts{cause, axes[0], axes[1]};
    Fields account("head_account");
    account.flags("verdict", axes, "", verdicts, {"positional", "no preference", "undefined"});
    for (const auto& [name, value] :
         {std::pair{"part", part}, {"part_lower", part - 0.01}, {"part_upper", part + 0.01}})
      account.add(name, parts, "1", "", std::vector<double>(18, value)).note("coverage", 0.9);
    append(result.fields, account.taken());
    return result;
  };
  const Result compared = comparison(accounted(0, {0, 1, 1, 1, 2, 0}), accounted(0.9, {0, 1, 2, 0, 2, 1}));
  CHECK(verdicts(compared, "by_position") ==
        std::vector<std::string>{"beyond", "no interval", "no interval", "beyond", "no interval", "beyond"});
  CHECK(number(compared, "second", "by_position", 1) == 0.9);
  CHECK(verdicts(compared, "by_own_token") == verdicts(compared, "by_position"));
}

TEST_CASE("too few documents, blocks or draws are said to be so, and nothing is called") {
  const auto untested = [](Index documents, bool paired, const ComparisonOptions& options) {
    Result second = looking(1, 2, documents);
    if (!paired) second.provenance["source_sha256"] = std::string("cd");
    const Result compared = comparison(looking(-1, 1, documents), second, {"a", "b"}, options);
    CHECK_FALSE(any_changed(compared));
    CHECK(verdicts(compared, "offset")[4] == "no interval");
    CHECK_FALSE(compared.provenance.contains("decided_by"));
    return attribute_text(compared.at("comparison/changed").attributes, "untested");
  };
  CHECK(untested(4, false, {}) ==
        "4 and 4 blocks of documents are too few for a level below 0.057; give each result 5 documents or more");
  CHECK(untested(6, true, {}) ==
        "6 pairs of blocks of documents are too few for a level below 0.062; give 7 documents or more");
  CHECK(untested(12, false, {.block = 4}) ==
        "3 and 3 blocks of documents are too few for a level below 0.2; give each result 20 documents or more, or "
        "smaller blocks");
  CHECK(untested(10, false, {.draws = 78}) == "78 draws are too few for a level of 0.05; give 79 or more");
}

TEST_CASE("of cross-attention weights are means over the pairs that the result counts") {
  const auto crossing = [](Index offset, std::uint64_t seed) {
    Result result = looking(offset, seed);
    result.provenance["attention"] = std::string("cross");
    Fields traced("offset_trace");
    std::vector<double> count;
    for (std::size_t kind = 0; kind < pairs_kinds; ++kind)
      for (Index t = -reach - 1; t <= reach + 1; ++t) count.push_back(kind == 0 ? static_cast<double>(20 + t) : 1.0);
    traced.add("count", {pairs_axis(), offset_axis("offset", -reach - 1, reach + 1)}, "1", "pairs", count);
    append(result.fields, traced.taken());
    return result;
  };
  const Result compared = comparison(crossing(-1, 1), crossing(1, 3));
  CHECK((changed(compared, 4) && !changed(compared, 0)));
  // 0.6 of the 10 pairs of a document of 11 tokens at offset -1, over 19 pairs.
  CHECK(number(compared, "first", "weight_at_first", 4) == Approx(0.6 * 10 / 19).margin(0.02));
  CHECK(number(compared, "second", "weight_at_second", 4) == Approx(0.6 * 10 / 21).margin(0.02));
}

TEST_CASE("results that cannot be compared are refused by name") {
  const Result result = looking(-1, 1);
  Result causal = looking(-1, 1), empty, narrow = looking(-1, 1);
  causal.provenance["attention"] = std::string("causal");
  CHECK_THROWS_WITH(comparison(result, causal, {"a", "b"}),
                    ContainsSubstring("a and b cannot be compared: the first has attention self, the second causal"));
  CHECK_THROWS_WITH(comparison(result, empty, {"a", "b"}),
                    ContainsSubstring("b: expected a result with measured offsets"));
  for (Field& field : narrow.fields)
    if (field.name == "offset_trace/by_document") field.axes[3] = offset_axis("near_offset", -1, 1);
  CHECK_THROWS_WITH(comparison(result, narrow), ContainsSubstring("the first has offsets"));
  for (Field& field : narrow.fields)
    if (field.name == "measured_offset/offset") field.axes[2] = head_axis(4);
  CHECK_THROWS_WITH(comparison(result, narrow),
                    ContainsSubstring("the first has heads 0 to 2 (3 in all), the second 0 to 3 (4 in all)"));
}
