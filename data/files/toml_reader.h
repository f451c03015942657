#pragma once

// Included by sources that read TOML, never by a header that others see.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// Parses a small TOML file.
/// @param what  its kind in messages: "a model map"
/// @throws IoError if it cannot be read; FormatError naming the line if it is not TOML or a line has more
///         than 1000 dots, or if it is larger than 1 MB
toml::table toml_of_file(const std::filesystem::path& file, std::string_view what);

/// Parses the text of such a file.
/// @throws FormatError as above
toml::table toml_of_text(const std::filesystem::path& file, std::string_view text);

/// Reads one table of a TOML file: each key by its name, then refuses keys that nobody read.
class TomlReader {
 public:
  /// @param place  the file and the table in it, as messages begin
  /// @param page   the page of the documentation that explains the keys
  TomlReader(const toml::table& table, std::string place, std::string page)
      : table_(table), place_(std::move(place)), page_(std::move(page)) {}

  /// @throws FormatError always: the file, the key, what it should be
  [[noreturn]] void fail(std::string_view key, const std::string& expected) const;

  // Each leaves the value unchanged if the file does not have the key. @throws FormatError if it is of
  // another kind
  void operator()(std::string_view key, Index& value);
  void operator()(std::string_view key, double& value);  ///< finite, not below 0
  void operator()(std::string_view key, float& value);
  void operator()(std::string_view key, bool& value);
  void operator()(std::string_view key, std::string& value);

  [[nodiscard]] bool has(std::string_view key) const { return table_.contains(key); }
  /// The value of a key, which counts as read; null if there is none.
  [[nodiscard]] const toml::node* look(std::string_view key);
  /// @throws FormatError if a key was not read: a typing error, or an option that would be ignored in silence
  void refuse_others() const;

  [[nodiscard]] const std::string& place() const { return place_; }
  [[nodiscard]] const std::string& page() const { return page_; }

 private:
  const toml::table& table_;
  std::string place_, page_;
  std::set<std::string> seen_;
};

}  // namespace headwave
