#include "../../reports/tables/head_sentence.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "../../reports/figures/figures.h"
#include "../../reports/tables/head_table.h"
#include "../catch.h"
#include "sample_result.h"

using namespace headwave;

namespace {

const std::vector<Axis> eight{layer_axis(1), head_axis(8)};

/// Of eight heads: their verdicts, where they look, parts by position, self and context.
Result eight_heads() {
  Result result;
  result.fields.push_back({"head_account/verdict",
                           eight,
                           "1",
                           "",
                           std::vector<std::uint8_t>{0, 0, 1, 2, 3, 4, 5, 1},
                           {"positional", "self", "context", "mixed", "no preference", "undefined"},
                           {}});
  result.fields.push_back(
      make_field("head_account/strength", eight, "1", "", {0.684, 0.5, 0.4, 0.3, 0.2, 0.021, 0.9, 0.1}));
  result.fields.push_back(
      make_field("head_account/measured_offset", eight, "token", "", {-1, 12, 0, -2, not_defined, 3, 1, 0}));
  result.fields.push_back(
      make_field("head_account/part",
                 {{"cause", "1", "", std::vector<std::string>{"position", "self", "context"}}, eight[0], eight[1]}, "1",
                 "", {0.97, 0.8, 0.1, 0.2, 0.5, 0.9, 1, 0.2,   //
                      0.02, 0.1, 0.8, 0.0, 0.1, 0.1, 0, 0.76,  //
                      0.01, 0.1, 0.1, 0.8, 0.4, 0.0, 0, 0.04}));
  return result;
}

/// Trials of the first heads; the others were not asked.
void add_trials(Result& result, const std::vector<std::pair<double, double>>& followed_of) {
  const Axis shift{"shift", "token", "", std::vector<std::int64_t>{-2, -1, 1, 2}};
  std::vector<double> followed(32, not_defined), asked(32, not_defined);
  for (std::size_t i = 0; i < followed_of.size(); ++i) {
    // All in the last shift, as if the others could not be asked.
    followed[4 * i + 3] = followed_of[i].first;
    asked[4 * i + 3] = followed_of[i].second;
  }
  for (const auto& [name, values] :
       {std::pair{"account_evidence/followed", followed}, {"account_evidence/asked", asked}}) {
    Field field = make_field(name, {eight[0], eight[1], shift}, "1", "", values);
    result.fields.push_back(std::move(field));
  }
}

std::string text_of(const Result& result, std::size_t head) {
  return head_sentences(result).at(head).text;
}

}  // namespace

TEST_CASE("head sentences: each verdict by hand") {
  Result result = eight_heads();
  CHECK(text_of(result, 0) == "L0H0 looks one token back (strength 0.68): positional, 97 % of what can be explained");
  CHECK(text_of(result, 1) == "L0H1 looks 12 tokens ahead (strength 0.50): positional, 80 % of what can be explained");
  CHECK(text_of(result, 2) == "L0H2 looks at itself (strength 0.40): self, 80 % of what can be explained");
  CHECK(text_of(result, 3) == "L0H3 looks two tokens back (strength 0.30): context, 80 % of what can be explained");
  CHECK(text_of(result, 4) ==
        "L0H4 looks no nearer than the end of the search (strength 0.20): mixed, 50 % by position, 10 % by self and 40 "
        "% by context of what can be explained");
  CHECK(text_of(result, 5) == "L0H5 shows no preference (strength 0.02)");
  CHECK(text_of(result, 6).empty());
  std::get<std::vector<double>>(result.fields[1].values)[5] = 0.86;
  CHECK(text_of(result, 5) == "L0H5 shows no preference beyond chance (strength 0.86)");
  // What was compared with chance is the strength that positions give, not the measured one.
  const auto add = [&](const char* name, double value) {
    result.fields.push_back(make_field(name, {eight[0], eight[1]}, "1", "", std::vector<double>(8, value)));
  };
  add("head_account/position_strength", 0.03);
  add("head_account/null_strength", 0.04);
  CHECK(text_of(result, 5) ==
        "L0H5 shows no preference beyond chance (strength 0.86; by position 0.03, with places in random order 0.04)");
  CHECK(head_sentences({}).empty());
  CHECK(head_sentences(result)[3].name == HeadName{0, 3});
}

TEST_CASE("head sentences: the same as cells of a table, with the offsets that get half of the largest weight") {
  Result result = eight_heads();
  const Axis offset = offset_axis("offset", -3, 3);
  std::vector<double> profiles(8 * 7, 0.1);
  for (const std::size_t at : {1, 2, 3}) profiles[at] = 0.6 - 0.1 * static_cast<double>(at > 1 ? at - 2 : 2 - at);
  profiles[2 * 7 + 3] = 0.3;  // L0H2, at itself
  result.fields.push_back(
      make_field("head_account/measured_profile", {eight[0], eight[1], offset}, "1", "", std::move(profiles)));
  add_trials(result, {{32, 32}, {3, 32}, {30, 32}});
  const std::vector<HeadSentence> said = head_sentences(result);
  CHECK(said[0].looks == "1 back, -2 to 0");
  CHECK(said[0].offset == -1);
  CHECK(said[2].offset == 0);
  for (const std::size_t nowhere : {4, 5}) CHECK(std::isnan(said[nowhere].offset));
  CHECK(said[0].why == "positional 97 %");
  CHECK(said[0].evidence == "32 of 32");
  CHECK(said[1].looks == "12 ahead");
  CHECK(said[1].evidence == "only 3 of 32");
  CHECK(said[2].looks == "at itself");
  CHECK(said[2].why == "self 80 %");
  CHECK(said[2].evidence == "yet 30 of 32");
  CHECK(said[4].looks == "at the search's end");
  CHECK(said[4].why == "position 50, context 40 %");
  CHECK(said[5].looks == "no preferred offset");
  CHECK(said[5].why.empty());
  CHECK(said[6].why == "too few documents");
  CHECK(said[6].evidence.empty());
  std::get<std::vector<double>>(result.fields[2].values)[0] = 0;
  CHECK(head_sentences(result)[0].looks == "at itself, -2 to 0");  // positional as it is
}

TEST_CASE("head sentences: too few documents for a verdict, and still what happened") {
  Result result = eight_heads();
  add_trials(result, {{8, 8}, {8, 8}, {8, 8}, {8, 8}, {8, 8}, {8, 8}, {7, 8}});
  CHECK(text_of(result, 6) ==
        "L0H6 looks one token ahead (strength 0.90): no verdict from so few documents; its keys moved by up to two "
        "tokens, it follows in 7 of 8 trials");
}

TEST_CASE("head sentences: what became of the weight without the source that gives most") {
  Result result = eight_heads();
  Field source = make_field("account_evidence/removed_source", eight, "1", "", std::vector<double>(8));
  source.values = std::vector<std::string>{"positions", "attention 0", "", "", "", "words", "", ""};
  result.fields.push_back(source);
  result.fields.push_back(
      make_field("account_evidence/weight", eight, "1", "",
                 {0.684, 0.2, not_defined, not_defined, not_defined, 0.1, not_defined, not_defined}));
  result.fields.push_back(
      make_field("account_evidence/weight_without", eight, "1", "",
                 {0.008, 0.15, not_defined, not_defined, not_defined, 0, not_defined, not_defined}));
  CHECK(
      text_of(result, 0) ==
      "L0H0 looks one token back (strength 0.68): positional, 97 % of what can be explained; without positions in its "
      "keys the weight there goes from 0.68 to 0.01");
  CHECK_THAT(text_of(result, 1),
             ContainsSubstring("; without attention 0 in its keys the weight there goes from 0.20 to 0.15"));
  CHECK_THAT(text_of(result, 2), !ContainsSubstring("without"));
  CHECK_THAT(text_of(result, 5), !ContainsSubstring("without"));  // it looks nowhere
  result.fields.back().axes = {eight[1]};
  CHECK_THROWS_AS(head_sentences(result), ShapeError);
}

TEST_CASE("head sentences: evidence stands behind the verdict, and says so where it contradicts it") {
  Result result = eight_heads();
  add_trials(result, {{8, 8}, {4, 8}, {7, 8}, {0, 1}, {4, 8}, {6, 8}});
  const std::string moved = "its keys moved by up to two tokens, it follows in ";
  CHECK_THAT(text_of(result, 0), ContainsSubstring("explained; " + moved + "8 of 8 trials"));
  CHECK_THAT(text_of(result, 1), ContainsSubstring("explained; but " + moved + "only 4 of 8 trials"));
  CHECK_THAT(text_of(result, 2),
             ContainsSubstring("explained; yet " + moved + "7 of 8 trials, as a positional head does"));
  CHECK_THAT(text_of(result, 3), ContainsSubstring("explained; " + moved + "0 of 1 trial"));
  CHECK_THAT(text_of(result, 4), ContainsSubstring("explained; " + moved + "4 of 8 trials"));
  CHECK_THAT(text_of(result, 5), ContainsSubstring("(strength 0.02); yet " + moved));
  CHECK_THAT(text_of(result, 7), !ContainsSubstring("keys"));
}

TEST_CASE("head sentences: the answer has their cells, and says why no keys were moved") {
  Result result = sample::result({.bits = false});
  const auto answer = [&] { return head_answer(result, shown_columns(result, {})); };
  CHECK_THAT(answer(),
             ContainsSubstring("evidence, of the heads with the strongest profiles: trials in which attention"));
  CHECK_THAT(answer(), !ContainsSubstring("no keys were moved"));
  CHECK_THAT(answer(), ContainsSubstring("heads look at a preferred offset: 7 by position,"));
  std::istringstream lines(answer());
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 100);
  result.provenance["undefined_evidence"] = std::string("a t5 has none");
  CHECK_THAT(answer(), ContainsSubstring("no keys were moved: a t5 has none\n"));
  for (const std::string& name : head_sentence_fields()) {
    const std::vector<std::string> fields = head_table_fields();
    CHECK(std::count(fields.begin(), fields.end(), name) == 1);
  }
}

TEST_CASE("head sentences: the caption of a profile has that of a head that is drawn alone") {
  const Result result = sample::result();
  for (const FigureKind& kind : figure_kinds()) {
    if (kind.name != "account_profile") continue;
    FigureOptions options;
    options.heads = {"L0H0"};
    const std::string caption = caption_of(kind, result, options);
    CHECK_THAT(caption, ContainsSubstring(text_of(result, 0) + "."));
    CHECK_THAT(caption, !ContainsSubstring(text_of(result, 1)));
  }
}

TEST_CASE("head sentences: Fields of other sizes are refused") {
  for (const char* name : {"head_account/strength", "head_account/measured_offset"}) {
    Result result = eight_heads();
    for (Field& field : result.fields)
      if (field.name == name) field = make_field(name, {layer_axis(1), head_axis(2)}, "1", "", {1, 2});
    CHECK_THROWS_AS(head_sentences(result), ShapeError);
  }
}
