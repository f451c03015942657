#include <atomic>
#include <fstream>

#include "../../core/fields/fields.h"
#include "../../core/process/threads.h"
#include "../../data/files/digest.h"
#include "../../data/results/result_file.h"
#include "../../data/tokens/tokenizer.h"
#include "../catch.h"

using namespace headwave;

namespace {

const std::atomic<bool> asked_before{true};

}  // namespace

TEST_CASE("writing a result ends where that is asked for, and leaves no file", "[stopping]") {
  const TemporaryFolder folder;
  Result result;
  result.fields.push_back(make_field("group/values", {layer_axis(2)}, "1", "two values", std::vector<double>{1, 2}));
  {
    const Stoppable stopped(&asked_before);
    CHECK_THROWS_AS(write_result(result, folder / "results.h5"), Stopped);
  }
  CHECK(std::filesystem::is_empty(folder.path()));
  write_result(result, folder / "results.h5");
  CHECK(read_result(folder / "results.h5").fields.size() == 1);
}

TEST_CASE("the digest of a file and the ids of a text end where that is asked for", "[stopping]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "vocab.txt") << "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n";
  const auto tokenizer = open_tokenizer(folder.path());
  CHECK(tokenizer->encode("a b").size() == 2);
  const Stoppable stopped(&asked_before);
  CHECK_THROWS_AS(tokenizer->encode("a b"), Stopped);
  CHECK_THROWS_AS(sha256_of_file(folder / "vocab.txt"), Stopped);
}
