#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../data/tokens/tokenizer_files.h"
#include "../catch.h"

using namespace headwave;
using Ids = std::vector<std::int32_t>;

namespace {

// What reading and using a file ends in: nothing, or the message of an Error, which must be one line.
std::optional<std::string> tokenizer_refusal(const std::filesystem::path& path) {
  try {
    const auto tokenizer = json_tokenizer(path);
    (void)tokenizer->encode("abc cab \u00e9\u4e2d [MASK] <unk> \xFF");
    for (std::int32_t id = 0; id < tokenizer->vocabulary(); ++id) (void)tokenizer->token_text(id);
    return std::nullopt;
  } catch (const Error& error) {
    const std::string message = error.what();
    CHECK(message.find('\n') == message.npos);
    CHECK(message.size() < 2000);
    return message;
  }
}

struct MalformedTokenizer {
  std::string file, expected;
};

std::vector<MalformedTokenizer> manifest() {
  std::ifstream table(shared_file("malformed/manifest.tsv"));
  std::vector<MalformedTokenizer> cases;
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    MalformedTokenizer one;
    std::string kind;
    std::getline(fields, one.file, '\t');
    std::getline(fields, kind, '\t');
    std::getline(fields, one.expected, '\t');
    if (kind == "tokenizer.json") cases.push_back(one);
  }
  return cases;
}

// A tokenizer.json with one part replaced.
class SmallFile {
 public:
  std::string model =
      R"({"type": "BPE", "unk_token": "?", "vocab": {"?": 0, "a": 1, "b": 2, "ab": 3}, "merges": ["a b"]})";
  std::string normalizer = "null", pre_tokenizer = "null", post_processor = "null", decoder = "null",
              added_tokens = "[]";

  [[nodiscard]] std::string text() const {
    return "{\"added_tokens\": " + added_tokens + ", \"normalizer\": " + normalizer +
           ", \"pre_tokenizer\": " + pre_tokenizer + ", \"post_processor\": " + post_processor +
           ", \"decoder\": " + decoder + ", \"model\": " + model + "}";
  }
  [[nodiscard]] std::unique_ptr<Tokenizer> tokenizer() const {
    const TemporaryFolder folder;
    std::ofstream(folder / "tokenizer.json", std::ios::binary) << text();
    return json_tokenizer(folder / "tokenizer.json");
  }
};

}  // namespace

TEST_CASE("every malformed tokenizer.json ends as the manifest expects", "[tokenizer]") {
  NEEDS_SHARED("malformed/manifest.tsv");
  const auto cases = manifest();
  REQUIRE(cases.size() == 37);
  for (const MalformedTokenizer& one : cases) {
    const auto message = tokenizer_refusal(shared_file("malformed/" + one.file));
    INFO(one.file << ": " << message.value_or("read"));
    if (one.expected == "valid") CHECK_FALSE(message.has_value());
    if (one.expected == "reject") CHECK(message.has_value());
  }
}

TEST_CASE("the manifest's valid tokenizers give the ids it names", "[tokenizer]") {
  NEEDS_SHARED("malformed/manifest.tsv");
  const auto ids = [](const std::string& file, const std::string& text) {
    return json_tokenizer(shared_file("malformed/generated/tokenizer/" + file))->encode(text);
  };
  for (const char* file : {"valid_bpe.json", "valid_bpe_merges_as_pairs.json", "either_model_type_absent.json"}) {
    CHECK(ids(file, "abc") == Ids{5});
    CHECK(ids(file, "abx") == Ids{4, 0});
    CHECK(ids(file, "cab") == Ids{3, 4});
  }
  CHECK(ids("valid_bpe_no_merges.json", "abc") == Ids{1, 2, 3});
  CHECK(ids("valid_wordpiece.json", "abc") == Ids{1, 2});
  CHECK(ids("valid_wordlevel.json", "hello world") == Ids{1, 0});
}

TEST_CASE("a tokenizer.json is refused for each thing it may not hold", "[tokenizer]") {
  const auto refused = [](const SmallFile& file, const std::string& because) {
    INFO(file.text());
    CHECK_THROWS_AS(file.tokenizer(), FormatError);
    CHECK_THROWS_WITH(file.tokenizer(), ContainsSubstring(because));
  };
  const auto with = [](std::string SmallFile::*part, const std::string& value) {
    SmallFile file;
    file.*part = value;
    return file;
  };
  CHECK(SmallFile().tokenizer()->encode("abba") == Ids{3, 2, 1});

  refused(with(&SmallFile::model, "null"), "'model' is missing");
  refused(with(&SmallFile::model, "[]"), "'model' is [], expected an object");
  refused(with(&SmallFile::model, R"({"type": "Morphemes", "vocab": []})"), "'Morphemes'");
  const auto unigram = [&](const std::string& rest) {
    return with(&SmallFile::model, R"({"type": "Unigram", )" + rest + "}");
  };
  refused(unigram(R"("unk_id": 0, "vocab": [])"), "empty");
  refused(unigram(R"("unk_id": 0, "vocab": {"a": 0})"), "expected a list");
  refused(unigram(R"("unk_id": 1, "vocab": [["a", 0]])"), "has id 1");
  refused(unigram(R"("unk_id": 99999999999, "vocab": [["a", 0]])"), "expected 0 to 0");
  refused(unigram(R"("vocab": [["a", 0]])"), "'unk_id' is missing");
  refused(unigram(R"("unk_id": 0, "vocab": [["a"]])"), "a piece and its score");
  refused(unigram(R"("unk_id": 0, "vocab": [["a", "b"]])"), "a piece and its score");
  refused(unigram(R"("unk_id": 0, "vocab": [[1, 2]])"), "a string");
  refused(with(&SmallFile::model, R"({"type": "BPE", "vocab": {}, "merges": []})"), "empty");
  refused(with(&SmallFile::model, R"({"type": "BPE", "vocab": {"a": 0}, "merges": [], "dropout": 0.1})"), "dropout");
  for (const char* merge : {R"("a b c")", R"("a")", R"(["a"])"})
    refused(with(&SmallFile::model, fmt::format(R"({{"type": "BPE", "vocab": {{"a": 0}}, "merges": [{}]}})", merge)),
            "expected a merge of two pieces");
  refused(with(&SmallFile::model, R"({"type": "BPE", "vocab": {"a": 0, "b": 0}, "merges": []})"), "same id 0");
  refused(with(&SmallFile::model, R"({"type": "BPE", "vocab": {"a": 0, "a": 1}, "merges": []})"), "occurs twice");
  refused(with(&SmallFile::model, R"({"type": "BPE", "vocab": {"a": 18446744073709551615}, "merges": []})"), "whole");
  refused(with(&SmallFile::model, R"({"type": "BPE", "vocab": {"a": 1000000}, "merges": []})"), "1000000");
  refused(with(&SmallFile::model, R"({"type": "BPE", "vocab": {"a\n": -1}, "merges": []})"), "'a\\u000a'");
  refused(with(&SmallFile::model, R"({"type": "BPE", "vocab": {"a": 0}, "merges": [["a"]]})"), "two pieces");
  refused(with(&SmallFile::model, R"({"type": "BPE", "vocab": {"a": 0}, "merges": [["a", 1]]})"), "a string");
  refused(with(&SmallFile::model, R"({"type": "BPE", "vocab": {"a": 0}, "merges": ["a a"]})"), "'aa'");
  refused(with(&SmallFile::model,
               R"({"type": "WordPiece", "vocab": {"[UNK]": 0}, "max_input_chars_per_word": 1000000000})"),
          "1000000000");
  refused(with(&SmallFile::model, R"({"type": "WordPiece", "vocab": {"[UNK]": 0}, "max_input_chars_per_word": -1})"),
          "expected 100");
  refused(with(&SmallFile::model, R"({"type": "WordPiece", "vocab": {"[UNK]": 0}, "continuing_subword_prefix": "@"})"),
          "continuing_subword_prefix is '@', which is not known; expected '##'");
  refused(
      with(&SmallFile::model, R"({"type": "BPE", "vocab": {"a": 0}, "merges": [], "continuing_subword_prefix": "@"})"),
      "continuing_subword_prefix is '@', which is not known; expected ''");
  refused(with(&SmallFile::normalizer, R"({"type": "Prefix"})"), "'Prefix'");
  refused(with(&SmallFile::normalizer, R"({"type": "Precompiled"})"), "'precompiled_charsmap' is missing");
  refused(with(&SmallFile::normalizer, R"({"type": "Precompiled", "precompiled_charsmap": "*"})"),
          "is not valid base64");
  refused(with(&SmallFile::normalizer, R"({"type": "Precompiled", "precompiled_charsmap": "////////"})"),
          "does not fit");
  refused(with(&SmallFile::normalizer, R"({"type": "Sequence", "normalizers": [{"type": "X\n"}]})"), "normalizers[0]");
  refused(with(&SmallFile::normalizer, R"({"type": "Replace", "pattern": {"Glob": "a"}, "content": ""})"), "'String'");
  refused(with(&SmallFile::normalizer, R"({"type": "Replace", "pattern": {"String": ""}, "content": "a"})"), "empty");
  refused(with(&SmallFile::normalizer, R"({"type": "BertNormalizer", "lowercase": "yes"})"), "lowercase");
  refused(with(&SmallFile::pre_tokenizer, R"({"type": "UnicodeScripts"})"), "'UnicodeScripts'");
  refused(with(&SmallFile::pre_tokenizer, R"({"type": "Metaspace", "replacement": "__"})"), "one character");
  refused(with(&SmallFile::pre_tokenizer, R"({"type": "Metaspace", "prepend_scheme": "last"})"), "'last'");
  refused(with(&SmallFile::pre_tokenizer, R"({"type": "Punctuation", "behavior": "Dropped"})"), "'Dropped'");
  refused(with(&SmallFile::pre_tokenizer, R"("ByteLevel")"), "expected an object");
  refused(with(&SmallFile::post_processor, R"({"type": "Magic"})"), "'Magic'");
  refused(with(&SmallFile::post_processor, R"({"type": "BertProcessing", "cls": ["a", 9], "sep": ["b", 2]})"), "id 9");
  refused(with(&SmallFile::post_processor, R"({"type": "BertProcessing", "cls": ["a"], "sep": ["b", 2]})"),
          "name and an id");
  refused(with(&SmallFile::post_processor, R"({"type": "TemplateProcessing", "single": [], "special_tokens": {}})"),
          "expected a 'Sequence'");
  refused(with(&SmallFile::post_processor, R"({"type": "BertProcessing", "cls": ["a", -1], "sep": ["b", 2]})"),
          "-1 is not a token id");
  refused(with(&SmallFile::post_processor, R"({"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "A"}}, {"Sequence": {"id": "A"}}], "special_tokens": {"A": {"ids": [1, 2]}}})"),
          "opened or closed by more than one token");
  refused(with(&SmallFile::model, R"({"vocab": {"a": 0}})"), "'type' is missing");
  refused(with(&SmallFile::decoder, R"({"type": "CTC"})"), "'CTC'");
  refused(with(&SmallFile::added_tokens, R"([{"id": 2, "content": "a"}])"), "make them equal");
  refused(with(&SmallFile::added_tokens, R"([{"id": 2, "content": "x"}])"), "which 'b' also has");
  refused(with(&SmallFile::added_tokens, R"([{"id": 4, "content": "x"}, {"id": 5, "content": "x"}])"),
          "two added tokens");
  refused(with(&SmallFile::added_tokens, R"([{"id": 4, "content": ""}])"), "0 bytes");
  refused(with(&SmallFile::added_tokens, R"([{"id": 1099511627776, "content": "x"}])"), "1099511627776");
  refused(with(&SmallFile::added_tokens, R"([{"id": 4, "content": ")" + std::string(5000, 'a') + "\"}]"), "5000 bytes");
}

TEST_CASE("a regular expression is read as Ruby's, and refused where it does not compile or takes too long",
          "[tokenizer]") {
  const auto file = [](const std::string& expression) {
    SmallFile one;
    one.pre_tokenizer = R"({"type": "Split", "behavior": "Removed", "pattern": {"Regex": ")" + expression + "\"}}";
    return one;
  };
  // Each finds "xx" alone: no word boundary, digits of hexadecimal, a back reference, a named group, a POSIX bracket with an
  // intersection, a count without a lower bound, a count repeated, a dot for any character.
  for (const std::string expression :
       {"\\\\Bx+", "[^\\\\h]+", "(x)\\\\1", "(?<n>x)\\\\k<n>", "[[:alpha:]&&[^ab]]+", "xx{,2}", "x{2}+", "(?m:x.)"}) {
    INFO(expression);
    CHECK(file(expression).tokenizer()->encode("abxxb") == Ids{3, 2});
  }
  CHECK_THROWS_WITH(file("(a").tokenizer(), ContainsSubstring("does not compile"));
  CHECK_THROWS_WITH(file("\\\\p{Klingon}").tokenizer(), ContainsSubstring("does not compile"));
  CHECK_THROWS_WITH(file("(?:a|aa)+b").tokenizer()->encode(std::string(100, 'a') + "cb"),
                    ContainsSubstring("the regular expression fails"));
}

TEST_CASE("the files of a tokenizer that are not there cannot be read", "[tokenizer]") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(json_tokenizer(folder / "tokenizer.json"), IoError);
  CHECK_THROWS_AS(word_piece_tokenizer(folder / "vocab.txt"), IoError);
  std::filesystem::create_directory(folder / "tokenizer_config.json");
  std::ofstream(folder / "vocab.txt") << "[UNK]\na\n";
  CHECK_THROWS_AS(word_piece_tokenizer(folder / "vocab.txt"), IoError);
}

TEST_CASE("a vocabulary is refused beyond 64 MiB, and where it is not UTF-8", "[tokenizer]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "vocab.txt") << "\xff\n";
  CHECK_THROWS_WITH(word_piece_tokenizer(folder / "vocab.txt"), ContainsSubstring("not UTF-8"));
  std::filesystem::resize_file(folder / "vocab.txt", (std::uintmax_t{64} << 20U) + 1);
  CHECK_THROWS_WITH(word_piece_tokenizer(folder / "vocab.txt"), ContainsSubstring("is this a vocabulary?"));
}

TEST_CASE("the post-processor tells how a document opens and closes", "[tokenizer]") {
  SmallFile file;
  file.post_processor = R"({"type": "Sequence", "processors": [{"type": "ByteLevel"}, {"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "special_tokens": {"A": {"id": "A", "ids": [1], "tokens": ["a"]}}}]})";
  CHECK(file.tokenizer()->special_tokens().opens == 1);
  CHECK(file.tokenizer()->special_tokens().closes == -1);
  file.post_processor = R"({"type": "RobertaProcessing", "sep": ["b", 2], "cls": ["a", 1], "trim_offsets": true})";
  CHECK(file.tokenizer()->special_tokens().opens == 1);
  CHECK(file.tokenizer()->special_tokens().closes == 2);
}

TEST_CASE("a broken tokenizer.json is read or refused, whatever byte is wrong", "[tokenizer]") {
  SmallFile file;
  file.added_tokens = R"([{"id": 4, "content": "<m>", "special": true, "lstrip": true, "normalized": true}])";
  file.normalizer = R"({"type": "BertNormalizer", "strip_accents": null, "lowercase": true})";
  file.pre_tokenizer = R"({"type": "ByteLevel", "add_prefix_space": true, "use_regex": true})";
  file.post_processor = R"({"type": "BertProcessing", "sep": ["b", 2], "cls": ["a", 1]})";
  file.decoder = R"({"type": "Sequence", "decoders": [{"type": "ByteLevel"}, {"type": "Fuse"}]})";
  const std::string whole = file.text();
  const TemporaryFolder folder;
  const auto path = folder / "tokenizer.json";
  const auto survives = [&](const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    return tokenizer_refusal(path);
  };
  REQUIRE_FALSE(survives(whole).has_value());
  for (std::size_t size = 0; size < whole.size(); ++size) CHECK(survives(whole.substr(0, size)).has_value());
  std::mt19937 random(20240601);
  std::size_t read = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string changed = whole;
    changed[random() % changed.size()] = static_cast<char>(random() % 256);
    read += survives(changed).has_value() ? 0 : 1;
  }
  CHECK(read > 0);
  CHECK(read < 3000);
}
