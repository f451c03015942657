#include <fstream>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../data/files/digest.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/sources/stored_states.h"
#include "../catch.h"
#include "test_files.h"

using namespace headwave;

namespace {

constexpr Index stored_length = 5, stored_width = 6;

/// The queries, or keys, that tests/golden/make_captured_states.py stored.
Matrix32 captured(int document, Index layer, float less) {
  Matrix32 values(stored_length, stored_width);
  for (Index n = 0; n < stored_length; ++n)
    for (Index c = 0; c < stored_width; ++c)
      values(n, c) = static_cast<float>(document + 10 * layer + n) + static_cast<float>(c) / 8 - less;
  return values;
}

/// Whether a file holds what was captured, as far as a run reads it.
bool is_whole(const std::filesystem::path& file) {
  const StoredInput input = stored_states(file);
  (void)input.source->provenance();  // asks for the digest, as every run does
  bool right =
      input.source->count() == 2 && input.model.stack.block.score_scale == 0.25 && input.model.stack.block.causal;
  const std::vector<std::int32_t> ids[]{{7, 1, 2, 3, 4}, {7, 5, 6, 8, 9}};
  for (int d = 0; right && d < 2; ++d) {
    const Document is = input.source->document(d);
    right = is.name == fmt::format("document {}", d) && is.ids == ids[d] &&
            is.special == std::vector<std::uint8_t>{1, 0, 0, 0, 0} && is.tokens[0] == "zero\u2400byte" &&
            is.tokens[4] == fmt::format("tökén{}", ids[d][4]) && is.stored.size() == 2;
    for (std::size_t l = 0; right && l < 2; ++l)
      right = is.stored[l].layer == (l == 0 ? 1 : 4) && is.stored[l].query == captured(d, is.stored[l].layer, 0) &&
              is.stored[l].key == captured(d, is.stored[l].layer, 4);
  }
  return right;
}

}  // namespace

TEST_CASE("captured queries and keys come back as they were, with tokens, ids and marks") {
  const auto file = repository_file("tests/golden/captured_states.h5");
  CHECK(is_whole(file));
  CHECK(std::get<std::string>(Hdf5File(file).attributes("/provenance").at("source")) == "capture");
}

TEST_CASE("a bit that differs anywhere in captured states is refused, or was in the seal alone") {
  const TemporaryFolder folder;
  const auto file = folder / "s.h5";
  const std::string whole = file_bytes(repository_file("tests/golden/captured_states.h5"));
  std::ofstream(file, std::ios::binary) << whole;
  REQUIRE(is_whole(file));
  int passed = 0;
  for (std::size_t at = 0; at < whole.size(); at += 1 + whole.size() / 400) {
    CAPTURE(at);
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    std::ofstream(file, std::ios::binary) << damaged;
    const int outcome = outcome_in_child([&] { return is_whole(file); });
    CHECK(outcome >= 1);  // 0: other states
    if (outcome != 1) continue;
    CHECK(at >= whole.size() - seal_bytes);
    ++passed;
  }
  CHECK(passed < 10);
}
