#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace headwave {

/// A view of a JSON object, with its place in a file. Each member is read as the type that is expected, or a
/// FormatError names the place, the key, and what was found. A null counts as absent.
class JsonObject {
 public:
  /// @param place  what messages call it: "tokenizer.json: model"
  /// @throws FormatError if the value is not an object
  JsonObject(const nlohmann::json& value, std::string place);

  [[nodiscard]] bool has(const std::string& key) const { return find(key) != nullptr; }
  /// @returns the value, or nullptr if the key is absent or null
  [[nodiscard]] const nlohmann::json* find(const std::string& key) const;
  /// @throws FormatError if the key is absent; so do all below that have no fallback
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

 private:
  const nlohmann::json& value_;
  std::string place_;
};

/// The kind of a JSON value in words: "a string", "null".
std::string kind_of(const nlohmann::json& value);

/// A JSON value as a whole number.
/// @throws FormatError if it is not one, or does not fit in 64 bits
std::int64_t integer_of(const nlohmann::json& value, const std::string& place);

/// A JSON value as a string.
/// @throws FormatError if it is not one
const std::string& text_of(const nlohmann::json& value, const std::string& place);

}  // namespace headwave
