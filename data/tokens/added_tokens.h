#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "normalizer.h"

namespace headwave {

/// A token that is found in the text by name before words are cut: [MASK], <s>.
struct AddedToken {
  std::string content;  ///< at most 1024 bytes
  std::int64_t id = 0;
  bool special = false;      ///< not text
  bool single_word = false;  ///< only where no word character stands beside it
  bool lstrip = false;       ///< takes the white space before it along
  bool rstrip = false;       ///< takes the white space after it along
  bool normalized = false;   ///< looked for after normalisation, its name normalised too; false: before
};

/// A stretch of text: an added token, or what is left between them.
struct TextSegment {
  std::string_view text;
  std::int32_t id = -1;  ///< -1: not an added token
};

/// Finds added tokens in a text: the leftmost first, of those that begin there the longest.
class AddedTokenFinder {
 public:
  /// @param tokens      of two whose names become one by normalisation the first counts
  /// @param normalizer  applied to their names; may be empty
  /// @param file        what messages call the file
  /// @throws FormatError if a name is empty, or becomes so, or is too long; or all names together are longer than 4 MiB
  AddedTokenFinder(std::vector<AddedToken> tokens, const Normalizer& normalizer, const std::string& file);

  /// The text in order; empty segments are left out.
  [[nodiscard]] std::vector<TextSegment> segments(std::string_view text) const;

 private:
  struct Match {
    const AddedToken* token = nullptr;
    std::size_t length = 0;
  };
  void insert(std::string_view name, std::size_t token);
  [[nodiscard]] Match longest_at(std::string_view text, std::size_t at) const;

  // The names as a tree of bytes: from node `n` byte `b` leads to edges_[256 n + b], and tokens_[token_at_[n]] ends at
  // n.
  std::vector<AddedToken> tokens_;
  std::unordered_map<std::uint64_t, std::size_t> edges_;
  std::vector<std::ptrdiff_t> token_at_ = {-1};
  std::array<bool, 256> begins_{};
};

}  // namespace headwave
