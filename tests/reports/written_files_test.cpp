#include <algorithm>
#include <fstream>

#include "../../data/results/result_file.h"
#include "../../reports/figures/figures.h"
#include "../catch.h"

using namespace headwave;

namespace {

namespace fs = std::filesystem;

void put_result(const fs::path& file) {
  fs::create_directories(file.parent_path());
  write_result({"a result", {}, {}}, file);
}

void put_text(const fs::path& file) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << "x";
}

std::vector<std::string> names(const std::vector<fs::path>& files, const TemporaryFolder& folder) {
  std::vector<std::string> names;
  for (const fs::path& file : files) names.push_back(file.lexically_relative(folder.path()).string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("written files: the result, the page and figures by their names, and nothing of others") {
  const TemporaryFolder folder;
  for (const char* name : {"report.html", "notes.txt", "figures/offset_profile.pdf", "figures/attention_bits.txt",
                           "figures/mine.png", "figures/offset_profile.jpg", "self/notes.txt"})
    put_text(folder / name);
  CHECK(written_files(folder.path()).empty());
  put_text(folder / "results.h5");
  CHECK(written_files(folder.path()).empty());
  put_result(folder / "results.h5");
  CHECK(names(written_files(folder.path()), folder) == std::vector<std::string>{"figures/attention_bits.txt",
                                                                                "figures/offset_profile.pdf",
                                                                                "report.html", "results.h5"});
}

TEST_CASE("written files: kinds of attention belong together, and a single one may be a result of its own") {
  const TemporaryFolder folder;
  put_result(folder / "self/results.h5");
  put_text(folder / "cross/report.html");
  CHECK(written_files(folder.path()).empty());
  put_result(folder / "cross/results.h5");
  CHECK(kind_folders(folder.path()).size() == 2);
  CHECK(names(written_files(folder.path()), folder) ==
        std::vector<std::string>{"cross/report.html", "cross/results.h5", "self/results.h5"});
  put_result(folder / "results.h5");
  CHECK(names(written_files(folder.path()), folder) == std::vector<std::string>{"results.h5"});
}
