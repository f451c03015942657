#include "../../core/bytes/bytes.h"

#include <complex>
#include <limits>

#include "../catch.h"

using namespace headwave;

namespace {

enum class Filled : std::uint8_t { none, some };

struct Small {
  Index number = 0;
  std::string text;
};

struct Found {
  Matrix matrix;
  Vector vector;
  Eigen::MatrixXcd complex;
  std::vector<Small> list;
  std::array<Matrix, 2> pair;
  std::optional<double> maybe, never;
  Filled kind = Filled::none;
};

Found sample() {
  Found found;
  found.matrix = Matrix{{1, 2, 3}, {4, std::numeric_limits<double>::quiet_NaN(), -0.0}};
  found.vector = Vector::LinSpaced(4, 0, 1);
  found.complex = Eigen::MatrixXcd::Constant(1, 2, {3, -4});
  found.list = {{7, "L0H1"}, {-1, ""}};
  found.pair = {Matrix::Ones(1, 1), Matrix(0, 5)};
  found.maybe = 0.1;
  found.kind = Filled::some;
  return found;
}

std::string bytes_of(const Found& found) {
  ByteWriter bytes;
  bytes.write(found);
  return bytes.taken();
}

}  // namespace

TEST_CASE("bytes give back every member, not-a-number and the sign of zero with them") {
  const std::string bytes = bytes_of(sample());
  ByteReader reader(bytes);
  const auto found = reader.read<Found>();
  CHECK(reader.at_end());
  CHECK(bytes_of(found) == bytes);
  CHECK(found.matrix(1, 0) == 4);
  CHECK(found.complex(0, 1) == std::complex<double>(3, -4));
  CHECK(found.list[0].text == "L0H1");
  CHECK(found.pair[1].cols() == 5);
  CHECK(found.maybe == 0.1);
  CHECK_FALSE(found.never);
  CHECK(found.kind == Filled::some);
}

TEST_CASE("bytes that are cut short anywhere are refused") {
  const std::string bytes = bytes_of(sample());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    ByteReader reader(std::string_view(bytes).substr(0, size));
    CHECK_THROWS_AS(reader.read<Found>(), FormatError);
  }
}

TEST_CASE("a size in bytes is not believed before so much is there") {
  ByteWriter writer;
  writer.write<std::int64_t>(std::int64_t{1} << 40);
  writer.write<std::int64_t>(std::int64_t{1} << 40);
  ByteReader huge(writer.bytes());
  CHECK_THROWS_WITH(huge.read<Matrix>(), ContainsSubstring("does not fit into the 0 bytes left"));
  ByteWriter negative;
  negative.write<std::int64_t>(-1);
  negative.write<std::int64_t>(2);
  CHECK_THROWS_AS(ByteReader(negative.bytes()).read<Matrix>(), FormatError);
  ByteWriter wide;
  wide.write(Matrix(2, 2));
  CHECK_THROWS_AS(ByteReader(wide.bytes()).read<Vector>(), FormatError);
  ByteWriter list;
  list.write<std::uint64_t>(std::uint64_t{1} << 60);
  CHECK_THROWS_AS(ByteReader(list.bytes()).read<std::vector<double>>(), FormatError);
  CHECK_THROWS_AS(ByteReader(list.bytes()).read<std::string>(), FormatError);
}
