#include "../../reports/drawing/program.h"

#include "../catch.h"

using namespace headwave;

TEST_CASE("program: exit codes, errors and absence are told apart") {
  const ScratchFolder folder;
  CHECK(run_program({"true"}, folder.path()).exit_code == 0);
  CHECK(run_program({"false"}, folder.path()).exit_code == 1);
  CHECK_FALSE(run_program({"no-such-program-anywhere"}, folder.path()).found);

  const ProgramEnd end = run_program({"sh", "-c", "cat; echo said >&2; kill -9 $$"}, folder.path());
  CHECK(end.found);
  CHECK(end.exit_code == 128 + 9);  // and cat did not wait for input
  CHECK(end.errors == "said\n");
}

TEST_CASE("program: arguments reach it as they are, in the folder it was given") {
  const ScratchFolder folder;
  const std::string awkward = "$(touch owned) `id` ; \"x\" *";
  CHECK(run_program({"touch", "--", awkward}, folder.path()).exit_code == 0);
  CHECK(std::filesystem::exists(folder.path() / awkward));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "owned"));
}

TEST_CASE("program: a scratch folder goes when its object goes") {
  std::filesystem::path path;
  {
    const ScratchFolder folder;
    path = folder.path();
    CHECK(std::filesystem::is_directory(path));
    CHECK(run_program({"mkdir", "-p", "a/b"}, path).exit_code == 0);
  }
  CHECK_FALSE(std::filesystem::exists(path));
}
