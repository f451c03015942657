#include "../../data/arrays/npy.h"

#include <algorithm>
#include <cstdint>
#include <fstream>

#include "../../core/numbers/error.h"
#include "../catch.h"

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

void write(const std::filesystem::path& path, const std::string& header, const std::string& data, char version = 1) {
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
    write(folder / "a.npy", header(descr, "(2, 3)", fortran), data, version);
    const NpyArray<float> array = npy_floats(folder / "a.npy");
    CHECK(array.shape == std::vector<Index>{2, 3});
    CHECK(array.values == expected);
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
  write(folder / "c.npy", header("<f4", "(2, 3, 2)"), bytes_of(c_order));
  write(folder / "f.npy", header("<f4", "(2, 3, 2)", true), bytes_of(fortran_order));
  CHECK(npy_floats(folder / "c.npy").values == c_order);
  CHECK(npy_floats(folder / "f.npy").values == c_order);
  for (const std::string name : {"c.npy", "f.npy"}) {
    const NpyArray<float> row = npy_floats(folder / name, 1, 1);
    CHECK(row.shape == std::vector<Index>{1, 3, 2});
    CHECK(row.values == std::vector<float>{100, 101, 110, 111, 120, 121});
    CHECK(npy_floats(folder / name, 2, 0).values.empty());
    CHECK_THROWS_AS(npy_floats(folder / name, 1, 2), ShapeError);
    CHECK_THROWS_AS(npy_floats(folder / name, -1, 1), ShapeError);
    CHECK_THROWS_AS(npy_floats(folder / name, 0, -1), ShapeError);
  }
}

TEST_CASE("npy: a header alone") {
  const TemporaryFolder folder;
  write(folder / "a.npy", header(">c8", "(3,)"), std::string(24, '\0'));
  const NpyInfo info = npy_info(folder / "a.npy");
  CHECK(info.dtype == "complex64");
  CHECK(info.descr == ">c8");
  CHECK(info.big_endian);
  CHECK(info.shape == std::vector<Index>{3});
  CHECK_THROWS_WITH(npy_floats(folder / "a.npy"), ContainsSubstring("complex64"));
  write(folder / "a.npy", "{'descr': [('x', '<i4'), ('y', '<f4', (2,))], 'fortran_order': False, 'shape': (1,)}",
        "0123456789ab");
  CHECK(npy_info(folder / "a.npy").dtype == "structured");
  CHECK_THROWS_AS(npy_floats(folder / "a.npy"), FormatError);
  write(folder / "a.npy", header("<U3", "(2,)"), std::string(24, '\0'));
  CHECK(npy_info(folder / "a.npy").dtype == "string");
  CHECK_THROWS_AS(npy_floats(folder / "a.npy"), FormatError);
}

TEST_CASE("npy: integers exactly") {
  const TemporaryFolder folder;
  write(folder / "a.npy", header("<i8", "(2,)"), bytes_of<std::int64_t>({(std::int64_t{1} << 53) + 1, -7}));
  CHECK(npy_integers(folder / "a.npy").values == std::vector<std::int64_t>{(std::int64_t{1} << 53) + 1, -7});
  write(folder / "a.npy", header("|b1", "(3,)"), std::string("\x00\x01\x02", 3));
  CHECK(npy_integers(folder / "a.npy").values == std::vector<std::int64_t>{0, 1, 1});
  write(folder / "a.npy", header("<u8", "()"), bytes_of<std::uint64_t>({std::uint64_t{1} << 63}));
  CHECK_THROWS_AS(npy_integers(folder / "a.npy"), FormatError);
  write(folder / "a.npy", header("<f4", "()"), bytes_of<float>({1}));
  CHECK_THROWS_AS(npy_integers(folder / "a.npy"), FormatError);
}

TEST_CASE("npy: objects are refused by name, and archives with advice") {
  const TemporaryFolder folder;
  for (const std::string descr : {"|O", "O", "|O8"}) {
    write(folder / "a.npy", header(descr, "(1,)"), "12345678");
    CHECK_THROWS_WITH(npy_info(folder / "a.npy"), ContainsSubstring("Python objects"));
  }
  write(folder / "a.npy", "{'descr': [('x', '|O')], 'fortran_order': False, 'shape': (1,)}", "12345678");
  CHECK_THROWS_WITH(npy_info(folder / "a.npy"), ContainsSubstring("Python objects"));
  std::ofstream(folder / "a.npz") << "PK\x03\x04";
  CHECK_THROWS_WITH(npy_info(folder / "a.npz"), ContainsSubstring("unzip"));
  CHECK_THROWS_AS(npy_info(folder / "none.npy"), IoError);
  CHECK_THROWS_AS(npy_floats(folder / "none.npy"), IoError);
  CHECK_THROWS_AS(npy_floats(folder / "none.npy", 0, 1), IoError);
  CHECK_THROWS_AS(npy_integers(folder / "none.npy"), IoError);
}

TEST_CASE("npy: headers that are not the three keys are refused") {
  const TemporaryFolder folder;
  for (const std::string text :
       {"", "{", "{}", "[]", "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}",
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
    write(folder / "a.npy", text, "1234");
    CHECK_THROWS_AS(npy_info(folder / "a.npy"), FormatError);
  }
}

TEST_CASE("npy: too little or too much data, or too many axes") {
  const TemporaryFolder folder;
  std::ofstream(folder / "cut.npy", std::ios::binary) << "\x93NUMPY\x02" << '\0' << "ab";
  CHECK_THROWS_WITH(npy_info(folder / "cut.npy"), ContainsSubstring("the npy header is cut short"));
  std::string ones;
  for (int axis = 0; axis < 65; ++axis) ones += "1, ";
  write(folder / "a.npy", header("<f4", "(" + ones + ")"), "1234");
  CHECK_THROWS_WITH(npy_info(folder / "a.npy"), ContainsSubstring("65 dimensions"));
  write(folder / "a.npy", header("<f4", "(2,)"), "1234567");
  CHECK_THROWS_AS(npy_info(folder / "a.npy"), FormatError);
  write(folder / "a.npy", header("<f4", "(2,)"), "123456789");
  CHECK_THROWS_AS(npy_info(folder / "a.npy"), FormatError);
  write(folder / "a.npy", header("<f4", "(4611686018427387904, 4)"), "1234");
  CHECK_THROWS_AS(npy_info(folder / "a.npy"), FormatError);
  write(folder / "a.npy", header("<f4", "(0, 4611686018427387904, 4)"), "");
  CHECK(npy_floats(folder / "a.npy").values.empty());
}
