#include "tokenizer.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/file_content.h"
#include "../files/printable.h"
#include "tokenizer_files.h"

namespace headwave {

std::string special_tokens_text(const SpecialTokens& special, const std::string& what) {
  if (special.opens < 0 && special.closes < 0) return "none";
  if (special.opens < 0) return "closing token after every " + what;
  if (special.closes < 0) return "opening token before every " + what;
  return "opening and closing token around every " + what;
}

namespace {

/// Files of tokenizers that transformers can write as tokenizer.json.
constexpr std::array unread_tokenizers{"tokenizer.model", "spiece.model", "spm.model", "sentencepiece.bpe.model"};

}  // namespace

bool has_tokenizer(const std::filesystem::path& model_directory) {
  const auto has = [&](const char* name) {
    std::error_code ignored;
    return std::filesystem::exists(model_directory / name, ignored);
  };
  return std::ranges::any_of(std::to_array({"tokenizer.json", "vocab.txt", "vocab.json", "encoder.json"}), has) ||
         std::ranges::any_of(unread_tokenizers, has);
}

std::unique_ptr<Tokenizer> open_tokenizer(const std::filesystem::path& model_directory, TokenizerUse use) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(model_directory, ignored))
    throw IoError(
        fmt::format("{}: expected the folder of a model, and there is none by that name", shown_path(model_directory)));
  const auto has = [&](const char* name) { return std::filesystem::exists(model_directory / name, ignored); };

  if (has("tokenizer.json")) return json_tokenizer(model_directory / "tokenizer.json", use);
  if (has("vocab.txt")) return word_piece_tokenizer(model_directory / "vocab.txt");
  if (has("vocab.json") && has("merges.txt"))
    return byte_level_tokenizer(model_directory / "vocab.json", model_directory / "merges.txt");
  if (has("encoder.json") && has("vocab.bpe"))
    return byte_level_tokenizer(model_directory / "encoder.json", model_directory / "vocab.bpe");
  const Remedy ids = give("ids", "FILE", "in place of a text");
  if (has("source.spm"))
    throw FormatError(
        fmt::format(
            "{}: this is a tokenizer of Marian, which headwave does not read and transformers does not write as "
            "tokenizer.json; use transformers to turn texts into token ids",
            shown_path(model_directory / "source.spm")),
        ids);
  const auto* found = std::ranges::find_if(unread_tokenizers, has);
  throw FormatError(
      fmt::format("{0}: {1}; expected tokenizer.json, vocab.txt, vocab.json with merges.txt, or encoder.json with "
                  "vocab.bpe. transformers writes tokenizer.json: python3 -c \"from transformers import AutoTokenizer; "
                  "AutoTokenizer.from_pretrained({2}).save_pretrained({2})\"",
                  shown_path(found == unread_tokenizers.end() ? model_directory : model_directory / *found),
                  found == unread_tokenizers.end() ? "no tokenizer in this folder" : "this is a SentencePiece model",
                  python_name(model_directory, "'DIR'")),
      ids);
}

}  // namespace headwave
