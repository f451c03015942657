#include "sentencepiece_pipeline.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "../files/unicode_text.h"
#include "added_tokens.h"
#include "byte_pair_encoding.h"
#include "precompiled_charsmap.h"
#include "sentencepiece_file.h"
#include "token_pipeline.h"
#include "tokenizer_settings.h"
#include "unigram.h"

namespace headwave {

namespace {

constexpr std::string_view blank_mark = "\u2581";
constexpr std::size_t longest_merged = 1024;

AddedTokenFinder user_defined(const SentencePieceFile& model, const std::string& file) {
  std::vector<AddedToken> tokens;
  for (std::size_t id = 0; id < model.pieces.size(); ++id)
    if (model.pieces[id].kind == SentencePieceKind::user_defined)
      tokens.push_back({.content = model.pieces[id].piece, .id = static_cast<std::int64_t>(id)});
  return {std::move(tokens), {}, file};
}

/// SentencePiece's own normaliser: characters by the table, blanks as marks, one before the text.
class BlanksMarked {
 public:
  BlanksMarked(const SentencePieceFile& model, const AddedTokenFinder& kept, const std::string& file)
      : kept_(kept),
        mark_(model.escape_whitespaces ? blank_mark : " "),
        prefixed_(model.add_dummy_prefix),
        suffixes_(model.whitespace_as_suffix),
        single_(model.remove_extra_whitespaces) {
    if (!model.charsmap.empty()) map_.emplace(model.charsmap, file + ": precompiled_charsmap");
  }

  [[nodiscard]] std::string operator()(std::string_view text) const {
    std::string out;
    bool begun = false;
    bool after_blank = single_;
    walk(text, [&](std::string_view part) {
      if (!begun && single_ && part == " ") return;
      if (!begun && prefixed_ && !suffixes_) out += mark_;
      begun = true;
      while (after_blank && part.starts_with(' ')) part.remove_prefix(1);
      for (const char c : part)
        if (c == ' ')
          out += mark_;
        else
          out += c;
      if (!part.empty()) after_blank = single_ && part.ends_with(' ');
    });
    while (single_ && out.ends_with(mark_)) out.resize(out.size() - mark_.size());
    if (begun && prefixed_ && suffixes_) out += mark_;
    return out;
  }

 private:
  // What the text's characters become, one after another.
  template <class Seen>
  void walk(std::string_view text, Seen seen) const {
    for (const TextSegment& segment : kept_.segments(text)) {
      if (segment.id >= 0) {
        seen(segment.text);
        continue;
      }
      for (std::string_view rest = segment.text; !rest.empty();) {
        const auto match = map_ ? map_->longest(rest) : std::nullopt;
        const std::size_t length = match ? match->length : utf8_length(rest[0]);
        if (length > rest.size() ||
            (length < rest.size() && (static_cast<unsigned char>(rest[length]) & 0xC0U) == 0x80U))
          throw FormatError(
              "SentencePiece: precompiled_charsmap has a key that ends within a character: the file is broken");
        seen(match ? match->becomes : rest.substr(0, length));
        rest.remove_prefix(length);
      }
    }
  }

  AddedTokenFinder kept_;
  std::optional<PrecompiledCharsmap> map_;
  std::string mark_;
  bool prefixed_, suffixes_, single_;
};

Vocabulary vocabulary_of_pieces(const SentencePieceFile& model, const std::string& file) {
  std::vector<VocabularyEntry> entries;
  for (const SentencePieceEntry& entry : model.pieces)
    entries.push_back({entry.piece, static_cast<std::int64_t>(entries.size())});
  return {std::move(entries), file, RepeatedPiece::refused};
}

std::int32_t unknown_of(const SentencePieceFile& model, const std::string& file) {
  const auto found = std::find_if(model.pieces.begin(), model.pieces.end(), [](const SentencePieceEntry& entry) {
    return entry.kind == SentencePieceKind::unknown;
  });
  if (found == model.pieces.end())
    throw FormatError(fmt::format("{}: no piece is the unknown one: the file is broken", file));
  return static_cast<std::int32_t>(found - model.pieces.begin());
}

/// Pieces whose ids another file gives.
class NumberedPieces final : public TokenModel {
 public:
  NumberedPieces(Vocabulary numbers, std::int32_t unknown) : TokenModel(std::move(numbers)), unknown_(unknown) {}

  [[nodiscard]] std::int32_t number(std::string_view piece) const {
    const std::int32_t id = vocabulary().id(piece);
    return id >= 0 ? id : unknown_;
  }
  void spell_by(std::unique_ptr<TokenModel> model) { model_ = std::move(model); }
  void append_ids(std::string_view word, std::vector<std::int32_t>& ids) const override {
    model_->append_ids(word, ids);
  }

 private:
  std::int32_t unknown_;
  std::unique_ptr<TokenModel> model_;
};

std::unique_ptr<TokenModel> unigram_of(const SentencePieceFile& model, const std::string& file,
                                       const NumberedPieces* numbered = nullptr) {
  UnigramOptions options;
  if (numbered != nullptr) {
    for (const SentencePieceEntry& entry : model.pieces) options.numbers.push_back(numbered->number(entry.piece));
    options.number_of_unknown = [numbered](std::string_view text) { return numbered->number(text); };
  }
  for (const SentencePieceEntry& entry : model.pieces) {
    options.scores.push_back(entry.score);
    options.kinds.push_back(entry.kind == SentencePieceKind::normal         ? UnigramPiece::normal
                            : entry.kind == SentencePieceKind::user_defined ? UnigramPiece::user_defined
                                                                            : UnigramPiece::never_found);
  }
  options.unknown = unknown_of(model, file);
  options.byte_fallback = model.byte_fallback;
  return unigram(vocabulary_of_pieces(model, file), std::move(options), file);
}

/// A merge for each way to make a piece of two; pieces of one score have one rank.
struct RankedMerges {
  std::vector<Merge> merges;
  std::vector<std::int32_t> ranks;
};

RankedMerges merges_of(const SentencePieceFile& model, const Vocabulary& vocabulary, const std::string& file) {
  const auto is_normal = [&](std::string_view piece) {
    const std::int32_t id = vocabulary.id(piece);
    return id >= 0 && model.pieces[static_cast<std::size_t>(id)].kind == SentencePieceKind::normal;
  };
  std::map<float, std::vector<Merge>, std::greater<>> by_score;
  for (const SentencePieceEntry& entry : model.pieces) {
    const std::string& piece = entry.piece;
    if (entry.kind == SentencePieceKind::unused)
      throw FormatError(fmt::format("{}: the unused piece '{}' of a BPE is not known here: give tokenizer.json instead",
                                    file, printable(piece)));
    if (entry.kind != SentencePieceKind::normal) continue;
    if (piece.size() > longest_merged || entry.score != entry.score)
      throw FormatError(fmt::format("{}: the piece '{}' has {} bytes and score {}, expected at most {} and a number",
                                    file, printable(piece), piece.size(), entry.score, longest_merged));
    for (std::size_t at = utf8_length(piece[0]); at < piece.size(); at += utf8_length(piece[at])) {
      Merge halves{piece.substr(0, at), piece.substr(at)};
      if (is_normal(halves.first) && is_normal(halves.second)) by_score[entry.score].push_back(std::move(halves));
    }
  }
  RankedMerges ranked;
  std::int32_t rank = 0;
  for (auto& [score, merges] : by_score) {
    for (Merge& merge : merges) {
      ranked.merges.push_back(std::move(merge));
      ranked.ranks.push_back(rank);
    }
    ++rank;
  }
  return ranked;
}

std::unique_ptr<TokenModel> byte_pairs_of(const SentencePieceFile& model, const std::string& file) {
  Vocabulary vocabulary = vocabulary_of_pieces(model, file);
  RankedMerges ranked = merges_of(model, vocabulary, file);
  BytePairOptions options;
  options.unknown = model.pieces[static_cast<std::size_t>(unknown_of(model, file))].piece;
  options.fuse_unknown = true;
  options.byte_fallback = model.byte_fallback;
  options.ranks = std::move(ranked.ranks);
  for (const SentencePieceEntry& entry : model.pieces)
    if (entry.kind == SentencePieceKind::user_defined) options.whole_words.insert(entry.piece);
  return byte_pair_encoding(std::move(vocabulary), ranked.merges, options, file);
}

/// The model's spelling with the ids that another file gives.
std::unique_ptr<TokenModel> numbered_of(const SentencePieceFile& model, PieceNumbers numbers, const std::string& file) {
  auto numbered = std::make_unique<NumberedPieces>(std::move(numbers.vocabulary), numbers.unknown);
  numbered->spell_by(unigram_of(model, file, numbered.get()));
  return numbered;
}

}  // namespace

TokenPipeline sentencepiece_pipeline(const std::filesystem::path& path, const TokenizerSettings& settings,
                                     std::optional<PieceNumbers> numbers) {
  const std::string file = shown_path(path);
  const SentencePieceFile model = sentencepiece_file(path);
  const AddedTokenFinder kept = user_defined(model, file);

  TokenPipeline pipeline;
  const bool is_bpe = model.model == SentencePieceFile::Model::bpe;
  pipeline.added = settings.added;
  pipeline.normalizer = BlanksMarked(model, kept, file);
  if (is_bpe && numbers)
    throw FormatError(
        fmt::format("{}: SentencePiece's BPE beside a vocabulary of its own is not known here: give the "
                    "model's tokenizer.json instead",
                    file));
  pipeline.special.unknown = numbers ? numbers->unknown : unknown_of(model, file);
  pipeline.model = numbers  ? numbered_of(model, std::move(*numbers), file)
                   : is_bpe ? byte_pairs_of(model, file)
                            : unigram_of(model, file);
  // What a BPE may not merge stands by itself.
  if (is_bpe)
    pipeline.splitter = cut_by([kept](std::string_view text) {
      std::vector<std::string_view> parts;
      for (const TextSegment& segment : kept.segments(text)) parts.push_back(segment.text);
      return parts;
    });
  pipeline.readable = replaced(fixed_string(std::string(blank_mark)), " ");
  pipeline.kind = fmt::format("SentencePiece {} ({})", is_bpe ? "BPE" : "Unigram", path.filename().string());
  pipeline.files = {path};
  pipeline.files.insert(pipeline.files.end(), settings.files.begin(), settings.files.end());
  return pipeline;
}

}  // namespace headwave
