// What is read of files is read of memory: texts, tensors, stored states, models.
#include <cstring>
#include <fstream>
#include <iterator>

#include "../../core/errors/error.h"
#include "../../data/arrays/safetensors.h"
#include "../../data/models/model_directory.h"
#include "../../data/sources/text_documents.h"
#include "../catch.h"
#include "edited_model.h"

using namespace headwave;

TEST_CASE("ids in memory are documents like those of a file, and are called by their name") {
  const TextPlace place("ids", std::make_shared<const std::string>("[[3, 4, 5], [6, 7]]"));
  const auto source = id_documents(place, nullptr);
  REQUIRE(source->count() == 2);
  CHECK(source->document(1).ids == std::vector<std::int32_t>{6, 7});
  CHECK(source->document(1).name == "ids, document 1");
  CHECK(std::get<std::string>(source->provenance().at("source_sha256")).ends_with("  ids"));
  CHECK_THROWS_WITH(id_documents({"ids", std::make_shared<const std::string>()}, nullptr),
                    ContainsSubstring("ids: it is empty"));
}

TEST_CASE("a name in memory that is '-' or a file is neither") {
  const TextPlace place("-", std::make_shared<const std::string>("[1, 2]"));
  CHECK(id_documents(place, nullptr)->document(0).ids == std::vector<std::int32_t>{1, 2});
}

TEST_CASE("tensors in memory are seen in place") {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const auto bytes = std::as_bytes(std::span(values));
  const Checkpoint checkpoint("a module", {{"w", "F32", {2, 3}, bytes}}, nullptr);
  const MatrixView32 w = checkpoint.matrix("w", {2, 3});
  CHECK(w.data() == values.data());
  CHECK(w(1, 2) == 6);
  CHECK(checkpoint.files().empty());
  CHECK_THROWS_WITH(checkpoint.matrix("w", {3, 2}), ContainsSubstring("a module: tensor 'w' has shape (2, 3)"));
  CHECK_THROWS_WITH(Checkpoint("m", {{"w", "F32", {2, 2}, bytes}}, nullptr),
                    ContainsSubstring("m: tensor 'w' has 24 bytes; expected 16"));
  CHECK_THROWS_AS(Checkpoint("m", {{"w", "F32", {6}, bytes}, {"w", "F32", {6}, bytes}}, nullptr), FormatError);
  CHECK_THROWS_WITH(Checkpoint("m", {{"w", "Q4", {6}, bytes}}, nullptr),
                    ContainsSubstring("m: tensor 'w' has the unknown type 'Q4'"));
}

TEST_CASE("a model in memory is the model of its directory") {
  const std::filesystem::path folder = repository_file("tests/golden/families/llama");
  const SafetensorsFile file(folder / "model.safetensors");
  std::vector<TensorInMemory> tensors;
  for (const TensorInfo& tensor : file.tensors())
    tensors.push_back({tensor.name, tensor.dtype, tensor.shape, file.bytes(tensor)});
  const std::string config = text_of_file(folder / "config.json");
  const Model ours = open_model(config, std::make_shared<const Checkpoint>("llama", tensors, nullptr));
  const Model theirs = open_model(folder);
  REQUIRE(ours.stack.layers() == theirs.stack.layers());
  CHECK(ours.stack.blocks.back().self.key.weight == theirs.stack.blocks.back().self.key.weight);
  CHECK(ours.stack.block.kv_heads == theirs.stack.block.kv_heads);
  tensors.pop_back();
  CHECK_THROWS_WITH(open_model(config, std::make_shared<const Checkpoint>("half", tensors, nullptr)),
                    ContainsSubstring("half: "));
  CHECK_THROWS_WITH(model_map("{}", "nobody", {}), ContainsSubstring("nobody: its config"));
}
