#include "bytes.h"

#include <fmt/format.h>

#include "../errors/error.h"

namespace headwave {

void ByteWriter::put(const void* first, std::size_t size) {
  constexpr std::size_t piece = std::size_t{1} << 20U;
  bytes_.append(static_cast<const char*>(first), size);
  if (sink_ && bytes_.size() >= piece) flush();
}

void ByteWriter::flush() {
  if (sink_) sink_(bytes_);
  bytes_.clear();
}

void ByteReader::require(std::uint64_t size) const {
  if (size > rest_.size())
    throw FormatError(
        fmt::format("bytes of a finding: {} more were expected, {} are left; they are cut short or of "
                    "another version",
                    size, rest_.size()));
}

void ByteReader::get(void* first, std::size_t size) {
  require(size);
  if (size > 0) std::memcpy(first, rest_.data(), size);
  rest_.remove_prefix(size);
}

void ByteReader::require_matrix(std::int64_t rows, std::int64_t columns, int fixed_rows, int fixed_columns,
                                std::size_t entry) const {
  const bool fits = rows >= 0 && columns >= 0 && (fixed_rows < 0 || rows == fixed_rows) &&
                    (fixed_columns < 0 || columns == fixed_columns);
  const auto most = static_cast<std::int64_t>(rest_.size() / entry);
  if (!fits || (rows > 0 && columns > most / rows))
    throw FormatError(fmt::format("bytes of a finding: a matrix of {} x {} cannot be in the {} bytes that are left",
                                  rows, columns, rest_.size()));
}

}  // namespace headwave
