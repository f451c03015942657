#include "../../data/arrays/safetensors.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <numeric>
#include <thread>

#include "../../core/errors/error.h"
#include "../../data/files/file_bytes.h"
#include "../catch.h"

using namespace headwave;

namespace {

void write_safetensors_bytes(const std::filesystem::path& path, const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&length), sizeof length);
  out << header << data;
}

template <class Number>
std::string raw_bytes(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

std::vector<float> counting(std::size_t size) {
  std::vector<float> values(size);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

}  // namespace

TEST_CASE("safetensors: by hand, float32 is seen in place") {
  const TemporaryFolder folder;
  write_safetensors_bytes(folder / "a.safetensors", R"({"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}    )",
                          raw_bytes<float>({1, 2, 3, 4, 5, 6}));
  const Checkpoint checkpoint(folder / "a.safetensors");
  const MatrixView32 w = checkpoint.matrix("w", {2, 3});
  CHECK(w(0, 0) == 1);
  CHECK(w(0, 2) == 3);
  CHECK(w(1, 0) == 4);
  CHECK(checkpoint.parameters() == 6);
  CHECK(checkpoint.matrix("w", {2, 3}).data() == w.data());
  const SafetensorsFile file(folder / "a.safetensors");
  CHECK(file.tensors().at(0).dtype == "F32");
  CHECK(file.bytes(file.tensors()[0]).size() == 24);
}

TEST_CASE("safetensors: halves, doubles and unaligned floats are converted") {
  const TemporaryFolder folder;
  // F16: 1, -2, 0.5, 65504; BF16: 1, -2, 0.5, 3; the flag shifts what follows to odd addresses.
  const std::string data = std::string("\x01", 1) + raw_bytes<std::uint16_t>({0x3C00, 0xC000, 0x3800, 0x7BFF}) +
                           raw_bytes<std::uint16_t>({0x3F80, 0xC000, 0x3F00, 0x4040}) +
                           raw_bytes<double>({3.141592653589793, -1e300}) + raw_bytes<float>({7, 8});
  write_safetensors_bytes(
      folder / "a.safetensors",
      R"({"flag":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]},"half":{"dtype":"F16","shape":[4],"data_offsets":[1,9]},)"
      R"("brain":{"dtype":"BF16","shape":[4],"data_offsets":[9,17]},"double":{"dtype":"F64","shape":[2],"data_offsets":[17,33]},)"
      R"("odd":{"dtype":"F32","shape":[1,2],"data_offsets":[33,41]}})",
      data);
  const Checkpoint checkpoint(folder / "a.safetensors");
  CHECK(checkpoint.vector("half", 4) == Vector32{{1, -2, 0.5F, 65504}});
  CHECK(checkpoint.vector("brain", 4) == Vector32{{1, -2, 0.5F, 3}});
  CHECK(checkpoint.vector("double", 2)[0] == 3.14159265F);
  CHECK(checkpoint.vector("double", 2)[1] == -std::numeric_limits<float>::infinity());
  CHECK(checkpoint.matrix("odd", {1, 2})(0, 1) == 8);
  CHECK(checkpoint.matrix("odd", {1, 2}).data() == checkpoint.matrix("odd", {1, 2}).data());  // converted once
  CHECK_THROWS_WITH(checkpoint.vector("flag", 1), ContainsSubstring("BOOL"));
  CHECK_THROWS_WITH(checkpoint.row_reader("flag"), ContainsSubstring("BOOL"));
  CHECK_THROWS_WITH(checkpoint.row_reader("none"), ContainsSubstring("no tensor 'none'"));
  std::array<float, 4> row{};
  checkpoint.row_reader("brain")(0, 1, row.data());
  CHECK(row == std::array<float, 4>{1, -2, 0.5F, 3});
  checkpoint.row_reader("odd")(0, 1, row.data());
  CHECK((row[0] == 7 && row[1] == 8));
  checkpoint.row_reader("double")(0, 1, row.data());
  CHECK(row[1] == -std::numeric_limits<float>::infinity());
  const auto cut = checkpoint.row_reader("odd");
  std::filesystem::resize_file(folder / "a.safetensors", std::filesystem::file_size(folder / "a.safetensors") - 4);
  CHECK_THROWS_WITH(cut(0, 1, row.data()), ContainsSubstring("did another program shorten it"));
  CHECK(checkpoint.names() == std::vector<std::string>{"flag", "half", "brain", "double", "odd"});
}

TEST_CASE("safetensors: every half is converted as IEEE 754 says") {
  const TemporaryFolder folder;
  std::vector<std::uint16_t> halves(65536);
  std::iota(halves.begin(), halves.end(), std::uint16_t{0});
  write_safetensors_bytes(folder / "a.safetensors",
                          R"({"h":{"dtype":"F16","shape":[65536],"data_offsets":[0,131072]}})", raw_bytes(halves));
  const Checkpoint checkpoint(folder / "a.safetensors");
  const VectorView32 values = checkpoint.vector("h", 65536);
  Index wrong = 0;
  for (Index i = 0; i < 65536; ++i) {
    const int exponent = static_cast<int>((i >> 10) & 31);
    const auto fraction = static_cast<float>(i & 1023);
    const float size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    const float expected = (i & 0x8000) != 0 ? -size : size;
    if (exponent == 31)
      wrong += (fraction == 0 ? std::isinf(values[i]) : std::isnan(values[i])) ? 0 : 1;
    else
      wrong += values[i] == expected ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("safetensors: round trip through the writer") {
  const TemporaryFolder folder;
  const std::vector<float> a = counting(6);
  const std::vector<float> b = counting(1);
  write_safetensors(folder / "m.safetensors",
                    {{"z", {2, 3}, a.data()}, {"b", {}, b.data()}, {"empty", {0, 4}, nullptr}}, {{"format", "pt"}});
  const SafetensorsFile file(folder / "m.safetensors");
  CHECK(file.metadata().at("format") == "pt");
  CHECK(file.tensors().size() == 3);
  CHECK(file.tensors().front().name == "z");
  CHECK(file.tensors().front().shape == std::vector<Index>{2, 3});
  CHECK(reinterpret_cast<std::uintptr_t>(file.bytes(file.tensors().front()).data()) % 8 == 0);
  const Checkpoint checkpoint(folder / "m.safetensors");
  CHECK(checkpoint.matrix("z", {2, 3}) == MatrixView32(a.data(), 2, 3));
  CHECK(checkpoint.matrix("empty", {0, 4}).size() == 0);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("safetensors: a folder that is missing is refused by the writer") {
  const TemporaryFolder folder;
  const std::vector<float> a = counting(1);
  CHECK_THROWS_AS(write_safetensors(folder / "none/m", {{"a", {1}, a.data()}}), IoError);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("checkpoint: a wrong shape and a missing tensor are named") {
  const TemporaryFolder folder;
  const std::vector<float> a = counting(6);
  write_safetensors(folder / "model.safetensors", {{"w", {2, 3}, a.data()}});
  const Checkpoint checkpoint(folder.path());
  CHECK(checkpoint.has("w"));
  CHECK_FALSE(checkpoint.has("v"));
  CHECK_THROWS_WITH(
      checkpoint.matrix("w", {3, 2}),
      ContainsSubstring("model.safetensors: tensor 'w' has shape (2, 3), expected (3, 2): config.json (or the map) "
                        "and the weights do not belong together"));
  CHECK_THROWS_AS(checkpoint.matrix("w", {3, 2}), FormatError);
  CHECK_THROWS_AS(checkpoint.vector("w", 6), FormatError);
  CHECK_THROWS_WITH(checkpoint.info("v"), ContainsSubstring("no tensor 'v'"));
}

TEST_CASE("checkpoint: several threads that ask for a tensor are shown the same numbers, converted once") {
  const TemporaryFolder folder;
  const std::string header =
      R"({"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},"b":{"dtype":"F16","shape":[2],"data_offsets":[4,8]}})";
  write_safetensors_bytes(folder / "model.safetensors", header,
                          raw_bytes<std::uint16_t>({0x3C00, 0x4000, 0x4200, 0x4400}));
  const Checkpoint checkpoint(folder / "model.safetensors");
  std::array<const float*, 4> first{}, second{};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      first[t] = checkpoint.vector("a", 2).data();
      second[t] = checkpoint.vector("b", 2).data();
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < 4; ++t) {
    CHECK(first[t] == first[0]);
    CHECK(second[t] == second[0]);
  }
  CHECK(first[0][1] == 2);
  CHECK(second[0][0] == 3);
}

TEST_CASE("checkpoint: shards") {
  const TemporaryFolder folder;
  const std::vector<float> a = counting(4);
  write_safetensors(folder / "model-1.safetensors", {{"b", {4}, a.data()}, {"a", {2}, a.data()}});
  write_safetensors(folder / "model-2.safetensors", {{"c", {3}, a.data()}});
  const auto index = [&](const std::string& map) {
    std::ofstream(folder / "model.safetensors.index.json")
        << R"({"metadata": {"total_size": 36}, "weight_map": )" << map << "}";
  };
  index(R"({"a": "model-1.safetensors", "b": "model-1.safetensors", "c": "model-2.safetensors"})");
  const Checkpoint checkpoint(folder.path());
  CHECK(checkpoint.names() == std::vector<std::string>{"b", "a", "c"});
  CHECK(checkpoint.files().size() == 2);
  CHECK(checkpoint.vector("c", 3)[2] == 3);
  CHECK(Checkpoint(folder / "model.safetensors.index.json").parameters() == 9);

  index(R"({"a": "model-1.safetensors", "c": "model-3.safetensors"})");
  CHECK_THROWS_AS(Checkpoint(folder.path()), IoError);
  CHECK_THROWS_WITH(Checkpoint(folder.path()), ContainsSubstring("model-3.safetensors"));
  index(R"({"x": "model-1.safetensors"})");
  CHECK_THROWS_WITH(Checkpoint(folder.path()), ContainsSubstring("'x'"));
  for (const std::string name : {"../model-1.safetensors", "/etc/passwd", "..", "", "a/b", "a\\\\b", "a\\u0000b"}) {
    index(R"({"a": ")" + name + "\"}");
    CHECK_THROWS_AS(Checkpoint(folder.path()), FormatError);
  }
  for (const std::string map : {"{}", "[]", "7", R"({"a": 1})"}) {
    index(map);
    CHECK_THROWS_AS(Checkpoint(folder.path()), FormatError);
  }
}

TEST_CASE("checkpoint: a folder of pickles says how to convert") {
  const TemporaryFolder folder;
  std::ofstream(folder / "pytorch_model.bin") << "PK";
  CHECK_THROWS_WITH(Checkpoint(folder.path()), ContainsSubstring("model.save_pretrained(DIR) writes them"));
  CHECK_THROWS_WITH(Checkpoint(folder / "pytorch_model.bin"),
                    ContainsSubstring("model.save_pretrained(DIR) writes them"));
}

TEST_CASE("checkpoint: a folder of other formats, of oddly named tensors, or of nothing") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(Checkpoint(folder.path()),
                    ContainsSubstring("looked for model.safetensors and model.safetensors.index.json"));
  std::ofstream(folder / "flax_model.msgpack") << "x";
  CHECK_THROWS_WITH(Checkpoint(folder.path()),
                    ContainsSubstring("flax_model.msgpack: this is a file of another format; expected"));
  std::ofstream(folder / "adapter.safetensors") << "x";
  CHECK_THROWS_WITH(Checkpoint(folder.path()), ContainsSubstring("adapter.safetensors"));
  CHECK_THROWS_AS(Checkpoint(folder / "none"), IoError);
}

TEST_CASE("checkpoint: two parameters lie in a byte of MXFP4, and its scales are none") {
  const Checkpoint packed(repository_file("tests/golden/families/gpt-oss-mxfp4/model.safetensors"));
  Index numbers = 0;
  for (const std::string& name : packed.names()) {
    const TensorInfo& info = packed.info(name);
    if (name.ends_with("_scales"))
      numbers += 32 * info.size();  // a scale for every 32 numbers
    else if (!name.ends_with("_blocks"))
      numbers += info.size();
  }
  CHECK(packed.parameters() == numbers);
}

TEST_CASE("checkpoint: a real one opens by its header alone") {
  NEEDS_SHARED("stories260K/model.safetensors");
  const Checkpoint checkpoint(shared_file("stories260K/model.safetensors"));
  CHECK(checkpoint.parameters() > 200'000);
}

TEST_CASE("safetensors: names that occur twice are refused") {
  const TemporaryFolder folder;
  write_safetensors_bytes(
      folder / "c",
      R"({"w":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"w":{"dtype":"I8","shape":[0],"data_offsets":[0,0]}})",
      "");
  CHECK_THROWS_WITH(SafetensorsFile(folder / "c"), ContainsSubstring("'w' occurs twice"));
  write_safetensors_bytes(folder / "d", R"({"__metadata__":{},"__metadata__":{}})", "");
  CHECK_THROWS_WITH(SafetensorsFile(folder / "d"), ContainsSubstring("occurs twice"));
}
