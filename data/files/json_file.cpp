#include "json_file.h"

#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "file_bytes.h"
#include "printable.h"

namespace headwave {

namespace {

using nlohmann::json;

constexpr std::size_t deepest_json = 100;

// Builds the value from the parser's events. The library's own builder silently keeps the last of two equal
// keys, and keeps every value.
class Builder : public nlohmann::json_sax<json> {
 public:
  Builder(const std::string& name, std::size_t start, const JsonOptions& options)
      : name_(name), start_(start), options_(options) {}

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(json::object()); }
  bool start_array(std::size_t /*size*/) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& key) override {
    if (is_taken_apart()) {
      element_key_ = std::move(key);
      return true;
    }
    const auto [place, is_new] = open_.back()->get_ref<json::object_t&>().try_emplace(key);
    if (!is_new) refuse_second_key(name_, key);
    value_of_key_ = &place->second;
    last_key_ = std::move(key);
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/, const json::exception& error) override {
    std::string_view reason = error.what();
    if (const std::size_t tag = reason.find("] "); tag != reason.npos) reason.remove_prefix(tag + 2);
    throw FormatError(
        fmt::format("{}: not valid JSON at byte {}: {}", name_, start_ + position, printable(reason, 200)));
  }

  [[nodiscard]] json take() { return std::move(root_); }

 private:
  /// Whether the elements of the innermost open container go to a taker.
  [[nodiscard]] bool is_taken_apart() const { return taken_ > 0 && open_.size() == taken_; }

  json* place(json&& value) {
    if (++values_ > options_.most_values)
      throw FormatError(fmt::format("{}: more than {} values of JSON where so many are read: is this the right file?",
                                    name_, options_.most_values));
    if (open_.empty()) return &(root_ = std::move(value));
    if (is_taken_apart()) return &(element_ = std::move(value));
    if (open_.back()->is_object()) return &(*value_of_key_ = std::move(value));
    auto& list = open_.back()->get_ref<json::array_t&>();
    list.push_back(std::move(value));
    return &list.back();
  }
  bool put(json&& value) {
    place(std::move(value));
    return hand_on();
  }
  bool open(json&& value) {
    if (open_.size() >= deepest_json)
      throw FormatError(fmt::format("{}: JSON nested more than {} deep is not read", name_, deepest_json));
    // The address stays valid while the container is open: only the innermost open container grows.
    if (!open_.empty()) keys_.push_back(open_.back()->is_object() && !is_taken_apart() ? last_key_ : "");
    open_.push_back(place(std::move(value)));
    const auto taker = taken_ == 0 ? options_.takers.find(keys_) : options_.takers.end();
    if (taker == options_.takers.end()) return true;
    taker_ = &taker->second;
    taken_ = open_.size();
    kept_ = std::exchange(values_, 0);
    return true;
  }
  bool close() {
    open_.pop_back();
    if (!open_.empty()) keys_.pop_back();
    if (taken_ > open_.size()) {
      taken_ = 0;
      values_ = kept_;
    }
    return hand_on();
  }
  bool hand_on() {
    if (!is_taken_apart()) return true;
    (*taker_)(element_key_, element_);
    element_ = nullptr;
    element_key_.clear();
    values_ = 0;
    return true;
  }

  const std::string& name_;
  std::size_t start_;  // bytes before the parser's first
  const JsonOptions& options_;
  json root_;
  std::vector<json*> open_;
  json* value_of_key_ = nullptr;
  std::string last_key_;
  std::vector<std::string> keys_;  // that lead to the innermost open container; empty within lists
  std::size_t values_ = 0;         // counted against the most there may be
  std::size_t taken_ = 0;          // how many are open where elements are handed on; 0: none is
  const JsonTaker* taker_ = nullptr;
  std::size_t kept_ = 0;  // values outside that container
  json element_;
  std::string element_key_;
};

}  // namespace

void refuse_second_key(const std::string& name, const std::string& key) {
  throw FormatError(fmt::format("{}: the key '{}' occurs twice in one JSON object: remove one", name, printable(key)));
}

json json_of_text(std::string_view text, const std::string& name, const JsonOptions& options) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  const std::size_t start = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  // The parser takes a zero byte for the end of the text.
  if (const std::size_t zero = text.find('\0'); zero != text.npos)
    throw FormatError(fmt::format("{}: not valid JSON at byte {}: a zero byte", name, zero + 1));
  Builder builder(name, start, options);
  json::sax_parse(text.begin() + static_cast<std::ptrdiff_t>(start), text.end(), &builder);
  return builder.take();
}

json json_of_file(const std::filesystem::path& path, const JsonOptions& options) {
  const MappedFile file(path);
  const std::string name = shown_path(path);
  if (file.size() > options.max_bytes)
    throw FormatError(fmt::format("{}: {} bytes of JSON, at most {} are read: is this the right file?", name,
                                  file.size(), options.max_bytes));
  return json_of_text(file.text(), name, options);
}

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
