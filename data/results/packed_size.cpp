#include "packed_size.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include <zlib.h>

#include "result_layout.h"

namespace headwave {

namespace {

/// Bytes at or below this lie in the file as they are; that many at each place make the sample.
constexpr std::size_t least_bytes = 4096, sample_bytes = 1 << 16;

/// All first bytes of the entries, then all second ones: HDF5's shuffle.
std::vector<Bytef> shuffled(const Bytef* bytes, std::size_t entries, std::size_t entry) {
  std::vector<Bytef> result(entries * entry);
  for (std::size_t i = 0; i < entries; ++i)
    for (std::size_t byte = 0; byte < entry; ++byte) result[byte * entries + i] = bytes[i * entry + byte];
  return result;
}

template <class T>
double share_of(const std::vector<T>& values) {
  const std::size_t bytes = values.size() * sizeof(T);
  if (bytes <= least_bytes) return 1.0;
  const std::size_t entries = std::min(values.size(), sample_bytes / sizeof(T));
  const std::size_t last = values.size() - entries;
  double packed = 0, looked_at = 0;
  for (const std::size_t first : {std::size_t{0}, last / 2, last}) {
    const auto* begin = reinterpret_cast<const Bytef*>(values.data() + first);  // NOLINT: bytes of what is stored
    const std::vector<Bytef> plain = shuffled(begin, entries, sizeof(T));
    uLongf size = compressBound(static_cast<uLong>(plain.size()));
    std::vector<Bytef> room(size);
    if (compress2(room.data(), &size, plain.data(), static_cast<uLong>(plain.size()),
                  static_cast<int>(result_packing)) != Z_OK)
      return 1.0;
    packed += static_cast<double>(size);
    looked_at += static_cast<double>(plain.size());
    if (last == 0) break;
  }
  return std::min(1.0, packed / looked_at);
}

}  // namespace

double packed_share(const Field& field) {
  return std::visit(
      [](const auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_arithmetic_v<T>)
          return share_of(values);
        else
          return 1.0;
      },
      field.values);
}

}  // namespace headwave
