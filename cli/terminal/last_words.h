#pragma once

#include <string>

namespace headwave::cli {

/// What is said on standard error where Ctrl-C, or a machine that wants its user gone, ends the program while the object
/// lives. One at a time.
class LastWords {
 public:
  explicit LastWords(std::string words);
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;
  ~LastWords();
};

}  // namespace headwave::cli
