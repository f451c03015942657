#include "fields.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace headwave {

Fields::Fields(std::string group) : group_(std::move(group)) {}

Fields& Fields::add(const std::string& quantity, std::vector<Axis> axes, std::string unit, std::string long_name,
                    Entries values, const std::string& undefined) {
  Field field{group_ + "/" + quantity, std::move(axes), std::move(unit), std::move(long_name), {}, {}, {}};
  field.values = std::move(values).taken();
  field.check_shape();
  if (!undefined.empty()) field.attributes["undefined"] = undefined;
  fields_.push_back(std::move(field));
  return *this;
}

Fields& Fields::flags(const std::string& quantity, std::vector<Axis> axes, std::string long_name, Entries values,
                      std::vector<std::string> meanings) {
  add(quantity, std::move(axes), "1", std::move(long_name), std::move(values));
  Field& field = last();
  const auto* flags = std::get_if<std::vector<std::uint8_t>>(&field.values);
  if (flags == nullptr)
    throw ShapeError(
        fmt::format("{}: expected flags (an enumeration or uint8), found values of another type", field.name));
  for (const std::uint8_t flag : *flags)
    if (flag >= meanings.size())
      throw ShapeError(fmt::format("{}: expected flags below {}, the number of meanings, found {}", field.name,
                                   meanings.size(), flag));
  field.flag_meanings = std::move(meanings);
  return *this;
}

Fields& Fields::interval(const std::string& quantity, const std::vector<Axis>& axes, Entries lower, Entries upper,
                         const std::string& why) {
  add(quantity + "_lower", axes, "1", "lower end of the interval of " + quantity + " over documents", std::move(lower))
      .undefined(why);
  return add(quantity + "_upper", axes, "1", "upper end of the interval of " + quantity + " over documents",
             std::move(upper))
      .undefined(why);
}

Fields& Fields::absent(const std::string& quantity, std::string unit, std::string long_name, std::string why) {
  add(quantity, {}, std::move(unit), std::move(long_name), std::numeric_limits<double>::quiet_NaN());
  return undefined(std::move(why));
}

Fields& Fields::undefined(std::string why) {
  return note("undefined", std::move(why));
}

Fields& Fields::undefined_if_any(std::string why) {
  const std::vector<double>& values = last().doubles();
  const bool any = std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
  return any ? undefined(std::move(why)) : *this;
}

Fields& Fields::note(std::string name, Attribute value) {
  last().attributes.insert_or_assign(std::move(name), std::move(value));
  return *this;
}

Fields& Fields::note_all(std::string name, Attribute value) {
  of_all_.insert_or_assign(std::move(name), std::move(value));
  return *this;
}

Fields& Fields::append(std::vector<Field> more) {
  headwave::append(fields_, std::move(more));
  return *this;
}

std::vector<Field> Fields::taken() {
  for (Field& field : fields_)
    if (field.group() == group_) field.attributes.insert(of_all_.begin(), of_all_.end());
  return std::exchange(fields_, {});
}

Field& Fields::last() {
  if (fields_.empty()) throw ShapeError(fmt::format("{}: expected a Field before its remark, found none", group_));
  return fields_.back();
}

}  // namespace headwave
