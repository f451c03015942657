#include "../../data/tokens/tokenizer.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../../data/files/json_file.h"
#include "../../data/files/replaced_file.h"
#include "../../data/tokens/tokenizer_files.h"
#include "../catch.h"
#include "id_hash.h"
#include "test_files.h"

using namespace headwave;
using Ids = std::vector<std::int32_t>;

namespace {

void check_cases(const Tokenizer& tokenizer, const std::string& vocabulary) {
  const auto golden = json_of_file(repository_file("tests/golden/tokenizers.json"));
  const auto& texts = golden.at("texts");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    INFO("case " << i << ": " << texts[i].dump(-1, ' ', true));
    CHECK(tokenizer.encode(texts[i].get<std::string>()) == golden.at(vocabulary).at("cases")[i].get<Ids>());
  }
}

void check_files(const Tokenizer& tokenizer, const std::string& vocabulary) {
  const auto golden = json_of_file(repository_file("tests/golden/tokenizers.json"));
  for (const auto& [file, expected] : golden.at(vocabulary).at("files").items()) {
    INFO(file);
    REQUIRE(std::filesystem::exists(shared_file(file)));
    const std::string text = file_bytes(shared_file(file));
    IdHash whole;
    const Ids ids = tokenizer.encode(text);
    for (const std::int32_t id : ids) whole.add(id);
    CHECK(ids.size() == expected.at("whole").at("count").get<std::size_t>());
    CHECK(whole.text() == expected.at("whole").at("fnv1a").get<std::string>());

    const LineHash lines = hashed_by_line(tokenizer, text);
    CHECK(lines.count == expected.at("lines").at("count").get<std::size_t>());
    CHECK(lines.text == expected.at("lines").at("fnv1a").get<std::string>());
  }
}

/// GPT-2's tokenizer, as tokenizer.json has it.
std::unique_ptr<Tokenizer> gpt2_tokenizer() {
  const TemporaryFolder folder;
  nlohmann::json merges = nlohmann::json::array();
  std::ifstream lines(shared_file("bpe/gpt2/vocab.bpe"));
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && !line.starts_with("#version")) merges.push_back(line);
  const nlohmann::json bytes{{"type", "ByteLevel"}, {"add_prefix_space", false}};
  const auto vocabulary = json_of_file(shared_file("bpe/gpt2/encoder.json"));
  write_text(folder / "tokenizer.json",
             nlohmann::json{{"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", merges}}},
                            {"pre_tokenizer", bytes},
                            {"decoder", bytes},
                            {"added_tokens", {{{"content", "<|endoftext|>"}, {"id", 50256}, {"special", true}}}}}
                 .dump());
  return open_tokenizer(folder.path());
}

}  // namespace

TEST_CASE("BERT's ids are those of the tokenizers package", "[tokenizer]") {
  NEEDS_SHARED("minilm-positions/tokenizer.json");
  const auto tokenizer = open_tokenizer(shared_file("minilm-positions"));
  CHECK(tokenizer->kind() == "WordPiece (tokenizer.json)");
  check_cases(*tokenizer, "bert");
  check_files(*tokenizer, "bert");
}

TEST_CASE("vocab.txt alone gives BERT's ids", "[tokenizer]") {
  NEEDS_SHARED("minilm-positions/vocab.txt");
  TemporaryFolder folder;
  std::filesystem::copy_file(shared_file("minilm-positions/vocab.txt"), folder / "vocab.txt");
  const auto tokenizer = open_tokenizer(folder.path());
  CHECK(tokenizer->kind() == "WordPiece (vocab.txt)");
  CHECK(tokenizer->files() == std::vector<std::filesystem::path>{folder / "vocab.txt"});
  check_cases(*tokenizer, "bert");
  check_files(*tokenizer, "bert");
  std::filesystem::copy_file(shared_file("minilm-positions/tokenizer_config.json"), folder / "tokenizer_config.json");
  check_cases(*open_tokenizer(folder.path()), "bert");
}

TEST_CASE("RoBERTa's ids are those of the tokenizers package", "[tokenizer]") {
  NEEDS_SHARED("bpe/roberta/tokenizer.json");
  const auto tokenizer = open_tokenizer(shared_file("bpe/roberta"));
  CHECK(tokenizer->kind() == "byte-level BPE (tokenizer.json)");
  check_cases(*tokenizer, "roberta");
  check_files(*tokenizer, "roberta");
}

TEST_CASE("GPT-2's ids are those of the tokenizers package", "[tokenizer]") {
  NEEDS_SHARED("bpe/gpt2/encoder.json");
  const auto tokenizer = gpt2_tokenizer();
  CHECK(tokenizer->kind() == "byte-level BPE (tokenizer.json)");
  check_cases(*tokenizer, "gpt2");
  check_files(*tokenizer, "gpt2");
  const auto stored = json_of_file(shared_file("bpe/gpt2/tinyshakespeare_first3000.json"));
  const std::string text = file_bytes(shared_file("text/tinyshakespeare/input.txt")).substr(0, 3000);
  CHECK(tokenizer->encode(text) == stored.at("ids").get<Ids>());
}

TEST_CASE("BPE with bytes to fall back on gives the ids of the tokenizers package", "[tokenizer]") {
  NEEDS_SHARED("stories260K/tokenizer.json");
  const auto tokenizer = open_tokenizer(shared_file("stories260K"));
  check_cases(*tokenizer, "stories260K");
  check_files(*tokenizer, "stories260K");
  Ids ids = json_of_file(shared_file("stories260K/ids.json")).at("ids").get<Ids>();
  ids.resize(257);
  ids.erase(ids.begin());  // the opening token is ours to put
  CHECK(tokenizer->encode(file_bytes(shared_file("stories260K/sample.txt"))) == ids);
  CHECK(tokenizer->special_tokens().opens == 1);
  CHECK(tokenizer->special_tokens().closes == -1);
  CHECK(tokenizer->token_text(ids.front()) == " Once");
}

TEST_CASE("special tokens of BERT and RoBERTa are known", "[tokenizer]") {
  NEEDS_SHARED("bpe/roberta/tokenizer.json");
  NEEDS_SHARED("minilm-positions/tokenizer.json");
  const auto bert = open_tokenizer(shared_file("minilm-positions"));
  const auto bert_list = word_piece_tokenizer(shared_file("minilm-positions/vocab.txt"));
  for (const Tokenizer* tokenizer : {bert.get(), bert_list.get()}) {
    const SpecialTokens special = tokenizer->special_tokens();
    CHECK(special.opens == 101);
    CHECK(special.closes == 102);
    CHECK(special.pad == 0);
    CHECK(special.unknown == 100);
    CHECK(special.mask == 103);
    CHECK(tokenizer->vocabulary() == 30522);
    CHECK(tokenizer->is_special(101));
    CHECK_FALSE(tokenizer->is_special(2000));
    CHECK_FALSE(tokenizer->is_special(-1));
    CHECK_FALSE(tokenizer->is_special(30522));
  }
  const auto roberta = open_tokenizer(shared_file("bpe/roberta"));
  CHECK(roberta->special_tokens().opens == 0);
  CHECK(roberta->special_tokens().closes == 2);
  CHECK(roberta->special_tokens().pad == 1);
  CHECK(roberta->special_tokens().unknown == 3);
  CHECK(roberta->special_tokens().mask == 50264);
  CHECK(roberta->is_special(50264));
}

TEST_CASE("tokens are shown as the text they came from", "[tokenizer]") {
  NEEDS_SHARED("bpe/gpt2/encoder.json");
  NEEDS_SHARED("minilm-positions/vocab.txt");
  const auto gpt2 = gpt2_tokenizer();
  CHECK(gpt2->piece(262) == "\u0120the");
  CHECK(gpt2->token_text(262) == " the");
  CHECK(gpt2->token_text(198) == "\n");
  CHECK(gpt2->token_text(50256) == "<|endoftext|>");
  // Together the tokens of a text spell it: whole characters as they are, parts of characters byte by byte.
  const Ids ids = gpt2->encode("caf\u00e9 \u3042\u0e01");
  std::string shown;
  for (const std::int32_t id : ids) shown += gpt2->token_text(id);
  CHECK(shown == "caf\u00e9 <0xE3><0x81><0x82><0xE0><0xB8><0x81>");
  CHECK_THROWS_WITH(gpt2->token_text(50257),
                    ContainsSubstring("tokenizer: token id 50257 is outside the vocabulary of 50257 tokens"));
  CHECK_THROWS_WITH(gpt2->piece(-1),
                    ContainsSubstring("tokenizer: token id -1 is outside the vocabulary of 50257 tokens"));

  const auto bert = word_piece_tokenizer(shared_file("minilm-positions/vocab.txt"));
  const Ids pieces = bert->encode("embeddings");
  REQUIRE(pieces.size() == 4);
  CHECK(bert->token_text(pieces[0]) == "em");
  CHECK(bert->token_text(pieces[1]) == "##bed");
  CHECK(bert->piece(101) == "[CLS]");
}

TEST_CASE("ill-formed UTF-8 is read as U+FFFD, one for each beginning of a character", "[tokenizer]") {
  NEEDS_SHARED("bpe/gpt2/encoder.json");
  const auto gpt2 = gpt2_tokenizer();
  const std::string bad = "\uFFFD";
  CHECK(gpt2->encode("a\xFFz") == gpt2->encode("a" + bad + "z"));
  CHECK(gpt2->encode("a\xE2\x82z") == gpt2->encode("a" + bad + "z"));              // a euro sign cut short
  CHECK(gpt2->encode("a\xF0\x9F\x98") == gpt2->encode("a" + bad));                 // cut short at the end
  CHECK(gpt2->encode("\xED\xA0\x80") == gpt2->encode(bad + bad + bad));            // a surrogate
  CHECK(gpt2->encode("\xC0\xAF") == gpt2->encode(bad + bad));                      // overlong
  CHECK(gpt2->encode("\xF4\x90\x80\x80") == gpt2->encode(bad + bad + bad + bad));  // beyond Unicode
}

TEST_CASE("a word of a million characters is spelled in good time", "[tokenizer]") {
  NEEDS_SHARED("bpe/gpt2/encoder.json");
  const std::string long_word(1000000, 'a');
  const auto gpt2 = gpt2_tokenizer();
  CHECK(gpt2->encode(long_word).size() > 1000);
  CHECK(gpt2->encode(std::string(1000000, ' ')).size() > 1000);
  CHECK(gpt2->encode(std::string(1000000, '\xE3')).size() > 1000);
  const auto bert = word_piece_tokenizer(shared_file("minilm-positions/vocab.txt"));
  CHECK(bert->encode(long_word) == Ids{100});
}

TEST_CASE("one tokenizer serves several threads", "[tokenizer]") {
  NEEDS_SHARED("minilm-positions/vocab.txt");
  const auto bert = word_piece_tokenizer(shared_file("minilm-positions/vocab.txt"));
  const std::string text = "The quick brown f\u00f6x jumps over the lazy d\u00f6g; antidisestablishmentarianism.";
  const Ids expected = bert->encode(text);
  std::vector<Ids> found(4);
  std::vector<std::thread> threads;
  for (Ids& ids : found)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) ids = bert->encode(text);
    });
  for (std::thread& thread : threads) thread.join();
  for (const Ids& ids : found) CHECK(ids == expected);
}

TEST_CASE("a folder is searched for tokenizer.json first, and refused where it has none", "[tokenizer]") {
  TemporaryFolder folder;
  CHECK_THROWS_AS(open_tokenizer(folder / "nothing"), IoError);
  CHECK_THROWS_AS(open_tokenizer(folder.path()), FormatError);
  CHECK_THROWS_WITH(open_tokenizer(folder.path()), ContainsSubstring("vocab.txt") &&
                                                       ContainsSubstring("give ids=FILE in place of a text") &&
                                                       ContainsSubstring(folder.path().string()));
  write_text(folder / "vocab.txt", "[UNK]\na\n##b\n");
  CHECK(open_tokenizer(folder.path())->encode("AB a\u0301b c") == Ids{1, 2, 1, 2, 0});
  write_text(folder / "tokenizer.json",
             R"({"model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "ab": 1}}})");
  CHECK(open_tokenizer(folder.path())->encode("ab") == Ids{1});
}

TEST_CASE("vocab.txt heeds the settings beside it", "[tokenizer]") {
  TemporaryFolder folder;
  write_text(folder / "vocab.txt", "<unk>\r\n<s>\r\nA\r\na\r\n\u00e4\r\n##B\r\n");
  const auto ids_with = [&](const std::string& config, const std::string& text) {
    write_text(folder / "tokenizer_config.json", config);
    return open_tokenizer(folder.path())->encode(text);
  };
  const std::string names = R"("unk_token": {"content": "<unk>"}, "cls_token": "<s>")";
  CHECK(ids_with("{" + names + "}", "A<s> \u00e4") == Ids{3, 1, 3});
  CHECK(ids_with(R"({"do_lower_case": false, )" + names + "}", "AB \u00e4 b") == Ids{2, 5, 4, 0});
  CHECK(ids_with(R"({"strip_accents": false, )" + names + "}", "\u00c4") == Ids{4});
  CHECK(ids_with(R"({"tokenize_chinese_chars": false, )" + names + "}", "\u4e2d\u6587") == Ids{0});
  CHECK(ids_with("{" + names + "}", "\u4e2d\u6587") == Ids{0, 0});
  CHECK(ids_with(R"({"added_tokens_decoder": {"1": {"content": "<s>", "special": true}}, )" + names + "}", "a <s>a") ==
        Ids{3, 1, 3});
  CHECK(open_tokenizer(folder.path())->special_tokens().opens == 1);
  CHECK(open_tokenizer(folder.path())->files().size() == 2);
  CHECK(open_tokenizer(folder.path())->vocabulary() == 6);

  CHECK_THROWS_WITH(ids_with("{}", ""), ContainsSubstring("[UNK]"));
  CHECK_THROWS_WITH(ids_with(R"({"do_lower_case": 1, )" + names + "}", ""), ContainsSubstring("do_lower_case"));
  CHECK_THROWS_AS(ids_with(R"({"do_basic_tokenize": false, )" + names + "}", ""), FormatError);
  CHECK_THROWS_WITH(ids_with(R"({"added_tokens_decoder": {"6": {"content": "<new>"}}, )" + names + "}", ""),
                    ContainsSubstring("'<new>' is not in vocab.txt; such tokens are read only from tokenizer.json"));
  write_text(folder / "added_tokens.json", R"({"<more>": 7})");
  CHECK_THROWS_WITH(ids_with("{" + names + "}", ""), ContainsSubstring("'<more>' is not in vocab.txt"));
}

TEST_CASE("Japanese BERT, whose words an analyser finds, is refused with what to give", "[tokenizer]") {
  const TemporaryFolder folder;
  write_text(folder / "vocab.txt", "[UNK]\n");
  write_text(folder / "tokenizer_config.json", R"({"tokenizer_class": "BertJapaneseTokenizer"})");
  CHECK_THROWS_WITH(open_tokenizer(folder.path()),
                    ContainsSubstring("morphological analyser") && ContainsSubstring("give ids"));
}
