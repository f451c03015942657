#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "entries.h"
#include "field.h"

namespace headwave {

/// Builds the Fields of one analysis, each described once; remarks about a Field follow it.
///
///     Fields fields("head_types");
///     fields.flags("kind", {layer, head}, "what a head is called", types.kinds, {"other", "previous", "next"})
///         .note("threshold", 0.5);
///     fields.add("entropy", {layer, head}, "nat", "mean entropy of a query's attention", types.entropy,
///                "every key was masked");
///     fields.note_all("documents", types.documents);
///     return fields.taken();
///
/// undefined() and note() are about the Field that was added last.
class Fields {
 public:
  /// @param group  the first part of the Fields' names, "group/quantity"
  explicit Fields(std::string group);

  /// Adds the Field group/quantity.
  /// @param axes       outermost first; none: a single value
  /// @param values     row-major, one for each place on the axes
  /// @param undefined  what a NaN means, whether or not there is one; empty: there is none
  /// @throws ShapeError if the number of values is not the product of the axes' sizes
  Fields& add(const std::string& quantity, std::vector<Axis> axes, std::string unit, std::string long_name,
              Entries values, const std::string& undefined = "");

  /// Adds a Field of flags: numbers from 0 with a meaning each.
  /// @param values    enumerations or uint8
  /// @param meanings  what 0, 1, ... stand for
  /// @throws ShapeError as add() does, and if a value is not a flag or has no meaning
  Fields& flags(const std::string& quantity, std::vector<Axis> axes, std::string long_name, Entries values,
                std::vector<std::string> meanings);

  /// Adds the Fields group/quantity_lower and group/quantity_upper: the interval over documents of a quantity
  /// without unit.
  /// @param why  where it is undefined
  Fields& interval(const std::string& quantity, const std::vector<Axis>& axes, Entries lower, Entries upper,
                   const std::string& why);

  /// Adds a NaN without axes for a quantity that could not be computed.
  Fields& absent(const std::string& quantity, std::string unit, std::string long_name, std::string why);

  /// Says what an undefined value of that Field means, whether or not there is one.
  Fields& undefined(std::string why);
  /// The same, but only if there is a NaN.
  Fields& undefined_if_any(std::string why);
  /// Adds any other remark: the normalisation, the seed. A remark of the same name is replaced.
  /// @throws ShapeError if there is no Field yet
  Fields& note(std::string name, Attribute value);
  Fields& note(std::string name, std::integral auto value) { return note(std::move(name), whole(value)); }

  /// Adds a remark to every Field of the group, later ones too; a Field's own remark of that name stays.
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
