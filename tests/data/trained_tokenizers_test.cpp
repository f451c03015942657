#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../../data/files/json_file.h"
#include "../../data/tokens/tokenizer.h"
#include "../catch.h"
#include "id_hash.h"
#include "test_files.h"

using namespace headwave;

namespace {

const std::vector<std::string> kinds = {"t5",    "xlmr",   "albert", "deberta", "bytes",    "llama2",
                                        "gemma", "llama3", "qwen2",  "gpt4o",   "deepseek", "bloom"};

std::filesystem::path trained(const std::string& name) {
  return repository_file("tests/golden/trained") / name;
}

nlohmann::json expected_ids() {
  return json_of_file(trained("ids.json"));
}

}  // namespace

TEST_CASE("vocabularies of every kind give the ids of the packages that made them", "[tokenizer]") {
  const nlohmann::json golden = expected_ids();
  const auto texts = golden.at("texts").get<std::vector<std::string>>();
  for (const std::string& kind : kinds) {
    const auto tokenizer = open_tokenizer(trained(kind));
    for (std::size_t i = 0; i < texts.size(); ++i) {
      INFO(kind << ", case " << i << ": " << golden.at("texts")[i].dump(-1, ' ', true));
      CHECK(tokenizer->encode(texts[i]) == golden.at(kind).at("cases")[i].get<std::vector<std::int32_t>>());
    }
  }
}

TEST_CASE("vocabularies of every kind give those ids on all of WikiText-2's test set", "[tokenizer]") {
  NEEDS_SHARED("text/wikitext-2/wiki.test.raw");
  const nlohmann::json golden = expected_ids();
  const std::string text = file_bytes(shared_file("text/wikitext-2/wiki.test.raw"));
  for (const std::string& kind : kinds) {
    INFO(kind);
    const auto tokenizer = open_tokenizer(trained(kind));
    const LineHash hash = hashed_by_line(*tokenizer, text);
    CHECK(hash.count == golden.at(kind).at("lines").at("count").get<std::size_t>());
    CHECK(hash.text == golden.at(kind).at("lines").at("fnv1a").get<std::string>());
  }
}

TEST_CASE("a SentencePiece model is refused with the line of transformers that writes tokenizer.json", "[tokenizer]") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(open_tokenizer(folder.path()), ContainsSubstring(": no tokenizer in this folder; expected"));
  for (const char* name : {"tokenizer.model", "spiece.model", "spm.model", "sentencepiece.bpe.model"}) {
    INFO(name);
    std::ofstream(folder / name) << "x";
    CHECK(has_tokenizer(folder.path()));
    CHECK_THROWS_WITH(open_tokenizer(folder.path()),
                      ContainsSubstring(std::string(name) + ": this is a SentencePiece model") &&
                          ContainsSubstring("AutoTokenizer.from_pretrained('DIR').save_pretrained('DIR')"));
    std::filesystem::remove(folder / name);
  }
  std::ofstream(folder / "vocab.json") << "{}";
  CHECK_THROWS_WITH(open_tokenizer(folder.path()), ContainsSubstring("vocab.json: this is a vocabulary of GPT-2"));
  std::ofstream(folder / "source.spm") << "x";
  CHECK_THROWS_WITH(open_tokenizer(folder.path()), ContainsSubstring("source.spm: this is a tokenizer of Marian"));
}

TEST_CASE("tokens of every kind are shown as a person should see them", "[tokenizer]") {
  for (const std::string kind : {"t5", "llama2", "llama3"}) {
    const auto tokenizer = open_tokenizer(trained(kind));
    INFO(kind);
    std::string shown;
    for (const std::int32_t id : tokenizer->encode("the end of the line")) shown += tokenizer->token_text(id);
    CHECK((shown == "the end of the line" || shown == " the end of the line"));
  }
}

TEST_CASE("every kind tells how a document opens and closes", "[tokenizer]") {
  CHECK(open_tokenizer(trained("t5"))->special_tokens().opens == -1);
  CHECK(open_tokenizer(trained("t5"))->special_tokens().closes == 1);
  CHECK(open_tokenizer(trained("t5"))->special_tokens().unknown == 2);
  CHECK(open_tokenizer(trained("xlmr"))->special_tokens().opens == 0);
  CHECK(open_tokenizer(trained("xlmr"))->special_tokens().closes == 2);
  const auto llama3 = open_tokenizer(trained("llama3"));
  CHECK(llama3->piece(llama3->special_tokens().opens) == "<|begin_of_text|>");
}

TEST_CASE("a broken vocabulary of any kind is read or refused, whatever bytes are wrong", "[tokenizer]") {
  const TemporaryFolder folder;
  std::mt19937 random(15);
  for (const std::string name :
       {"t5/tokenizer.json", "xlmr/tokenizer.json", "gemma/tokenizer.json", "gpt4o/tokenizer.json"}) {
    const std::string whole = file_bytes(trained(name));
    const auto path = folder / std::filesystem::path(name).filename().string();
    std::size_t refused = 0;
    for (int i = 0; i < 60; ++i) {
      std::string changed = whole;
      for (int change = 0; change <= i % 8; ++change)
        changed[random() % changed.size()] = static_cast<char>(random() % 256);
      if (i % 10 == 9) changed.resize(random() % changed.size());
      std::ofstream(path, std::ios::binary | std::ios::trunc) << changed;
      try {
        const auto tokenizer = open_tokenizer(folder.path());
        for (const std::int32_t id : tokenizer->encode("The e\u0301nd \ufb01 \u2126 1112\u1161 <s>\xFF a\r\nb  c"))
          CHECK((id >= 0 && id < tokenizer->vocabulary()));
      } catch (const Error& error) {
        ++refused;
        CHECK(std::string_view(error.what()).find('\n') == std::string_view::npos);
      }
    }
    INFO(name);
    CHECK(refused > 0);
    std::filesystem::remove(path);
  }
}
