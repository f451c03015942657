#include "tokenizer.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../arrays/gguf.h"
#include "../files/printable.h"
#include "tokenizer_files.h"

namespace headwave {

std::string special_tokens_text(const SpecialTokens& special, const std::string& what) {
  if (special.opens < 0 && special.closes < 0) return "none";
  if (special.opens < 0) return "closing token after every " + what;
  if (special.closes < 0) return "opening token before every " + what;
  return "opening and closing token around every " + what;
}

bool has_tokenizer(const std::filesystem::path& model_directory) {
  if (is_gguf(model_directory)) return GgufFile(model_directory).find("tokenizer.ggml.model") != nullptr;
  std::error_code ignored;
  return std::ranges::any_of(
      std::to_array({"tokenizer.json", "vocab.txt", "vocab.json", "encoder.json", "spiece.model", "tokenizer.model",
                     "spm.model"}),
      [&](const char* name) { return std::filesystem::exists(model_directory / name, ignored); });
}

std::unique_ptr<Tokenizer> open_tokenizer(const std::filesystem::path& model_directory, TokenizerUse use) {
  std::error_code ignored;
  if (is_gguf(model_directory)) return gguf_tokenizer(model_directory, use);
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
  for (const char* name : {"spiece.model", "tokenizer.model", "spm.model", "sentencepiece.bpe.model"})
    if (has(name)) return sentencepiece_tokenizer(model_directory / name);
  if (has("source.spm") && has("vocab.json"))
    return marian_tokenizer(model_directory / "source.spm", model_directory / "vocab.json");
  throw FormatError(
      fmt::format(
          "{}: no tokenizer in this folder: expected tokenizer.json, vocab.txt, vocab.json with merges.txt, "
          "encoder.json with vocab.bpe, SentencePiece's tokenizer.model, spiece.model or spm.model, or Marian's "
          "source.spm with vocab.json",
          shown_path(model_directory)),
      give("ids", "FILE", "in place of a text"));
}

std::unique_ptr<Tokenizer> open_target_tokenizer(const std::filesystem::path& model_directory) {
  std::error_code ignored;
  const auto has = [&](const char* name) { return std::filesystem::exists(model_directory / name, ignored); };
  const bool marian = !has("tokenizer.json") && has("target.spm") && has("vocab.json") && !has("merges.txt");
  return marian ? marian_tokenizer(model_directory / "target.spm", model_directory / "vocab.json")
                : open_tokenizer(model_directory);
}

}  // namespace headwave
