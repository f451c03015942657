#include "right_result.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "../../core/errors/error.h"
#include "../../data/results/result_file.h"

using namespace headwave;

namespace {

bool same(const Axis& a, const Axis& b) {
  return a.name == b.name && a.unit == b.unit && a.long_name == b.long_name && a.values == b.values;
}

// To the bit: NaN is NaN.
bool same_values(const Field& a, const Field& b) {
  const auto* doubles = std::get_if<std::vector<double>>(&a.values);
  if (doubles == nullptr) return a.values == b.values;
  const auto* others = std::get_if<std::vector<double>>(&b.values);
  return others != nullptr && doubles->size() == others->size() &&
         std::memcmp(doubles->data(), others->data(), doubles->size() * sizeof(double)) == 0;
}

bool same(const Field& a, const Field& b) {
  return a.name == b.name && a.unit == b.unit && a.long_name == b.long_name && a.flag_meanings == b.flag_meanings &&
         a.attributes == b.attributes && same_values(a, b) &&
         std::equal(a.axes.begin(), a.axes.end(), b.axes.begin(), b.axes.end(),
                    [](const Axis& one, const Axis& other) { return same(one, other); });
}

}  // namespace

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_result(const std::filesystem::path& file, const Result& right) {
  try {
    const Result read = read_result(file);
    return read.title == right.title &&
           std::equal(read.fields.begin(), read.fields.end(), right.fields.begin(), right.fields.end(),
                      [](const Field& one, const Field& other) { return same(one, other); });
  } catch (const Error&) {
    return false;
  }
}
