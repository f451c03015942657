#include "../../reports/drawing/program.h"

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <sys/resource.h>

#include "../../core/errors/error.h"
#include "../../data/files/file_lock.h"
#include "../catch.h"

using namespace headwave;

namespace {

/// Temporary files go to another place while it lives.
class TemporaryPlace {
 public:
  TemporaryPlace() {
    if (const char* const set = std::getenv("TMPDIR")) before_ = set;
  }
  TemporaryPlace(const TemporaryPlace&) = delete;
  TemporaryPlace& operator=(const TemporaryPlace&) = delete;
  ~TemporaryPlace() {
    if (before_.empty())
      unsetenv("TMPDIR");
    else
      setenv("TMPDIR", before_.c_str(), 1);
  }
  static void set(const std::filesystem::path& place) { setenv("TMPDIR", place.c_str(), 1); }

 private:
  std::string before_;
};

}  // namespace

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

TEST_CASE("program: one that is there and cannot be started is an error that names it") {
  const ScratchFolder folder;
  const std::string text = (folder.path() / "text").string();
  std::ofstream(text) << "no program";
  CHECK_THROWS_AS(run_program({text}, folder.path()), IoError);
  CHECK_THROWS_WITH(run_program({text}, folder.path()), ContainsSubstring(text + ": cannot be started: "));
  CHECK_THROWS_AS(run_program({folder.path().string()}, folder.path()), IoError);

  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = before;
  none.rlim_cur = 0;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);  // as where too many files are open: no pipe can be made
  std::string message;
  try {
    (void)run_program({"true"}, folder.path());
  } catch (const IoError& error) {
    message = error.what();
  }
  setrlimit(RLIMIT_NOFILE, &before);
  CHECK_THAT(message, ContainsSubstring("cannot make a pipe"));
}

TEST_CASE("program: without a place for temporary files there is no scratch folder") {
  const TemporaryFolder folder;
  const TemporaryPlace temporary;
  std::ofstream(folder / "file") << "x";
  for (const char* place : {"none", "file"}) {
    INFO(place);
    TemporaryPlace::set(folder / place);
    CHECK_THROWS_AS(ScratchFolder(), IoError);
    CHECK_THROWS_WITH(ScratchFolder(), ContainsSubstring("set TMPDIR to a folder that can be written"));
  }
}

TEST_CASE("program: a scratch folder is there, though another process took it for a left-over before it was locked") {
  const TemporaryFolder folder;
  const TemporaryPlace temporary;
  TemporaryPlace::set(folder.path());
  std::atomic<bool> over = false;
  std::thread other([&] {
    while (!over) {
      std::error_code ignored;
      for (std::filesystem::directory_iterator entry(folder.path(), ignored), end; !ignored && entry != end;
           entry.increment(ignored))
        if (const FileDescriptor unused = taken_if_unused(entry->path()); unused.is_open())
          std::filesystem::remove(entry->path(), ignored);
    }
  });
  int missing = 0;
  for (int i = 0; i < 5000; ++i) missing += std::filesystem::exists(ScratchFolder().path()) ? 0 : 1;
  over = true;
  other.join();
  CHECK(missing == 0);
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
