#include "../../reports/tables/head_sentence.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "../../core/errors/error.h"
#include "../../core/fields/field.h"
#include "../../reports/figures/figures.h"
#include "../../reports/tables/head_table.h"
#include "../catch.h"
#include "drawn_figure.h"
#include "sample_result.h"

using namespace headwave;

namespace {

const std::vector<Axis> six{layer_axis(1), head_axis(6)};

std::vector<Axis> axes_with(const char* name, std::vector<std::string> entries) {
  return {Axis{name, "1", "", std::move(entries)}, six[0], six[1]};
}

/// Previous token, sink with a match of the same word, words, match without a name, uniform, undefined.
Result six_heads() {
  Result result;
  const auto add = [&](const char* name, std::vector<Axis> axes, const char* unit, std::vector<double> values) {
    result.fields.push_back(
        make_field(std::string("attention_bits/") + name, std::move(axes), unit, "", std::move(values)));
  };
  const std::vector<Axis> parts = axes_with("bits_part", {"sink", "position", "word", "match"}),
                          hypotheses = axes_with("hypothesis",
                                                 {"the word itself", "same word", "induction", "same word before"});
  const double none = not_defined;
  add("bits", six, "bit", {5, 4, 2, 1, 0.02, none});
  add("part", parts, "bit", {0.5, 2.2, 0.1, 0,   0.01, none,  //
                             4.4, 0,   0,   0,   0,    none,  //
                             0,   0.2, 1.8, 0.2, 0,    none,  //
                             0.1, 1.6, 0.1, 0.8, 0.01, none});
  const std::vector<double> gains{0, 0,   0.9, 0,   0, none,  //
                                  0, 1,   0,   0.1, 0, none,  //
                                  0, 0,   0,   0,   0, none,  //
                                  0, 0.5, 0,   0,   0, none};
  add("gain", hypotheses, "bit", gains);
  add("gain_lower", hypotheses, "bit", gains);
  const Axis tilt{"match_tilt", "1", "", std::vector<std::string>{"1 direction", "place"}};
  for (const char* name : {"matched_content/gain", "matched_content/gain_lower"})
    result.fields.push_back(make_field(name, {tilt, six[0], six[1]}, "bit", "", std::vector<double>(12, 0.0)));
  add("follow", six, "1", {0.02, 0.9, 0.95, 0.3, none, none});
  add("follow_lower", six, "1", {0.01, 0.85, 0.9, 0.2, none, none});
  add("follow_upper", six, "1", {0.03, 0.95, 0.99, 0.4, none, none});
  add("kept", six, "1", {0.98, 0.1, 0.8, 0.2, none, none});
  const std::vector<Axis> places{Axis{"place", "1", "", std::vector<std::int64_t>{1, 2, 3}}, six[0], six[1]};
  std::vector<double> offset(18, none), first(18, none), last(18, none);
  offset[0] = first[0] = last[0] = -1;
  offset[6] = -3;
  first[6] = -5;
  last[6] = -2;
  add("place_offset", places, "token", offset);
  add("place_first", places, "token", first);
  add("place_last", places, "token", last);
  std::vector<double> by_band(24, none);
  for (std::size_t band = 0; band < 4; ++band) by_band[6 * band] = band == 0 ? 0.2 : 0.9;
  add("band_weight", {Axis{"query_band", "1", "", std::vector<std::int64_t>{1, 2, 3, 4}}, six[0], six[1]}, "1",
      by_band);
  result.fields.push_back(
      {"attention_bits/band_differs", six, "1", "", std::vector<std::uint8_t>(6, 0), {"no", "yes"}, {}});
  add("sink_mass", six, "1", std::vector<double>(6, 0.1));
  result.fields.back().attributes["keys"] = std::string("first token");
  return result;
}

/// Of six heads without bits: their verdicts, where they look, and parts by position, self and context.
Result account_of_six() {
  Result result;
  result.fields.push_back({"head_account/verdict",
                           six,
                           "1",
                           "",
                           std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5},
                           {"positional", "own token", "context", "mixed", "no preference", "undefined"},
                           {}});
  result.fields.push_back(make_field("head_account/measured_offset", six, "token", "", {-1, 0, 2, not_defined, 3, 1}));
  result.fields.push_back(
      make_field("head_account/part",
                 {{"cause", "1", "", std::vector<std::string>{"position", "own token", "context"}}, six[0], six[1]},
                 "1", "", {0.97, 0.1, 0.2, 0.5, 0.9, 1, 0.02, 0.8, 0, 0.1, 0.1, 0, 0.01, 0.1, 0.8, 0.4, 0, 0}));
  return result;
}

}  // namespace

TEST_CASE("head sentences: what each head looks at, why, and what its experiments say, by hand") {
  const std::vector<HeadSentence> heads = head_sentences(six_heads());
  REQUIRE(heads.size() == 6);
  CHECK(heads[0].looks == "1 back, 3 back (-5 to -2)");
  CHECK(heads[0].why == "position 88, sink 10 %");
  CHECK(heads[0].follows == "0.02");
  CHECK(heads[0].text ==
        "L0H0 looks 1 back, 3 back (-5 to -2): 5.00 bits beyond uniform attention (position 88, sink 10 %); when its "
        "strongest key and another swap contents, 0.02 of the attention on the two goes with the content; with "
        "another token in the query, its strongest key keeps 0.98 of its weight");
  CHECK(heads[1].looks == "first token; the same word");
  CHECK_THAT(heads[1].text, ContainsSubstring("looks at first token and at its own word, here and wherever else it "
                                              "stands: 4.00 bits"));
  CHECK_THAT(heads[1].text, ContainsSubstring(", 62 % of match explained so;"));
  CHECK(heads[2].looks == "certain words");
  CHECK(heads[2].why == "word 90 %");
  CHECK(heads[3].looks == "what it asks for; certain words");
  CHECK(heads[4].looks == "close to uniform");
  CHECK(heads[4].why.empty());
  CHECK(heads[4].text == "L0H4 is close to uniform attention: 0.02 bits");
  CHECK(heads[5].looks == "undefined");
  CHECK(heads[5].text.empty());
}

TEST_CASE("head sentences: parts that the swaps contradict are said to be") {
  Result result = six_heads();
  const std::vector<HeadSentence> heads = head_sentences(result);
  // Words and matches, yet attention stays with the place.
  CHECK(heads[3].follows == "but 0.30");
  CHECK_THAT(heads[3].text, ContainsSubstring("goes with the content, against what its parts say"));
  CHECK(heads[0].follows == "0.02");
  // A place that the query chooses is a place.
  for (const char* name : {"matched_content/gain", "matched_content/gain_lower"})
    std::get<std::vector<double>>(field_of(result, name).values)[6 + 3] = 0.7;
  const HeadSentence chosen = head_sentences(result)[3];
  CHECK(chosen.follows == "0.30");
  CHECK(chosen.looks == "a place by its word; certain words");
}

TEST_CASE("head sentences: words that draw, and pairs that match, have names") {
  Result result = six_heads();
  const Axis rank{"word_rank", "1", "", std::vector<std::int64_t>{1, 2}};
  const auto add = [&](const char* name, const char* axis, const std::vector<std::string>& texts) {
    Field field = make_field(name, {six[0], six[1], rank}, "1", "", std::vector<double>(12));
    field.axes.back().name = axis;
    field.values = texts;
    result.fields.push_back(field);
  };
  std::vector<std::string> words(12), queries(12), keys(12);
  words[4] = "curse";
  words[5] = "bill";
  queries[6] = "du";
  keys[6] = "fu";
  queries[7] = "he";
  keys[7] = "his";
  add("attention_words/word", "word_rank", words);
  add("matched_content/pair_query", "matched_pair", queries);
  add("matched_content/pair_key", "matched_pair", keys);
  result.fields.push_back(
      make_field("matched_content/pair_share", {six[0], six[1], rank}, "1", "", std::vector<double>(12, 0.0)));
  result.fields.back().axes.back().name = "matched_pair";
  auto& excess = std::get<std::vector<double>>(result.fields.back().values);
  excess[6] = 0.35;
  excess[7] = 0.001;  // too little to be said
  const std::vector<HeadSentence> heads = head_sentences(result);
  CHECK(heads[2].looks == "words: curse, bill");
  CHECK_THAT(heads[2].text, ContainsSubstring("looks at words such as curse, bill, whatever the query is: 2.00 bits"));
  CHECK(heads[3].looks == "pairs: du > fu; certain words");
  std::get<std::vector<std::string>>(field_of(result, "attention_words/word").values)[5] = ".";
  CHECK(head_sentences(result)[2].looks == "words: curse, \".\"");
}

TEST_CASE("head sentences: a head that looks elsewhere from other places of the document says so") {
  Result result = six_heads();
  std::get<std::vector<std::uint8_t>>(field_of(result, "attention_bits/band_differs").values)[0] = 1;
  CHECK_THAT(head_sentences(result)[0].text,
             ContainsSubstring("3 back (-5 to -2) (weight 0.90 from the second quarter of a document, 0.20 from the "
                               "first): 5.00 bits"));
}

TEST_CASE("head sentences: all heads together, by their parts and their largest part") {
  const Result result = six_heads();
  const std::vector<HeadSentence> heads = head_sentences(result);
  CHECK(all_parts_text(result, heads) == "first token 23 %, position 37 %, word 18 %, match 22 %");
  CHECK(largest_parts_sentence(heads) ==
        "Heads by their largest part: sink in 1, position in 1, word in 1, match in 1; 1 close to uniform.");
  const Field largest = *largest_part_field(result);
  CHECK(std::get<std::vector<std::uint8_t>>(largest.values) == std::vector<std::uint8_t>{1, 0, 2, 3, 4, 4});
  CHECK(head_sentences({}).empty());
  CHECK(!largest_part_field({}));
}

TEST_CASE("head sentences: Fields of other shapes are refused by name") {
  for (const std::string& name : head_sentence_fields()) {
    Result result = sample::result({.effects = true});
    CAPTURE(name);
    field_of(result, name).axes.pop_back();
    CHECK_THROWS_WITH(head_sentences(result), ContainsSubstring(name));
  }
}

TEST_CASE("head sentences: of a result without bits, the offset and the part of positions in one line") {
  Result result = account_of_six();
  const std::vector<HeadSentence> said = head_sentences(result);
  REQUIRE(said.size() == 6);
  CHECK(said[0].text == "L0H0 looks 1 back (position 97 %)");
  CHECK(said[0].looks == "1 back");
  CHECK(said[0].offset == -1);
  CHECK(said[1].looks == "at itself");
  CHECK(said[2].text == "L0H2 looks 2 ahead (position 20 %)");
  CHECK(said[3].looks == "at the search's end");
  CHECK(said[4].text == "L0H4 looks at no preferred offset");
  for (const std::size_t nowhere : {3, 4}) CHECK(std::isnan(said[nowhere].offset));
  CHECK(said[5].why == "too few documents");
  CHECK_FALSE(is_composed(said));
  CHECK_FALSE(largest_part_field(result));
}

TEST_CASE("head sentences: what moved keys show where position matters, and what was removed from keys") {
  Result result = six_heads();
  const double none = not_defined;
  const auto add = [&](const char* name, std::vector<double> values) {
    result.fields.push_back(make_field(std::string("account_evidence/") + name, six, "1", "", std::move(values)));
  };
  add("moved", {0.9, 0.9, 0.1, 0.4, 0, none});
  add("moved_lower", {0.8, 0.8, 0, 0.3, 0, none});
  add("moved_upper", {0.95, 0.95, 0.2, 0.5, 0, none});
  add("removed_source", std::vector<double>(6));
  result.fields.back().values = std::vector<std::string>{"positions", "", "", "", "", ""};
  add("weight", {0.7, 0.1, none, none, none, none});
  add("weight_without", {0.01, 0.1, none, none, none, none});
  add("weight_placebo", {0.66, 0.1, none, none, none, none});
  add("weight_placebo_lowest", {0.5, 0.05, none, none, none, none});
  const auto values = [&](const char* name) -> std::vector<double>& {
    return std::get<std::vector<double>>(field_of(result, std::string("account_evidence/") + name).values);
  };
  const HeadSentence head = head_sentences(result)[0];
  CHECK_THAT(
      head.text,
      ContainsSubstring(" of its weight; its keys moved by four tokens, 0.90 of its offset profile follows; without "
                        "positions in its keys the largest weight goes from 0.70 to 0.01 (random directions: "
                        "0.66)"));
  CHECK(head.follows == "0.02");
  CHECK_THAT(head_sentences(result)[1].text, !ContainsSubstring("keys moved"));  // position gives it nothing
  values("weight_placebo_lowest")[0] = 0.005;
  CHECK_THAT(head_sentences(result)[0].text, !ContainsSubstring("without positions"));
  values("moved_lower")[0] = 0.3;  // its interval is too wide
  CHECK_THAT(head_sentences(result)[0].text, !ContainsSubstring("keys moved"));
  values("moved")[0] = 0.3;
  values("moved_upper")[0] = 0.4;
  const HeadSentence stays = head_sentences(result)[0];
  CHECK(stays.follows == "but 0.02");
  CHECK_THAT(stays.text, ContainsSubstring("0.30 of its offset profile follows, against what its parts say"));
  CHECK_THAT(stays.text, ContainsSubstring("0.02 of the attention on the two goes with the content; with"));
}

TEST_CASE("head sentences: what the model does without a head, and what does not fit that") {
  Result result = six_heads();
  const auto add = [&](const char* name, std::vector<double> values) {
    result.fields.push_back(make_field(std::string("head_effect/") + name, six, "nat", "", std::move(values)));
  };
  CHECK(effect_findings(result, head_sentences(result)).empty());
  Field loss = make_field("head_effect/model_loss", {}, "nat", "", {1.234});
  loss.attributes["uniform_loss"] = std::log(512.0);
  result.fields.push_back(loss);
  add("loss", {0.001, 0.12, 0.03, -0.05, 0, 0});
  const std::size_t lower = result.fields.size();
  add("loss_lower", {-0.01, 0.1, 0.01, -0.08, 0, 0});
  add("loss_upper", {0.012, 0.14, 0.05, -0.02, 0, 0});
  add("loss_placebo", {0, 0.01, 0, 0, 0, 0});
  add("q_value", {0.9, 0.001, 0.01, 0.04, 1, 1});
  std::vector<HeadSentence> heads = head_sentences(result);
  CHECK_THAT(heads[0].text,
             ContainsSubstring("; without it the loss rises by 0.001 nats (-0.010 to +0.012; a random change as large: "
                               "+0.000), which chance or such a random change can explain"));
  CHECK_THAT(heads[1].text, ContainsSubstring("; without it the loss rises by 0.120 nats (+0.100 to +0.140; a random "
                                              "change as large: +0.010)"));
  CHECK_THAT(heads[3].text, ContainsSubstring("the loss falls by 0.050 nats"));
  CHECK_THAT(heads[3].text, ContainsSubstring("although nothing names the largest part of what it finds"));
  CHECK_THAT(heads[4].text, ContainsSubstring("0.02 bits; without it the loss"));
  CHECK(effect_findings(result, heads) ==
        "The model's loss is 1.23 nats a token (6.24 if all tokens were equally likely). Heads that matter although "
        "nothing "
        "names the largest part of what they find, with the change of the loss in nats: L0H3 (-0.050), L0H2 (+0.030). "
        "Strong "
        "heads that hardly matter, with the change of the loss in nats: none.");
  std::get<std::vector<double>>(result.fields.at(lower).values)[0] = -0.009;
  std::get<std::vector<double>>(result.fields.at(lower + 1).values)[0] = 0.009;
  CHECK_THAT(effect_findings(result, head_sentences(result)),
             ContainsSubstring("Strong heads that hardly matter, with the change of the loss in nats: L0H0 (+0.001)."));
  std::erase_if(result.fields, [](const Field& field) {
    return field.name.starts_with("head_effect/loss") || field.name == "head_effect/model_loss";
  });
  add("state", {0.1, 0.2, 0.1, 0.1, 0, 0});
  add("state_placebo", {0.01, 0.02, 0.2, 0.01, 0, 0});
  heads = head_sentences(result);
  CHECK_THAT(heads[1].text,
             ContainsSubstring("; without it the final state moves by 20.0 % (a random change as large: 2.0 %)"));
  CHECK(heads[1].matters);
  CHECK_THAT(effect_findings(result, heads), ContainsSubstring("they find: L0H2 (10.0 %), L0H3 (10.0 %). Strong"));
}

TEST_CASE("head sentences: what a head writes") {
  const Result result = sample::result({.effects = true});
  const HeadSentence head = head_sentences(result)[0];
  CHECK(head.writes == "copies: bill, bill");
  CHECK_THAT(head.text,
             ContainsSubstring("; it raises the logits of the words that it attends to (copying +0.01 standard "
                               "deviations) and raises most, on average over queries, the logits of bill "
                               "(+0.30), bill (+0.30); without it the loss "));
  const auto cell = [&](bool wide, const char* header) {
    const std::vector<TableColumn> columns = shown_columns(result, {.wide = wide});
    const auto column = std::ranges::find(columns, header, &TableColumn::header);
    return column == columns.end() ? "" : column->cells.front();
  };
  CHECK(cell(false, "loss change") == "+0.020*");
  CHECK(cell(true, "writes") == "copies: bill, bill");
  CHECK(cell(false, "writes").empty());
}

TEST_CASE("head sentences: what could not be computed for a model is not said of its heads") {
  Result result = six_heads();
  const std::string before = head_sentences(result)[1].text;
  for (const char* name : {"head_writes/copying", "head_effect/state"})
    result.fields.push_back(make_field(name, {}, "1", "", {not_defined}));
  CHECK(head_sentences(result)[1].text == before);
}

TEST_CASE("head sentences: the answer has their cells, and says why no keys were moved") {
  Result result = sample::result({.bits = false});
  const auto answer = [&] { return head_answer(result, shown_columns(result, {})); };
  CHECK_THAT(answer(), !ContainsSubstring("no keys were moved"));
  std::istringstream lines(answer());
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 100);
  result.provenance["undefined_evidence"] = std::string("a t5 has none");
  CHECK_THAT(answer(), ContainsSubstring("no keys were moved: a t5 has none\n"));
  const std::vector<std::string> fields = head_table_fields();
  for (const std::string& name : head_sentence_fields()) CHECK(std::ranges::count(fields, name) == 1);
}
