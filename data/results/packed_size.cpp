#include "packed_size.h"

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

#include "chunk_packer.h"

namespace headwave {

namespace {

/// Bytes at or below this lie in the file as they are; that many at each place make the sample.
constexpr std::size_t least_bytes = 4096, sample_bytes = 1 << 16;

template <class T>
double share_of(const std::vector<T>& values) {
  const std::size_t bytes = values.size() * sizeof(T);
  if (bytes <= least_bytes) return 1.0;
  const std::size_t entries = std::min(values.size(), sample_bytes / sizeof(T));
  const std::size_t last = values.size() - entries;
  ChunkPacker packer(sizeof(T));
  double packed = 0, looked_at = 0;
  for (const std::size_t first : {std::size_t{0}, last / 2, last}) {
    const auto plain = std::as_bytes(std::span(values).subspan(first, entries));
    packed += static_cast<double>(packer.packed(plain).size());
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
