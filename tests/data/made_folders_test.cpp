#include <fstream>

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
