#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../../data/files/json_file.h"
#include "../../data/models/model_directory.h"
#include "../../data/sources/text_documents.h"
#include "../catch.h"
#include "test_files.h"

using namespace headwave;

namespace {

using PairIds = std::vector<std::int32_t>;

/// A tokenizer that knows single letters, and two texts to give it.
class TwoTexts {
 public:
  TwoTexts() {
    std::ofstream(folder_ / "vocab.txt") << "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\n";
    std::ofstream(folder_ / "config.json") << R"({"model_type": "bert"})";
    tokenizer_ = open_tokenizer(folder_.path());
  }
  [[nodiscard]] std::unique_ptr<Source> pairs(const std::string& text, const std::string& target,
                                              const PackingOptions& options = {}) const {
    std::ofstream(folder_ / "text") << text;
    std::ofstream(folder_ / "target") << target;
    return paired_texts(folder_ / "text", folder_ / "target", tokenizer_, 7, options);
  }

 private:
  TemporaryFolder folder_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

}  // namespace

TEST_CASE("two texts are pairs of lines, and the decoder reads the target behind its first token") {
  const TwoTexts it;
  const auto source = it.pairs("a b\n\nc\r\n", "b\n\t\na c b\n");
  REQUIRE(source->count() == 2);
  const Document first = source->document(0), second = source->document(1);
  CHECK(first.ids == PairIds{2, 5, 6, 3});
  CHECK(first.target.ids == PairIds{7, 2, 6});
  CHECK(first.target.tokens == std::vector<std::string>{"c", "[CLS]", "b"});
  CHECK(second.ids == PairIds{2, 7, 3});
  CHECK(second.target.ids == PairIds{7, 2, 5, 7, 6});
  CHECK(source->length(1) == 5);
  const Attributes provenance = source->provenance();
  CHECK(std::get<std::int64_t>(provenance.at("documents")) == 2);
  CHECK(provenance.contains("source_sha256"));
  CHECK(std::get<std::string>(provenance.at("target_sha256")) != std::get<std::string>(provenance.at("source_sha256")));
  const auto bare = it.pairs("a\n", "b c\n", {std::nullopt, std::nullopt, false});
  CHECK(bare->document(0).ids == PairIds{5});
  CHECK(bare->document(0).target.ids == PairIds{7, 6});
  CHECK(it.pairs("a\nb\n", "b\nc\n", {1, std::nullopt})->count() == 1);
}

TEST_CASE("lines that are no pairs are refused by number") {
  const TwoTexts it;
  CHECK_THROWS_WITH(it.pairs("a\nb\n", "b\n"),
                    ContainsSubstring("target: has 1 lines, but") && ContainsSubstring("text has 2"));
  CHECK_THROWS_WITH(it.pairs("a\n \n", "b\nc\n"),
                    ContainsSubstring("text: line 2 is blank, but not the line beside it in"));
  CHECK_THROWS_WITH(it.pairs("a\nb\n", "b\n\n"), ContainsSubstring("target: line 2 is blank"));
  CHECK_THROWS_WITH(it.pairs("a\n", "b\n", {2, std::nullopt}),
                    ContainsSubstring("holds 1 documents, but 2 are requested"));
  CHECK_THROWS_WITH(it.pairs("a b c\n", "b\n", {.documents = {}, .length = {}, .positions = 4}),
                    ContainsSubstring("document 0 has 5 tokens"));
  const PackingOptions bare{std::nullopt, std::nullopt, false};
  CHECK_THROWS_WITH(it.pairs("a\nb\n", "b\n\x01\n", bare), ContainsSubstring("target: line 2 has no tokens"));
  CHECK_THROWS_WITH(it.pairs("\x01\n", "b\n", bare), ContainsSubstring("text: document 0 has no token ids"));
  CHECK_THROWS_AS(it.pairs("", "b\n"), FormatError);
  CHECK_THROWS_AS(it.pairs("a\n", "\xff\n"), FormatError);
}

TEST_CASE("what a decoder reads first is in config.json, or in generation_config.json") {
  const TemporaryFolder folder;
  const auto written = [&](const char* name, const char* text) { std::ofstream(folder / name) << text; };
  CHECK_THROWS_AS(decoder_start(folder.path()), IoError);
  written("config.json", R"({"model_type": "t5"})");
  CHECK_THROWS_WITH(decoder_start(folder.path()), ContainsSubstring("'decoder_start_token_id' is missing"));
  written("generation_config.json", R"({"decoder_start_token_id": 3})");
  CHECK(decoder_start(folder.path()) == 3);
  written("config.json", R"({"decoder_start_token_id": 2})");
  CHECK(decoder_start(folder.path()) == 2);
  written("config.json", R"({"decoder_start_token_id": -4})");
  CHECK_THROWS_WITH(decoder_start(folder.path()), ContainsSubstring("is -4, expected the id of a token"));
}

TEST_CASE("of two texts each has its own share of unknown tokens") {
  const TwoTexts it;
  const Attributes provenance = it.pairs("a b x c\n", "a b c c c c c x\n")->provenance();
  CHECK(std::get<double>(provenance.at("unknown_share")) == 0.25);
  CHECK(std::get<double>(provenance.at("target_unknown_share")) == 0.125);
  CHECK_THROWS_WITH(it.pairs("x y\n", "a b\n"), ContainsSubstring("text: 100 % of its tokens are unknown"));
  CHECK_THROWS_WITH(it.pairs("a b\n", "x y z\n"), ContainsSubstring("target: 100 % of its tokens are unknown"));
  PackingOptions any;
  any.allow_unknown = true;
  CHECK(it.pairs("x y\n", "x y\n", any)->count() == 1);
}
