#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "tokenizer.h"
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
constexpr std::array unread_tokenizers{"tokenizer.model",         "spiece.model", "spm.model",
                                       "sentencepiece.bpe.model", "vocab.json",   "encoder.json"};

}  // namespace

bool has_tokenizer(const std::filesystem::path& model_directory) {
  const auto has = [&](const char* name) {
    std::error_code ignored;
    return std::filesystem::exists(model_directory / name, ignored);
  };
  return std::ranges::any_of(std::to_array({"tokenizer.json", "vocab.txt"}), has) ||
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
  const Remedy ids = give("ids", "FILE", "in place of a text");
  if (has("source.spm"))
    throw FormatError(
        fmt::format(
            "{}: this is a tokenizer of Marian, which headwave does not read and transformers does not write as "
            "tokenizer.json; use transformers to turn texts into token ids",
            shown_path(model_directory / "source.spm")),
        ids);
  const auto* found = std::ranges::find_if(unread_tokenizers, has);
  const bool none = found == unread_tokenizers.end();
  throw FormatError(
      fmt::format("{}: {}; expected tokenizer.json or vocab.txt. transformers writes tokenizer.json: python3 -c \"from "
                  "transformers import AutoTokenizer; AutoTokenizer.from_pretrained('DIR').save_pretrained('DIR')\"",
                  shown_path(none ? model_directory : model_directory / *found),
                  none                                          ? "no tokenizer in this folder"
                  : std::string_view(*found).ends_with(".json") ? "this is a vocabulary as of GPT-2"
                                                                : "this is a SentencePiece model"),
      ids);
}

}  // namespace headwave
