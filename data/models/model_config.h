#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "../../core/numbers/matrix.h"
#include "../files/json_file.h"

namespace headwave {

/// No size in a real model comes near this; products of two still fit an Index.
constexpr std::int64_t largest_size = 1 << 26;

/// Largest size of a config. A longer file is of another kind.
constexpr std::size_t largest_config = std::size_t{16} << 20U;

/// A config.json, or an object inside one, and the questions asked of it. Nothing is guessed: an answer that
/// is missing, of another type or out of range is a FormatError that names the file, the key, what was
/// expected and what was found. A null counts as absent. A key may be a path, "rope_scaling.factor": a key of
/// an object inside.
class ModelConfig : public JsonObject {
 public:
  using JsonObject::JsonObject;

  [[nodiscard]] bool is_null(const std::string& key) const;  ///< there, and null: "none", where absence means a default
  /// A finite number; true is 1 and false is 0; nothing where the key is absent.
  [[nodiscard]] std::optional<double> number(const std::string& key) const;
  /// A whole number of at least 1.
  /// @throws FormatError also if it is absent
  [[nodiscard]] Index size(const std::string& key) const;
  [[nodiscard]] double positive(const std::string& key) const;  ///< @throws FormatError also if it is absent
  [[nodiscard]] double positive_or(const std::string& key, double otherwise) const;
  [[nodiscard]] ModelConfig object(const std::string& key) const;  ///< @throws FormatError also if it is absent
  /// A list of words, or one text with "|" between them, in small letters and without spaces; none where it
  /// is absent.
  [[nodiscard]] std::vector<std::string> words(const std::string& key) const;
  /// A list of finite numbers; none where it is absent.
  [[nodiscard]] std::vector<double> numbers(const std::string& key) const;
  /// A word for each of `count` layers, or 0 and 1 as words; GPT-Neo's [[["global", "local"], 12], ...]
  /// spelled out.
  /// @throws FormatError also if it is absent, or has fewer
  [[nodiscard]] std::vector<std::string> by_layer(const std::string& key, Index count) const;
  /// A value as messages show it; "null" where it is absent.
  [[nodiscard]] std::string shown(const std::string& key) const;

  /// The first entry of "architectures"; empty: there is none.
  [[nodiscard]] std::string architecture() const;

  /// Counts all other settings as asked for: they are of parts that are not read.
  void leave_all_but(const std::string& key) const;

  /// Settings that may change the numbers and were not asked for ("logit_scale",
  /// "rope_scaling.short_factor"): those that are there, hold something, and are not known to leave attention
  /// and states alone, as dropout, token ids and how text is generated do.
  [[nodiscard]] std::vector<std::string> unread() const;

 private:
  [[nodiscard]] const nlohmann::json* look(const std::string& key) const override;

  std::string prefix_;  ///< of its keys in `asked_`: "rope_scaling."
  std::shared_ptr<std::set<std::string>> asked_ = std::make_shared<std::set<std::string>>();  ///< shared by its objects
};

}  // namespace headwave
