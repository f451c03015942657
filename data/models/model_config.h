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

/// Largest allowed size. Sizes of real models are far smaller, and the product of two sizes fits an Index.
constexpr std::int64_t largest_size = 1 << 26;

/// Largest size of a config.json in bytes. A larger file is not a config.json.
constexpr std::size_t largest_config = std::size_t{16} << 20U;

/// A config.json, or an object inside one. Nothing is guessed: a value that is missing, of another type or
/// out of range raises a FormatError naming the file, the setting, what was expected and what was found. A
/// null counts as absent. The name "rope_scaling.factor" means `factor` of the object rope_scaling. Below,
/// `key` is the name of a setting.
class ModelConfig : public JsonObject {
 public:
  using JsonObject::JsonObject;

  [[nodiscard]] bool is_null(const std::string& key) const;  ///< exists and is null
  /// A finite number, with true as 1 and false as 0; no value if the setting is absent.
  [[nodiscard]] std::optional<double> number(const std::string& key) const;
  /// A whole number of at least 1.
  /// @throws FormatError also if the setting is absent
  [[nodiscard]] Index size(const std::string& key) const;
  [[nodiscard]] double positive(const std::string& key) const;  ///< @throws FormatError also if `key` is absent
  [[nodiscard]] double positive_or(const std::string& key, double otherwise) const;
  [[nodiscard]] ModelConfig object(const std::string& key) const;  ///< @throws FormatError also if `key` is absent
  /// A list of strings, or a string cut at "|", lower-cased and without spaces; empty if the setting is
  /// absent.
  [[nodiscard]] std::vector<std::string> words(const std::string& key) const;
  /// A list of finite numbers; empty if the setting is absent.
  [[nodiscard]] std::vector<double> numbers(const std::string& key) const;
  /// A string for each of `count` layers. Integers become strings. [[["global", "local"], 12]] (GPT-Neo) is
  /// expanded.
  /// @throws FormatError also if the setting is absent, or its list is shorter
  [[nodiscard]] std::vector<std::string> by_layer(const std::string& key, Index count) const;
  /// A value as messages show it; "null" if the setting is absent.
  [[nodiscard]] std::string shown(const std::string& key) const;

  /// The first entry of "architectures"; empty if there is none.
  [[nodiscard]] std::string architecture() const;

  /// Marks all settings but `key` as read, since they concern parts of the model that headwave does not read.
  void leave_all_but(const std::string& key) const;

  /// Settings that were not read and may change results, for example "logit_scale". Omits empty values, and
  /// settings that are known not to change attention and states, such as dropout, token ids and generation.
  [[nodiscard]] std::vector<std::string> unread() const;

 private:
  [[nodiscard]] const nlohmann::json* look(const std::string& key) const override;

  std::string prefix_;  ///< beginning of this object's names in `asked_`, such as "rope_scaling."
  std::shared_ptr<std::set<std::string>> asked_ = std::make_shared<std::set<std::string>>();  ///< shared by its objects
};

}  // namespace headwave
