#pragma once

// FNV-1a, 64 bit, over ids as four little-endian bytes: what make_tokenizers.py writes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "../../data/tokens/tokenizer.h"

class IdHash {
 public:
  void add(std::int32_t id) {
    for (unsigned byte = 0; byte < 4; ++byte)
      state_ = (state_ ^ (static_cast<std::uint32_t>(id) >> 8 * byte & 0xFFU)) * 0x100000001B3U;
  }
  [[nodiscard]] std::string text() const {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(state_));
    return text;
  }

 private:
  std::uint64_t state_ = 0xCBF29CE484222325U;
};

struct LineHash {
  std::size_t count = 0;
  std::string text;
};

/// The ids of a text's lines; -1 is hashed, not counted, after each.
inline LineHash hashed_by_line(const headwave::Tokenizer& tokenizer, std::string_view text) {
  IdHash hash;
  LineHash result;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    for (const std::int32_t id : tokenizer.encode(text.substr(begin, end - begin))) {
      hash.add(id);
      ++result.count;
    }
    hash.add(-1);
    begin = end + 1;
  }
  result.text = hash.text();
  return result;
}
