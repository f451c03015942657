#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../core/errors/error.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/results/result_file.h"
#include "../catch.h"

using namespace headwave;

namespace {

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  std::ifstream list("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  for (pid_t child = 0; list >> child;) found.push_back(child);
  return found;
}

Result result_of(Index entries) {
  Result result;
  result.fields.push_back(make_field("a/x", {counting_axis("i", "1", "i", 1, entries)}, "1", "x",
                                     std::vector<double>(static_cast<std::size_t>(entries), 0.5)));
  return result;
}

}  // namespace

TEST_CASE("hdf5 child: a child reads what this process would, and goes with its file") {
  const auto path = repository_file("tests/golden/hdf5_sample.h5");
  const std::size_t before = children().size();
  {
    const Hdf5File apart(path), here(path, Hdf5ReadBy::this_process);
    CHECK(children().size() == before + 1);
    const auto theirs = apart.tree(), ours = here.tree();
    REQUIRE(theirs.size() == ours.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
      INFO(ours[i].path);
      CHECK(theirs[i].path == ours[i].path);
      CHECK(theirs[i].kind == ours[i].kind);
      CHECK(theirs[i].shape == ours[i].shape);
      CHECK(theirs[i].dtype == ours[i].dtype);
      CHECK(theirs[i].storage == ours[i].storage);
      CHECK(theirs[i].attributes.size() == ours[i].attributes.size());
      if (ours[i].dtype == "float64" && ours[i].storage.find("lzf") == std::string::npos)
        CHECK(apart.doubles(ours[i].path).size() == here.doubles(ours[i].path).size());
      if (ours[i].dtype == "string") CHECK(apart.strings(ours[i].path) == here.strings(ours[i].path));
    }
  }
  CHECK(children().size() == before);
}

TEST_CASE("hdf5 child: threads read one file, each what it asked for") {
  const TemporaryFolder folder;
  write_result(result_of(100'000), folder / "r.h5");
  const Hdf5File file(folder / "r.h5");
  std::vector<std::thread> threads;
  std::vector<int> right(4, 0);
  for (std::size_t t = 0; t < right.size(); ++t)
    threads.emplace_back([&, t] {
      for (Index row = 0; row < 50; ++row) {
        const Index first = 1000 * row + 10 * static_cast<Index>(t);
        std::vector<float> values;
        file.read("/a/x", {{first}, {7}}, room_in(values));
        right[t] += values == std::vector<float>(7, 0.5F) ? 1 : 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(right == std::vector<int>(4, 50));
}

TEST_CASE("hdf5 child: a child that dies, or does not answer, is an error that says over which object") {
  const TemporaryFolder folder;
  write_result(result_of(10), folder / "r.h5");
  const auto before = children();
  const Hdf5File file(folder / "r.h5");
  const auto after = children();
  REQUIRE(after.size() == before.size() + 1);
  CHECK(file.doubles("/a/x").size() == 10);
  ::kill(after.back(), SIGSEGV);
  CHECK_THROWS_WITH(file.doubles("/a/i"), ContainsSubstring("r.h5: /a/i: the HDF5 library crashed over it (Seg") &&
                                              ContainsSubstring("the file is damaged, or HDF5 "));
  CHECK_THROWS_WITH(file.tree(), ContainsSubstring("did not survive an earlier question"));
  CHECK(children().size() == before.size());
}

TEST_CASE("hdf5 child: a child that takes too much processor time is told from one that crashed") {
  const TemporaryFolder folder;
  write_result(result_of(10), folder / "r.h5");
  const Hdf5File file(folder / "r.h5");
  CHECK(file.doubles("/a/x").size() == 10);
  ::kill(children().back(), SIGXCPU);  // as the limit on it does
  try {
    (void)file.doubles("/a/i");
    FAIL("it was read by a process that is gone");
  } catch (const FormatError& problem) {
    CHECK_THAT(std::string(problem.finding()),
               ContainsSubstring("r.h5: /a/i: reading it takes far more processor time"));
    CHECK(problem.remedies() == std::vector<Remedy>{give("trusted", "", "to wait for it")});
  }
}

TEST_CASE("hdf5 child: a file is not blamed for a child that was killed from outside") {
  const TemporaryFolder folder;
  write_result(result_of(10), folder / "r.h5");
  const Hdf5File file(folder / "r.h5");
  CHECK(file.doubles("/a/x").size() == 10);
  ::kill(children().back(), SIGKILL);
  CHECK_THROWS_AS(file.doubles("/a/i"), IoError);
  CHECK_THROWS_WITH(file.tree(), !ContainsSubstring("damaged"));
  CHECK(Hdf5File(folder / "r.h5").doubles("/a/i").size() == 10);
}

TEST_CASE("hdf5 child: a process that may open few files reads all the same, or says that it may not") {
  const TemporaryFolder folder;
  write_result(result_of(10), folder / "r.h5");
  for (const rlim_t most : {rlim_t{64}, rlim_t{20}, rlim_t{4}}) {
    CAPTURE(most);
    const pid_t child = ::fork();
    if (child == 0) {
      for (int number = 3; number < 1000; ++number) ::close(number);
      const rlimit limit{most, most};
      (void)::setrlimit(RLIMIT_NOFILE, &limit);
      try {
        ::_exit(Hdf5File(folder / "r.h5").doubles("/a/x").size() == 10 ? 0 : 1);
      } catch (const IoError&) {
        ::_exit(2);
      } catch (...) {
        ::_exit(3);
      }
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WEXITSTATUS(status) == (most < 20 ? 2 : 0));
  }
}

TEST_CASE("hdf5 child: if the library dies while a file is listed, what comes before is listed") {
  const TemporaryFolder folder;
  Result result = result_of(10);
  for (int group = 0; group < 100; ++group) {
    result.fields.push_back(result.fields.front());
    result.fields.back().name = "b" + std::to_string(group) + "/x";
  }
  write_result(result, folder / "r.h5");
  const std::size_t objects = Hdf5File(folder / "r.h5").tree().size();
  int cut_short = 0;
  for (int attempt = 0; attempt < 1000 && cut_short == 0; ++attempt) {  // until the child dies in the midst of it
    const auto before = children();
    Hdf5File file(folder / "r.h5");
    const auto after = children();
    REQUIRE(after.size() == before.size() + 1);
    std::thread end([child = after.back(), attempt] {
      std::this_thread::sleep_for(std::chrono::microseconds(100 * (attempt % 40)));
      ::kill(child, SIGSEGV);
    });
    try {
      const Hdf5Tree tree = file.listed_tree();
      end.join();
      if (tree.end.empty()) continue;
      ++cut_short;
      CHECK_THAT(tree.end, ContainsSubstring("r.h5: /") && ContainsSubstring("the HDF5 library crashed over it (Seg"));
      CHECK((!tree.nodes.empty() && tree.nodes.size() < objects));
      CHECK(file.doubles("/a/x").size() == 10);
      CHECK(children().size() == before.size() + 1);
      CHECK(file.listed_tree().end.empty());
    } catch (const FormatError&) {  // over the root group
      end.join();
    }
  }
  CHECK(cut_short == 1);
}

TEST_CASE("hdf5 child: a pipe that a file points to hangs nobody") {
  const TemporaryFolder folder;
  std::filesystem::copy_file(repository_file("tests/golden/hdf5_hostile.h5"), folder / "hostile.h5");
  for (const char* name : {"other.h5", "other.bin"}) REQUIRE(::mkfifo((folder / name).c_str(), 0600) == 0);
  const Hdf5File file(folder / "hostile.h5");
  CHECK_FALSE(file.tree().empty());
  CHECK_THROWS_WITH(file.floats("virtual"), ContainsSubstring("other files"));
}
