#include <cmath>
#include <fstream>
#include <limits>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/numbers/random.h"
#include "../../data/files/digest.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/sources/state_writer.h"
#include "../../data/sources/stored_states.h"
#include "../catch.h"
#include "test_files.h"

using namespace headwave;

namespace {

constexpr Index stored_length = 5, stored_width = 6;

BlockSpec block() {
  BlockSpec spec;
  spec.heads = spec.kv_heads = 2;
  spec.d_head = 3;
  spec.causal = true;
  spec.score_scale = 0.25;
  return spec;
}

Matrix32 normal(Random& random) {
  Matrix32 values(stored_length, stored_width);
  for (float& value : values.reshaped()) value = static_cast<float>(random.normal());
  return values;
}

Document document(int number, bool projections) {
  Random random = Random(7).stream(static_cast<std::uint64_t>(number));
  Document made;
  made.name = fmt::format("document {}", number);
  for (Index n = 0; n < stored_length; ++n) {
    made.ids.push_back(static_cast<std::int32_t>(100 * number + n));
    made.special.push_back(n == 0 ? 1 : 0);
    made.tokens.push_back(n == 2 ? std::string("zero\0byte", 9) : fmt::format("tökén{}", n));
  }
  for (const Index layer : {1, 4})
    made.stored.push_back({layer, projections ? Matrix32() : normal(random), projections ? normal(random) : Matrix32(),
                           projections ? normal(random) : Matrix32()});
  return made;
}

StateLayout layout(bool projections = false) {
  StateLayout made;
  made.projections = projections;
  return made;
}

}  // namespace

TEST_CASE("stored queries and keys come back as they were, with tokens, ids and marks") {
  const TemporaryFolder folder;
  for (const unsigned packing : {0U, 4U}) {
    const auto file = folder / fmt::format("s{}.h5", packing);
    StateLayout how = layout(true);
    how.packing = packing;
    {
      StateWriter writer(file, block(), how);
      for (int d = 0; d < 3; ++d) writer.append(document(d, true));
      CHECK_FALSE(std::filesystem::exists(file));
      writer.finish({{"made", std::string("here")}});
    }
    const StoredInput input = stored_states(file);
    CHECK(input.model.stack.block.causal);
    CHECK(input.model.stack.block.score_scale == 0.25);
    REQUIRE(input.source->count() == 3);
    for (int d = 0; d < 3; ++d) {
      const Document was = document(d, true), is = input.source->document(d);
      CHECK(is.name == was.name);
      CHECK(is.ids == was.ids);
      CHECK(is.special == was.special);
      CHECK(is.tokens[2] == "zero\u2400byte");
      CHECK(is.tokens[4] == was.tokens[4]);
      for (std::size_t l = 0; l < 2; ++l) {
        CHECK(is.stored[l].layer == was.stored[l].layer);
        CHECK(is.stored[l].query == was.stored[l].query);
        CHECK(is.stored[l].key == was.stored[l].key);
      }
    }
    CHECK(std::get<std::string>(Hdf5File(file).attributes("/provenance").at("made")) == "here");
  }
}

TEST_CASE("float16 is the nearest that there is, and what it cannot hold is refused") {
  const TemporaryFolder folder;
  StateLayout how = layout(true);
  how.half = true;
  StateWriter writer(folder / "half.h5", block(), how);
  writer.append(document(1, true));
  Document large = document(2, true);
  large.stored[0].query(3, 3) = 70000;
  CHECK_THROWS_WITH(writer.append(large), ContainsSubstring("float16 ends at 65504"));
  writer.finish({});
  const Document was = document(1, true);
  const Document is = stored_states(folder / "half.h5").source->document(0);
  for (Index i = 0; i < was.stored[0].query.size(); ++i)
    CHECK(is.stored[0].query.reshaped()[i] == static_cast<float>(Eigen::half(was.stored[0].query.reshaped()[i])));
}

TEST_CASE("float16: ties go to even, small numbers stay, and floats and doubles read the same") {
  const TemporaryFolder folder;
  StateLayout how = layout(true);
  how.half = true;
  StateWriter writer(folder / "half.h5", block(), how);
  Document is = document(1, true);
  const std::vector<float> given{2049, 2051, 65504, 0x1p-24F, 0x1p-25F, 0x1.8p-25F, -0x1p-14F, 1.0F / 3};
  const std::vector<float> stored{2048, 2052, 65504, 0x1p-24F, 0, 0x1p-24F, -0x1p-14F, 0x1.554p-2F};
  for (std::size_t i = 0; i < given.size(); ++i) is.stored[0].query.data()[i] = given[i];
  writer.append(is);
  writer.finish({});
  const Hdf5File file(folder / "half.h5");
  std::string query;
  for (const Hdf5Node& node : file.tree())
    if (query.empty() && node.path.find("queries") != node.path.npos && node.dtype == "float16") query = node.path;
  REQUIRE(!query.empty());
  const std::vector<float> floats = file.floats(query);
  const std::vector<double> doubles = file.doubles(query);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    CAPTURE(given[i]);
    CHECK(floats[i] == stored[i]);
    CHECK(doubles[i] == stored[i]);
  }
  for (std::size_t i = 0; i < floats.size(); ++i) CHECK(floats[i] == doubles[i]);
}

TEST_CASE("documents that do not fit those before them are refused, and nothing half-written is left") {
  const TemporaryFolder folder;
  {
    StateWriter writer(folder / "s.h5", block(), layout());
    writer.append(document(0, false));
    Document other = document(1, false);
    other.ids.pop_back();
    CHECK_THROWS_AS(writer.append(other), ShapeError);
    other = document(1, false);
    other.stored.pop_back();
    CHECK_THROWS_WITH(writer.append(other), ContainsSubstring("came with 1 layers; expected the 2"));
    other = document(1, false);
    other.special.clear();
    CHECK_THROWS_WITH(writer.append(other), ContainsSubstring("has 0 special"));
    other = document(1, false);
    other.stored[1].states = Matrix32::Zero(stored_length, stored_width + 1);
    CHECK_THROWS_WITH(writer.append(other), ContainsSubstring("5 x 7, expected 5 x 6"));
    other = document(1, false);
    other.stored[1].states(0, 0) = std::numeric_limits<float>::quiet_NaN();
    CHECK_THROWS_AS(writer.append(other), NumericError);
  }
  CHECK(std::filesystem::is_empty(folder.path()));
  CHECK_THROWS_AS(StateWriter(folder / "s.h5", block(), layout()).finish({}), ShapeError);
  CHECK_THROWS_AS(StateWriter(folder / "none" / "s.h5", block(), layout()), IoError);
  CHECK(std::filesystem::is_empty(folder.path()));
}

namespace {

void write_documents(const std::filesystem::path& file, int count) {
  StateWriter writer(file, block(), layout(true));
  for (int d = 0; d < count; ++d) writer.append(document(d, true));
  writer.finish({});
}

/// Whether a file holds what write_documents() wrote, as far as a run reads it.
bool is_whole(const std::filesystem::path& file, int count) {
  const StoredInput input = stored_states(file);
  (void)input.source->provenance();  // asks for the digest, as every run does
  bool right =
      input.source->count() == count && input.model.stack.block.score_scale == 0.25 && input.model.stack.block.causal;
  for (int d = 0; right && d < count; ++d) {
    const Document was = document(d, true), is = input.source->document(d);
    right = is.name == was.name && is.ids == was.ids && is.special == was.special && is.tokens[4] == was.tokens[4] &&
            is.stored.size() == 2;
    for (std::size_t l = 0; right && l < 2; ++l)
      right = is.stored[l].query == was.stored[l].query && is.stored[l].key == was.stored[l].key;
  }
  return right;
}

}  // namespace

TEST_CASE("a bit that differs anywhere in captured states is refused, or was in the seal alone") {
  const TemporaryFolder folder;
  const auto file = folder / "s.h5";
  write_documents(file, 2);
  REQUIRE(is_whole(file, 2));
  const std::string whole = file_bytes(file);
  int passed = 0;
  for (std::size_t at = 0; at < whole.size(); at += 1 + whole.size() / 400) {
    CAPTURE(at);
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    std::ofstream(file, std::ios::binary) << damaged;
    const int outcome = outcome_in_child([&] { return is_whole(file, 2); });
    CHECK(outcome >= 1);  // 0: other states
    if (outcome != 1) continue;
    CHECK(at >= whole.size() - seal_bytes);
    ++passed;
  }
  CHECK(passed < 10);
}
