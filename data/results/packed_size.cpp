#include "packed_size.h"

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

#include <zlib.h>

#include "result_layout.h"

namespace headwave {

namespace {

/// Bytes at or below this lie in the file as they are; that many at each place make the sample.
constexpr std::size_t least_bytes = 4096, sample_bytes = 1 << 16;

/// Bytes that shuffled and gzipped entries take.
template <class T>
std::size_t packed_bytes(std::span<const T> values) {
  const auto plain = std::as_bytes(values);
  std::vector<std::byte> shuffled(plain.size());
  for (std::size_t byte = 0; byte < sizeof(T); ++byte)
    for (std::size_t i = 0; i < values.size(); ++i) shuffled[byte * values.size() + i] = plain[i * sizeof(T) + byte];
  uLongf size = compressBound(plain.size());
  std::vector<std::byte> packed(size);
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(shuffled.data()),
            shuffled.size(), static_cast<int>(result_packing));
  return size;
}

template <class T>
double share_of(const std::vector<T>& values) {
  const std::size_t bytes = values.size() * sizeof(T);
  if (bytes <= least_bytes) return 1.0;
  const std::size_t entries = std::min(values.size(), sample_bytes / sizeof(T));
  const std::size_t last = values.size() - entries;
  double packed = 0, looked_at = 0;
  for (const std::size_t first : {std::size_t{0}, last / 2, last}) {
    packed += static_cast<double>(packed_bytes(std::span(values).subspan(first, entries)));
    looked_at += static_cast<double>(entries * sizeof(T));
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
