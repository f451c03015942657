#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../tokens/tokenizer.h"
#include "text_documents.h"

namespace headwave {

/// A text with this share of unknown tokens deserves a warning; one with `nearly_all_unknown` is refused.
constexpr double many_unknown = 0.2, nearly_all_unknown = 0.9;

/// Counts the tokens of a text that the vocabulary could not spell.
class UnknownTokens {
 public:
  explicit UnknownTokens(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  /// Counts the tokens of a document; those around it ([CLS], [SEP]) are not text and do not count.
  void count(const std::vector<std::int32_t>& ids);

  /// Unknown tokens among those that stand for text; nothing where the tokenizer can spell every text, or none was counted.
  [[nodiscard]] std::optional<double> share() const;

  /// @param text  what messages call it
  /// @throws FormatError if nearly all are unknown and the options do not allow that
  void require_known(const std::string& text, const PackingOptions& options) const;

 private:
  const Tokenizer& tokenizer_;
  Index unknown_ = 0, tokens_ = 0;
};

}  // namespace headwave
