#include "json_file.h"

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/numbers/error.h"
#include "mapped_file.h"
#include "printable.h"

namespace headwave {

namespace {

using nlohmann::json;

constexpr std::size_t deepest_json = 100;

// Builds the value from the parser's events. The library's own builder keeps the last of two equal keys without a word.
class Builder : public nlohmann::json_sax<json> {
 public:
  Builder(const std::string& name, std::size_t start) : name_(name), start_(start) {}

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
    const auto [place, is_new] = open_.back()->get_ref<json::object_t&>().try_emplace(key);
    if (!is_new)
      throw FormatError(
          fmt::format("{}: the key '{}' occurs twice in one JSON object: remove one", name_, printable(key)));
    value_of_key_ = &place->second;
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
  json* place(json&& value) {
    if (open_.empty()) return &(root_ = std::move(value));
    if (open_.back()->is_object()) return &(*value_of_key_ = std::move(value));
    auto& list = open_.back()->get_ref<json::array_t&>();
    list.push_back(std::move(value));
    return &list.back();
  }
  bool put(json&& value) {
    place(std::move(value));
    return true;
  }
  bool open(json&& value) {
    if (open_.size() >= deepest_json)
      throw FormatError(fmt::format("{}: JSON nested more than {} deep is not read", name_, deepest_json));
    // The address stays good while the container is open: only the innermost open container grows.
    open_.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const std::string& name_;
  std::size_t start_;  // bytes before the parser's first
  json root_;
  std::vector<json*> open_;
  json* value_of_key_ = nullptr;
};

}  // namespace

json json_of_text(std::string_view text, const std::string& name) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  const std::size_t start = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  // The parser takes a zero byte for the end of the text, and would read on no further.
  if (const std::size_t zero = text.find('\0'); zero != text.npos)
    throw FormatError(fmt::format("{}: not valid JSON at byte {}: a zero byte", name, zero + 1));
  Builder builder(name, start);
  json::sax_parse(text.begin() + static_cast<std::ptrdiff_t>(start), text.end(), &builder);
  return builder.take();
}

json json_of_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const MappedFile file(path);
  const std::string name = shown_path(path);
  if (file.size() > max_bytes)
    throw FormatError(fmt::format("{}: {} bytes of JSON, at most {} are read: is this the right file?", name,
                                  file.size(), max_bytes));
  return json_of_text(file.text(), name);
}

}  // namespace headwave
