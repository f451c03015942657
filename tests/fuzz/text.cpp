#include "../../data/files/input_text.h"
#include "../../data/files/unicode_text.h"
#include "../../data/tokens/normalizer.h"
#include "../../data/tokens/word_splitter.h"
#include "fuzz.h"

using namespace headwave;
using namespace std::literals;

FUZZ_SEEDS("a \xc3\xa9 b\n", "a\0b\0"sv, "\xed\xa0\x80\xf4\x90\x80\x80")

FUZZ(bytes) {
  const std::string valid = valid_utf8(bytes);
  if (!is_valid_utf8(valid) || (ill_formed_utf8(bytes) == std::string_view::npos) != (valid == bytes)) std::abort();
  refused_in_one_line([&] { require_utf8(bytes, "t"); });
  if (!is_valid_utf8(
          std::string_view(valid).substr(0, whole_characters(std::string_view(valid).substr(0, valid.size() / 2)))))
    std::abort();
  static const Normalizer bert = bert_normalizer({}), nfkc = normal_form(NormalForm::nfkc);
  for (const std::string& changed : {bert(valid), nfkc(valid), lower_case()(valid), without_marks()(valid)})
    if (!is_valid_utf8(changed)) std::abort();
  static const WordSplitter bytewise = byte_level_words({});
  std::string again;
  for (const Word& word : bytewise({valid, true})) again += readable_spelling(word.text);
  if (again != valid) std::abort();
  for (const WordSplitter& splitter : {bert_words(), word_runs(), white_space_words()}) (void)splitter({valid, true});
}
