#include "metaspace.h"

#include "normalizer.h"

namespace headwave {

WordSplitter metaspace_words(const MetaspaceOptions& options) {
  const WordSplitter cut = options.split ? cut_at(fixed_string(options.mark), MatchBecomes::beginning_of_word)
                                         : cut_by([](std::string_view text) { return std::vector{text}; });
  return [options, cut, marked = replaced(fixed_string(" "), options.mark)](const Word& word) {
    const bool wanted =
        options.prepend == PrependScheme::always || (options.prepend == PrependScheme::first && word.begins_text);
    std::string text = marked(word.text);
    if (wanted && !text.starts_with(options.mark)) text.insert(0, options.mark);
    return cut({std::move(text), word.begins_text});
  };
}

}  // namespace headwave
