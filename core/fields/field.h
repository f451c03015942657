#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "../numbers/matrix.h"

namespace headwave {

/// A remark about an array: a string, a number or a few numbers.
using Attribute = std::variant<std::string, double, std::int64_t, std::vector<double>>;
using Attributes = std::map<std::string, Attribute>;

/// The remark `name`, or `otherwise` if there is no such remark or it is not a string.
std::string attribute_text(const Attributes& attributes, const std::string& name, const std::string& otherwise = {});

/// One axis of a Field with its coordinates. Within one analysis, equally named axes have equal coordinates.
struct Axis {
  std::string name;       ///< in snake_case, for example "layer" or "offset"
  std::string unit;       ///< for example "1", "token" or "cycles/T"
  std::string long_name;  ///< for readers, for example "key position minus query position"
  std::variant<std::vector<double>, std::vector<std::int64_t>, std::vector<std::string>> values;

  [[nodiscard]] Index size() const;
};

/// A named array with units. Analyses return their results only as Fields. The result file, the CSV file and
/// the figures are all made from Fields, so each quantity is described only once.
struct Field {
  std::string name;        ///< "analysis/quantity", for example "offset_trace/mean_weight"
  std::vector<Axis> axes;  ///< outermost axis first; no axes: the Field is a single value
  std::string unit;        ///< for example "1", "token", "rad" or "cycles/T"
  std::string long_name;
  /// Row-major. NaN in doubles marks an undefined value. `attributes["undefined"]` then says why.
  std::variant<std::vector<double>, std::vector<std::int64_t>, std::vector<std::uint8_t>, std::vector<std::string>>
      values;
  std::vector<std::string> flag_meanings;  ///< the meanings of the values 0, 1, ... of a uint8 array
  Attributes attributes;                   ///< choices and remarks, for example the normalisation or the seed

  [[nodiscard]] Index size() const;  ///< the product of the axes' sizes
  void check_shape() const;          ///< @throws ShapeError if the number of values is not size()
  [[nodiscard]] const std::vector<double>& doubles() const;  ///< @throws ShapeError if the values are not doubles
  [[nodiscard]] const Axis& axis(std::string_view axis_name) const;  ///< @throws ShapeError if the axis is missing
  [[nodiscard]] std::string group() const;                           ///< "offset_trace" of "offset_trace/mean_weight"
  [[nodiscard]] std::string quantity() const;                        ///< "mean_weight" of "offset_trace/mean_weight"
};

/// The results of a job: Fields in the order in which analyses added them, and their provenance.
struct Result {
  std::string title;  ///< one line for readers
  std::vector<Field> fields;
  Attributes provenance;  ///< inputs with their sha256, options, seed, threads, version, wall time

  /// @returns the Field of that name, or nullptr
  [[nodiscard]] const Field* find(std::string_view name) const;
  /// @throws ShapeError naming the Field, if it is missing
  [[nodiscard]] const Field& at(std::string_view name) const;
};

/// An axis with the whole numbers first, first + 1, ..., last as coordinates. It is empty if last < first.
Axis counting_axis(std::string name, std::string unit, std::string long_name, Index first, Index last);

/// The axes that most Fields share.
Axis layer_axis(const std::vector<Index>& layers);  ///< the given layer numbers
Axis layer_axis(Index layers);                      ///< layers 0 .. layers-1
Axis head_axis(Index heads);
Axis document_axis(Index documents);
/// An axis with the offsets first .. last in tokens.
Axis offset_axis(std::string name, Index first, Index last);

/// Makes a single Field of doubles. Analyses make their Fields with the builder class Fields.
/// @throws ShapeError if the number of values is not the product of the axes' sizes
Field make_field(std::string name, std::vector<Axis> axes, std::string unit, std::string long_name,
                 std::vector<double> values);

void append(std::vector<Field>& fields, std::vector<Field> more);

}  // namespace headwave
