#include "marian_tokenizer.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "sentencepiece_pipeline.h"
#include "vocabulary_files.h"

namespace headwave {

namespace {

using LanguageCodes = std::map<std::string, std::int32_t, std::less<>>;

LanguageCodes codes_among(const Vocabulary& numbers) {
  LanguageCodes codes;
  for (std::int32_t id = 0; id < numbers.size(); ++id)
    if (const std::string& piece = numbers.piece(id); piece.starts_with(">>") && piece.ends_with("<<"))
      codes[piece] = id;
  return codes;
}

/// A language code before what all else is done to.
class AfterLanguageCode final : public Tokenizer {
 public:
  AfterLanguageCode(std::unique_ptr<Tokenizer> rest, LanguageCodes codes)
      : rest_(std::move(rest)), codes_(std::move(codes)) {}

  [[nodiscard]] std::vector<std::int32_t> encode(std::string_view text) const override {
    const std::size_t end = text.starts_with(">>") ? text.find("<<") : std::string_view::npos;
    if (end == std::string_view::npos) return rest_->encode(text);
    const auto code = codes_.find(text.substr(0, end + 2));
    std::vector<std::int32_t> ids = rest_->encode(text.substr(end + 2));
    ids.insert(ids.begin(), code != codes_.end() ? code->second : rest_->special_tokens().unknown);
    return ids;
  }
  [[nodiscard]] std::string token_text(std::int32_t id) const override { return rest_->token_text(id); }
  [[nodiscard]] std::string piece(std::int32_t id) const override { return rest_->piece(id); }
  [[nodiscard]] Index vocabulary() const override { return rest_->vocabulary(); }
  [[nodiscard]] bool is_special(std::int32_t id) const override { return rest_->is_special(id); }
  [[nodiscard]] SpecialTokens special_tokens() const override { return rest_->special_tokens(); }
  [[nodiscard]] std::string kind() const override { return rest_->kind(); }
  [[nodiscard]] std::vector<std::filesystem::path> files() const override { return rest_->files(); }

 private:
  std::unique_ptr<Tokenizer> rest_;
  LanguageCodes codes_;
};

}  // namespace

std::unique_ptr<Tokenizer> marian_tokenizer(const std::filesystem::path& model,
                                            const std::filesystem::path& vocabulary) {
  const std::string file = shown_path(vocabulary);
  TokenizerSettings settings = settings_beside(vocabulary);
  if (settings.separate_vocabularies)
    throw FormatError(
        fmt::format("{}: the target has a vocabulary of its own (separate_vocabs), which is not known "
                    "here: give token ids with --ids FILE",
                    file));
  Vocabulary numbers = json_vocabulary(vocabulary);
  SpecialTokens special;
  special.unknown = numbers.id(settings.name_of("unk_token", "<unk>"));
  special.closes = numbers.id(settings.name_of("eos_token", "</s>"));
  special.pad = numbers.id(settings.name_of("pad_token", "<pad>"));
  if (special.unknown < 0 || special.closes < 0)
    throw FormatError(
        fmt::format("{}: has no {}; is this Marian's vocabulary?", file, special.unknown < 0 ? "<unk>" : "</s>"));
  for (const std::int32_t id : {special.unknown, special.closes, special.pad})
    if (id >= 0) settings.added.push_back({.content = numbers.piece(id), .id = id, .special = true});
  LanguageCodes codes = codes_among(numbers);
  TokenPipeline pipeline = sentencepiece_pipeline(model, settings, PieceNumbers{std::move(numbers), special.unknown});
  pipeline.special = special;
  pipeline.kind += fmt::format(" numbered by {}", vocabulary.filename().string());
  pipeline.files.push_back(vocabulary);
  return std::make_unique<AfterLanguageCode>(tokenizer_of(std::move(pipeline), file), std::move(codes));
}

}  // namespace headwave
