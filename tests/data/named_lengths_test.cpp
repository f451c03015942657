#include <fstream>

#include "../../data/models/model_directory.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("lengths that a checkpoint's files name are told where documents exceed them, the shortest first") {
  const TemporaryFolder folder;
  const auto write = [&](const char* name, const char* text) { std::ofstream(folder / name) << text; };
  CHECK(exceeded_lengths(folder.path(), 1000).empty());
  write("sentence_bert_config.json", R"({"max_seq_length": 256})");
  write("tokenizer_config.json", R"({"model_max_length": 1000000000000000019884624838656})");
  write("config.json", R"({"max_position_embeddings": 512, "sliding_window": 64})");
  CHECK(exceeded_lengths(folder.path(), 256).empty());
  const Attributes said = exceeded_lengths(folder.path(), 600);
  CHECK(std::get<std::int64_t>(said.at("named_length")) == 256);
  CHECK(attribute_text(said, "named_lengths") ==
        "256 in sentence_bert_config.json (max_seq_length), 512 in config.json (max_position_embeddings)");
  write("sentence_bert_config.json", "no JSON");
  CHECK(std::get<std::int64_t>(exceeded_lengths(folder.path(), 600).at("named_length")) == 512);
}
