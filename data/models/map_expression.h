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
  std::function<const ModelConfig&()> config;  ///< called only if the map needs it; throws IoError if there is none
  HasTensor has;
};

/// Evaluates the expressions of a map file, whose values depend on config.json: "n_inner else 4 * n_embd".
///
///     numbers  1e-5      names  keys of config.json ("rope_scaling.factor" inside an object), or names that [let] defines
///     operators, weakest first:  else  or  and  not  == != < <= > >=  + -  * / %
///     sqrt(x)  floor(x)  ln(x)  given(key)  null(key)  says(key, 'word', ...)  lists(key, x)  tensor('name')
///     picks(key, 'word', 'other', ...)  of a layer
///
/// `a else b` is b if a needs a key that is missing or null. True is 1 and false is 0. given(): the key
/// exists and is not null. null(): it exists and is null. says(): its text, or its list of words, contains
/// one of the words. lists(): its list of numbers contains x. tensor(): the checkpoint has the tensor.
/// picks(): a list with one word per layer has the first word for this layer; a word that is none of those
/// named is refused.
class MapExpressions {
 public:
  /// @param names  the expressions that [let] defines, by name
  /// @param place  what messages about a malformed expression begin with
  MapExpressions(const ModelFacts& facts, std::map<std::string, std::string> names, std::string place)
      : facts_(facts), names_(std::move(names)), place_(std::move(place)) {}

  /// @throws FormatError if the expression is malformed, or a key is missing or has another type
  [[nodiscard]] double value(const std::string& text) const;
  /// A size: a whole number up to `largest_size`, and at least 1 if it comes from config.json.
  [[nodiscard]] Index whole(const std::string& text) const;
  /// A finite number above 0.
  [[nodiscard]] double positive(const std::string& text) const;
  [[nodiscard]] bool holds(const std::string& text) const { return value(text) != 0; }
  /// The same, with `layer` standing for the number of a layer; nothing if config.json lacks a key for it.
  [[nodiscard]] std::optional<bool> holds_in_layer(const std::string& text, Index layer) const;

  [[nodiscard]] const ModelConfig& config() const { return facts_.config(); }

 private:
  friend class ExpressionParser;

  const ModelFacts& facts_;
  std::map<std::string, std::string> names_;
  std::string place_;
};

}  // namespace headwave
