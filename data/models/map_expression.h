#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "model_config.h"

namespace headwave {

/// Whether a checkpoint has a tensor of that name.
using HasTensor = std::function<bool(const std::string&)>;

/// What a map's expressions may ask about the model.
struct ModelFacts {
  std::function<const ModelConfig&()> config;  ///< called only if the map needs it; throws IoError if missing
  HasTensor has;
};

/// Evaluates the expressions of a map file, such as "n_inner else 4 * n_embd". Their values depend on config.json.
///
///     numbers  1e-5      names  settings of config.json, such as rope_scaling.factor, or names that [let] defines
///     operators, weakest first:  else  or  and  not  == != < <= > >=  + -  * / %
///     sqrt(x)  floor(x)  ln(x)
///     given(key)                         the setting exists and is not null
///     null(key)                          the setting exists and is null
///     says(key, 'word', ...)             the setting is a string or a list of strings with one of the words in it
///     lists(key, x)                      the setting is a list of numbers with x in it
///     tensor('name')                     the checkpoint has the tensor
///     picks(key, 'word', 'other', ...)   the setting, a list of one word per layer, has the first word for this layer;
///                                        if several words are named, any other word is refused
///
/// `a else b` is b if a needs a setting that is missing or null. True is 1 and false is 0.
class MapExpressions {
 public:
  /// @param names  the expressions that [let] defines, by name
  /// @param place  what messages about a malformed expression begin with
  MapExpressions(const ModelFacts& facts, std::map<std::string, std::string> names, std::string place)
      : facts_(facts), names_(std::move(names)), place_(std::move(place)) {}

  /// @throws FormatError if the expression is malformed, or a setting is missing or has another type
  [[nodiscard]] double value(const std::string& text) const;
  /// The value as a size: a whole number up to `largest_size`, and at least 1 if it comes from config.json.
  [[nodiscard]] Index whole(const std::string& text) const;
  /// The value as a finite number above 0.
  [[nodiscard]] double positive(const std::string& text) const;
  [[nodiscard]] bool holds(const std::string& text) const { return value(text) != 0; }
  /// holds() with `layer` as the number of a layer; no value if config.json lacks a setting that it needs.
  [[nodiscard]] std::optional<bool> holds_in_layer(const std::string& text, Index layer) const;

  [[nodiscard]] const ModelConfig& config() const { return facts_.config(); }

 private:
  friend class ExpressionParser;

  const ModelFacts& facts_;
  std::map<std::string, std::string> names_;
  std::string place_;
};

}  // namespace headwave
