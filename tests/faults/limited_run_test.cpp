
#include "../../data/results/result_file.h"
#include "../catch.h"
#include "disturbed_run.h"
#include "right_result.h"

using namespace headwave;

namespace {

namespace fs = std::filesystem;

DisturbedEnd limited_run(const fs::path& scratch, const std::vector<std::string>& options) {
  std::vector<std::string> arguments{"run", "--out", (scratch / "out").string()};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return disturbed_run(arguments, {}, scratch);
}

/// Whether the error is one line, the last one; remarks on the input may stand before it.
bool ends_with_one_error(const DisturbedEnd& end) {
  const std::size_t begin = end.errors.find("headwave: error: ");
  return begin != std::string::npos && end.errors.find('\n', begin) == end.errors.size() - 1;
}

}  // namespace

TEST_CASE("a limit on memory is kept, or the run is refused, and the result is the same to the bit") {
  const TemporaryFolder planted;
  REQUIRE(disturbed_run({"demo", "--write-model", (planted / "model").string(), "--documents", "6"}, {}, planted.path())
              .exit_code == 0);
  std::vector<std::string> options{"--model", (planted / "model").string(), "--ids",
                                   (planted / "model/ids.json").string()};
  for (const char* word : {"--everything", "--no-figures", "--threads", "4", "--draws", "3", "--atlas-draws", "3",
                           "--resamples", "0", "--sweep", "2", "--clusters", "2"})
    options.emplace_back(word);
  const auto limited = [&](const TemporaryFolder& scratch, int megabytes) {
    std::vector<std::string> words = options;
    words.insert(words.end(), {"--max-memory", std::to_string(megabytes) + "MB"});
    return limited_run(scratch.path(), words);
  };
  const TemporaryFolder free;
  REQUIRE(limited_run(free.path(), options).exit_code == 0);
  const Result right = read_result(free / "out/results.h5");
  int refused = 0, kept = 0;
  for (const int megabytes : {40, 80, 120, 150, 200, 230, 250, 300, 800}) {
    INFO(megabytes << " MB");
    const TemporaryFolder scratch;
    const DisturbedEnd end = limited(scratch, megabytes);
    if (end.exit_code != 0) {
      ++refused;
      CHECK(end.exit_code == 1);
      CHECK(ends_with_one_error(end));
      CHECK(end.errors.find("the run needs more than its limit of ") != std::string::npos);
      CHECK(fs::is_empty(scratch / "out"));
      CHECK(kept == 0);  // more is never too little where less was enough
      continue;
    }
    ++kept;
    CHECK(end.most_resident <= megabytes * std::int64_t{1'050'000});  // measured every few milliseconds
    CHECK(is_result(scratch / "out/results.h5", right));
  }
  CHECK(refused > 0);
  CHECK(kept > 0);
}
