#include <fstream>
#include <limits>

#include "../../core/errors/error.h"
#include "../../data/files/replaced_file.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("made folders: those that stay empty go again, and no others") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "there");
  {
    MadeFolders made;
    made.make(folder / "there");
    made.make(folder / "there/new/deep");
    made.make(folder / "used/inner");
    made.make(folder / "used/empty/");
    CHECK(std::filesystem::is_directory(folder / "there/new/deep"));
    std::ofstream(folder / "used/inner/file") << "x";
  }
  CHECK(std::filesystem::is_empty(folder / "there"));
  CHECK(std::filesystem::exists(folder / "used/inner/file"));
  CHECK_FALSE(std::filesystem::exists(folder / "used/empty"));
}

TEST_CASE("made folders: where a file stands none can be made, and those outside it go again") {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "x";
  MadeFolders made;
  CHECK_THROWS_AS(made.make(folder / "file"), IoError);
  CHECK_THROWS_WITH(made.make(folder / "file/inner"), ContainsSubstring("cannot make the folder"));
}

TEST_CASE("trying to write leaves what is there, and finds out what cannot be") {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "x";
  try_to_write(folder / "file");
  try_to_write(folder / "other");
  CHECK(std::filesystem::file_size(folder / "file") == 1);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  CHECK_THROWS_AS(try_to_write(folder / "none/file"), IoError);
  CHECK_THROWS_AS(try_to_write(folder.path()), IoError);
}

TEST_CASE("disk space is what the file system says is free, and nothing where there is none") {
  const TemporaryFolder folder;
  const auto free = free_disk_space(folder.path());
  REQUIRE(free.has_value());
  CHECK(*free > 0);
  CHECK(*free <= std::filesystem::space(folder.path()).capacity);
  CHECK_FALSE(free_disk_space(folder / "none").has_value());
  CHECK_FALSE(free_disk_space("/proc").has_value());  // a file system without blocks
}

TEST_CASE("sizes are told in the unit that people would take") {
  CHECK(size_text(0) == "0.1 MB");
  CHECK(size_text(1'440'000) == "1.4 MB");
  CHECK(size_text(27'500'000) == "28 MB");
  CHECK(size_text(2'500'000'000) == "2.5 GB");
}
