#pragma once

#include <concepts>
#include <cstdint>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "field.h"

namespace headwave {

/// The entries of a Field, row-major, taken from whatever an analysis holds: a single value; a matrix, a vector or an
/// expression of Eigen; a range of any of these, one after the other, to any depth.
///
///     Entries(traces.weight)                                   // std::array<Matrix, 3>: (3, rows, columns)
///     Entries(spectrum.cross.real().transpose())               // row by row of what is written, however it is stored
///     Entries(heads | std::views::transform(&ChainHead::rank))  // one member of every struct
///
/// Floating-point numbers are kept as double, integers as int64, enumerations and uint8 as uint8, the rest as text.
class Entries {
 public:
  using Kinds = decltype(Field::values);

  template <class Values>
  requires(!std::same_as<Values, Entries>)
      Entries(const Values& values)  // NOLINT: implicit, it is how Fields are given
      : kinds_(std::vector<Stored<Values>>()) {
    put(values, std::get<std::vector<Stored<Values>>>(kinds_));
  }
  Entries(std::vector<double> values) : kinds_(std::move(values)) {}  // NOLINT: as above, without a copy

  [[nodiscard]] Kinds taken() && { return std::move(kinds_); }

 private:
  template <class Values>
  static constexpr bool is_eigen = requires(const Values& values) {
    []<class Derived>(const Eigen::MatrixBase<Derived>&) {}(values);
  };
  template <class Values>
  static constexpr bool is_text = std::is_convertible_v<const Values&, std::string>;

  /// Gives the type in which an entry is kept; never called.
  template <class Values>
  static auto stored() {
    if constexpr (is_eigen<Values> || std::is_floating_point_v<Values>)
      return double();  // NOLINT(bugprone-branch-clone): the branches differ in their type
    else if constexpr (is_text<Values>)
      return std::string();
    else if constexpr (std::is_enum_v<Values> || std::is_same_v<Values, std::uint8_t>)
      return std::uint8_t();
    else if constexpr (std::is_integral_v<Values>)
      return std::int64_t();
    else
      return stored<std::ranges::range_value_t<const Values>>();
  }
  template <class Values>
  using Stored = decltype(stored<Values>());

  template <class Values, class Entry>
  static void put(const Values& values, std::vector<Entry>& entries) {
    if constexpr (is_eigen<Values>) {
      const std::size_t first = entries.size();
      entries.resize(first + static_cast<std::size_t>(values.size()));
      Eigen::Map<Matrix>(entries.data() + first, values.rows(), values.cols()) = values.template cast<double>();
    } else if constexpr (std::ranges::range<const Values> && !is_text<Values>) {
      for (const auto& one : values) put(one, entries);
    } else {
      entries.push_back(static_cast<Entry>(values));
    }
  }

  Kinds kinds_;
};

}  // namespace headwave
