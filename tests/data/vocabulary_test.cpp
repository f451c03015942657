#include <fstream>

#include "../../core/errors/error.h"
#include "../../data/tokens/token_model.h"
#include "../../data/tokens/tokenizer_files.h"
#include "../catch.h"

using namespace headwave;

namespace {

Vocabulary letters() {
  return Vocabulary({{"[UNK]", 0}, {"a", 1}, {"b", 2}, {"ab", 3}}, "vocab.txt");
}

}  // namespace

TEST_CASE("a vocabulary has entries, each with an id of its own that is near the others") {
  CHECK(letters().id("ab") == 3);
  CHECK_THROWS_AS(Vocabulary({}, "vocab.txt"), FormatError);
  CHECK_THROWS_AS(Vocabulary({{"a", -1}}, "vocab.txt"), FormatError);
  CHECK_THROWS_AS(Vocabulary({{"a", 1}, {"b", 1}}, "vocab.txt"), FormatError);
  CHECK_THROWS_WITH(Vocabulary({{"a", std::int64_t{1} << 40}}, "vocab.txt"), ContainsSubstring("vocab.txt"));
}

TEST_CASE("spelling by pieces and by words needs the unknown token in the vocabulary") {
  CHECK(unknown_id(letters(), "[UNK]", "vocab.txt") == 0);
  CHECK_THROWS_AS(unknown_id(letters(), "<unk>", "vocab.txt"), FormatError);
  CHECK_THROWS_WITH(whole_words(letters(), "<unk>", "vocab.txt"),
                    ContainsSubstring("vocab.txt") && ContainsSubstring("<unk>"));
  CHECK_THROWS_AS(word_piece(letters(), "<unk>", "vocab.txt"), FormatError);
  CHECK_NOTHROW(word_piece(letters(), "[UNK]", "vocab.txt"));
}

TEST_CASE("a merge has two parts, which are in the vocabulary as what they become is") {
  CHECK_NOTHROW(byte_pair_encoding(letters(), {{"a", "b"}}, {}, "merges.txt"));
  CHECK_THROWS_AS(byte_pair_encoding(letters(), {{"b", "a"}}, {}, "merges.txt"), FormatError);
  CHECK_THROWS_AS(byte_pair_encoding(letters(), {{"a", "c"}}, {}, "merges.txt"), FormatError);
}

TEST_CASE("the names of added tokens are neither empty nor endless, alone or together") {
  const auto token = [](std::string name) {
    AddedToken added;
    added.content = std::move(name);
    return std::vector<AddedToken>{added};
  };
  CHECK_NOTHROW(AddedTokenFinder(token("<new>"), {}, "tokenizer.json"));
  CHECK_THROWS_AS(AddedTokenFinder(token(""), {}, "tokenizer.json"), FormatError);
  CHECK_THROWS_AS(AddedTokenFinder(token(std::string(1'000'000, 'x')), {}, "tokenizer.json"), FormatError);
  CHECK_THROWS_AS(AddedTokenFinder(
                      token("  "), [](std::string_view) { return std::string(); }, "tokenizer.json"),
                  FormatError);
}

// What transformers 5.24's EsmTokenizer gives for ESM-2's vocabulary.
TEST_CASE("ESM finds each letter of a protein, and what lies between letters is unknown as a whole") {
  const TemporaryFolder folder;
  std::ofstream(folder / "tokenizer_config.json") << R"({"tokenizer_class": "EsmTokenizer"})";
  std::ofstream vocabulary(folder / "vocab.txt");
  for (const char* piece : {"<cls>", "<pad>", "<eos>", "<unk>"}) vocabulary << piece << '\n';
  for (const char letter : std::string("LAGVSERTIDPKQNFYMHWCXBUZO.-")) vocabulary << letter << '\n';
  vocabulary << "<null_1>\n<mask>\n" << std::flush;
  const auto tokenizer = word_piece_tokenizer(folder / "vocab.txt");
  const auto ids = [&](const char* text) { return tokenizer->encode(text); };
  CHECK(ids("MKTAYIAK") == std::vector<std::int32_t>{20, 15, 11, 5, 19, 12, 5, 15});
  CHECK(ids("M K  T") == std::vector<std::int32_t>{20, 15, 11});
  CHECK(ids("MKxyzJT") == std::vector<std::int32_t>{20, 15, 3, 11});
  CHECK(ids("mkt MK") == std::vector<std::int32_t>{3, 20, 15});
  CHECK(ids("M<mask>K-.") == std::vector<std::int32_t>{20, 32, 15, 30, 29});
  CHECK(tokenizer->special_tokens().opens == 0);
  CHECK(tokenizer->special_tokens().closes == 2);
}
