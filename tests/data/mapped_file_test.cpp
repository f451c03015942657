#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "../../core/errors/error.h"
#include "../../core/process/process_memory.h"
#include "../../data/files/digest.h"
#include "../../data/files/file_bytes.h"
#include "../../data/files/file_descriptor.h"
#include "../../data/files/printable.h"
#include "../../data/files/replaced_file.h"
#include "../catch.h"
#include "test_files.h"

using namespace headwave;

namespace {

std::string content(const std::filesystem::path& path) {
  return std::string(MappedFile(path).text());
}

}  // namespace

TEST_CASE("mapped file: bytes, size, and an empty file") {
  const TemporaryFolder folder;
  std::ofstream(folder / "a") << "abc";
  const MappedFile file(folder / "a");
  CHECK(file.size() == 3);
  CHECK(file.text() == "abc");
  CHECK(file.bytes()[2] == std::byte{'c'});
  std::ofstream(folder / "empty").flush();
  CHECK(MappedFile(folder / "empty").size() == 0);
}

TEST_CASE("mapped file: what was let go takes no memory, and is there when somebody looks") {
  const TemporaryFolder folder;
  constexpr std::size_t size = (std::size_t{64} << 20U) + 123;
  std::ofstream(folder / "large") << "begin";
  std::filesystem::resize_file(folder / "large", size - 3);
  std::ofstream(folder / "large", std::ios::app) << "end";
  const MappedFile file(folder / "large");
  const auto looked = [&] {
    std::size_t others = 0;
    for (const char byte : file.text()) others += byte != 0 ? 1 : 0;
    return others;
  };
  REQUIRE(looked() == 8);
  const std::int64_t before = resident_bytes();
  file.let_go(20U << 20U, 1);  // a piece in the middle
  file.let_go(size, 1);        // nothing
  file.let_go(0, 0);
  CHECK(before - resident_bytes() < 10'000'000);
  file.let_go(1, size - 1);
  CHECK(before - resident_bytes() > 50'000'000);
  CHECK(file.text().substr(0, 5) == "begin");
  CHECK(file.text().substr(size - 3) == "end");
  CHECK(looked() == 8);
}

TEST_CASE("mapped file: missing, folder, pipe") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(MappedFile(folder / "none"), IoError);
  CHECK_THROWS_WITH(MappedFile(folder.path()), ContainsSubstring("folder"));
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THROWS_AS(MappedFile(folder / "pipe"), IoError);  // and does not wait for a writer
}

TEST_CASE("digest: the examples of FIPS 180-2") {
  const TemporaryFolder folder;
  std::ofstream(folder / "abc") << "abc";
  CHECK(sha256_of_file(folder / "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  std::ofstream(folder / "million") << std::string(1'000'000, 'a');
  CHECK(sha256_of_file(folder / "million") == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  std::ofstream(folder / "empty").flush();
  CHECK(sha256_of_file(folder / "empty") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK_THROWS_AS(sha256_of_file(folder / "none"), IoError);
  CHECK_THROWS_AS(sha256_of_file(folder.path()), IoError);
  CHECK_THROWS_AS(sha256_list({folder / "abc", folder / "none"}), IoError);
  CHECK(sha256_list({folder / "abc", folder / "empty"}) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  abc\n"
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  empty");
  CHECK(sha256_list({}).empty());
}

TEST_CASE("a sealed file is known by the digest at its end, and refused once a bit of it differs") {
  const TemporaryFolder folder;
  const auto file = folder / "s";
  {
    ReplacedFile replaced(file);
    replaced.write(std::string(3'000'000, 'a'));
    CHECK_FALSE(require_right_seal(replaced.temporary()));
    replaced.seal();
    replaced.commit();
  }
  const std::string whole = file_bytes(file);
  CHECK(whole.size() == 3'000'000 + seal_bytes);
  CHECK(whole.substr(3'000'000) == fmt::format("headwave sha256 {}\n", sha256_of_text(std::string(3'000'000, 'a'))));
  CHECK(require_right_seal(file));
  CHECK(sha256_of_file(file) == sha256_of_text(whole));
  for (const std::size_t at : {std::size_t{0}, std::size_t{1} << 20U, std::size_t{2'999'999}, whole.size() - 5}) {
    CAPTURE(at);
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    std::ofstream(file, std::ios::binary) << damaged;
    CHECK_THROWS_AS(require_right_seal(file), FormatError);
    CHECK_THROWS_WITH(sha256_of_file(file),
                      ContainsSubstring("s: was changed or damaged after it was written: the digest at its end"));
  }
  std::ofstream(file, std::ios::binary) << whole << "x";  // somebody's bytes now
  CHECK_FALSE(require_right_seal(file));
}

TEST_CASE("replaced file: appears on commit, else leaves what was there") {
  const TemporaryFolder folder;
  std::ofstream(folder / "a") << "old";
  {
    const ReplacedFile abandoned(folder / "a");
    std::ofstream(abandoned.temporary()) << "half";
  }
  CHECK(content(folder / "a") == "old");
  ReplacedFile replaced(folder / "a");
  std::ofstream(replaced.temporary()) << "new";
  CHECK(content(folder / "a") == "old");
  replaced.commit();
  CHECK(content(folder / "a") == "new");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("replaced file: a file that may not be replaced, there before or appearing meanwhile") {
  const TemporaryFolder folder;
  ReplacedFile late(folder / "a", false);
  late.write("new");
  std::ofstream(folder / "a") << "came in between";
  CHECK_THROWS_WITH(late.commit(), ContainsSubstring("a: is already there; give overwrite to replace it"));
  CHECK_THROWS_WITH(ReplacedFile(folder / "a", false), ContainsSubstring("is already there"));
  CHECK(content(folder / "a") == "came in between");
  ReplacedFile first(folder / "b", false);
  first.write("new");
  first.commit();
  CHECK(content(folder / "b") == "new");
  CHECK_FALSE(std::filesystem::exists(first.temporary()));
  CHECK(std::filesystem::hard_link_count(folder / "b") == 1);
}

TEST_CASE("replaced file: a missing folder, or a folder in the way") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(ReplacedFile(folder / "none/a"), IoError);
  CHECK_THROWS_AS(ReplacedFile(folder.path()), IoError);
  CHECK_THROWS_WITH(write_text(folder / "none/a", "text"),
                    ContainsSubstring("none/a: cannot be written, because its folder"));
  std::ofstream(folder / "file") << "in the way";
  CHECK_THROWS_WITH(make_folder(folder / "file/inner"), ContainsSubstring("cannot make the folder"));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("replaced file: a link to a pipe or a device is no place for a file, one to a file or to nothing is") {
  const TemporaryFolder folder;
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  for (const auto& [name, target] : {std::pair("to-pipe", "pipe"), {"to-device", "/dev/null"}}) {
    std::filesystem::create_symlink(target, folder / name);
    CHECK_THROWS_WITH(ReplacedFile(folder / name), ContainsSubstring("found a pipe or a device"));
    CHECK(std::filesystem::is_symlink(folder / name));
  }
  std::filesystem::create_symlink("/proc/self/fd/1", folder / "stdout");  // whatever that is here
  CHECK_THROWS_WITH(ReplacedFile(folder / "stdout"), ContainsSubstring("expected the name of a file to write, found"));
  std::ofstream(folder / "old") << "old";
  for (const auto& [name, target] : {std::pair("to-file", "old"), {"to-nothing", "none"}}) {
    std::filesystem::create_symlink(target, folder / name);
    write_text(folder / name, "new");
    CHECK(content(folder / name) == "new");
  }
  CHECK(content(folder / "old") == "old");
}

TEST_CASE("replaced file: a name that a folder took meanwhile is an error, and nothing stays of the file") {
  const TemporaryFolder folder;
  {
    ReplacedFile replaced(folder / "a");
    replaced.write("new");
    std::filesystem::create_directory(folder / "a");
    CHECK_THROWS_AS(replaced.commit(), IoError);
  }
  CHECK(std::filesystem::is_directory(folder / "a"));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("file descriptor: closed once, wherever it was moved to, and what cannot be opened says why") {
  const TemporaryFolder folder;
  FileDescriptor file(folder / "a", O_WRONLY | O_CREAT);
  const int number = file.get();
  REQUIRE(file.is_open());
  FileDescriptor moved(std::move(file));
  CHECK(moved.get() == number);
  CHECK(moved.close());
  CHECK_FALSE(moved.is_open());
  CHECK(::fcntl(number, F_GETFD) == -1);
  CHECK(moved.close());  // nothing is left to close
  const FileDescriptor none(folder / "none/a", O_RDONLY);
  CHECK_FALSE(none.is_open());
  CHECK(errno == ENOENT);
  CHECK_THROWS_AS(fail_by_errno("a\nb", "cannot be read"), IoError);
  errno = ENOENT;
  CHECK_THROWS_WITH(fail_by_errno("a\nb", "cannot be read"), "a\\u000ab: cannot be read: No such file or directory");
}

TEST_CASE("printable: one line, of the length asked for") {
  CHECK(printable("a\nb\x1b[0m\xff") == "a\\u000ab\\u001b[0m?");
  CHECK(printable("abcdef", 3) == "abc...");
}

TEST_CASE("a file whose name another takes while it is mapped stays what it was") {
  const TemporaryFolder folder;
  std::ofstream(folder / "a") << "abc";
  const MappedFile file(folder / "a");
  write_text(folder / "a", "other");
  CHECK(file.text() == "abc");
}
