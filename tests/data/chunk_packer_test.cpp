#include "../../data/results/chunk_packer.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "../../core/fields/fields.h"
#include "../../core/numbers/random.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/hdf5/hdf5_places.h"
#include "../../data/results/result_file.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("a packed chunk is zlib's of the entries' first bytes, then the second ones, and a checksum") {
  Random random(1);
  for (const std::size_t entry : {1, 4, 8})
    for (const std::size_t entries : {0, 1, 7, 4096}) {
      CAPTURE(entry, entries);
      std::vector<std::byte> plain(entry * entries);
      for (std::byte& byte : plain) byte = static_cast<std::byte>(256 * random.uniform() * random.uniform());
      ChunkPacker packer(entry);
      const auto first = packer.packed(plain);
      const std::vector<std::byte> packed(first.begin(), first.end());
      const auto again = packer.packed(plain);
      CHECK(std::vector<std::byte>(again.begin(), again.end()) == packed);
      std::vector<std::byte> shuffled(plain.size());
      REQUIRE(packed.size() > 4);
      REQUIRE(inflate(std::span(packed).first(packed.size() - 4), shuffled) == plain.size());
      bool same = true;
      for (std::size_t i = 0; i < entries; ++i)
        for (std::size_t byte = 0; byte < entry; ++byte)
          same = same && shuffled[byte * entries + i] == plain[i * entry + byte];
      CHECK(same);
    }
  // "abcde" by hand: zlib's of five bytes, 0x789c in front of them, then the checksum of all that.
  const std::array<std::byte, 5> letters{std::byte{'a'}, std::byte{'b'}, std::byte{'c'}, std::byte{'d'},
                                         std::byte{'e'}};
  ChunkPacker packer(1);
  const auto packed = packer.packed(letters);
  std::uint64_t sum = 0, sums = 0;
  for (std::size_t i = 0; i + 4 < packed.size(); i += 2) {
    sum += 256 * std::to_integer<std::uint64_t>(packed[i]);
    if (i + 5 < packed.size()) sum += std::to_integer<std::uint64_t>(packed[i + 1]);
    sums += sum;
  }
  const auto last = packed.last(4);
  CHECK(std::to_integer<std::uint64_t>(last[0]) + 256 * std::to_integer<std::uint64_t>(last[1]) == sum % 65535);
  CHECK(std::to_integer<std::uint64_t>(last[2]) + 256 * std::to_integer<std::uint64_t>(last[3]) == sums % 65535);
}

TEST_CASE("the library reads packed chunks of every kind, those at an array's end too") {
  const TemporaryFolder folder;
  Random random(2);
  Result result;
  result.title = "chunks";
  for (const std::vector<Index>& shape :
       std::vector<std::vector<Index>>{{513}, {130000}, {2, 700, 301}, {5, 3, 90, 129}, {1, 1, 1, 600}}) {
    std::vector<Axis> axes;
    Index size = 1;
    for (const Index length : shape) {
      axes.push_back(counting_axis(fmt::format("n{}_{}", axes.size(), length), "1", "number", 0, length - 1));
      size *= length;
    }
    std::vector<double> values(static_cast<std::size_t>(size));
    for (double& value : values) value = random.uniform() < 0.1 ? std::nan("") : std::round(64 * random.normal()) / 64;
    std::vector<std::uint8_t> flags(static_cast<std::size_t>(size));
    for (std::uint8_t& flag : flags) flag = random.uniform() < 0.3 ? 1 : 0;
    const std::string group = fmt::format("g{}", size);
    result.fields.push_back(make_field(group + "/values", axes, "1", "values", std::move(values)));
    Field flagged{group + "/flags", axes, "1", "flags", std::move(flags), {}, {}};
    flagged.flag_meanings = {"no", "yes"};
    result.fields.push_back(std::move(flagged));
  }
  write_result(result, folder / "r.h5");
  const Result read = read_result(folder / "r.h5");
  REQUIRE(read.fields.size() == result.fields.size());
  for (std::size_t i = 0; i < read.fields.size(); ++i) {
    CAPTURE(read.fields[i].name);
    if (const auto* values = std::get_if<std::vector<double>>(&result.fields[i].values)) {
      const auto& back = std::get<std::vector<double>>(read.fields[i].values);
      CHECK(std::ranges::equal(*values, back,
                               [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }));
    } else {
      CHECK(std::get<std::vector<std::uint8_t>>(read.fields[i].values) ==
            std::get<std::vector<std::uint8_t>>(result.fields[i].values));
    }
  }
  CHECK(Hdf5File(folder / "r.h5").node("/g421400/values").storage ==
        "chunks (1, 415, 301), shuffle, gzip 2, fletcher32");
}
