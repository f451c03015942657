#include "token_model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <queue>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "../files/unicode_text.h"

namespace headwave {

Index largest_vocabulary(std::size_t entries) {
  return static_cast<Index>(std::min<std::size_t>(2 * entries + 1024, std::size_t{1} << 30U));
}

Vocabulary::Vocabulary(std::vector<VocabularyEntry> entries, const std::string& file) {
  if (entries.empty()) throw FormatError(fmt::format("{}: the vocabulary is empty", file));
  const Index most = largest_vocabulary(entries.size());
  std::int64_t largest = 0;
  for (const VocabularyEntry& entry : entries) {
    if (entry.id < 0 || entry.id >= most)
      throw FormatError(fmt::format("{}: the token '{}' has id {}, expected 0 to {} in a vocabulary of {} tokens", file,
                                    printable(entry.piece), entry.id, most - 1, entries.size()));
    largest = std::max(largest, entry.id);
  }
  pieces_.resize(static_cast<std::size_t>(largest) + 1);
  given_.resize(pieces_.size());
  for (VocabularyEntry& entry : entries) {
    const auto at = static_cast<std::size_t>(entry.id);
    if (given_[at] != 0)
      throw FormatError(fmt::format("{}: the tokens '{}' and '{}' have the same id {}: each needs its own", file,
                                    printable(pieces_[at]), printable(entry.piece), entry.id));
    given_[at] = 1;
    pieces_[at] = std::move(entry.piece);
  }
  ids_.reserve(entries.size());
  for (const VocabularyEntry& entry : entries)
    ids_.insert_or_assign(pieces_[static_cast<std::size_t>(entry.id)], static_cast<std::int32_t>(entry.id));
}

PiecePrefixes::PiecePrefixes(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {
  std::ranges::stable_sort(pieces_, {}, &Piece::text);
  const auto repeated = std::ranges::unique(pieces_, {}, &Piece::text);
  pieces_.erase(repeated.begin(), repeated.end());
  for (std::size_t byte = 0; byte < 256; ++byte) begins_[byte] = narrowed({0, pieces_.size()}, 0, byte);
}

PiecePrefixes::Range PiecePrefixes::narrowed(Range range, std::size_t depth, std::size_t byte) const {
  const auto at = [&](const Piece& piece) { return std::size_t{static_cast<unsigned char>(piece.text[depth])}; };
  if (range.begin == range.end || (at(pieces_[range.begin]) == byte && at(pieces_[range.end - 1]) == byte))
    return range;
  const auto first = pieces_.begin();
  const auto begin = std::partition_point(first + static_cast<std::ptrdiff_t>(range.begin),
                                          first + static_cast<std::ptrdiff_t>(range.end),
                                          [&](const Piece& piece) { return at(piece) < byte; });
  const auto end = std::partition_point(begin, first + static_cast<std::ptrdiff_t>(range.end),
                                        [&](const Piece& piece) { return at(piece) == byte; });
  return {static_cast<std::size_t>(begin - first), static_cast<std::size_t>(end - first)};
}

namespace {

constexpr std::size_t longest_word = 100;  // in characters; a longer word is unknown
constexpr std::string_view inside = "##";  // prefix of pieces inside a word

class WordPiece final : public TokenModel {
 public:
  WordPiece(Vocabulary entries, const std::string& unknown, const std::string& file)
      : TokenModel(std::move(entries)), unknown_(unknown_id(vocabulary(), unknown, file)) {
    for (std::int32_t id = 0; id < vocabulary().size(); ++id) {
      const std::string_view piece = vocabulary().piece(id);
      longest_piece_ = std::max(longest_piece_, piece.size());
      // If a piece occurs twice, only the id that the vocabulary finds is used.
      if (piece.starts_with(inside) && vocabulary().id(piece) == id)
        continuing_.emplace(piece.substr(inside.size()), id);
    }
  }

  void append_ids(std::string_view word, std::vector<std::int32_t>& ids) const override {
    const std::size_t before = ids.size();
    if (!is_too_long(word) && spell(word, ids)) return;
    ids.resize(before);
    ids.push_back(unknown_);
  }

 private:
  [[nodiscard]] bool is_too_long(std::string_view word) const {
    std::size_t characters = 0;
    for (const char c : word) characters += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
    return characters > longest_word;
  }

  [[nodiscard]] bool spell(std::string_view word, std::vector<std::int32_t>& ids) const {
    for (std::size_t begin = 0; begin < word.size();) {
      std::size_t length = std::min(word.size() - begin, longest_piece_);
      std::int32_t id = -1;
      for (; length > 0 && id < 0; --length) id = find(word.substr(begin, length), begin == 0);
      if (id < 0) return false;
      ids.push_back(id);
      begin += length + 1;  // + 1 because the loop stepped once more
    }
    return true;
  }

  [[nodiscard]] std::int32_t find(std::string_view piece, bool begins_word) const {
    if (begins_word) return vocabulary().id(piece);
    const auto found = continuing_.find(piece);
    return found == continuing_.end() ? -1 : found->second;
  }

  std::int32_t unknown_;
  std::size_t longest_piece_ = 0;                                  // bytes
  std::unordered_map<std::string_view, std::int32_t> continuing_;  // without the prefix; looks into the vocabulary
};

class WholeWords final : public TokenModel {
 public:
  WholeWords(Vocabulary entries, const std::string& unknown, const std::string& file)
      : TokenModel(std::move(entries)), unknown_(unknown_id(vocabulary(), unknown, file)) {}

  void append_ids(std::string_view word, std::vector<std::int32_t>& ids) const override {
    const std::int32_t id = vocabulary().id(word);
    ids.push_back(id >= 0 ? id : unknown_);
  }

 private:
  std::int32_t unknown_;
};

}  // namespace

std::int32_t unknown_id(const Vocabulary& vocabulary, const std::string& unknown, const std::string& file) {
  const std::int32_t id = vocabulary.id(unknown);
  if (id < 0)
    throw FormatError(
        fmt::format("{}: the unknown token '{}' is not in the vocabulary: add it, or name a token that is", file,
                    printable(unknown)));
  return id;
}

std::unique_ptr<TokenModel> word_piece(Vocabulary vocabulary, const std::string& unknown, const std::string& file) {
  return std::make_unique<WordPiece>(std::move(vocabulary), unknown, file);
}

std::unique_ptr<TokenModel> whole_words(Vocabulary vocabulary, const std::string& unknown, const std::string& file) {
  return std::make_unique<WholeWords>(std::move(vocabulary), unknown, file);
}

namespace {

/// The tokens "<0x00>" to "<0xFF>" of a vocabulary.
class ByteTokens {
 public:
  /// @param wanted  false: leave the list empty
  ByteTokens(const Vocabulary& vocabulary, bool wanted) {
    for (unsigned byte = 0; wanted && byte < 256; ++byte)
      ids_.push_back(vocabulary.id(fmt::format("<0x{:02X}>", byte)));
  }

  /// The tokens of a text's bytes; empty if one of them has no token.
  [[nodiscard]] std::vector<std::int32_t> spelled(std::string_view text) const {
    std::vector<std::int32_t> ids;
    if (!ids_.empty())
      for (const char byte : text) ids.push_back(ids_[static_cast<unsigned char>(byte)]);
    return std::ranges::count(ids, -1) > 0 ? std::vector<std::int32_t>() : ids;
  }

 private:
  std::vector<std::int32_t> ids_;
};

struct Joined {
  std::int32_t rank = 0;
  std::int32_t id = -1;  // -1: no merge
};

// A piece of a word that is being spelled, linked to its neighbours.
struct Symbol {
  std::int32_t id = 0;
  std::int32_t before = -1;
  std::int32_t after = -1;
  bool gone = false;  // joined to the one before
};

// A merge that was possible when it was queued. Its symbols may have changed since.
struct Candidate {
  std::int32_t rank = 0;
  std::int32_t at = 0;
  std::int32_t id = 0;
  // A priority queue gives the largest first: that is the earliest merge, and the leftmost place for it.
  bool operator<(const Candidate& other) const { return std::tie(rank, at) > std::tie(other.rank, other.at); }
};

class BytePairEncoding final : public TokenModel {
 public:
  BytePairEncoding(Vocabulary entries, const std::vector<Merge>& merges, const BytePairOptions& options,
                   const std::string& file)
      : TokenModel(std::move(entries)), options_(options), bytes_(vocabulary(), options.byte_fallback) {
    if (!options.unknown.empty()) unknown_ = unknown_id(vocabulary(), options.unknown, file);
    joined_.reserve(merges.size());
    for (std::size_t rank = 0; rank < merges.size(); ++rank)
      add_merge(merges[rank], static_cast<std::int32_t>(rank), file);
  }

  void append_ids(std::string_view word, std::vector<std::int32_t>& ids) const override {
    if (options_.whole_words_first) {
      if (const std::int32_t id = vocabulary().id(word); id >= 0) {
        ids.push_back(id);
        return;
      }
    }
    std::vector<Symbol> symbols = characters(word);
    join(symbols);
    for (const Symbol& symbol : symbols)
      if (!symbol.gone) ids.push_back(symbol.id);
  }

 private:
  static std::uint64_t key(std::int32_t left, std::int32_t right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32U | static_cast<std::uint32_t>(right);
  }

  void add_merge(const Merge& merge, std::int32_t rank, const std::string& file) {
    const auto& [left, right] = merge;
    const std::string result = left + right;
    for (const std::string& piece : {left, right, result})
      if (vocabulary().id(piece) < 0)
        throw FormatError(
            fmt::format("{}: merge {} ('{}' with '{}') needs the token '{}', which is not in the vocabulary", file,
                        rank, printable(left), printable(right), printable(piece)));
    joined_[key(vocabulary().id(left), vocabulary().id(right))] = {rank, vocabulary().id(result)};
  }

  [[nodiscard]] Joined joined(std::int32_t left, std::int32_t right) const {
    const auto found = joined_.find(key(left, right));
    return found == joined_.end() ? Joined{} : found->second;
  }

  // The tokens of the characters. An unknown token is held back until a known one follows, so that it can be
  // fused. A character spelled in bytes overtakes it, as in Hugging Face's `tokenizers`.
  [[nodiscard]] std::vector<Symbol> characters(std::string_view word) const {
    std::vector<Symbol> symbols;
    bool unknown_waits = false;
    const auto put = [&](std::int32_t id) {
      const auto at = static_cast<std::int32_t>(symbols.size());
      if (at > 0) symbols.back().after = at;
      symbols.push_back({id, at - 1, -1, false});
    };
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t begin = at;
      at += utf8_length(word[at]);
      const std::string_view character = word.substr(begin, at - begin);
      const bool is_last = at == word.size();
      const std::int32_t id = vocabulary().id(std::string(character) + (is_last ? options_.word_suffix : ""));
      if (id >= 0) {
        if (unknown_waits) put(unknown_);
        unknown_waits = false;
        put(id);
      } else if (const std::vector<std::int32_t> spelled = bytes_.spelled(character); !spelled.empty()) {
        for (const std::int32_t byte : spelled) put(byte);
      } else if (unknown_ >= 0) {
        if (unknown_waits && !options_.fuse_unknown) put(unknown_);
        unknown_waits = true;
      }
    }
    if (unknown_waits) put(unknown_);
    return symbols;
  }

  void join(std::vector<Symbol>& symbols) const {
    std::priority_queue<Candidate> candidates;
    const auto note = [&](std::int32_t at) {
      if (at < 0 || symbols[static_cast<std::size_t>(at)].after < 0) return;
      const Symbol& left = symbols[static_cast<std::size_t>(at)];
      const Joined merge = joined(left.id, symbols[static_cast<std::size_t>(left.after)].id);
      if (merge.id >= 0) candidates.push({merge.rank, at, merge.id});
    };
    for (std::int32_t at = 0; at + 1 < static_cast<std::int32_t>(symbols.size()); ++at) note(at);
    while (!candidates.empty()) {
      const Candidate next = candidates.top();
      candidates.pop();
      Symbol& left = symbols[static_cast<std::size_t>(next.at)];
      if (left.gone || left.after < 0) continue;
      Symbol& right = symbols[static_cast<std::size_t>(left.after)];
      if (joined(left.id, right.id).id != next.id) continue;
      left.id = next.id;
      left.after = right.after;
      right.gone = true;
      if (left.after >= 0) symbols[static_cast<std::size_t>(left.after)].before = next.at;
      note(left.before);
      note(next.at);
    }
  }

  BytePairOptions options_;
  ByteTokens bytes_;
  std::int32_t unknown_ = -1;
  std::unordered_map<std::uint64_t, Joined> joined_;
};

}  // namespace

std::unique_ptr<TokenModel> byte_pair_encoding(Vocabulary vocabulary, const std::vector<Merge>& merges,
                                               const BytePairOptions& options, const std::string& file) {
  return std::make_unique<BytePairEncoding>(std::move(vocabulary), merges, options, file);
}

namespace {

class Unigram final : public TokenModel {
 public:
  Unigram(Vocabulary entries, UnigramOptions options)
      : TokenModel(std::move(entries)),
        options_(std::move(options)),
        pieces_(found_pieces()),
        unknown_score_(least_score() - 10),
        bytes_(vocabulary(), options_.byte_fallback) {}

  void append_ids(std::string_view word, std::vector<std::int32_t>& ids) const override {
    const std::vector<Reached> best = best_spellings(word);
    std::vector<std::size_t> ends;
    for (std::size_t end = word.size(); end > 0; end = best[end].begin) ends.push_back(end);
    std::size_t unknown_begin = 0;
    bool unknown_waits = false;
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
      const Reached& last = best[*end];
      if (last.id == options_.unknown) {
        if (!unknown_waits) unknown_begin = last.begin;
        unknown_waits = true;
        continue;
      }
      if (unknown_waits) append_unknown(word.substr(unknown_begin, last.begin - unknown_begin), ids);
      unknown_waits = false;
      ids.push_back(last.id);
    }
    if (unknown_waits) append_unknown(word.substr(unknown_begin), ids);
  }

 private:
  /// The last piece of the best spelling up to a place in the word.
  struct Reached {
    double score = 0;
    std::int32_t id = -1;  // -1: nothing ends here
    std::uint32_t begin = 0;
  };

  [[nodiscard]] std::vector<PiecePrefixes::Piece> found_pieces() const {
    std::vector<PiecePrefixes::Piece> pieces;
    for (std::int32_t id = 0; id < vocabulary().size(); ++id) {
      const std::string& piece = vocabulary().piece(id);
      // If a piece occurs twice, only the id that the vocabulary finds is used.
      if (!piece.empty() && vocabulary().id(piece) == id) pieces.push_back({piece, id});
    }
    return pieces;
  }

  [[nodiscard]] double least_score() const {
    double least = std::numeric_limits<float>::max();
    for (const double score : options_.scores) least = std::min(least, score);
    return least;
  }

  [[nodiscard]] std::vector<Reached> best_spellings(std::string_view word) const {
    std::vector<Reached> best(word.size() + 1);
    for (std::size_t begin = 0; begin < word.size();) {
      const std::size_t character = utf8_length(word[begin]);
      const double before = best[begin].score;
      const auto reach = [&](std::size_t length, std::int32_t id, double score) {
        Reached& there = best[begin + length];
        const double sum = score + before;
        if (there.id < 0 || sum > there.score) there = {sum, id, static_cast<std::uint32_t>(begin)};
      };
      bool has_character = false;
      pieces_.of(word.substr(begin), [&](std::size_t length, std::int32_t id) {
        has_character = has_character || length == character;
        reach(length, id, options_.scores[static_cast<std::size_t>(id)]);
      });
      if (!has_character) reach(character, options_.unknown, unknown_score_);
      begin += character;
    }
    return best;
  }

  void append_unknown(std::string_view text, std::vector<std::int32_t>& ids) const {
    const std::int32_t whole = vocabulary().id(text);
    const std::vector<std::int32_t> spelled = whole < 0 ? bytes_.spelled(text) : std::vector<std::int32_t>();
    ids.insert(ids.end(), spelled.begin(), spelled.end());
    if (spelled.empty()) ids.push_back(whole >= 0 ? whole : options_.unknown);
  }

  UnigramOptions options_;
  PiecePrefixes pieces_;
  double unknown_score_;
  ByteTokens bytes_;
};

}  // namespace

std::unique_ptr<TokenModel> unigram(Vocabulary vocabulary, UnigramOptions options, const std::string& file) {
  if (!vocabulary.has(options.unknown))
    throw FormatError(
        fmt::format("{}: the unknown token has id {}, expected 0 to {}", file, options.unknown, vocabulary.size() - 1));
  return std::make_unique<Unigram>(std::move(vocabulary), std::move(options));
}

}  // namespace headwave
