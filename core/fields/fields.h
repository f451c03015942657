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

/// Collects the entries of a Field, row-major, from what an analysis holds. This is a single value, a matrix,
/// a vector or an expression of Eigen, or a range of any of these. Ranges may be nested, and the entries of
/// their elements follow one another.
///
///     Entries(traces.weight)                                   // std::array<Matrix, 3>: (3, rows, columns)
///     Entries(spectrum.cross.real().transpose())               // rows of the expression, whatever its storage order
///     Entries(heads | std::views::transform(&ChainHead::rank))  // one member of every struct
///
/// Floating-point numbers become double, integers become int64, enumerations and uint8 become uint8, and all
/// other types become strings.
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

/// Builds the Fields of one analysis. Remarks about a Field are added right after the Field:
///
///     Fields fields("head_types");
///     fields.flags("kind", {layer, head}, "what a head is called", types.kinds, {"other", "previous", "next"})
///         .note("threshold", 0.5);
///     fields.add("entropy", {layer, head}, "nat", "mean entropy of a query's attention", types.entropy,
///                "every key was masked");
///     fields.note_all("documents", types.documents);
///     return fields.taken();
///
/// undefined() and note() apply to the Field that was added last.
class Fields {
 public:
  /// @param group  the first part of the Fields' names, "group/quantity"
  explicit Fields(std::string group);

  /// Adds the Field group/quantity.
  /// @param axes       outermost axis first; no axes: the Field is a single value
  /// @param values     row-major, one value for each combination of coordinates
  /// @param undefined  remark on what a NaN means, kept even if no value is NaN now; empty: no remark
  /// @throws ShapeError if the number of values is not the product of the axes' sizes
  Fields& add(const std::string& quantity, std::vector<Axis> axes, std::string unit, std::string long_name,
              Entries values, const std::string& undefined = "");

  /// Adds a Field of flags. A flag is a number 0, 1, ... that has a meaning.
  /// @param values    flags as enumerations or uint8
  /// @param meanings  the meanings of 0, 1, ...
  /// @throws ShapeError as add(), and if a value is not a flag or has no meaning
  Fields& flags(const std::string& quantity, std::vector<Axis> axes, std::string long_name, Entries values,
                std::vector<std::string> meanings);

  /// Adds the Fields group/quantity_lower and group/quantity_upper: the ends of the interval over documents
  /// of a quantity without unit.
  /// @param why  remark on why ends are undefined
  Fields& interval(const std::string& quantity, const std::vector<Axis>& axes, Entries lower, Entries upper,
                   const std::string& why);

  /// Adds a Field whose only value is NaN, for a quantity that could not be computed.
  Fields& absent(const std::string& quantity, std::string unit, std::string long_name, std::string why);

  /// Adds a remark on what a NaN in the last Field means, even if no value is NaN now.
  Fields& undefined(std::string why);
  /// Does the same as undefined(), but only if a value is NaN now.
  Fields& undefined_if_any(std::string why);
  /// Adds another remark about the last Field. It replaces a remark of the same name.
  /// @throws ShapeError if there is no Field yet
  Fields& note(std::string name, Attribute value);
  Fields& note(std::string name, std::integral auto value) { return note(std::move(name), whole(value)); }

  /// Adds a remark to every Field of the group, even to Fields that are added later. If a Field has its own
  /// remark of that name, its own remark stays.
  Fields& note_all(std::string name, Attribute value);
  Fields& note_all(std::string name, std::integral auto value) { return note_all(std::move(name), whole(value)); }

  /// Appends Fields of another group.
  Fields& append(std::vector<Field> more);

  /// Hands over all Fields in the order in which they were added.
  std::vector<Field> taken();

 private:
  static Attribute whole(std::integral auto value) { return static_cast<std::int64_t>(value); }
  Field& last();

  std::string group_;
  std::vector<Field> fields_;
  Attributes of_all_;
};

}  // namespace headwave
