#include "sentencepiece_tokenizer.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "sentencepiece_pipeline.h"

namespace headwave {

namespace {

// Classes of transformers that give texts to SentencePiece as they are, and take its ids.
void check_class(const std::filesystem::path& path, const TokenizerSettings& settings) {
  constexpr std::array<std::string_view, 6> known = {
      "", "T5Tokenizer", "LlamaTokenizer", "CodeLlamaTokenizer", "GemmaTokenizer", "DebertaV2Tokenizer"};
  std::string name = settings.tokenizer_class;
  if (name.ends_with("Fast")) name.resize(name.size() - 4);
  if (std::find(known.begin(), known.end(), name) == known.end() ||
      (name.empty() && path.filename() == "sentencepiece.bpe.model"))
    throw FormatError(
        fmt::format("{}: {} changes texts or ids around SentencePiece in ways not known here: give the model's "
                    "tokenizer.json instead",
                    shown_path(path),
                    name.empty() ? "the tokenizer of a file by this name" : "tokenizer_class " + printable(name)));
}

SpecialTokens specials_of_pieces(const Vocabulary& vocabulary) {
  SpecialTokens special = specials_by_name(vocabulary);
  if (vocabulary.id("[CLS]") < 0 && special.opens >= 0) special.closes = -1;
  return special;
}

}  // namespace

std::unique_ptr<Tokenizer> sentencepiece_tokenizer(const std::filesystem::path& path) {
  const TokenizerSettings settings = settings_beside(path);
  check_class(path, settings);
  TokenPipeline pipeline = sentencepiece_pipeline(path, settings);
  const std::int32_t unknown = pipeline.special.unknown;
  pipeline.special = specials_of_pieces(pipeline.model->vocabulary());
  pipeline.special.unknown = unknown;
  return tokenizer_of(std::move(pipeline), shown_path(path));
}

}  // namespace headwave
