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
        ContainsSubstring(
            "another headwave process is writing here; wait until it ends; give out=DIR with another name"));
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

TEST_CASE("replaced file: what a dead process left is written over, and a second writer is refused") {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.txt.headwave-partial") << "much longer than the whole";
  std::ofstream(folder / "a.txt.headwave-partial-backup") << "somebody's";
  {
    ReplacedFile living(folder / "a.txt");
    living.write("whole");
    CHECK_THROWS_WITH(write_text(folder / "a.txt", "second"),
                      ContainsSubstring("another headwave process is writing here"));
    CHECK(std::filesystem::exists(living.temporary()));
    CHECK_NOTHROW(write_text(folder / "b.txt", "another"));
    living.commit();
    write_text(folder / "a.txt.headwave-partial", "a name like any other");
  }
  CHECK(std::filesystem::exists(folder / "a.txt.headwave-partial"));
  CHECK(std::filesystem::exists(folder / "a.txt.headwave-partial-backup"));
  std::ifstream file(folder / "a.txt");
  std::string text;
  file >> text;
  CHECK(text == "whole");
}
