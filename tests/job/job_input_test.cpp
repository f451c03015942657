#include "../../job/inputs/job_input.h"

#include <fstream>

#include "../../analysis/attention/attention_map.h"
#include "../../core/errors/error.h"
#include "../../job/inputs/run_input.h"
#include "../catch.h"
#include "../data/edited_model.h"

using namespace headwave;

namespace {

std::filesystem::path family(const char* name) {
  return repository_file("tests/golden/families") / name;
}

/// A copy of the golden BERT, 40 positions and 90 words, with a tokenizer of so many words beside it.
std::filesystem::path bert_with_words(const TemporaryFolder& folder, int words) {
  std::filesystem::copy(repository_file("tests/golden/models/bert"), folder / "model");
  std::ofstream vocabulary(folder / "model" / "vocab.txt");
  vocabulary << "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (int word = 5; word < words; ++word) vocabulary << "w" << word << '\n';
  return folder / "model";
}

}  // namespace

TEST_CASE("random tokens are drawn from the model's words, without those its tokenizer calls special") {
  const TemporaryFolder folder;
  const auto model = bert_with_words(folder, 8);
  const JobInput input = random_input(model, {.documents = 2, .period = 19, .repeats = 2}, true);
  CHECK(input.source->length(0) == 39);
  const std::vector<std::int32_t> ids = input.source->document(1).ids;
  CHECK(ids.front() == 2);
  for (std::size_t i = 1; i < ids.size(); ++i) CHECK((ids[i] >= 5 && ids[i] < 8));
  CHECK(random_input(family("gpt2"), {.documents = 1, .period = 3}, true).source->length(0) == 9);
}

TEST_CASE("random tokens are refused where there are none, more than positions, or the model reads pairs") {
  const auto bert = repository_file("tests/golden/models/bert");
  CHECK_THROWS_WITH(random_input(bert, {.documents = 0}, false),
                    ContainsSubstring("repeated_tokens: expected at least 1 document, 1 token, 1 repeat and 1 id"));
  CHECK_THROWS_WITH(random_input(bert, {.period = 0}, false),
                    ContainsSubstring("repeated_tokens: expected at least 1 document, 1 token, 1 repeat and 1 id"));
  CHECK_THROWS_WITH(random_input(bert, {.repeats = 0}, false),
                    ContainsSubstring("repeated_tokens: expected at least 1 document, 1 token, 1 repeat and 1 id"));
  CHECK(random_input(bert, {.period = 13}, false).source->length(0) == 39);
  CHECK_THROWS_WITH(random_input(bert, {.period = 14}, false),
                    ContainsSubstring("14 random tokens 3 times make documents of 42 tokens, but the model has 40"));
  CHECK_THROWS_WITH(
      random_input(bert, {.period = 14}, false),
      ContainsSubstring("documents of 42 tokens, but the model has 40 positions; give random_tokens=13 or fewer"));
  CHECK_THROWS_WITH(random_input(family("bart"), {}, false),
                    ContainsSubstring("random tokens: the model is an encoder-decoder (bart), which reads a text"));
  CHECK_THROWS_WITH(random_input(family("bart"), {}, false), ContainsSubstring("is an encoder-decoder (bart)"));
  CHECK_THROWS_AS(random_input(std::filesystem::path("/nowhere"), {}, false), IoError);
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(
      random_input(bert_with_words(folder, 5), {}, false),
      ContainsSubstring(
          "repeated_tokens: expected at least 1 document, 1 token, 1 repeat and 1 id"));  // nothing but special tokens
  std::ofstream(folder / "model" / "vocab.txt") << "\xff\n";
  CHECK_THROWS_AS(random_input(folder / "model", {}, false), FormatError);
}

TEST_CASE("a text is refused where the model, its tokenizer or the length does not fit it") {
  const TemporaryFolder folder;
  std::ofstream(folder / "text.txt") << "w5 w6 w7";
  const auto text = folder / "text.txt";
  CHECK_THROWS_WITH(text_input(family("bart"), text),
                    ContainsSubstring("the model is an encoder-decoder (bart), which reads a text and writes"));
  CHECK_THROWS_WITH(text_input(family("bart"), text),
                    ContainsSubstring("give target=FILE") && ContainsSubstring("ids=FILE"));
  CHECK_THROWS_AS(text_input(folder / "none", text), IoError);
  CHECK_THROWS_AS(text_input(repository_file("tests/golden/models/bert"), text), FormatError);  // no tokenizer there
  const auto model = bert_with_words(folder, 91);
  CHECK_THROWS_AS(text_input(model, text), FormatError);
  CHECK_THROWS_WITH(text_input(model, text), ContainsSubstring("the tokenizer has 91 tokens, but the model has 90"));
  PackingOptions packing;
  packing.length = 41;
  CHECK_THROWS_WITH(text_input(repository_file("tests/golden/models/bert"), text, packing),
                    ContainsSubstring("documents of 41 tokens are requested, but the model has 40 positions"));
}

TEST_CASE("ids are refused where they are pairs for a model of one sequence, or the other way round") {
  const TemporaryFolder folder;
  std::ofstream(folder / "pairs.json") << R"([{"source": [5, 6], "target": [2, 8]}])";
  std::ofstream(folder / "ids.json") << "[[5, 6, 7]]";
  CHECK(ids_input(family("bart"), folder / "pairs.json").source->count() == 1);
  CHECK_THROWS_WITH(ids_input(family("gpt2"), folder / "pairs.json"),
                    ContainsSubstring("found pairs of source and target, but a gpt2 reads one sequence"));
  CHECK_THROWS_WITH(ids_input(family("gpt2"), folder / "pairs.json"), ContainsSubstring("a gpt2 reads one sequence"));
  CHECK_THROWS_WITH(ids_input(family("bart"), folder / "ids.json"),
                    ContainsSubstring("the model is an encoder-decoder (bart), which reads a text and writes"));
  CHECK_THROWS_WITH(ids_input(family("bart"), folder / "ids.json"), ContainsSubstring("is an encoder-decoder"));
  CHECK_THROWS_AS(ids_input(folder / "none", folder / "ids.json"), IoError);
  CHECK_THROWS_AS(ids_input(family("gpt2"), folder / "none.json"), IoError);
}

TEST_CASE("stored states are refused where there are none, or the model beside them is none or another's") {
  const TemporaryFolder folder;
  const auto states = repository_file("tests/golden/stored/causal.h5");
  CHECK_THROWS_AS(states_input(folder / "none.h5"), IoError);
  std::ofstream(folder / "text.h5") << "no states";
  CHECK_THROWS_AS(states_input(folder / "text.h5"), FormatError);
  CHECK_THROWS_AS(states_input(states, folder / "none"), IoError);
}

TEST_CASE("the job of an input knows its model, and refuses maps of a document that is not there") {
  const TextPlace ids("ids", std::make_shared<const std::string>("[[3, 4, 5, 6, 7, 8], [6, 7, 8, 9, 3, 4]]"));
  const JobInput input = ids_input(family("gpt2"), ids);
  JobOptions options;
  options.only = {"measured_offset"};
  const auto results = run_input(input, options);
  REQUIRE(results.size() == 1);
  CHECK(results.front().result.provenance.contains("model_sha256"));
  options[map_document_option] = 2;
  CHECK_THROWS_WITH(run_input(input, options), ContainsSubstring("there is no document 2"));
  const TextPlace one("one", std::make_shared<const std::string>("[[3]]"));
  CHECK_THROWS_WITH(require_two_tokens(ids_input(family("gpt2"), one), "one"),
                    ContainsSubstring("one: the document has a"));
}

TEST_CASE("ids need no tokenizer: one that cannot be read is done without, and how it opens documents is not read") {
  const TemporaryFolder folder;
  const auto model = bert_with_words(folder, 90);
  std::ofstream(folder / "ids.json") << "[[5, 6, 7]]";
  const auto write = [&](const std::string& processor) {
    std::ofstream(model / "tokenizer.json")
        << R"({"model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {"[UNK]": 1,)"
        << R"("[CLS]": 2, "[NOW]": 3, "a": 5, "b": 6, "c": 7}}, )" << processor << "}";
  };
  // As Whisper has it: two tokens open a document.
  write(R"("post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "[CLS]"}},
        {"SpecialToken": {"id": "[NOW]"}}, {"Sequence": {"id": "A"}}], "special_tokens": {
        "[CLS]": {"ids": [2]}, "[NOW]": {"ids": [3]}}})");
  const JobInput named = ids_input(model, folder / "ids.json");
  CHECK(named.source->document(0).tokens == std::vector<std::string>{"a", "b", "c"});
  CHECK_FALSE(named.provenance.contains("tokenizer_unread"));
  CHECK(random_input(model, {.documents = 1, .period = 3}, false).source->count() == 1);
  CHECK_THROWS_WITH(random_input(model, {.documents = 1, .period = 3}, true), ContainsSubstring("more than one token"));
  std::ofstream(folder / "text.txt") << "a b c";
  CHECK_THROWS_WITH(text_input(model, folder / "text.txt"), ContainsSubstring("more than one token"));

  write(R"("pre_tokenizer": {"type": "OfTheFuture"})");
  const JobInput unnamed = ids_input(model, folder / "ids.json");
  CHECK(unnamed.source->document(0).ids == std::vector<std::int32_t>{5, 6, 7});
  CHECK(unnamed.source->document(0).tokens.empty());
  CHECK(std::get<std::string>(unnamed.provenance.at("tokenizer_unread")).find("OfTheFuture") != std::string::npos);
  CHECK_THROWS_AS(text_input(model, folder / "text.txt"), FormatError);
}

TEST_CASE("attention maps of an encoder-decoder show both sequences") {
  const TextPlace pairs(
      "pairs", std::make_shared<const std::string>(R"([{"source": [5, 6, 7, 8, 9, 3, 4, 5], "target": [2, 8, 9]}])"));
  JobOptions options;
  options.only = {"attention_map"};
  const auto results = run_input(ids_input(family("bart"), pairs), options);
  REQUIRE(results.size() == 3);
  const Field& cross = results.back().result.at("attention_map/weight");
  CHECK(cross.axis("query").size() == 3);
  CHECK(cross.axis("key").size() == 8);
}

TEST_CASE("padding at the end of ids is taken off where the tokenizer or config.json says its id") {
  const TemporaryFolder folder;
  const auto opened = [&](const std::filesystem::path& model, const char* ids) {
    std::ofstream(folder / "ids.json") << ids;
    return ids_input(model, folder / "ids.json").source;
  };
  using Listed = std::vector<std::int32_t>;
  const char* padded = "[[7, 8, 9], [7, 0, 8, 0, 0]]";
  for (const auto& model : {bert_with_words(folder, 90), family("bert-mlm")}) {
    const auto source = opened(model, padded);
    CHECK(source->document(0).ids == Listed{7, 8, 9});
    CHECK(source->document(1).ids == Listed{7, 0, 8});
    CHECK(std::get<std::int64_t>(source->provenance().at("padding_removed")) == 2);
  }
  CHECK(opened(family("t5"), R"([{"source": [5, 6, 0], "target": [0, 7, 8, 0]}])")->document(0).target.ids ==
        Listed{0, 7, 8});
  CHECK(opened(family("gpt2"), padded)->length(1) == 5);  // which says of no token that it pads

  std::filesystem::copy(family("gpt2"), folder / "closed");
  replace_in(folder / "closed" / "config.json", "{", R"({"pad_token_id": 2, "eos_token_id": 2, )");
  const auto closed = opened(folder / "closed", "[[7, 8, 2], [7, 9, 2, 2, 2], [7, 8, 9]]");
  CHECK(closed->length(0) == 3);
  CHECK(closed->document(1).ids == Listed{7, 9, 2});
  CHECK(closed->length(2) == 3);
}
