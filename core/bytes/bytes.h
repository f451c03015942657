#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../numbers/matrix.h"
#include "members.h"

namespace headwave {

/// Moves the entries of `more` to the end of `list`.
template <class T>
void append(std::vector<T>& list, std::vector<T>&& more) {
  list.insert(list.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  more.clear();
}

/// Writes values one after another as they are in memory, for processes of the same build on the same kind of
/// machine. Not a format for files that are kept.
class ByteWriter {
 public:
  /// Receives bytes in pieces, so that they need not all be in memory.
  using Sink = std::function<void(std::string_view)>;

  ByteWriter() = default;
  /// Passes bytes to a sink in pieces; flush() passes the last piece.
  explicit ByteWriter(Sink sink) : sink_(std::move(sink)) {}

  /// The bytes not yet handed to the sink.
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] std::string taken() { return std::move(bytes_); }
  void flush();

  void put(const void* first, std::size_t size);

  template <class T>
  void write(const T& value) {
    if constexpr (HasMembers<T>) {
      std::apply([this](const auto&... member) { (this->write(member), ...); }, members_of(value));
    } else {
      static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
      put(&value, sizeof value);
    }
  }
  template <class Scalar, int Rows, int Columns, int Options>
  void write(const Eigen::Matrix<Scalar, Rows, Columns, Options>& matrix) {
    write<std::int64_t>(matrix.rows());
    write<std::int64_t>(matrix.cols());
    put(matrix.data(), static_cast<std::size_t>(matrix.size()) * sizeof(Scalar));
  }
  void write(const std::string& text) {
    write<std::uint64_t>(text.size());
    put(text.data(), text.size());
  }
  template <class T>
  void write(const std::vector<T>& list) {
    write<std::uint64_t>(list.size());
    for (const T& value : list) write(value);
  }
  template <class T, std::size_t count>
  void write(const std::array<T, count>& list) {
    for (const T& value : list) write(value);
  }
  template <class T>
  void write(const std::optional<T>& value) {
    write<std::uint8_t>(value ? 1 : 0);
    if (value) write(*value);
  }

 private:
  Sink sink_;
  std::string bytes_;
};

/// Reads what a ByteWriter wrote, in the same order. A size is trusted only if that many bytes follow, since
/// the bytes may come from a file.
class ByteReader {
 public:
  /// @param bytes  must outlive the reader
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  /// @throws FormatError if fewer than `size` bytes are left
  void get(void* first, std::size_t size);
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] std::string_view rest() const { return rest_; }

  /// @throws FormatError if the bytes do not hold such a value
  template <class T>
  T read() {
    T value{};
    read(value);
    return value;
  }
  template <class T>
  void read(T& value) {
    if constexpr (HasMembers<T>) {
      std::apply([this](auto&... member) { (this->read(member), ...); }, members_of(value));
    } else {
      static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
      get(&value, sizeof value);
    }
  }
  template <class Scalar, int Rows, int Columns, int Options>
  void read(Eigen::Matrix<Scalar, Rows, Columns, Options>& matrix) {
    const auto rows = read<std::int64_t>(), columns = read<std::int64_t>();
    require_matrix(rows, columns, Rows, Columns, sizeof(Scalar));
    matrix.resize(rows, columns);
    get(matrix.data(), static_cast<std::size_t>(matrix.size()) * sizeof(Scalar));
  }
  void read(std::string& text) {
    const auto size = read<std::uint64_t>();
    require(size);
    text.assign(rest_.substr(0, size));
    rest_.remove_prefix(size);
  }
  template <class T>
  void read(std::vector<T>& list) {
    const auto size = read<std::uint64_t>();
    require(size);  // every value takes a byte or more
    list.clear();
    for (std::uint64_t i = 0; i < size; ++i) list.push_back(read<T>());
  }
  template <class T, std::size_t count>
  void read(std::array<T, count>& list) {
    for (T& value : list) read(value);
  }
  template <class T>
  void read(std::optional<T>& value) {
    value.reset();
    if (read<std::uint8_t>() != 0) value = read<T>();
  }

 private:
  void require(std::uint64_t size) const;
  void require_matrix(std::int64_t rows, std::int64_t columns, int fixed_rows, int fixed_columns,
                      std::size_t entry) const;

  std::string_view rest_;
};

}  // namespace headwave
