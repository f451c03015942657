#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../core/numbers/matrix.h"

namespace headwave {

/// Writes a .npy file, version 1.0, of numbers as they lie in memory: in C order and little-endian, unless the numbers lie
/// otherwise.
/// @param descr  "<f4"
template <class Number>
void write_npy(const std::filesystem::path& path, const std::vector<Index>& shape, const std::vector<Number>& values,
               const std::string& descr = "<f4", bool fortran_order = false) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({},), }}", descr,
                                   fortran_order ? "True" : "False", fmt::join(shape, ", "));
  header.resize(118 - 1, ' ');
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file << "\x93NUMPY" << '\x01' << '\0' << static_cast<char>(header.size()) << '\0' << header;
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(sizeof(Number) * values.size()));
}

}  // namespace headwave
