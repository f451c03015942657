#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace headwave {

/// A JSON object that someone else owns, with the place it stands at: what is asked of it comes in the type expected,
/// or ends in a one-line FormatError that names the place, the key, and what was found. A null counts as absent.
class JsonObject {
 public:
  /// @param place  what messages call it: "tokenizer.json: model"
  /// @throws FormatError if the value is not an object
  JsonObject(const nlohmann::json& value, std::string place);

  [[nodiscard]] bool has(const std::string& key) const { return find(key) != nullptr; }
  /// @returns the value, or nullptr where the key is absent or null
  [[nodiscard]] const nlohmann::json* find(const std::string& key) const;
  /// @throws FormatError if the key is absent, as all below where no fallback is given
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

/// What a JSON value is, for messages: "a string", "null".
std::string kind_of(const nlohmann::json& value);

/// The whole number that a JSON value is.
/// @throws FormatError if it is no whole number, or does not fit in 64 bits
std::int64_t integer_of(const nlohmann::json& value, const std::string& place);

/// The string that a JSON value is.
/// @throws FormatError if it is none
const std::string& text_of(const nlohmann::json& value, const std::string& place);

}  // namespace headwave
