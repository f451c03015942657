#include "bytes.h"

#include <fmt/format.h>

#include "../errors/error.h"

namespace headwave {

namespace {

[[noreturn]] void refuse(const std::string& problem) {
  throw FormatError(
      fmt::format("stored sums of an unfinished run, or of a part of a divided run: {}: they are damaged, or another "
                  "version of headwave wrote them; run that part again",
                  problem));
}

}  // namespace

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
  if (size > rest_.size()) refuse(fmt::format("{} more bytes were expected, but {} are left", size, rest_.size()));
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
    refuse(fmt::format("a matrix of {} x {} does not fit into the {} bytes left", rows, columns, rest_.size()));
}

}  // namespace headwave
