#include "../../data/arrays/npy.h"

#include <algorithm>
#include <cstdint>
#include <fstream>

#include "../../core/errors/error.h"
#include "../catch.h"
#include "test_files.h"

using namespace headwave;

namespace {

template <class Number>
std::string bytes_of(std::vector<Number> numbers, bool big_endian = false) {
  std::string bytes;
  for (const Number& number : numbers) {
    std::string one(reinterpret_cast<const char*>(&number), sizeof number);
    if (big_endian) std::reverse(one.begin(), one.end());
    bytes += one;
  }
  return bytes;
}

void write_npy_bytes(const std::filesystem::path& path, const std::string& header, const std::string& data,
                     char version = 1) {
  std::ofstream out(path, std::ios::binary);
  const std::size_t size = header.size();
  out << "\x93NUMPY" << version << '\0' << static_cast<char>(size & 255U) << static_cast<char>(size >> 8U);
  if (version > 1) out << '\0' << '\0';
  out << header << data;
}

std::string header(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape +
         ", }\n";
}

}  // namespace

TEST_CASE("npy: the same matrix in every type, order, byte order and version") {
  const TemporaryFolder folder;
  const std::vector<float> expected = {0, 1, 2, 3, 4, 5};
  const auto check = [&](const std::string& descr, const std::string& data, bool fortran, char version) {
    INFO(descr << (fortran ? " fortran" : " C") << " version " << static_cast<int>(version));
    write_npy_bytes(folder / "a.npy", header(descr, "(2, 3)", fortran), data, version);
    CHECK(npy_info(folder / "a.npy").shape == std::vector<Index>{2, 3});
    CHECK(npy_floats(folder / "a.npy") == expected);
  };
  for (const char version : {'\x01', '\x02', '\x03'}) {
    check("<f8", bytes_of<double>({0, 1, 2, 3, 4, 5}), false, version);
    check("<f8", bytes_of<double>({0, 3, 1, 4, 2, 5}), true, version);
    check(">f8", bytes_of<double>({0, 3, 1, 4, 2, 5}, true), true, version);
  }
  check(">f4", bytes_of<float>({0, 1, 2, 3, 4, 5}, true), false, 1);
  check("<f2", bytes_of<std::uint16_t>({0, 0x3C00, 0x4000, 0x4200, 0x4400, 0x4500}), false, 1);
  check(">f2", bytes_of<std::uint16_t>({0, 0x3C00, 0x4000, 0x4200, 0x4400, 0x4500}, true), false, 1);
  check("|i1", bytes_of<std::int8_t>({0, 1, 2, 3, 4, 5}), false, 1);
  check("<i2", bytes_of<std::int16_t>({0, 1, 2, 3, 4, 5}), false, 1);
  check(">i4", bytes_of<std::int32_t>({0, 1, 2, 3, 4, 5}, true), false, 1);
  check("<i8", bytes_of<std::int64_t>({0, 1, 2, 3, 4, 5}), false, 1);
  check("|u1", bytes_of<std::uint8_t>({0, 1, 2, 3, 4, 5}), false, 1);
  check(">u2", bytes_of<std::uint16_t>({0, 1, 2, 3, 4, 5}, true), false, 1);
  check("<u4", bytes_of<std::uint32_t>({0, 1, 2, 3, 4, 5}), false, 1);
  check(">u8", bytes_of<std::uint64_t>({0, 1, 2, 3, 4, 5}, true), false, 1);
}

TEST_CASE("npy: three axes in Fortran order, and some rows of both orders") {
  const TemporaryFolder folder;
  // a[i, j, k] = 100 i + 10 j + k, shape (2, 3, 2)
  std::vector<float> c_order;
  std::vector<float> fortran_order;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 2; ++k) c_order.push_back(static_cast<float>(100 * i + 10 * j + k));
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) fortran_order.push_back(static_cast<float>(100 * i + 10 * j + k));
  write_npy_bytes(folder / "c.npy", header("<f4", "(2, 3, 2)"), bytes_of(c_order));
  write_npy_bytes(folder / "f.npy", header("<f4", "(2, 3, 2)", true), bytes_of(fortran_order));
  for (const std::string name : {"c.npy", "f.npy"}) {
    CHECK(npy_floats(folder / name) == c_order);
    const FileBytes bytes(folder / name);
    const PlacedNumbers numbers = placed_numbers(npy_info(bytes, name), name);
    const auto block = [&](const ArrayBlock& wanted) { return read_block(bytes, numbers, wanted); };
    CHECK(block({{1, 0, 0}, {1, 3, 2}}) == std::vector<float>{100, 101, 110, 111, 120, 121});
    CHECK(block({{0, 1, 1}, {2, 2, 1}}) == std::vector<float>{11, 21, 111, 121});
    CHECK(block({{2, 0, 0}, {0, 3, 2}}).empty());
    CHECK_THROWS_WITH(block({{1, 0, 0}, {2, 3, 2}}),
                      ContainsSubstring("the requested block of shape (2, 3, 2) at (1, 0, 0) lies outside the array"));
    CHECK_THROWS_WITH(block({{-1, 0, 0}, {1, 3, 2}}),
                      ContainsSubstring("the requested block of shape (1, 3, 2) at (-1, 0, 0) lies outside the"));
    CHECK_THROWS_WITH(block({{0, 0, 0}, {-1, 3, 2}}),
                      ContainsSubstring("the requested block of shape (-1, 3, 2) at (0, 0, 0) lies outside the"));
    CHECK_THROWS_WITH(block({{0, 0}, {1, 3}}),
                      ContainsSubstring("the requested block of shape (1, 3) at (0, 0) lies outside the array of"));
  }
}

TEST_CASE("npy: a block that lies in pieces, farther apart than is read at once") {
  const TemporaryFolder folder;
  // a[i, j, k] = 1000 i + k of (3, 400, 1000): 400 000 entries of 4 bytes between one i and the next.
  std::vector<float> values;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 400; ++j)
      for (int k = 0; k < 1000; ++k) values.push_back(static_cast<float>(1000 * i + k));
  write_npy_bytes(folder / "a.npy", header("<f4", "(3, 400, 1000)"), bytes_of(values));
  const FileBytes bytes(folder / "a.npy");
  const PlacedNumbers numbers = placed_numbers(npy_info(bytes, "a"), "a");
  CHECK(read_block(bytes, numbers, {{0, 5, 998}, {3, 1, 2}}) == std::vector<float>{998, 999, 1998, 1999, 2998, 2999});
  CHECK(read_block(bytes, numbers, {{0, 0, 7}, {3, 400, 1}}).size() == 1200);
  CHECK(read_block(bytes, numbers, {{1, 0, 0}, {1, 400, 1000}})[399999] == 1999);
}

TEST_CASE("npy: texts of letters and of bytes") {
  const TemporaryFolder folder;
  const auto texts = [&](const std::string& descr, const std::string& data) {
    write_npy_bytes(folder / "t.npy", header(descr, "(2,)"), data);
    const FileBytes bytes(folder / "t.npy");
    return npy_texts(bytes, npy_info(bytes, "t"), "t");
  };
  CHECK(texts("<U2", bytes_of<std::uint32_t>({'a', 0xE9, 'b', 0})) == std::vector<std::string>{"a\xc3\xa9", "b"});
  CHECK(texts(">U2", bytes_of<std::uint32_t>({'a', 0xE9, 0x110000, 0}, true)) ==
        std::vector<std::string>{"a\xc3\xa9", "\xef\xbf\xbd"});
  CHECK(texts("|S3", std::string("abcd\0\0", 6)) == std::vector<std::string>{"abc", "d"});
  CHECK_THROWS_AS(texts("<f4", bytes_of<float>({1, 2})), FormatError);
}

TEST_CASE("npy: a header alone") {
  const TemporaryFolder folder;
  write_npy_bytes(folder / "a.npy", header(">c8", "(3,)"), std::string(24, '\0'));
  const NpyInfo info = npy_info(folder / "a.npy");
  CHECK(info.dtype == ">c8");
  CHECK(info.descr == ">c8");
  CHECK(info.big_endian);
  CHECK(info.shape == std::vector<Index>{3});
  CHECK_THROWS_WITH(npy_floats(folder / "a.npy"), ContainsSubstring("holds >c8 values"));
  write_npy_bytes(folder / "a.npy",
                  "{'descr': [('x', '<i4'), ('y', '<f4', (2,))], 'fortran_order': False, 'shape': (1,)}",
                  "0123456789ab");
  CHECK(npy_info(folder / "a.npy").dtype == "structured");
  CHECK_THROWS_AS(npy_floats(folder / "a.npy"), FormatError);
  write_npy_bytes(folder / "a.npy", header("<U3", "(2,)"), std::string(24, '\0'));
  CHECK(npy_info(folder / "a.npy").dtype == "string");
  CHECK_THROWS_AS(npy_floats(folder / "a.npy"), FormatError);
}

TEST_CASE("npy: objects and archives are refused by name") {
  const TemporaryFolder folder;
  for (const std::string descr : {"|O", "O", "|O8"}) {
    write_npy_bytes(folder / "a.npy", header(descr, "(1,)"), "12345678");
    CHECK_THROWS_WITH(npy_info(folder / "a.npy"), ContainsSubstring("Python objects"));
  }
  write_npy_bytes(folder / "a.npy", "{'descr': [('x', '|O')], 'fortran_order': False, 'shape': (1,)}", "12345678");
  CHECK_THROWS_WITH(npy_info(folder / "a.npy"), ContainsSubstring("Python objects"));
  std::ofstream(folder / "a.npz") << "PK\x03\x04";
  CHECK_THROWS_WITH(npy_info(folder / "a.npz"), ContainsSubstring("expected a .npy file"));
  CHECK_THROWS_AS(npy_info(folder / "none.npy"), IoError);
  CHECK_THROWS_AS(npy_floats(folder / "none.npy"), IoError);
}

TEST_CASE("npy: headers that are not the three keys are refused") {
  const TemporaryFolder folder;
  for (const std::string text :
       {"", "{", "{}", "[]", "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "{'descr': '<f4', 'fortran_order': False, 'shape': (  ",
        "{'descr': '<f4', 'fortran_order': False, 'shape': [1]}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1.0,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} + x",
        "{'descr': '<f4, 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f3', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': 'f', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': [[[[[[[[[[[[[[[[[[[['x']]]]]]]]]]]]]]]]]]]], 'fortran_order': False, 'shape': (1,)}"}) {
    INFO(text);
    write_npy_bytes(folder / "a.npy", text, "1234");
    CHECK_THROWS_AS(npy_info(folder / "a.npy"), FormatError);
  }
}

TEST_CASE("npy: too little or too much data") {
  const TemporaryFolder folder;
  std::ofstream(folder / "cut.npy", std::ios::binary) << "\x93NUMPY\x02" << '\0' << "ab";
  CHECK_THROWS_WITH(npy_info(folder / "cut.npy"), ContainsSubstring("the npy header is incomplete"));
  write_npy_bytes(folder / "a.npy", header("<f4", "(2,)"), "1234567");
  CHECK_THROWS_AS(npy_info(folder / "a.npy"), FormatError);
  write_npy_bytes(folder / "a.npy", header("<f4", "(2,)"), "123456789");
  CHECK_THROWS_AS(npy_info(folder / "a.npy"), FormatError);
  write_npy_bytes(folder / "a.npy", header("<f4", "(4611686018427387904, 4)"), "1234");
  CHECK_THROWS_AS(npy_info(folder / "a.npy"), FormatError);
  write_npy_bytes(folder / "a.npy", header("<f4", "(0, 4611686018427387904, 4)"), "");
  CHECK(npy_floats(folder / "a.npy").empty());
}
