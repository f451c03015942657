#include "../../data/models/named_lengths.h"

#include <fstream>

#include "../catch.h"

using namespace headwave;

TEST_CASE(
    "lengths that a checkpoint's files name are found, the shortest first, and those that stand for any are not") {
  const TemporaryFolder folder;
  const auto write = [&](const char* name, const char* text) { std::ofstream(folder / name) << text; };
  CHECK(named_lengths(folder.path()).empty());
  write("tokenizer.json", R"({"version": "1.0", "truncation": {"max_length": 128, "stride": 0}, "padding": null})");
  write("sentence_bert_config.json", R"({"max_seq_length": 256})");
  write("tokenizer_config.json", R"({"model_max_length": 1000000000000000019884624838656})");
  write("config.json", R"({"max_position_embeddings": 512, "sliding_window": 64})");
  const std::vector<NamedLength> found = named_lengths(folder.path());
  REQUIRE(found.size() == 3);
  CHECK((found[0].tokens == 128 && found[0].file == "tokenizer.json" && found[0].key == "truncation.max_length"));
  CHECK((found[1].tokens == 256 && found[1].key == "max_seq_length"));
  CHECK((found[2].tokens == 512 && found[2].key == "max_position_embeddings"));

  CHECK(exceeded_lengths(folder.path(), 128).empty());
  const Attributes said = exceeded_lengths(folder.path(), 400);
  CHECK(std::get<std::int64_t>(said.at("named_length")) == 128);
  CHECK(attribute_text(said, "named_lengths") ==
        "128 in tokenizer.json (truncation.max_length), 256 in sentence_bert_config.json (max_seq_length)");

  write("tokenizer.json", R"({"version": "1.0", "truncation": null, "padding": {"max_length": 7}})");
  write("sentence_bert_config.json", "no JSON");
  CHECK(named_lengths(folder.path()).size() == 1);
}
