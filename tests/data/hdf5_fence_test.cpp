#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../core/errors/error.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/hdf5/hdf5_patience.h"
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

/// How a process ends that may take 0.2 s and gives some answers, each after some processor time.
/// @param bytes     of each answer's numbers
/// @param unpacked  of the chunk that they lie in
/// @returns the signal; 0: it came to its end
int end_of_answers(int answers, double seconds, std::size_t bytes, std::size_t unpacked = 0) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGPROF, SIG_DFL);
    Hdf5Patience patience({0.2, 60});
    for (int i = 0; i < answers; ++i) {
      patience.begin();
      patience.grant(bytes);
      if (unpacked > 0) Hdf5Patience::unpacked(unpacked);
      for (const std::clock_t began = std::clock();
           static_cast<double>(std::clock() - began) < seconds * CLOCKS_PER_SEC;) {
      }
      patience.end();
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("hdf5 fence: answers that are slow share the file's patience, quick ones and many numbers do not use it up") {
  CHECK(end_of_answers(1, 0.15, 0) == 0);
  CHECK(end_of_answers(4, 0.15, 0) == SIGPROF);
  CHECK(end_of_answers(1, 1, 0) == SIGPROF);
  CHECK(end_of_answers(4, 0.15, 20'000'000) == 0);
  CHECK(end_of_answers(4, 0.15, 0, 10'000'000) == 0);
  CHECK(end_of_answers(100, 0.005, 0) == 0);
}

TEST_CASE("hdf5 fence: answers share a limit by the clock too") {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGALRM, SIG_DFL);
    Hdf5Patience patience({60, 1});
    for (int i = 0; i < 4; ++i) {
      patience.begin();
      std::this_thread::sleep_for(std::chrono::milliseconds(700));
      patience.end();
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM));
}

TEST_CASE("hdf5 fence: a child reads what this process would, and goes with its file") {
  const auto path = repository_file("tests/golden/hdf5_sample.h5");
  const std::size_t before = children().size();
  {
    const Hdf5File apart(path), here(path, Hdf5Trust::own);
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

TEST_CASE("hdf5 fence: threads read one file, each what it asked for") {
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

TEST_CASE("hdf5 fence: a child that dies, or does not answer, is an error that says over which object") {
  const TemporaryFolder folder;
  write_result(result_of(10), folder / "r.h5");
  const auto before = children();
  const Hdf5File file(folder / "r.h5");
  const auto after = children();
  REQUIRE(after.size() == before.size() + 1);
  CHECK(file.doubles("/a/x").size() == 10);
  ::kill(after.back(), SIGSEGV);
  CHECK_THROWS_WITH(file.doubles("/a/i"),
                    ContainsSubstring("r.h5: /a/i: the HDF5 library crashed reading '/a/x' (Seg"));
  CHECK_THROWS_WITH(file.tree(), ContainsSubstring("did not survive an earlier question"));
  CHECK(children().size() == before.size());
}

TEST_CASE("hdf5 fence: a file is not blamed for a child that was killed from outside") {
  const TemporaryFolder folder;
  write_result(result_of(10), folder / "r.h5");
  const Hdf5File file(folder / "r.h5");
  CHECK(file.doubles("/a/x").size() == 10);
  ::kill(children().back(), SIGKILL);
  CHECK_THROWS_AS(file.doubles("/a/i"), IoError);
  CHECK_THROWS_WITH(file.tree(), !ContainsSubstring("damaged"));
  CHECK(Hdf5File(folder / "r.h5").doubles("/a/i").size() == 10);
}

TEST_CASE("hdf5 fence: a process that may open few files reads all the same, or says that it may not") {
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

TEST_CASE("hdf5 fence: of a file that is replaced while it is opened nothing is mixed") {
  // The child opens the file by its name; numbers are read from what this process opened, where the child says they lie.
  const TemporaryFolder folder;
  const auto sample = repository_file("tests/golden/hdf5_sample.h5");
  std::ofstream(folder / "further", std::ios::binary) << std::string(512, '\0') << std::ifstream(sample).rdbuf();
  std::filesystem::copy_file(sample, folder / "s.h5");
  const std::vector<float> expected = Hdf5File(sample).floats("/numbers/le_f4");
  // Another process replaces it, no thread: of a process with threads a sanitizer's child can wait for ever for memory.
  const pid_t asking = ::getpid(), other = ::fork();
  if (other == 0) {
    std::error_code failed;
    for (int i = 0; !failed && ::getppid() == asking; ++i) {
      std::filesystem::copy_file(i % 2 == 0 ? folder / "further" : sample, folder / "next", failed);
      std::filesystem::rename(folder / "next", folder / "s.h5", failed);
      std::this_thread::sleep_for(std::chrono::microseconds(100 * (i % 16)));  // some openings are not disturbed
    }
    ::_exit(1);
  }
  REQUIRE(other > 0);
  std::vector<std::string> wrong;
  for (int i = 0; i < 300; ++i) try {
      if (Hdf5File(folder / "s.h5").floats("/numbers/le_f4") != expected) wrong.emplace_back("other numbers");
    } catch (const Error& problem) {
      const std::string said = problem.what();
      if (said.find("was replaced by another file") == said.npos) wrong.push_back(said);
    }
  ::kill(other, SIGKILL);
  int status = 0;
  ::waitpid(other, &status, 0);
  CHECK(WIFSIGNALED(status));  // it replaced the file to the end
  CHECK(wrong == std::vector<std::string>());
  CHECK(Hdf5File(folder / "s.h5").floats("/numbers/le_f4") == expected);
}

TEST_CASE("hdf5 fence: once the library told where floats lie they are read without it") {
  const auto path = repository_file("tests/golden/hdf5_packed.h5");
  const auto before = children();
  const Hdf5File file(path), here(path, Hdf5Trust::own);
  const auto after = children();
  REQUIRE(after.size() == before.size() + 1);
  for (const Hdf5Node& node : file.tree())
    if (node.kind == "dataset") (void)file.floats(node.path);
  ::kill(after.back(), SIGSEGV);
  for (const Hdf5Node& node : here.tree()) {
    if (node.kind != "dataset") continue;
    CAPTURE(node.path);
    const std::vector<double> doubles = here.doubles(node.path);  // by the library
    const std::vector<float> expected(doubles.begin(), doubles.end());
    CHECK(here.floats(node.path) == expected);
    const bool needs_library =
        node.path.starts_with("/checked") || node.path == "/holes" || node.path == "/one_chunk_plain";
    if (needs_library)
      CHECK_THROWS_AS(file.floats(node.path), FormatError);
    else
      CHECK(file.floats(node.path) == expected);
  }
}

TEST_CASE("hdf5 places: such as do not make up a dataset within the file are not believed") {
  const Hdf5Places right{{5, 3}, NumberType::f32, ByteOrder::little, {2, 3}, 0, {{100, 24}, {124, 24}, {976, 24}}};
  REQUIRE(right.are_sound(1000));
  const auto changed = [&](auto change) {
    Hdf5Places places = right;
    change(places);
    return places.are_sound(1000);
  };
  CHECK_FALSE(right.are_sound(999));
  CHECK_FALSE(changed([](Hdf5Places& places) { places.pieces.pop_back(); }));
  CHECK_FALSE(changed([](Hdf5Places& places) { places.pieces[0].bytes = 23; }));
  CHECK_FALSE(changed([](Hdf5Places& places) { places.pieces[1].first = ~std::uint64_t{0} - 3; }));
  CHECK_FALSE(changed([](Hdf5Places& places) { places.piece_shape = {2}; }));
  CHECK_FALSE(changed([](Hdf5Places& places) { places.piece_shape = {0, 3}; }));
  CHECK_FALSE(changed([](Hdf5Places& places) { places.shape = {-5, 3}; }));
  CHECK_FALSE(changed([](Hdf5Places& places) {  // more axes than a dataset may have
    places.shape = places.piece_shape = std::vector<Index>(33, 1);
    places.pieces = {{100, 4}};
  }));
  CHECK_FALSE(changed([](Hdf5Places& places) { places.piece_shape = {Index{1} << 62, Index{1} << 62}; }));
  CHECK_FALSE(changed([](Hdf5Places& places) { places.type = static_cast<NumberType>(99); }));
  CHECK_FALSE(changed([](Hdf5Places& places) { places.type = static_cast<NumberType>(-1); }));
  CHECK_FALSE(changed([](Hdf5Places& places) { places.shuffled = 3; }));
  CHECK(changed([](Hdf5Places& places) {
    places.shuffled = 4;
    places.pieces[0].bytes = 7;
  }));
  CHECK_FALSE(changed([](Hdf5Places& places) {  // all in the same bytes, and more in them than can be
    places.shuffled = 4;
    places.pieces.assign(3, {100, 400});
  }));
  CHECK_FALSE(changed([](Hdf5Places& places) {
    places.shuffled = 4;
    places.piece_shape = {1000, 3};
    places.pieces = {{100, 5}};
  }));
  CHECK_FALSE(changed([](Hdf5Places& places) {  // would unpack to 96 MiB
    places.shuffled = 4;
    places.piece_shape = {Index{8} << 20, 3};
    places.pieces.resize(1);
  }));
}

TEST_CASE("hdf5 fence: over an object that the library does not survive, what comes before it is listed") {
  const TemporaryFolder folder;
  Result result = result_of(10);
  result.fields.push_back(result.fields.front());
  result.fields.back().name = "b/x";
  write_result(result, folder / "r.h5");
  const auto before = children();
  Hdf5File file(folder / "r.h5");
  const auto after = children();
  REQUIRE(after.size() == before.size() + 1);
  CHECK(file.doubles("/b/x").size() == 10);
  ::kill(after.back(), SIGSEGV);

  const Hdf5Tree tree = file.listed_tree();
  CHECK_THAT(tree.end, ContainsSubstring("r.h5: /: the HDF5 library crashed reading '/b/x' (Seg"));
  std::vector<std::string> paths;
  for (const Hdf5Node& node : tree.nodes) paths.push_back(node.path);
  CHECK(paths == std::vector<std::string>{"/", "/a", "/a/i", "/a/x", "/b", "/b/i"});
  CHECK(file.doubles("/a/x").size() == 10);
  CHECK(children().size() == before.size() + 1);
  CHECK(file.listed_tree().end.empty());
}

TEST_CASE("hdf5 fence: a pipe that a file points to hangs nobody") {
  const TemporaryFolder folder;
  std::filesystem::copy_file(repository_file("tests/golden/hdf5_hostile.h5"), folder / "hostile.h5");
  for (const char* name : {"other.h5", "other.bin"}) REQUIRE(::mkfifo((folder / name).c_str(), 0600) == 0);
  const Hdf5File file(folder / "hostile.h5");
  CHECK_FALSE(file.tree().empty());
  CHECK_THROWS_WITH(file.floats("virtual"), ContainsSubstring("other files"));
}
