#pragma once

#include <string>

#include "word_splitter.h"

namespace headwave {

/// Where a text is given a mark before it, for its first word to be like those after a blank.
enum class PrependScheme { always, first, never };

struct MetaspaceOptions {
  std::string mark = "\u2581";                    ///< what stands for a blank
  PrependScheme prepend = PrependScheme::always;  ///< first: only at the beginning of the whole text
  bool split = true;                              ///< false: nothing is cut
};

/// SentencePiece's words: blanks are marked, and each mark begins a word. No mark is put before one.
///
/// Source: Kudo and Richardson 2018, section 3.2.
WordSplitter metaspace_words(const MetaspaceOptions& options);

}  // namespace headwave
