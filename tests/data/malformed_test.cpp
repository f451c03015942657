#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "../../core/errors/error.h"
#include "../../data/arrays/npy.h"
#include "../../data/arrays/safetensors.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../catch.h"
#include "test_files.h"

using namespace headwave;

#ifdef HEADWAVE_SANITIZED
// The HDF5 library forgets memory when it gives up on a damaged file.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libhdf5";
}
#endif

namespace {

struct Case {
  std::string file, kind, expected, why;
};

std::vector<Case> cases_of(const std::vector<std::string>& kinds) {
  std::ifstream manifest(shared_file("malformed/manifest.tsv"));
  std::vector<Case> cases;
  for (std::string line; std::getline(manifest, line);) {
    std::istringstream cells(line);
    Case one;
    for (std::string* cell : {&one.file, &one.kind, &one.expected, &one.why}) std::getline(cells, *cell, '\t');
    if (std::find(kinds.begin(), kinds.end(), one.kind) != kinds.end()) cases.push_back(one);
  }
  return cases;
}

// What reading came to: "" where it worked, else the message. Anything but a headwave Error gets through and fails the
// test.
template <class Read>
std::string refusal(Read read) {
  try {
    read();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

template <class Read>
void walk(const std::vector<std::string>& kinds, std::size_t at_least, Read read) {
  const std::vector<Case> cases = cases_of(kinds);
  CHECK(cases.size() >= at_least);
  for (const Case& one : cases) {
    const std::string problem = refusal([&] { read(shared_file("malformed/" + one.file)); });
    INFO(one.file << " is " << one.expected << " (" << one.why << "), came: " << (problem.empty() ? "read" : problem));
    if (one.expected == "valid") CHECK(problem.empty());
    if (one.expected == "reject") CHECK_FALSE(problem.empty());
    // One line, and it names the file.
    CHECK(problem.find('\n') == std::string::npos);
    if (!problem.empty()) CHECK(problem.find(std::filesystem::path(one.file).filename().string()) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("every safetensors file of the malformed collection is read or refused as it should be") {
  NEEDS_SHARED("malformed/manifest.tsv");
  walk({"safetensors"}, 78, [](const std::filesystem::path& path) {
    const SafetensorsFile file(path);
    std::string all;
    for (const TensorInfo& tensor : file.tensors())
      for (const std::byte byte : file.bytes(tensor)) all.push_back(static_cast<char>(byte));
    std::ifstream stream(path, std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(stream), {}};
    CHECK(std::string_view(content).ends_with(all));  // tensors fill what follows the header
  });
}

TEST_CASE("every npy file of the malformed collection is read or refused as it should be") {
  NEEDS_SHARED("malformed/manifest.tsv");
  walk({"npy", "npz"}, 60, [](const std::filesystem::path& path) {
    const NpyInfo info = npy_info(path);
    const std::vector<float> values = npy_floats(path);
    Index entries = 1;
    for (const Index size : info.shape) entries *= size;
    CHECK(static_cast<Index>(values.size()) == entries);
  });
}

TEST_CASE("every HDF5 file of the malformed collection is listed, and its numbers read or refused") {
  NEEDS_SHARED("malformed/manifest.tsv");
  std::size_t numbers = 0;
  std::size_t texts = 0;
  std::size_t axes = 0;
  walk({"hdf5"}, 100, [&](const std::filesystem::path& path) {
    const Hdf5File file(path);
    for (const Hdf5Node& node : file.tree()) {
      if (node.kind != "dataset") continue;
      refusal([&] { numbers += file.doubles(node.path).size(); });
      refusal([&] { numbers += file.integers(node.path).size(); });
      refusal([&] { texts += file.strings(node.path).size(); });
      refusal([&] { axes += file.scales(node.path).size(); });
    }
  });
  CHECK(numbers > 10'000);
  CHECK(texts > 100);
  CHECK(axes > 100);
}
