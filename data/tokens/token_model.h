#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "vocabulary.h"

namespace headwave {

/// How one word is spelled in the pieces of a vocabulary.
class TokenModel {
 public:
  explicit TokenModel(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  TokenModel(const TokenModel&) = delete;
  TokenModel& operator=(const TokenModel&) = delete;
  virtual ~TokenModel() = default;

  /// Puts the ids of a word at the end of a list. May be called from several threads at once.
  /// @param word  well-formed UTF-8
  virtual void append_ids(std::string_view word, std::vector<std::int32_t>& ids) const = 0;

  [[nodiscard]] const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  Vocabulary vocabulary_;
};

}  // namespace headwave
