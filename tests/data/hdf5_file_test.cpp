#include "../../data/hdf5/hdf5_file.h"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../core/errors/error.h"
#include "../../data/hdf5/hdf5_handle.h"
#include "../catch.h"
#include "test_files.h"

using namespace headwave;

// The files come from tests/golden/make_hdf5_samples.py.
namespace {

Hdf5File sample() {
  return Hdf5File(repository_file("tests/golden/hdf5_sample.h5"));
}

Hdf5File hostile() {
  return Hdf5File(repository_file("tests/golden/hdf5_hostile.h5"));
}

std::vector<std::string> names_in(const std::vector<Hdf5Node>& tree, const std::string& group) {
  std::vector<std::string> names;
  for (const Hdf5Node& node : tree)
    if (node.path.starts_with(group + "/")) names.push_back(node.path.substr(group.size() + 1));
  return names;
}

const Hdf5Node& node_at(const std::vector<Hdf5Node>& tree, const std::string& path) {
  for (const Hdf5Node& node : tree)
    if (node.path == path) return node;
  throw std::runtime_error("no node " + path);
}

}  // namespace

TEST_CASE("hdf5: numbers of every type and layout come out as h5py wrote them") {
  const Hdf5File file = sample();
  for (const std::string name : {"le_f4", "be_f4", "le_f8", "be_f8", "le_f2", "be_f2", "gzip", "plain_chunks"}) {
    INFO(name);
    const std::vector<double> doubles = file.doubles("/numbers/" + name);
    const std::vector<float> floats = file.floats("numbers/" + name);
    REQUIRE(doubles.size() == 24);
    for (std::size_t i = 0; i < 24; ++i) {
      CHECK(doubles[i] == static_cast<double>(i) / 4);
      CHECK(floats[i] == static_cast<float>(i) / 4);
    }
  }
  for (const std::string name : {"le_i2", "be_i4", "le_u8", "i1"}) {
    INFO(name);
    CHECK(file.integers("/numbers/" + name).at(23) == 5);
    CHECK(file.doubles("/numbers/" + name).at(23) == 5);
  }
  CHECK(file.doubles("/numbers/compact_scalar") == std::vector<double>{2.5});
  CHECK(file.doubles("/numbers/nothing").empty());
  CHECK(file.doubles("/numbers/no_rows").empty());
  CHECK(file.floats("/numbers/unwritten") == std::vector<float>(5, 7.0F));
  CHECK(file.integers("/numbers/flags") == std::vector<std::int64_t>{1, 0, 1});
  CHECK(file.floats("/links/soft").size() == 24);
}

TEST_CASE("hdf5: blocks of chunks that do not divide the shape, some never written, one not packed") {
  const Hdf5File file(repository_file("tests/golden/hdf5_packed.h5"));
  const std::vector<ArrayBlock> blocks{{{0, 0, 0}, {5, 7, 3}}, {{1, 2, 1}, {3, 4, 2}}, {{4, 6, 2}, {1, 1, 1}},
                                       {{2, 3, 0}, {2, 3, 2}}, {{0, 0, 0}, {5, 1, 3}}, {{3, 0, 0}, {0, 7, 3}}};
  const auto expect = [&](const std::string& name, double unit, Index written) {
    for (const ArrayBlock& block : blocks) {
      CAPTURE(name, block.first, block.count);
      std::vector<float> expected;
      for (Index i = block.first[0]; i < block.first[0] + block.count[0]; ++i)
        for (Index j = block.first[1]; j < block.first[1] + block.count[1]; ++j)
          for (Index k = block.first[2]; k < block.first[2] + block.count[2]; ++k)
            expected.push_back(i < written ? static_cast<float>(unit * static_cast<double>(21 * i + 3 * j + k)) : 7.0F);
      CHECK(file.floats(name, block) == expected);
    }
  };
  for (const std::string group : {"plain", "gzip", "shuffle", "checked"}) {
    for (const std::string type : {"le_f2", "le_f4", "be_f4", "le_f8"}) expect(group + "/" + type, 0.25, 5);
    for (const std::string type : {"le_i2", "be_i4", "le_i8"}) {
      expect(group + "/" + type, 1, 5);
      CHECK(file.integers(group + "/" + type).back() == 104);
      CHECK(file.doubles(group + "/" + type).back() == 104);
    }
  }
  expect("holes", 0.25, 2);
  expect("one_chunk_plain", 0.25, 5);
}

TEST_CASE("hdf5: a file that begins behind other bytes") {
  const Hdf5File file(repository_file("tests/golden/hdf5_late.h5"));
  for (const std::string name : {"one_piece", "chunks", "gzip"}) {
    CAPTURE(name);
    const std::vector<float> floats = file.floats(name);
    REQUIRE(floats.size() == 105);
    CHECK(floats[1] == 0.25F);
    CHECK(floats[104] == 26.0F);
    CHECK(file.floats(name, {{4, 6, 2}, {1, 1, 1}}) == std::vector<float>{26.0F});
  }
}

TEST_CASE("hdf5: blocks of a dataset") {
  const Hdf5File file = sample();
  for (const std::string name : {"/numbers/le_f4", "/numbers/gzip", "/numbers/plain_chunks"}) {
    REQUIRE(file.node(name).shape == std::vector<Index>{2, 3, 4});
    const std::vector<float> row = file.floats(name, {{1, 0, 0}, {1, 3, 4}});
    REQUIRE(row.size() == 12);
    CHECK(row[0] == 3.0F);
    CHECK(row[11] == 5.75F);
    CHECK(file.floats(name, {{0, 0, 0}, {2, 3, 4}}) == file.floats(name));
    CHECK(file.floats(name, {{0, 1, 2}, {2, 2, 1}}) == std::vector<float>{1.5F, 2.5F, 4.5F, 5.5F});
    CHECK(file.floats(name, {{2, 0, 0}, {0, 3, 4}}).empty());
    CHECK_THROWS_WITH(file.floats(name, {{1, 0, 0}, {2, 3, 4}}),
                      ContainsSubstring("the requested block of shape (2, 3, 4) at (1, 0, 0) lies outside the array"));
    CHECK_THROWS_WITH(file.floats(name, {{-1, 0, 0}, {1, 3, 4}}),
                      ContainsSubstring("the requested block of shape (1, 3, 4) at (-1, 0, 0) lies outside the"));
    CHECK_THROWS_WITH(file.floats(name, {{0, 0, 0}, {-1, 3, 4}}),
                      ContainsSubstring("the requested block of shape (-1, 3, 4) at (0, 0, 0) lies outside the"));
    CHECK_THROWS_WITH(file.floats(name, {{0, 0}, {1, 3}}),
                      ContainsSubstring("the requested block of shape (1, 3) at (0, 0) lies outside the array of"));
  }
  CHECK_THROWS_WITH(file.floats("/numbers/compact_scalar", {{0}, {1}}),
                    ContainsSubstring("/numbers/compact_scalar: the requested block of shape (1) at (0) lies"));
  const std::vector<Index> none = file.node("/numbers/no_rows").shape;
  CHECK(file.floats("/numbers/no_rows", whole_block(none)).empty());
}

TEST_CASE("hdf5: texts") {
  const Hdf5File file = sample();
  CHECK(file.strings("/texts/variable") == std::vector<std::string>{"[CLS]", "Wörter", ""});
  CHECK(file.strings("/texts/fixed") == std::vector<std::string>{"ab", "cde"});
  CHECK_THROWS_AS(file.strings("/numbers/le_f4"), FormatError);
}

TEST_CASE("hdf5: attributes") {
  const Attributes root = sample().attributes("/");
  CHECK(std::get<std::int64_t>(root.at("num_heads")) == 12);
  CHECK(std::get<double>(root.at("rate")) == 0.25);
  CHECK(std::get<std::vector<double>>(root.at("offsets")) == std::vector<double>{-1.5, 0, 2});
  CHECK(std::get<std::string>(root.at("names")) == "left, right");
  CHECK(std::get<std::string>(root.at("fixed")) == "fixed length");
  CHECK(std::get<double>(root.at("big")) == 0x1p63 + 0x1p11);
  CHECK(std::get<std::string>(root.at("pair")) == "(compound)");
  CHECK(sample().attribute_texts("/", "names") == std::vector<std::string>{"left", "right"});
  CHECK(sample().attribute_texts("/", "no such").empty());
  CHECK_THROWS_AS(sample().attribute_texts("/", "rate"), FormatError);
  CHECK_THROWS_AS(sample().attributes("/none"), FormatError);
}

TEST_CASE("hdf5: the tree, with links named and not followed") {
  const std::vector<Hdf5Node> tree = sample().tree();
  CHECK(tree.front().path == "/");
  CHECK(node_at(tree, "/links/again").kind == "group");
  CHECK(node_at(tree, "/links/again/gzip").storage == "chunks (1, 2, 3), shuffle, gzip 4, fletcher32");
  CHECK(node_at(tree, "/links/again/gzip").shape == std::vector<Index>{2, 3, 4});
  CHECK(node_at(tree, "/links/again/be_f2").dtype == "float16");
  CHECK(node_at(tree, "/links/again/flags").dtype == "bool");
  CHECK(node_at(tree, "/links/again/complex").dtype == "compound");
  CHECK(node_at(tree, "/links/again/nothing").storage == "no entries");
  CHECK(node_at(tree, "/numbers").kind == "group");  // the same by another name, which is not entered again
  CHECK(node_at(tree, "/links/cycle").kind == "group");
  CHECK(std::ranges::count(tree, "/numbers/gzip", &Hdf5Node::path) == 0);
  CHECK(node_at(tree, "/links/soft").kind == "link");
  CHECK(node_at(tree, "/links/outside").storage == "to /x in another file, other.h5");
  CHECK(names_in(tree, "/ordered") == std::vector<std::string>{"zebra", "ant", "mole"});
  CHECK(names_in(tree, "/texts") == std::vector<std::string>{"fixed", "variable"});
}

TEST_CASE("hdf5: dimension scales") {
  CHECK(sample().scales("/scaled/data") == std::vector<std::string>{"row", ""});
  CHECK(sample().scales("/numbers/le_f4") == std::vector<std::string>{"", "", ""});
  CHECK_THROWS_AS(sample().scales("/none"), FormatError);
  CHECK_THROWS_AS(sample().scales("/scaled"), FormatError);
}

TEST_CASE("hdf5: one object") {
  const Hdf5File file = sample();
  CHECK_THROWS_AS(file.node("/links/dangling"), FormatError);
  CHECK_THROWS_AS(file.node("/links/outside"), FormatError);
  CHECK(file.node("/numbers/le_f4").dtype == "float32");
  CHECK(file.node("/numbers").kind == "group");
  CHECK_THROWS_AS(file.node("/none"), FormatError);
}

TEST_CASE("hdf5: what is not there, not numbers, or does not fit is refused by name") {
  const Hdf5File file = sample();
  CHECK_THROWS_WITH(file.doubles("/numbers/none"), ContainsSubstring("hdf5_sample.h5: /numbers/none"));
  CHECK_THROWS_AS(file.doubles("/numbers"), FormatError);
  CHECK_THROWS_WITH(file.doubles("/numbers/complex"), ContainsSubstring("found compound"));
  CHECK_THROWS_WITH(file.doubles("/numbers/lzf"), ContainsSubstring("h5py"));
  CHECK_THROWS_AS(file.integers("/numbers/le_f4"), FormatError);
  CHECK_THROWS_AS(file.integers("/numbers/too_big"), FormatError);
  CHECK(file.doubles("/numbers/too_big")[1] == 0x1p63);
  CHECK_THROWS_AS(file.floats("/links/outside"), FormatError);
  CHECK_THROWS_AS(file.floats("/links/soft_outside"), FormatError);
  CHECK_THROWS_AS(file.floats("/links/dangling"), FormatError);
}

TEST_CASE("hdf5: a chunk that unpacks to too little, too much or nothing is refused") {
  const Hdf5File file = hostile();
  for (const std::string name : {"short_chunk", "bomb", "garbage_chunk", "short_plain_chunk"}) {
    INFO(name);
    CHECK_THROWS_AS(file.doubles(name), FormatError);
    ArrayBlock first_row = whole_block(file.node(name).shape);
    first_row.count.front() = 1;
    CHECK_THROWS_AS(file.floats(name, first_row), FormatError);
  }
}

TEST_CASE("hdf5: sizes that the file cannot stand for are refused before anything is allocated") {
  const Hdf5File file = hostile();
  CHECK_THROWS_WITH(file.doubles("promise"), ContainsSubstring("16 GiB"));
  CHECK_THROWS_WITH(file.doubles("promise_in_chunks"), ContainsSubstring("its shape needs"));
  CHECK_THROWS_AS(file.doubles("more_than_everything"), FormatError);
  CHECK_THROWS_WITH(file.integers("many_chunks"), ContainsSubstring("chunks"));
  CHECK_THROWS_WITH(file.floats("elsewhere"), ContainsSubstring("other files"));
  CHECK_THROWS_WITH(file.floats("virtual"), ContainsSubstring("other files"));
}

TEST_CASE("hdf5: files that are missing, folders, no HDF5 or cut short") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(Hdf5File(folder / "none.h5"), IoError);
  CHECK_THROWS_AS(Hdf5File(folder.path()), IoError);
  std::ofstream(folder / "text.h5") << "this is text";
  CHECK_THROWS_WITH(Hdf5File(folder / "text.h5"), ContainsSubstring("text.h5: cannot be read as an HDF5 file"));
  std::filesystem::copy(repository_file("tests/golden/hdf5_sample.h5"), folder / "cut.h5");
  std::filesystem::resize_file(folder / "cut.h5", 10'000);
  CHECK_THROWS_AS(Hdf5File(folder / "cut.h5"), FormatError);
}

TEST_CASE("hdf5: threads read one file, each what it asked for") {
  const Hdf5File file(repository_file("tests/golden/hdf5_packed.h5"));
  const std::vector<float> whole = file.floats("shuffle/le_f4");
  std::vector<std::thread> threads;
  std::vector<int> right(4, 0);
  for (std::size_t t = 0; t < right.size(); ++t)
    threads.emplace_back([&, t] {
      for (Index turn = 0; turn < 50; ++turn) {
        const Index row = (turn + static_cast<Index>(t)) % 5;
        const auto first = whole.begin() + 21 * row;
        right[t] += file.floats("shuffle/le_f4", {{row, 0, 0}, {1, 7, 3}}) == std::vector(first, first + 21) ? 1 : 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(right == std::vector<int>(4, 50));
}

TEST_CASE("hdf5: a packed chunk with another checksum than was written is refused") {
  const TemporaryFolder folder;
  std::filesystem::copy_file(repository_file("tests/golden/hdf5_packed.h5"), folder / "d.h5");
  haddr_t address = HADDR_UNDEF;
  {
    const Hdf5Session session;
    const Hdf5Handle file(H5Fopen((folder / "d.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    const Hdf5Handle data(H5Dopen2(file.id(), "checked/le_f4", H5P_DEFAULT), H5Dclose);
    const std::vector<hsize_t> first(3, 0);
    unsigned skipped = 0;
    hsize_t size = 0;
    REQUIRE(H5Dget_chunk_info_by_coord(data.id(), first.data(), &skipped, &address, &size) >= 0);
    address += size / 2;
  }
  CHECK(Hdf5File(folder / "d.h5").floats("checked/le_f4").size() == 105);
  std::string bytes = file_bytes(folder / "d.h5");
  bytes.at(address) = static_cast<char>(bytes[address] ^ 1);
  std::ofstream(folder / "d.h5", std::ios::binary) << bytes;
  CHECK_THROWS_WITH(Hdf5File(folder / "d.h5").floats("checked/le_f4"), ContainsSubstring("checked/le_f4"));
}

TEST_CASE("hdf5: a pipe that a file points to hangs nobody") {
  const TemporaryFolder folder;
  std::filesystem::copy_file(repository_file("tests/golden/hdf5_hostile.h5"), folder / "hostile.h5");
  for (const char* name : {"other.h5", "other.bin"}) REQUIRE(::mkfifo((folder / name).c_str(), 0600) == 0);
  const Hdf5File file(folder / "hostile.h5");
  CHECK_FALSE(file.tree().empty());
  CHECK_THROWS_WITH(file.floats("virtual"), ContainsSubstring("other files"));
}

TEST_CASE("hdf5: a crash of the library ends the process with one line that names the file, in any thread") {
  for (const bool in_thread : {false, true}) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(ends[1], STDERR_FILENO);
      tell_hdf5_crashes();
      const auto crash = [] {
        const Hdf5Session session("damaged.h5");
        (void)std::raise(SIGSEGV);
      };
      if (in_thread)
        std::thread(crash).join();
      else
        crash();
      ::_exit(0);
    }
    ::close(ends[1]);
    std::string told(1000, '\0');
    std::size_t length = 0;
    for (ssize_t more = 0; (more = ::read(ends[0], told.data() + length, told.size() - length)) > 0;)
      length += static_cast<std::size_t>(more);
    told.resize(length);
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 1);
    CHECK_THAT(told,
               ContainsSubstring("headwave: error: damaged.h5: the HDF5 library crashed while reading it (SIGSEGV)"));
    CHECK(std::ranges::count(told, '\n') == 1);
  }
}
