#include "json_object.h"

#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"

namespace headwave {

using nlohmann::json;

namespace {

[[noreturn]] void refuse(const std::string& place, const char* expected, const json& found) {
  throw FormatError(fmt::format("{}: expected {}, found {}", place, expected, kind_of(found)));
}

}  // namespace

std::string kind_of(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_string()) return "a string";
  return value.dump();  // null, true, false or a number
}

std::int64_t integer_of(const json& value, const std::string& place) {
  const bool too_large = value.is_number_unsigned() &&
                         value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  if (!value.is_number_integer() || too_large) refuse(place, "a whole number", value);
  return value.get<std::int64_t>();
}

const std::string& text_of(const json& value, const std::string& place) {
  if (!value.is_string()) refuse(place, "a string", value);
  return value.get_ref<const std::string&>();
}

JsonObject::JsonObject(const json& value, std::string place) : value_(value), place_(std::move(place)) {
  if (!value_.is_object()) refuse(place_, "an object", value_);
}

const json* JsonObject::find(const std::string& key) const {
  const auto found = value_.find(key);
  return found == value_.end() || found->is_null() ? nullptr : &*found;
}

const json& JsonObject::at(const std::string& key) const {
  const json* found = find(key);
  if (found == nullptr) throw FormatError(fmt::format("{}: '{}' is missing", place_, key));
  return *found;
}

JsonObject JsonObject::object(const std::string& key) const {
  return {at(key), place_ + ": " + key};
}

const std::vector<json>& JsonObject::list(const std::string& key) const {
  const json& found = at(key);
  if (!found.is_array()) refuse(place_ + ": " + key, "a list", found);
  return found.get_ref<const json::array_t&>();
}

std::string JsonObject::text(const std::string& key) const {
  return text_of(at(key), place_ + ": " + key);
}

std::string JsonObject::text(const std::string& key, const std::string& fallback) const {
  return has(key) ? text(key) : fallback;
}

std::optional<bool> JsonObject::optional_flag(const std::string& key) const {
  const json* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_boolean()) refuse(place_ + ": " + key, "true or false", *found);
  return found->get<bool>();
}

bool JsonObject::flag(const std::string& key, bool fallback) const {
  return optional_flag(key).value_or(fallback);
}

std::int64_t JsonObject::integer(const std::string& key) const {
  return integer_of(at(key), place_ + ": " + key);
}

std::int64_t JsonObject::integer(const std::string& key, std::int64_t fallback) const {
  return has(key) ? integer(key) : fallback;
}

}  // namespace headwave
