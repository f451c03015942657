#include "json_file.h"

#include <limits>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "file_bytes.h"
#include "printable.h"
#include "unicode_text.h"

namespace headwave {

using nlohmann::json;

json json_of_text(std::string_view text, const std::string& name) {
  const auto refuse = [&](std::size_t byte, std::string_view reason) {
    if (const std::size_t tag = reason.find("] "); tag != reason.npos) reason.remove_prefix(tag + 2);
    throw FormatError(fmt::format("{}: not valid JSON at byte {}: {}", name, byte, printable(reason, 200)));
  };
  // The parser would take a zero byte for the end of the text.
  if (const std::size_t zero = text.find('\0'); zero != text.npos) refuse(zero + 1, "found a zero byte");
  const std::string_view content = without_byte_order_mark(text);
  try {
    // Without this the parser would keep the last of two equal keys.
    std::vector<std::unordered_set<std::string>> keys;  // one set per open object
    return json::parse(content.begin(), content.end(), [&](int, json::parse_event_t event, const json& parsed) {
      if (event == json::parse_event_t::object_start) keys.emplace_back();
      if (event == json::parse_event_t::object_end) keys.pop_back();
      if (event == json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
        throw FormatError(fmt::format("{}: the key '{}' occurs twice in one JSON object: remove one", name,
                                      printable(parsed.get<std::string>())));
      return true;
    });
  } catch (const json::parse_error& error) {
    refuse(text.size() - content.size() + error.byte, error.what());
  } catch (const json::exception& error) {  // a number beyond double
    refuse(text.size(), error.what());
  }
  return {};
}

json json_of_file(const std::filesystem::path& path, std::size_t most_bytes) {
  const FileBytes file(path);
  const std::string name = shown_path(path);
  if (file.size() > most_bytes)
    throw FormatError(fmt::format("{}: has {} bytes, but at most {} bytes of JSON are read: is this the right file?",
                                  name, file.size(), most_bytes));
  return json_of_text(file.text(0, file.size()), name);
}

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

std::string shown_value(const json& value) {
  return printable(value.dump(-1, ' ', false, json::error_handler_t::replace), 60);
}

JsonObject::JsonObject(const json& value, std::string place) : value_(value), place_(std::move(place)) {
  if (!value_.is_object()) refuse(place_, "an object", value_);
}

void JsonObject::fail(const std::string& what) const {
  throw FormatError(fmt::format("{}: {}", place_, what));
}

const json* JsonObject::look(const std::string& key) const {
  const auto found = value_.find(key);
  return found == value_.end() ? nullptr : &*found;
}

const json* JsonObject::find(const std::string& key) const {
  const json* found = look(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

const json& JsonObject::at(const std::string& key) const {
  const json* found = find(key);
  if (found == nullptr) fail(fmt::format("'{}' is missing", key));
  return *found;
}

const json& JsonObject::wanted(const std::string& key, IsKind is_kind, const char* expected) const {
  const json* found = find(key);
  if (found == nullptr) fail(fmt::format("'{}' is missing; expected {}", key, expected));
  if (!(found->*is_kind)()) fail(fmt::format("'{}' is {}, expected {}", key, shown_value(*found), expected));
  return *found;
}

JsonObject JsonObject::object(const std::string& key) const {
  return {wanted(key, &json::is_object, "an object"), place_ + ": " + key};
}

const std::vector<json>& JsonObject::list(const std::string& key) const {
  return wanted(key, &json::is_array, "a list").get_ref<const json::array_t&>();
}

std::string JsonObject::text(const std::string& key) const {
  return wanted(key, &json::is_string, "a string").get<std::string>();
}

std::string JsonObject::text(const std::string& key, const std::string& fallback) const {
  return has(key) ? text(key) : fallback;
}

std::optional<bool> JsonObject::optional_flag(const std::string& key) const {
  if (!has(key)) return std::nullopt;
  return wanted(key, &json::is_boolean, "true or false").get<bool>();
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
