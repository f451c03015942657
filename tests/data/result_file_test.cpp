#include "../../data/results/result_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/numbers/random.h"
#include "../../data/files/digest.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/hdf5/hdf5_handle.h"
#include "../catch.h"
#include "test_files.h"

using namespace headwave;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Result small_result() {
  Result result;
  result.title = "Offset traces of a tiny model";
  const Axis layer = layer_axis(2);
  const Axis head = head_axis(3);
  std::vector<double> traces(2 * 3 * 5);
  std::iota(traces.begin(), traces.end(), 0.25);
  traces[7] = nan;
  result.fields.push_back(make_field("offset_trace/mean_weight", {layer, head, offset_axis("offset", -2, 2)}, "1",
                                     "mean attention at an offset", traces));
  result.fields.back().attributes = {{"undefined", std::string("no pair at that offset")},
                                     {"seed", std::int64_t{7}},
                                     {"tolerance", 0.5},
                                     {"range", std::vector<double>{-2, 2}},
                                     {"single", std::vector<double>{4}},
                                     {"none", std::vector<double>{}}};
  Field kind{"offset_trace/kind",
             {layer, head},
             "1",
             "what a head looks at",
             std::vector<std::uint8_t>{0, 1, 2, 1, 0, 2},
             {"undefined", "next to left", "left"},
             {}};
  result.fields.push_back(kind);
  // Another group comes in between: the order of Fields is kept all the same.
  result.fields.push_back(make_field("spectrum/power",
                                     {Axis{"frequency", "cycles/T", "frequency", std::vector<double>{0, 0.5, 1}}}, "1",
                                     "power", {1, 2, 3}));
  result.fields.push_back({"offset_trace/argmax",
                           {layer, head},
                           "token",
                           "offset of the maximum",
                           std::vector<std::int64_t>{-1, 1, 0, -2, 2, std::numeric_limits<std::int64_t>::min()},
                           {},
                           {}});
  result.fields.push_back(
      {"offset_trace/label", {head}, "1", "name of a head", std::vector<std::string>{"a", "", "Wörter 語"}, {}, {}});
  result.fields.push_back({"offset_trace/total", {}, "1", "a single value", std::vector<double>{42.5}, {}, {}});
  result.fields.push_back(make_field("spectrum/by_model",
                                     {Axis{"model", "1", "model", std::vector<std::string>{"bert", "roberta"}}}, "1",
                                     "by model", {1, 2}));
  result.fields.push_back(
      make_field("spectrum/empty", {Axis{"none", "1", "nothing", std::vector<std::int64_t>{}}}, "1", "empty", {}));
  result.provenance = {{"version", std::string("0.1.0")},
                       {"command", std::string("headwave traces --model m")},
                       {"seed", std::int64_t{3}},
                       {"wall_time_s", 1.5},
                       {"config", std::string(100'000, '{')}};
  return result;
}

Result large_result() {
  Result result = small_result();
  const std::vector<Axis> axes = {document_axis(3), layer_axis(4), head_axis(5), offset_axis("offset", -63, 64)};
  std::vector<double> values(3 * 4 * 5 * 128);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i));
  result.fields.push_back(make_field("documents/trace", axes, "1", "traces", values));
  return result;
}

bool same(double a, double b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

void check_same(const Axis& a, const Axis& b) {
  CHECK(a.name == b.name);
  CHECK(a.unit == b.unit);
  CHECK(a.long_name == b.long_name);
  CHECK(a.values == b.values);
}

void check_same(const Field& a, const Field& b) {
  INFO(a.name);
  CHECK(a.name == b.name);
  CHECK(a.unit == b.unit);
  CHECK(a.long_name == b.long_name);
  CHECK(a.flag_meanings == b.flag_meanings);
  CHECK(a.attributes == b.attributes);
  REQUIRE(a.values.index() == b.values.index());
  REQUIRE(a.axes.size() == b.axes.size());
  for (std::size_t i = 0; i < a.axes.size(); ++i) check_same(a.axes[i], b.axes[i]);
  if (const auto* doubles = std::get_if<std::vector<double>>(&a.values))
    CHECK(std::equal(doubles->begin(), doubles->end(), b.doubles().begin(), b.doubles().end(), same));
  else
    CHECK(a.values == b.values);
}

void check_same(const Result& a, const Result& b) {
  CHECK(a.title == b.title);
  CHECK(a.provenance == b.provenance);
  REQUIRE(a.fields.size() == b.fields.size());
  for (std::size_t i = 0; i < a.fields.size(); ++i) check_same(a.fields[i], b.fields[i]);
}

// The Field that must not be writable, beside one that is.
void refuse(const Field& field, const std::string& why) {
  const TemporaryFolder folder;
  Result result = small_result();
  result.fields.push_back(field);
  INFO(field.name);
  CHECK_THROWS_AS(write_result(result, folder / "r.h5"), ShapeError);
  CHECK_THROWS_WITH(write_result(result, folder / "r.h5"), ContainsSubstring(why));
  CHECK(std::filesystem::is_empty(folder.path()));
}

}  // namespace

TEST_CASE("result file: a round trip changes nothing") {
  const TemporaryFolder folder;
  for (const Result& result : {small_result(), large_result(), Result{"nothing", {}, {}}}) {
    write_result(result, folder / "r.h5");
    check_same(result, read_result(folder / "r.h5"));
  }
}

TEST_CASE("result file: some Fields of an open file, and no others") {
  const TemporaryFolder folder;
  const Result result = small_result();
  write_result(result, folder / "r.h5");
  const Hdf5File file(folder / "r.h5");
  const Field& last = result.fields.back();
  const Result read = read_result(file, {"absent/field", last.name});
  REQUIRE(read.fields.size() == 1);
  check_same(last, read.fields.front());
  CHECK(read.provenance == result.provenance);
  CHECK(read_result(file, {}).fields.empty());
}

TEST_CASE("result file: equal results are equal bytes") {
  const TemporaryFolder folder;
  write_result(large_result(), folder / "a.h5");
  write_result(large_result(), folder / "b.h5");
  CHECK(sha256_of_file(folder / "a.h5") == sha256_of_file(folder / "b.h5"));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
}

TEST_CASE("result file: layout, attributes and order as the format says") {
  const TemporaryFolder folder;
  write_result(large_result(), folder / "r.h5");
  const Hdf5File file(folder / "r.h5");
  std::vector<std::string> groups, traces;
  for (const Hdf5Node& node : file.tree()) {
    if (node.kind == "group" && node.path != "/") groups.push_back(node.path);
    if (node.path.starts_with("/offset_trace/")) traces.push_back(node.path.substr(14));
  }
  CHECK(groups == std::vector<std::string>{"/offset_trace", "/spectrum", "/documents", "/provenance"});
  CHECK(traces ==
        std::vector<std::string>{"layer", "head", "offset", "mean_weight", "kind", "argmax", "label", "total"});
  CHECK(file.scales("/offset_trace/mean_weight") == std::vector<std::string>{"layer", "head", "offset"});
  CHECK(file.node("/documents/trace").storage == "chunks (3, 4, 5, 128), shuffle, gzip 2, fletcher32");
  CHECK(file.node("/offset_trace/mean_weight").storage == "contiguous");
  const Attributes root = file.attributes("/");
  CHECK(std::get<std::string>(root.at("source")) == "headwave 0.1.0");
  CHECK(std::get<std::string>(root.at("history")) == "headwave traces --model m");
  CHECK(std::get<std::int64_t>(root.at("schema_version")) == 2);
  CHECK(std::get<std::int64_t>(root.at("complete")) == 1);
  const Attributes group = file.attributes("/offset_trace");
  CHECK(std::get<std::string>(group.at("signal")) == "mean_weight");
  CHECK(file.attribute_texts("/offset_trace", "axes") == std::vector<std::string>{"layer", "head", "offset"});
  const Attributes trace = file.attributes("/offset_trace/mean_weight");
  CHECK(std::get<std::string>(trace.at("units")) == "1");
  CHECK(std::isnan(std::get<std::vector<double>>(trace.at("_FillValue")).at(0)));
  CHECK_FALSE(file.attributes("/offset_trace/offset").contains("_FillValue"));
  const Attributes kind = file.attributes("/offset_trace/kind");
  CHECK(std::get<std::string>(kind.at("flag_meanings")) == "undefined next_to_left left");
  CHECK(std::get<std::vector<double>>(kind.at("flag_values")) == std::vector<double>{0, 1, 2});
  CHECK(file.node("/offset_trace/kind").dtype == "uint8");
}

TEST_CASE("result file: texts are stored as valid UTF-8 without zero bytes") {
  const TemporaryFolder folder;
  Result result;
  result.fields.push_back({"tokens/text",
                           {head_axis(3)},
                           "1",
                           "tokens",
                           std::vector<std::string>{std::string("a\0b", 3), "\xff", "\xE8\xAA"},
                           {},
                           {}});
  write_result(result, folder / "r.h5");
  const Result read = read_result(folder / "r.h5");
  CHECK(std::get<std::vector<std::string>>(read.at("tokens/text").values) ==
        std::vector<std::string>{"a\u2400b", "\uFFFD", "\uFFFD"});
}

TEST_CASE("result file: chunks are at most 1 MB and follow the last axes") {
  CHECK(result_chunks({}, 8).empty());
  CHECK(result_chunks({512}, 8).empty());
  CHECK(result_chunks({513}, 8) == std::vector<Index>{513});
  CHECK(result_chunks({1'000'000}, 8) == std::vector<Index>{125'000});
  CHECK(result_chunks({12, 12, 512, 512}, 8) == std::vector<Index>{1, 1, 244, 512});
  CHECK(result_chunks({100, 12, 12, 1023}, 8) == std::vector<Index>{1, 1, 12, 1023});
  CHECK(result_chunks({100, 12, 12, 21}, 8) == std::vector<Index>{2, 12, 12, 21});
  CHECK(result_chunks({0, 12}, 8).empty());
}

TEST_CASE("result file: what the format cannot hold is refused, and leaves no file") {
  const Axis head = head_axis(3);
  const std::vector<double> three = {1, 2, 3};
  refuse(make_field("offset_trace/x", {head_axis(2)}, "1", "", {1, 2}), "'head' has other values");
  Axis other_unit = head;
  other_unit.unit = "token";
  refuse(make_field("offset_trace/x", {other_unit}, "1", "", three), "'head' has other values or another unit");
  refuse(make_field("offset_trace/mean_weight", {head}, "1", "", three), "two Fields");
  refuse(make_field("offset_trace/head", {head}, "1", "", three), "'offset_trace/head': a Field and an axis");
  refuse(make_field("offset_trace", {head}, "1", "", three), "group/quantity");
  refuse(make_field("a/b/c", {head}, "1", "", three), "group/quantity");
  refuse(make_field("provenance/x", {head}, "1", "", three), "group/quantity");
  refuse({"a/x", {head}, "1", "", std::vector<double>{1}, {}, {}}, "span 3 entries, but it has 1 values");
}

TEST_CASE("result file: the same axis name may differ between groups") {
  const TemporaryFolder folder;
  Result result;
  result.fields.push_back(make_field("a/x", {head_axis(2)}, "1", "", {1, 2}));
  result.fields.push_back(make_field("b/x", {head_axis(3)}, "1", "", {1, 2, 3}));
  write_result(result, folder / "r.h5");
  CHECK(read_result(folder / "r.h5").at("b/x").axes[0].size() == 3);
}

TEST_CASE("result file: a folder that is missing") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(write_result(small_result(), folder / "none/r.h5"), IoError);
  CHECK_THROWS_AS(read_result(folder / "none.h5"), IoError);
}

TEST_CASE("result file: an older result stays until the new one is whole") {
  const TemporaryFolder folder;
  write_result(small_result(), folder / "r.h5");
  Result broken = large_result();
  broken.fields.push_back(broken.fields.front());
  CHECK_THROWS_WITH(write_result(broken, folder / "r.h5"),
                    ContainsSubstring("write_result: 'offset_trace/mean_weight': two Fields have this name"));
  CHECK(read_result(folder / "r.h5").fields.size() == small_result().fields.size());
}

TEST_CASE("result file: files that are no result of ours are refused") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(read_result(repository_file("tests/golden/hdf5_sample.h5")),
                    ContainsSubstring("not a headwave result"));
  std::ofstream(folder / "text.h5") << "text";
  CHECK_THROWS_AS(read_result(folder / "text.h5"), FormatError);
  CHECK_THROWS_WITH(read_result(repository_file("tests/golden/result_unfinished.h5")),
                    ContainsSubstring("not finished"));
  CHECK_THROWS_WITH(read_result(repository_file("tests/golden/result_newer.h5")),
                    ContainsSubstring("newer than this headwave"));
  CHECK_THROWS_AS(read_result(repository_file("tests/golden/result_no_scales.h5")), FormatError);
}

TEST_CASE("result file: damage anywhere is found, and no byte of it reaches the library") {
  const TemporaryFolder folder;
  int refused = 0;
  std::string whole;
  for (Result result : {small_result(), large_result()}) {
    result.provenance.erase("config");  // of so long a text that damage would hardly ever be elsewhere
    write_result(result, folder / "r.h5");
    whole = file_bytes(folder / "r.h5");
    for (std::size_t at = 0; at < whole.size(); at += 1 + whole.size() / 600) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (at % 2 == 0 ? 1 : 0x55));
      std::ofstream(folder / "d.h5", std::ios::binary) << damaged;
      CAPTURE(at);
      CHECK_THROWS_AS(require_sealed(folder / "d.h5"), FormatError);
      ++refused;
    }
  }
  CHECK(refused > 500);
  std::ofstream(folder / "d.h5", std::ios::binary) << whole.substr(0, whole.size() / 2);
  CHECK_THROWS_AS(read_result(folder / "d.h5"), FormatError);
}

TEST_CASE("result file: one whose values were changed is refused, whatever is read of it") {
  const TemporaryFolder folder;
  const auto file = folder / "r.h5";
  const Result result = large_result();
  write_result(result, file);
  CHECK_NOTHROW(require_sealed(file));
  // As any program does it: to the letter of another value, over the bytes of a small array that lies as it is.
  std::string bytes = file_bytes(file);
  const std::vector<double>& values = result.at("offset_trace/mean_weight").doubles();
  const std::size_t at = bytes.find(std::string(reinterpret_cast<const char*>(values.data()), 4 * sizeof(double)));
  REQUIRE(at != bytes.npos);
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  std::ofstream(file, std::ios::binary) << bytes;
  const std::string problem =
      "r.h5: was changed or damaged after it was written: the digest at its end does not match its content; replace it "
      "by an intact copy, or remove it and make it again";
  CHECK_THROWS_WITH(read_result(file), ContainsSubstring(problem));
  const Hdf5File open(file);
  CHECK_THROWS_WITH(require_sealed(file), ContainsSubstring(problem));
  CHECK_THROWS_WITH(read_result(open, {"offset_trace/kind"}), ContainsSubstring(problem));
}

TEST_CASE("result file: attributes whose bytes were changed are told by the digest of the file") {
  const TemporaryFolder folder;
  for (const char* text : {"Offset traces of a tiny model", "headwave traces", "no pair at that offset", "cycles/T"}) {
    CAPTURE(text);
    write_result(small_result(), folder / "r.h5");
    std::string bytes = file_bytes(folder / "r.h5");
    const std::size_t at = bytes.find(text);
    REQUIRE(at != bytes.npos);
    ++bytes[at];
    std::ofstream(folder / "r.h5", std::ios::binary) << bytes;
    CHECK_THROWS_WITH(read_result(folder / "r.h5"),
                      ContainsSubstring("the digest at its end does not match its content"));
  }
}

namespace {

/// Changes a file as any program does that knows HDF5.
void change_file(const std::filesystem::path& path, const std::function<bool(hid_t file)>& make) {
  const Hdf5Session session;
  const Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
  REQUIRE(file.valid());
  REQUIRE(make(file.id()));
}

bool add_attribute(hid_t file, const char* object, const char* name) {
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Hdf5Handle attribute(
      H5Acreate_by_name(file, object, name, H5T_NATIVE_DOUBLE, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  const double value = 7;
  return attribute.valid() && H5Awrite(attribute.id(), H5T_NATIVE_DOUBLE, &value) >= 0;
}

}  // namespace

TEST_CASE("result file: arrays that another program moved or removed are told") {
  struct Change {
    const char* told;
    std::function<bool(hid_t file)> make;  ///< gives whether the library did it
  };
  const auto is_moved = [](hid_t file, const char* from, const char* to) {
    return H5Lmove(file, from, file, to, H5P_DEFAULT, H5P_DEFAULT) >= 0;
  };
  const std::vector<Change> changes = {
      {"/offset_trace/argmax: cannot be opened",
       [&](hid_t file) { return is_moved(file, "offset_trace/argmax", "offset_trace/y"); }},
      {"/spectrum/power: ", [](hid_t file) { return H5Ldelete(file, "spectrum/power", H5P_DEFAULT) >= 0; }},
  };
  const TemporaryFolder folder;
  for (const Change& change : changes) {
    CAPTURE(change.told);
    write_result(small_result(), folder / "r.h5");
    change_file(folder / "r.h5", change.make);
    CHECK_THROWS_WITH(read_result(folder / "r.h5"), ContainsSubstring(change.told));
    CHECK_THROWS_WITH(require_sealed(folder / "r.h5"), ContainsSubstring("the digest at its end is missing"));
  }
}

TEST_CASE("result file: what others add, of any kind and anywhere, is read, and no longer called whole") {
  const std::vector<std::function<bool(hid_t file)>> additions = {
      [](hid_t file) { return add_attribute(file, "/", "note"); },
      [](hid_t file) { return add_attribute(file, "provenance", "note"); },
      [](hid_t file) { return add_attribute(file, "spectrum", "note"); },
      [](hid_t file) { return add_attribute(file, "spectrum/power", "note"); },
      [](hid_t file) { return add_attribute(file, "spectrum/frequency", "note"); },
      [](hid_t file) {
        const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
        return Hdf5Handle(H5Dcreate2(file, "spectrum/more", H5T_NATIVE_DOUBLE, space.id(), H5P_DEFAULT, H5P_DEFAULT,
                                     H5P_DEFAULT),
                          H5Dclose)
            .valid();
      },
      [](hid_t file) {
        return Hdf5Handle(H5Gcreate2(file, "more", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose).valid();
      },
      [](hid_t file) {
        return H5Lcreate_external("other.h5", "/", file, "provenance/more", H5P_DEFAULT, H5P_DEFAULT) >= 0;
      },
      [](hid_t file) {
        return H5Lcreate_hard(file, "spectrum/power", file, "spectrum/again", H5P_DEFAULT, H5P_DEFAULT) >= 0;
      },
      [](hid_t file) {
        return H5Lcreate_soft("/spectrum/power", file, "spectrum/soft", H5P_DEFAULT, H5P_DEFAULT) >= 0;
      }};
  const TemporaryFolder folder;
  write_result(small_result(), folder / "r.h5");
  for (std::size_t i = 0; i < additions.size(); ++i) {  // one upon the other
    CAPTURE(i);
    change_file(folder / "r.h5", additions[i]);
    CHECK_THROWS_WITH(require_sealed(folder / "r.h5"),
                      ContainsSubstring("another program changed the file"));  // HDF5 cut the digest off
    CHECK(read_result(folder / "r.h5").fields.size() == small_result().fields.size());
  }
}

TEST_CASE("result file: chunks of every shape, cut off at an array's end too") {
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
