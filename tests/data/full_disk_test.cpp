#include <algorithm>
#include <csignal>
#include <numeric>

#include <sys/resource.h>

#include "../../core/errors/error.h"
#include "../../core/planted/planted.h"
#include "../../data/arrays/safetensors.h"
#include "../../data/files/digest.h"
#include "../../data/files/replaced_file.h"
#include "../../data/models/planted_directory.h"
#include "../../data/results/result_file.h"
#include "../catch.h"
#include "edited_model.h"

using namespace headwave;

namespace {

/// While it lives no file of this process may grow beyond so many bytes: to a writer the same as a disk that is full.
class FullDisk {
 public:
  explicit FullDisk(std::uintmax_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &limit_);
    rlimit small = limit_;
    small.rlim_cur = bytes;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit limit_{};
  void (*handler_)(int);
};

// Pieces and chunks, texts, and more attributes than lie in an object's header.
Result result_of_many_kinds() {
  Result result;
  result.title = "many kinds";
  std::vector<double> values(40'000);
  std::iota(values.begin(), values.end(), 0.5);
  result.fields.push_back(make_field("a/large", {counting_axis("x", "1", "x", 1, 40'000)}, "1", "large", values));
  result.fields.push_back(make_field("a/small", {head_axis(3)}, "1", "small", {1, 2, 3}));
  result.fields.push_back(
      {"b/text", {head_axis(3)}, "1", "texts", std::vector<std::string>{"a", std::string(5000, 'b'), "c"}, {}, {}});
  for (int i = 0; i < 40; ++i) result.provenance["attribute" + std::to_string(i)] = std::string(200, 'p');
  return result;
}

std::uintmax_t files_in(const TemporaryFolder& folder) {
  return static_cast<std::uintmax_t>(std::distance(std::filesystem::directory_iterator(folder.path()), {}));
}

}  // namespace

TEST_CASE("full disk: a planted model that does not fit leaves the earlier one and its truth, or an empty folder") {
  const TemporaryFolder folder;
  const std::filesystem::path place = folder / "planted";
  const auto plant = [&](std::uint64_t seed) {
    const PlantedModel planted = planted_model(planted_bank(seed));
    write_planted_directory(planted, *planted_documents(planted, 1, 16, seed), place);
  };
  const auto content = [&] {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(place)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return sha256_list(files);
  };
  {
    const FullDisk full(100'000);
    CHECK_THROWS_AS(plant(1), IoError);
    CHECK(std::filesystem::is_empty(place));
  }
  plant(1);
  const std::string before = content();
  {
    const FullDisk full(100'000);
    CHECK_THROWS_AS(plant(2), IoError);
  }
  CHECK(content() == before);
  plant(2);
  CHECK(content() != before);
}

TEST_CASE("full disk: a result that does not fit is an error wherever it ends, and the earlier one stays") {
  const TemporaryFolder folder;
  const Result result = result_of_many_kinds();
  write_result(result, folder / "whole.h5");
  const std::uintmax_t size = std::filesystem::file_size(folder / "whole.h5");
  Result earlier = result;
  earlier.title = "earlier";
  write_result(earlier, folder / "r.h5");
  for (std::uintmax_t bytes = 0; bytes < size; bytes += 1 + size / 50) {
    INFO(bytes);
    {
      const FullDisk disk(bytes);
      CHECK_THROWS_AS(write_result(result, folder / "r.h5"), IoError);
    }
    CHECK(read_result(folder / "r.h5").title == "earlier");
    CHECK(files_in(folder) == 2);
  }
  // The library has been left with files that it could not close: it still works.
  const FullDisk disk(2 * size);
  write_result(result, folder / "r.h5");
  CHECK(read_result(folder / "r.h5").at("a/large").doubles() == result.at("a/large").doubles());
}

TEST_CASE("full disk: of results that belong together none appears before all are written") {
  const TemporaryFolder folder;
  const Result small{"small", {}, {}};
  ReplacedFile first(folder / "a.h5");
  ReplacedFile second(folder / "b.h5");
  write_result(small, first);
  {
    const FullDisk disk(10'000);
    CHECK_THROWS_WITH(write_result(result_of_many_kinds(), second), ContainsSubstring("b.h5: 'a/"));
  }
  CHECK_FALSE(std::filesystem::exists(folder / "a.h5"));
  first.commit();
  CHECK(read_result(folder / "a.h5").title == "small");
}

TEST_CASE("full disk: the error says what could not be written, where, and what the system says") {
  const TemporaryFolder folder;
  const FullDisk disk(10'000);
  CHECK_THROWS_WITH(write_result(result_of_many_kinds(), folder / "r.h5"),
                    ContainsSubstring((folder / "r.h5").string() + ": 'a/") && ContainsSubstring("File too large"));
}

TEST_CASE("a result whose folder went away meanwhile is an error of writing") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "there");
  const ReplacedFile file(folder / "there/r.h5");
  std::filesystem::remove_all(folder / "there");
  CHECK_THROWS_WITH(write_result(result_of_many_kinds(), file), ContainsSubstring("r.h5: '/' cannot be written"));
}

TEST_CASE("full disk: texts and tensors that do not fit are errors, and nothing stays") {
  const TemporaryFolder folder;
  const std::vector<float> values(1000);
  const FullDisk disk(100);
  CHECK_THROWS_WITH(write_text(folder / "a.txt", std::string(101, 'a')), ContainsSubstring("a.txt: cannot be written"));
  CHECK_THROWS_AS(write_safetensors(folder / "c.safetensors", {{"t", {1000}, values.data()}}, {}), IoError);
  CHECK_FALSE(std::filesystem::exists(folder / "a.txt"));
  CHECK_FALSE(std::filesystem::exists(folder / "c.safetensors"));
  write_text(folder / "a.txt", std::string(100, 'a'));
  CHECK(std::filesystem::file_size(folder / "a.txt") == 100);
}
