#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "../../core/attention/block.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

/// No size in a real model comes near this; products of two still fit an Index.
constexpr std::int64_t largest_size = 1 << 26;

/// A config is a page; what is much longer is another kind of file.
constexpr std::size_t largest_config = std::size_t{16} << 20U;

/// A setting that nobody asked for.
struct UnreadSetting {
  std::string key;      ///< "logit_scale", "rope_scaling.short_factor"
  bool is_off = false;  ///< it is false
};

/// A config.json, or an object inside one, and the questions that are asked of it. Nothing is guessed: an answer that
/// is missing, of another type or out of range is a FormatError that names the file, the key, what was expected and
/// what came. A null counts as absent.
class ModelConfig {
 public:
  /// @param place  what messages call it: the file, or "FILE: rope_scaling"
  /// @throws FormatError if the value is not an object
  ModelConfig(const nlohmann::json& value, std::string place);

  [[nodiscard]] const std::string& place() const { return place_; }
  [[noreturn]] void fail(const std::string& what) const;
  [[nodiscard]] bool has(const char* key) const;
  [[nodiscard]] bool is_null(const char* key) const;  ///< there, and null: "none", where absence means a default
  [[nodiscard]] Index size(const char* key, Index least = 1) const;  ///< @throws FormatError also if it is absent
  [[nodiscard]] Index size_or(const char* key, Index otherwise, Index least = 1) const;
  [[nodiscard]] double positive(const char* key) const;  ///< @throws FormatError also if it is absent
  [[nodiscard]] double positive_or(const char* key, double otherwise) const;
  [[nodiscard]] std::string text_or(const char* key, const std::string& otherwise) const;
  [[nodiscard]] bool flag_or(const char* key, bool otherwise) const;
  [[nodiscard]] ModelConfig object(const char* key) const;  ///< @throws FormatError also if it is absent
  /// Height and width: one number for both, a list of two, or an object with `height` and `width`.
  [[nodiscard]] std::pair<Index, Index> sides(const char* key, Index otherwise) const;
  /// A list of finite numbers.
  /// @throws FormatError also if it is absent
  [[nodiscard]] std::vector<double> numbers(const char* key) const;
  /// A list of words, or one text with "|" between them, in small letters and without spaces; none where it is absent.
  [[nodiscard]] std::vector<std::string> words(const char* key) const;
  /// A word for each of `count` layers, or 0 and 1 as words; GPT-Neo's [[["global", "local"], 12], ...] spelled out.
  /// @throws FormatError also if it is absent, or has fewer
  [[nodiscard]] std::vector<std::string> by_layer(const char* key, Index count) const;

  /// @throws FormatError if the key is there with another value: an option that would change the numbers and is not
  /// known
  void require(const char* key, bool value) const;
  void require_text(const char* key, const std::string& value) const;

  /// The activation that a key names.
  /// @throws FormatError if it is not known
  [[nodiscard]] Activation activation(const char* key, const std::string& otherwise) const;

  /// model_type, or what the first entry of "architectures" says.
  [[nodiscard]] std::string family() const;
  /// The settings that are there, are not null or empty, and were not asked for, those of objects that were asked for
  /// too.
  [[nodiscard]] std::vector<UnreadSetting> unread() const;
  /// Every key that was asked for, whether or not it is there; "rope_scaling.factor" of those inside.
  [[nodiscard]] const std::set<std::string>& asked() const { return *asked_; }
  /// The same settings read as another family's, none but these of them asked for yet.
  [[nodiscard]] ModelConfig as(const std::string& family, std::set<std::string> asked = {}) const;

 private:
  const nlohmann::json& value_;
  std::string place_;
  std::string family_;  ///< what it is read as; empty: what it says itself
  std::string prefix_;  ///< of its keys in `asked_`: "rope_scaling."
  std::shared_ptr<std::set<std::string>> asked_ = std::make_shared<std::set<std::string>>();  ///< shared by its objects
};

/// What text calls an activation: "gelu", "gelu_new", "relu", "silu" and their other spellings.
/// @throws FormatError beginning with `place` if it is not known
Activation activation_of(const std::string& name, const std::string& place);

}  // namespace headwave
