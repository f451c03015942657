#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace headwave {

/// Reads a JSON file strictly (RFC 8259): repeated names in an object, comments, text after the value, NaN
/// and invalid UTF-8 are errors. A UTF-8 byte-order mark is skipped.
/// @param most_bytes  larger files are refused before they are read
/// @throws IoError if the file cannot be read; FormatError if it is too large, or not JSON (naming the byte)
nlohmann::json json_of_file(const std::filesystem::path& path, std::size_t most_bytes = std::size_t{256} << 20U);

/// Reads JSON from a text in memory in the same way.
/// @param name  what messages call the text: a file's path
/// @throws FormatError if the text is not JSON
nlohmann::json json_of_text(std::string_view text, const std::string& name);

/// A view of a JSON object, with its place in a file. An entry of another type than asked for raises a
/// FormatError naming the place, the entry, what was expected and what was found. A null counts as absent.
class JsonObject {
 public:
  /// @param place  what messages call the object: "tokenizer.json: model"
  /// @throws FormatError if the value is not an object
  JsonObject(const nlohmann::json& value, std::string place);
  JsonObject(const JsonObject&) = default;
  JsonObject& operator=(const JsonObject&) = delete;
  virtual ~JsonObject() = default;

  /// @throws FormatError always. Its message begins with the place
  [[noreturn]] void fail(const std::string& what) const;
  [[nodiscard]] bool has(const std::string& key) const { return find(key) != nullptr; }
  /// @returns the value of an entry; nullptr if it is absent or null
  [[nodiscard]] const nlohmann::json* find(const std::string& key) const;
  /// @throws FormatError if it is absent. So do all functions below without a fallback but optional_flag()
  [[nodiscard]] const nlohmann::json& at(const std::string& key) const;
  [[nodiscard]] JsonObject object(const std::string& key) const;
  [[nodiscard]] const std::vector<nlohmann::json>& list(const std::string& key) const;
  [[nodiscard]] std::string text(const std::string& key) const;
  [[nodiscard]] std::string text(const std::string& key, const std::string& fallback) const;
  [[nodiscard]] bool flag(const std::string& key, bool fallback) const;
  [[nodiscard]] std::optional<bool> optional_flag(const std::string& key) const;
  [[nodiscard]] std::int64_t integer(const std::string& key) const;
  [[nodiscard]] std::int64_t integer(const std::string& key, std::int64_t fallback) const;

  [[nodiscard]] const nlohmann::json& value() const { return value_; }
  [[nodiscard]] const std::string& place() const { return place_; }

 protected:
  using IsKind = bool (nlohmann::json::*)() const noexcept;
  /// The value of an entry that must exist and be of that kind.
  [[nodiscard]] const nlohmann::json& wanted(const std::string& key, IsKind is_kind, const char* expected) const;
  /// @returns the value of an entry, which may be a JSON null; nullptr if the entry is absent
  [[nodiscard]] virtual const nlohmann::json* look(const std::string& key) const;

 private:
  const nlohmann::json& value_;
  std::string place_;
};

/// The beginning of a value as JSON, for messages.
std::string shown_value(const nlohmann::json& value);

/// The kind of a JSON value in words: "a string", "a list"; null, true, false and numbers as written.
std::string kind_of(const nlohmann::json& value);

/// A JSON value as a whole number.
/// @throws FormatError if the value is of another kind, or does not fit 64 bits
std::int64_t integer_of(const nlohmann::json& value, const std::string& place);

/// A JSON value as a string.
/// @throws FormatError if the value is of another kind
const std::string& text_of(const nlohmann::json& value, const std::string& place);

}  // namespace headwave
