#include "sentencepiece.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/file_bytes.h"
#include "../files/printable.h"
#include "../files/unicode_text.h"
#include "normalizer.h"
#include "token_model.h"
#include "token_pipeline.h"
#include "tokenizer_files.h"

namespace headwave {

namespace {

/// One field of a message: a number, or bytes.
struct WireField {
  std::uint64_t key = 0;  ///< the field's number, and how it is written in the lowest 3 bits
  std::uint64_t number = 0;
  std::string_view bytes;
};

constexpr std::uint64_t as_varint(std::uint64_t field) {
  return field << 3U;
}
constexpr std::uint64_t as_bytes(std::uint64_t field) {
  return field << 3U | 2U;
}
constexpr std::uint64_t as_float(std::uint64_t field) {
  return field << 3U | 5U;
}

/// A message, field by field.
class WireMessage {
 public:
  WireMessage(std::string_view bytes, const std::string& file) : rest_(bytes), file_(file) {}

  [[nodiscard]] bool next(WireField& field) {
    if (rest_.empty()) return false;
    field = {};
    field.key = varint();
    switch (field.key & 7U) {
      case 0:
        field.number = varint();
        return true;
      case 1:
        field.bytes = taken(8);
        return true;
      case 2:
        field.bytes = taken(varint());
        return true;
      case 5:
        field.bytes = taken(4);
        for (std::size_t byte = 4; byte-- > 0;)
          field.number = field.number << 8U | static_cast<unsigned char>(field.bytes[byte]);
        return true;
      default:
        refuse();
    }
  }

 private:
  [[noreturn]] void refuse() const {
    throw FormatError(fmt::format(
        "{}: {} bytes before the end of a part it is no SentencePiece model: the file is broken, or another kind",
        file_, rest_.size()));
  }

  std::string_view taken(std::uint64_t size) {
    if (size > rest_.size()) refuse();
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(taken(1)[0]);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    refuse();
  }

  std::string_view rest_;
  const std::string& file_;
};

SentencePieceEntry read_piece(std::string_view bytes, const std::string& file) {
  SentencePieceEntry entry;
  WireMessage message(bytes, file);
  for (WireField field; message.next(field);) {
    if (field.key == as_bytes(1)) entry.piece = field.bytes;
    if (field.key == as_float(2)) entry.score = std::bit_cast<float>(static_cast<std::uint32_t>(field.number));
    if (field.key == as_varint(3)) {
      if (field.number < 1 || field.number > 6)
        throw FormatError(
            fmt::format("{}: piece '{}' is of kind {}, expected 1 to 6", file, printable(entry.piece), field.number));
      entry.kind = static_cast<SentencePieceKind>(field.number);
    }
  }
  if (entry.piece.empty() || !is_valid_utf8(entry.piece))
    throw FormatError(fmt::format("{}: the piece '{}' is empty or not UTF-8", file, printable(entry.piece)));
  return entry;
}

void read_trainer(std::string_view bytes, const std::string& file, SentencePieceFile& model) {
  WireMessage message(bytes, file);
  for (WireField field; message.next(field);) {
    if (field.key == as_varint(3)) {
      if (field.number != 1 && field.number != 2)
        throw FormatError(
            fmt::format("{}: model type {} is not known, expected 1 (Unigram) or 2 (BPE)", file, field.number));
      model.model = static_cast<SentencePieceFile::Model>(field.number);
    }
    if (field.key == as_varint(24)) model.whitespace_as_suffix = field.number != 0;
    if (field.key == as_varint(35)) model.byte_fallback = field.number != 0;
  }
}

void read_normalizer(std::string_view bytes, const std::string& file, SentencePieceFile& model) {
  WireMessage message(bytes, file);
  for (WireField field; message.next(field);) {
    if (field.key == as_bytes(2)) model.charsmap = field.bytes;
    if (field.key == as_varint(3)) model.add_dummy_prefix = field.number != 0;
    if (field.key == as_varint(4)) model.remove_extra_whitespaces = field.number != 0;
    if (field.key == as_varint(5)) model.escape_whitespaces = field.number != 0;
  }
}

/// Reads a SentencePiece model: a protocol buffer of pieces, the trainer's and the normalizer's settings.
///
/// Source: the message ModelProto of SentencePiece.
/// @throws IoError if it cannot be read; FormatError if it is larger than 64 MiB, broken, or neither Unigram
///         nor BPE
SentencePieceFile sentencepiece_file(const std::filesystem::path& path) {
  const MappedFile mapped(path);
  const std::string file = shown_path(path);
  if (mapped.size() > largest_tokenizer_file)
    throw FormatError(fmt::format("{}: {} bytes, at most {} are read: is this a SentencePiece model?", file,
                                  mapped.size(), largest_tokenizer_file));
  SentencePieceFile model;
  WireMessage message(mapped.text(), file);
  for (WireField field; message.next(field);) {
    if (field.key == as_bytes(1)) model.pieces.push_back(read_piece(field.bytes, file));
    if (field.key == as_bytes(2)) read_trainer(field.bytes, file, model);
    if (field.key == as_bytes(3)) read_normalizer(field.bytes, file, model);
  }
  return model;
}

constexpr std::string_view blank_mark = "\u2581";
constexpr std::size_t longest_merged = 1024;

AddedTokenFinder user_defined(const SentencePieceFile& model, const std::string& file) {
  std::vector<AddedToken> tokens;
  for (std::size_t id = 0; id < model.pieces.size(); ++id)
    if (model.pieces[id].kind == SentencePieceKind::user_defined)
      tokens.push_back({.content = model.pieces[id].piece, .id = static_cast<std::int64_t>(id)});
  return {std::move(tokens), {}, file};
}

/// SentencePiece's own normalizer: replaces characters by the table and blanks by marks, and puts a mark
/// before the text.
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
  // Hands what the characters of a text become to `seen`, in order.
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
  Vocabulary vocabulary(std::move(entries), file);
  for (std::int32_t id = 0; id < vocabulary.size(); ++id)
    if (vocabulary.id(vocabulary.piece(id)) != id)
      throw FormatError(
          fmt::format("{}: the piece '{}' occurs twice: the file is broken", file, printable(vocabulary.piece(id))));
  return vocabulary;
}

std::int32_t unknown_of(const SentencePieceFile& model, const std::string& file) {
  const auto found = std::find_if(model.pieces.begin(), model.pieces.end(), [](const SentencePieceEntry& entry) {
    return entry.kind == SentencePieceKind::unknown;
  });
  if (found == model.pieces.end())
    throw FormatError(fmt::format("{}: no piece is the unknown one: the file is broken", file));
  return static_cast<std::int32_t>(found - model.pieces.begin());
}

/// The ids of pieces in another file than the SentencePiece model.
struct PieceNumbers {
  Vocabulary vocabulary;
  std::int32_t unknown = 0;  ///< the id of other pieces
};

/// A model whose pieces have the ids that another file gives.
class NumberedPieces final : public TokenModel {
 public:
  explicit NumberedPieces(Vocabulary numbers) : TokenModel(std::move(numbers)) {}
  void spell_by(std::unique_ptr<TokenModel> model) { model_ = std::move(model); }
  void append_ids(std::string_view word, std::vector<std::int32_t>& ids) const override {
    model_->append_ids(word, ids);
  }

 private:
  std::unique_ptr<TokenModel> model_;
};

/// @param number  as of UnigramOptions
std::unique_ptr<TokenModel> unigram_of(const SentencePieceFile& model, const std::string& file,
                                       std::function<std::int32_t(std::string_view)> number = {}) {
  UnigramOptions options;
  options.number = std::move(number);
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

/// A merge for each way to make a piece of two pieces. Pieces of one score have one rank.
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

}  // namespace

std::unique_ptr<TokenModel> sentencepiece_pairs(const SentencePieceFile& model, const std::string& file) {
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

namespace {

/// The model's spelling with the ids that another file gives.
std::unique_ptr<TokenModel> numbered_of(const SentencePieceFile& model, PieceNumbers numbers, const std::string& file) {
  auto numbered = std::make_unique<NumberedPieces>(std::move(numbers.vocabulary));
  numbered->spell_by(unigram_of(model, file, [pieces = numbered.get(), unknown = numbers.unknown](auto piece) {
    const std::int32_t id = pieces->vocabulary().id(piece);
    return id >= 0 ? id : unknown;
  }));
  return numbered;
}

/// The steps of a SentencePiece model, without the tokens that open and close a document.
/// @param settings  of the files beside it
/// @throws IoError if it cannot be read; FormatError if it is broken, or a BPE with other numbers
TokenPipeline sentencepiece_pipeline(const std::filesystem::path& path, const TokenizerSettings& settings,
                                     std::optional<PieceNumbers> numbers = {}) {
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
                   : is_bpe ? sentencepiece_pairs(model, file)
                            : unigram_of(model, file);
  // User-defined pieces are words: a BPE may not merge them.
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

std::unique_ptr<Tokenizer> marian_tokenizer(const std::filesystem::path& model,
                                            const std::filesystem::path& vocabulary) {
  const std::string file = shown_path(vocabulary);
  TokenizerSettings settings = settings_beside(vocabulary);
  if (settings.separate_vocabularies)
    throw FormatError(
        fmt::format("{}: the target has a vocabulary of its own (separate_vocabs), which is not known here", file),
        give("ids", "FILE", "in place of texts"));
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
  std::map<std::string, std::int32_t, std::less<>> codes;
  for (std::int32_t id = 0; id < numbers.size(); ++id)
    if (const std::string& piece = numbers.piece(id); piece.starts_with(">>") && piece.ends_with("<<"))
      codes[piece] = id;
  TokenPipeline pipeline = sentencepiece_pipeline(model, settings, PieceNumbers{std::move(numbers), special.unknown});
  pipeline.leading = [codes = std::move(codes), unknown = special.unknown](std::string_view text) -> LeadingToken {
    const std::size_t end = text.starts_with(">>") ? text.find("<<") : std::string_view::npos;
    if (end == std::string_view::npos) return {};
    const auto code = codes.find(text.substr(0, end + 2));
    return {end + 2, code != codes.end() ? code->second : unknown};
  };
  pipeline.special = special;
  pipeline.kind += fmt::format(" numbered by {}", vocabulary.filename().string());
  pipeline.files.push_back(vocabulary);
  return tokenizer_of(std::move(pipeline), file);
}

}  // namespace headwave
