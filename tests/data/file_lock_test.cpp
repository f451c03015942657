#include <array>
#include <fstream>

#include <fcntl.h>

#include "../../core/errors/error.h"
#include "../../data/files/file_descriptor.h"
#include "../../data/files/replaced_file.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("lock file: one at a time holds it, others are told, and it goes with its holder") {
  const TemporaryFolder folder;
  {
    const LockFile held(folder / "lock");
    CHECK_THROWS_WITH(
        LockFile(folder / "lock"),
        ContainsSubstring("another headwave is writing here, which must end first; give out=DIR with another name"));
    CHECK_NOTHROW(LockFile(folder / "other"));
  }
  CHECK(std::filesystem::is_empty(folder.path()));
  std::ofstream(folder / "lock") << "";  // whoever died holding it holds it no more
  CHECK_NOTHROW(LockFile(folder / "lock"));
  CHECK(std::filesystem::is_empty(folder.path()));
  CHECK_THROWS_AS(LockFile(folder / "none/lock"), IoError);
  std::filesystem::create_symlink("elsewhere", folder / "lock");
  CHECK_THROWS_AS(LockFile(folder / "lock"), IoError);
  CHECK_FALSE(std::filesystem::exists(folder / "elsewhere"));
}

TEST_CASE("numbered name: numbers where the pattern has them, and nothing else") {
  for (const char* name : {"block-1-of-64", "block-001-of-2"}) CHECK(is_numbered_name(name, "block-#-of-#"));
  for (const char* name :
       {"", "block", "block--of-2", "block-1-of-", "block-1-of-2.part", "block-x-of-2", "lock-1-of-2"})
    CHECK_FALSE(is_numbered_name(name, "block-#-of-#"));
}

TEST_CASE("replaced file: what a dead process left is removed, what a living one writes is not") {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.txt.partial-1-0") << "half";
  const std::array others{"b.txt.partial-1-0", "a.txt.partial-backup-2024", "a.txt.partial-1-0-old", "a.txt.partial-1",
                          "a.txt.partial--"};
  for (const char* other : others) std::ofstream(folder / other) << "somebody's";
  ReplacedFile living(folder / "a.txt");
  living.write("whole");
  CHECK_FALSE(std::filesystem::exists(folder / "a.txt.partial-1-0"));
  write_text(folder / "a.txt", "second");
  CHECK(std::filesystem::exists(living.temporary()));
  for (const char* other : others) CHECK(std::filesystem::exists(folder / other));
  living.commit();
  std::ifstream file(folder / "a.txt");
  std::string text;
  file >> text;
  CHECK(text == "whole");
}
