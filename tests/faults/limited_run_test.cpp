#include <cstdio>

#include "../../data/results/result_file.h"
#include "../../reports/drawing/gnuplot.h"
#include "../catch.h"
#include "disturbed_run.h"
#include "right_result.h"

using namespace headwave;

namespace {

namespace fs = std::filesystem;

DisturbedEnd limited_run(const fs::path& scratch, const std::vector<std::string>& options,
                         const Disturbance& disturbance = {}) {
  std::vector<std::string> arguments{"run", "--out", (scratch / "out").string()};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return disturbed_run(arguments, disturbance, scratch);
}

/// A run of a model whose documents have 12 tokens.
std::vector<std::string> short_run(const std::vector<std::string>& more) {
  std::vector<std::string> options{
      "--model", repository_file("tests/golden/families/llama").string(), "--random-tokens", "8", "--documents", "4"};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

/// Whether the error is one line, the last one; remarks on the input may stand before it.
bool ends_with_one_error(const DisturbedEnd& end) {
  const std::size_t begin = end.errors.find("headwave: error: ");
  return begin != std::string::npos && end.errors.find('\n', begin) == end.errors.size() - 1;
}

}  // namespace

TEST_CASE("a limit on memory is kept, or the run is refused, and the result is the same to the bit") {
  const TemporaryFolder planted;
  REQUIRE(disturbed_run({"plant", "--out", (planted / "model").string(), "--documents", "6"}, {}, planted.path())
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
  const DisturbedEnd unlimited = limited_run(free.path(), options);
  REQUIRE(unlimited.exit_code == 0);
  const Result right = read_result(free / "out/results.h5");
  int refused = 0, kept = 0, below = 0;  // below: in less memory than the run takes by itself
  for (const int megabytes : {40, 80, 120, 150, 200, 230, 250, 300, 800}) {
    INFO(megabytes << " MB");
    const TemporaryFolder scratch;
    const DisturbedEnd end = limited(scratch, megabytes);
    if (end.exit_code != 0) {
      ++refused;
      CHECK(end.exit_code == 1);
      CHECK(ends_with_one_error(end));
      CHECK(end.errors.find("the run needs more than the ") != std::string::npos);
      CHECK_FALSE(fs::exists(scratch / "out"));
      CHECK(kept == 0);  // more is never too little where less was enough
      continue;
    }
    ++kept;
    below += megabytes * std::int64_t{1'000'000} < unlimited.most_resident ? 1 : 0;
    CHECK(end.most_resident <= megabytes * std::int64_t{1'000'000});
    CHECK(is_result(scratch / "out/results.h5", right));
  }
  CHECK(refused > 0);
  CHECK(below > 0);
  CHECK(kept > below);
}

TEST_CASE("a disk too small is said before the work, and one that is large enough is not refused") {
  const TemporaryFolder free;
  const std::vector<std::string> options = short_run({"--no-figures"});
  REQUIRE(limited_run(free.path(), options).exit_code == 0);
  const auto size = static_cast<std::int64_t>(fs::file_size(free / "out/results.h5"));
  Disturbance disk;
  disk.free_bytes = size / 2;
  const TemporaryFolder small;
  const DisturbedEnd end = limited_run(small.path(), options, disk);
  CHECK(end.exit_code == 1);
  CHECK(ends_with_one_error(end));
  CHECK(end.errors.find("/out: ") != std::string::npos);
  CHECK(end.errors.find("are free on its disk") != std::string::npos);
  CHECK_FALSE(fs::exists(small / "out"));
  disk.free_bytes = size * 3 / 2;
  const TemporaryFolder enough;
  const DisturbedEnd other = limited_run(enough.path(), options, disk);
  INFO(other.errors);
  CHECK(other.exit_code == 0);
}

TEST_CASE("figures need room too") {
  if (!gnuplot_found()) {
    std::printf("skipped: needs gnuplot\n");
    return;
  }
  std::vector<std::string> options =
      short_run({"--only", "measured_offset", "--formats", "png", "--keep-every", "1e6"});
  const TemporaryFolder free;
  REQUIRE(limited_run(free.path(), options).exit_code == 0);
  Disturbance disk;
  disk.free_bytes = static_cast<std::int64_t>(fs::file_size(free / "out/results.h5")) + 50'000;
  const TemporaryFolder small;
  const DisturbedEnd end = limited_run(small.path(), options, disk);
  CHECK(end.exit_code == 1);
  CHECK(end.errors.find("give --no-figures to save ") != std::string::npos);
  const TemporaryFolder enough;
  options.emplace_back("--no-figures");
  CHECK(limited_run(enough.path(), options, disk).exit_code == 0);
}
