#include "../../data/listing/listing.h"

#include <algorithm>
#include <fstream>
#include <string_view>

#include "../../core/errors/error.h"
#include "../../core/process/process_memory.h"
#include "../../data/arrays/safetensors.h"
#include "../../data/results/result_file.h"
#include "../catch.h"

using namespace headwave;

namespace {

const ListingEntry& entry_at(const Listing& listing, std::string_view name) {
  const auto found = std::ranges::find(listing.entries, std::string(name), &ListingEntry::name);
  REQUIRE(found != listing.entries.end());
  return *found;
}

void write_weights(const std::filesystem::path& path) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  write_safetensors(path, {{"words", {3, 2}, values.data()}, {"bias", {2}, values.data()}});
}

void write_npy(const std::filesystem::path& path) {
  const std::string header = "{'descr': '>f4', 'fortran_order': True, 'shape': (1, 1), }";
  std::ofstream(path, std::ios::binary) << "\x93NUMPY\x01" << '\0' << static_cast<char>(header.size()) << '\0' << header
                                        << "1234";
}

}  // namespace

TEST_CASE("listing: files are told apart by content") {
  const TemporaryFolder folder;
  write_weights(folder / "a.bin");
  const Listing tensors = listing_of(folder / "a.bin");
  CHECK(tensors.kind == "safetensors");
  CHECK(entry_at(tensors, "words").shape == std::vector<Index>{3, 2});
  CHECK(entry_at(tensors, "words").dtype == "F32");
  CHECK(std::get<std::int64_t>(tensors.facts.at("parameters")) == 8);

  write_npy(folder / "b.h5");
  const Listing array = listing_of(folder / "b.h5");
  CHECK(array.kind == "npy");
  CHECK(array.entries.at(0).dtype == "float32");
  CHECK(array.entries.at(0).storage == "Fortran order, big-endian");

  const Listing hdf5 = listing_of(repository_file("tests/golden/hdf5_sample.h5"));
  CHECK(hdf5.kind == "HDF5");
  CHECK(entry_at(hdf5, "/texts/variable").dtype == "string");
  CHECK(std::get<std::int64_t>(hdf5.facts.at("num_heads")) == 12);
  CHECK(listing_of(repository_file("tests/golden/hdf5_hostile.h5")).notes.size() == 1);
}

TEST_CASE("listing: a headwave result") {
  const TemporaryFolder folder;
  Result result{"title", {make_field("a/x", {head_axis(2)}, "token", "an x", {1, 2})}, {}};
  write_result(result, folder / "r.h5");
  const Listing listing = listing_of(folder / "r.h5");
  CHECK(listing.kind == "headwave result");
  CHECK(entry_at(listing, "/a/x").unit == "token");
  CHECK(entry_at(listing, "/a/head").dtype == "int64");
  CHECK(std::get<std::string>(listing.facts.at("title")) == "title");
  CHECK(listing.notes.empty());
  CHECK_THAT(listing_of(repository_file("tests/golden/result_unfinished.h5")).notes.at(0),
             ContainsSubstring("not finished"));
}

TEST_CASE("listing: a model directory") {
  const TemporaryFolder folder;
  write_weights(folder / "model.safetensors");
  std::ofstream(folder / "config.json") << R"({"model_type": "bert", "num_hidden_layers": 2, "num_attention_heads": 4,
    "hidden_size": 8, "n_positions": null, "max_position_embeddings": 16})";
  std::ofstream(folder / "vocab.txt") << "a\n";
  const Listing listing = listing_of(folder.path());
  CHECK(listing.kind == "model directory");
  CHECK(std::get<std::string>(listing.facts.at("model_type")) == "bert");
  CHECK(std::get<std::int64_t>(listing.facts.at("parameters")) == 8);
  CHECK(std::get<std::string>(listing.facts.at("tokenizer_files")) == "vocab.txt");
  CHECK(listing.entries.size() == 2);
  // Half a config: what is missing is said, and the rest is shown all the same.
  REQUIRE(listing.notes.size() == 1);
  CHECK_THAT(listing.notes.front(), ContainsSubstring("'vocab_size' is missing"));
}

TEST_CASE("listing: a model directory says what it is taken for, why, and what is not read") {
  const Listing listing = listing_of(repository_file("tests/golden/families/qwen2"));
  CHECK(std::get<std::string>(listing.facts.at("family")) == "qwen2");
  CHECK(std::get<std::string>(listing.facts.at("family_because")) == "config.json says model_type 'qwen2'");
  CHECK(std::get<std::string>(listing.facts.at("attention")) == "causal");
  CHECK(std::get<std::string>(listing.facts.at("position_kind")) == "rotary");
  CHECK(std::get<std::string>(listing.facts.at("norms")) == "pre-norm");
  REQUIRE(listing.notes.size() == 1);
  CHECK_THAT(listing.notes.front(), ContainsSubstring("no tokenizer files"));
}

TEST_CASE("listing: what is missing from a model directory is noted") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(listing_of(folder.path()), FormatError);
  std::ofstream(folder / "config.json") << "[]";
  CHECK_THAT(listing_of(folder.path()).notes.at(1), ContainsSubstring("expected a JSON object"));
  std::ofstream(folder / "config.json") << "{";
  CHECK(listing_of(folder.path()).notes.size() == 3);  // weights, config, tokenizer
  std::filesystem::remove(folder / "config.json");
  write_weights(folder / "model.safetensors");
  const Listing listing = listing_of(folder.path());
  CHECK(listing.entries.size() == 2);
  CHECK_THAT(listing.notes.at(0), ContainsSubstring("no config.json"));
}

TEST_CASE("listing: a folder of npy files") {
  const TemporaryFolder folder;
  write_npy(folder / "queries_layer_0.npy");
  std::ofstream(folder / "broken.npy") << "x";
  CHECK_THROWS_WITH(listing_of(folder.path()), ContainsSubstring("broken.npy: expected a .npy file"));
  std::filesystem::remove(folder / "broken.npy");
  const Listing listing = listing_of(folder.path());
  CHECK(listing.kind == "folder of npy files");
  CHECK(listing.entries.size() == 1);
}

TEST_CASE("listing: what is nothing of ours") {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.txt") << "some text";
  CHECK_THROWS_AS(listing_of(folder / "a.txt"), FormatError);
  std::ofstream(folder / "empty").flush();
  CHECK_THROWS_AS(listing_of(folder / "empty"), FormatError);
  CHECK_THROWS_AS(listing_of(folder / "none"), IoError);
  std::ofstream(folder / "a.npz") << "PK\x03\x04";
  CHECK_THROWS_WITH(listing_of(folder / "a.npz"), ContainsSubstring("zip archive; expected HDF5"));
}

TEST_CASE("of a model that reads images beside text the sizes of its text part are listed") {
  const Listing listing = listing_of(repository_file("tests/golden/families/gemma3-multimodal"));
  CHECK(std::get<std::int64_t>(listing.facts.at("layers")) == 2);
  CHECK(std::get<std::int64_t>(listing.facts.at("d_model")) == 24);
}

TEST_CASE("a model in half precision is listed by its headers, and none of its weights is converted") {
  const TemporaryFolder folder;
  std::ofstream(folder / "config.json") << R"({"model_type": "gpt2", "n_layer": 1, "n_embd": 4096, "n_head": 32,
      "n_inner": 16384, "n_positions": 8, "vocab_size": 8})";
  // Two large weights, of which the file holds no byte: it has a hole in their place.
  const std::string header = R"({"h.0.mlp.c_fc.weight": {"dtype": "BF16", "shape": [4096, 16384],
      "data_offsets": [0, 134217728]}, "h.0.mlp.c_proj.weight": {"dtype": "BF16", "shape": [16384, 4096],
      "data_offsets": [134217728, 268435456]}})";
  const auto length = static_cast<std::uint64_t>(header.size());
  std::ofstream(folder / "model.safetensors", std::ios::binary).write(reinterpret_cast<const char*>(&length), 8)
      << header;
  std::filesystem::resize_file(folder / "model.safetensors", 8 + header.size() + 268435456);
  const std::int64_t before = most_resident_bytes();
  const Listing listing = listing_of(folder.path());
  CHECK(most_resident_bytes() - before < 50'000'000);
  CHECK(std::get<std::string>(listing.facts.at("family")) == "gpt2");
  CHECK(std::ranges::none_of(listing.notes,
                             [](const std::string& note) { return note.find("c_fc.weight") != std::string::npos; }));
}
