#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "model_config.h"

namespace headwave {

/// Whether a checkpoint holds a tensor of that name.
using HasTensor = std::function<bool(const std::string&)>;

/// The questions that a map's expressions may ask about the model.
struct ModelFacts {
  std::function<const ModelConfig&()> config;  ///< called only if the map asks; throws IoError if there is none
  HasTensor has;
};

/// Evaluates the expressions of a map file: a value that config.json decides, such as "n_inner else 4 *
/// n_embd".
///
///     numbers  1e-5      names  keys of config.json ("rope_scaling.factor" inside an object), or names that [let] defines
///     operators, weakest first:  else  or  and  not  == != < <= > >=  + -  * / %
///     sqrt(x)  floor(x)  ln(x)  given(key)  null(key)  says(key, 'word', ...)  lists(key, x)  tensor('name')
///     picks(key, 'word', 'other', ...)  of a layer
///
/// `a else b` is b where a needs a key that config.json lacks or holds as null. True is 1 and false is 0.
/// given() says whether a key is there and not null, null() whether it is there and null, says() whether its
/// text, or its list of words, has one of the words; lists() whether its list of numbers has that one; tensor() whether
/// the checkpoint holds a tensor. picks() says whether a list with a word for each layer has the first word for this
/// layer, and refuses a list with a word that is none of these.
class MapExpressions {
 public:
  /// @param names  what [let] defines: other expressions
  /// @param place  what messages about a malformed expression begin with
  MapExpressions(const ModelFacts& facts, std::map<std::string, std::string> names, std::string place)
      : facts_(facts), names_(std::move(names)), place_(std::move(place)) {}

  /// @throws FormatError if the expression is malformed, or naming the key that is missing or of another type
  [[nodiscard]] double value(const std::string& text) const;
  /// A size: a whole number up to `largest_size`, at least 1 where config.json says it.
  [[nodiscard]] Index whole(const std::string& text) const;
  /// A finite number above 0.
  [[nodiscard]] double positive(const std::string& text) const;
  [[nodiscard]] bool holds(const std::string& text) const { return value(text) != 0; }
  /// The same with `layer` standing for the number of a layer; nothing if config.json lacks a key for it.
  [[nodiscard]] std::optional<bool> holds_in_layer(const std::string& text, Index layer) const;

  [[nodiscard]] const ModelConfig& config() const { return facts_.config(); }

 private:
  friend class ExpressionParser;

  const ModelFacts& facts_;
  std::map<std::string, std::string> names_;
  std::string place_;
};

}  // namespace headwave
