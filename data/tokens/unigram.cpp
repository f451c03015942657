#include "unigram.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "../files/unicode_text.h"

namespace headwave {

namespace {

constexpr std::size_t longest_unigram_piece = 1024;

/// Pieces in the order of their bytes, to be found byte by byte.
class SortedPieces {
 public:
  struct Piece {
    std::string_view text;
    std::int32_t id = 0;
  };

  struct PieceRange {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  explicit SortedPieces(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {
    std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) { return a.text < b.text; });
    for (std::size_t byte = 0; byte < 256; ++byte) begins_[byte] = narrowed({0, pieces_.size()}, 0, byte);
  }

  /// Hands every piece that begins the text to `seen(length, id)`, the shortest first.
  template <class Seen>
  void beginning(std::string_view text, Seen seen) const {
    PieceRange range = begins_[static_cast<unsigned char>(text.front())];
    for (std::size_t depth = 1; range.begin < range.end; ++depth) {
      const Piece& shortest = pieces_[range.begin];
      if (shortest.text.size() == depth) {
        seen(depth, shortest.id);
        ++range.begin;
      }
      if (depth == text.size() || range.begin == range.end) return;
      range = narrowed(range, depth, static_cast<unsigned char>(text[depth]));
    }
  }

 private:
  // Those of a range, all longer than `depth` and alike before, that have this byte there.
  [[nodiscard]] PieceRange narrowed(PieceRange range, std::size_t depth, std::size_t byte) const {
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

  std::vector<Piece> pieces_;
  std::array<PieceRange, 256> begins_{};
};

/// @tparam Sum  what sums of scores are kept in
template <class Sum>
class Unigram final : public TokenModel {
 public:
  Unigram(Vocabulary entries, UnigramOptions options)
      : TokenModel(std::move(entries)),
        options_(std::move(options)),
        pieces_(found_pieces()),
        unknown_score_(least_score() - 10) {
    if (options_.byte_fallback)
      for (unsigned byte = 0; byte < 256; ++byte) byte_ids_.push_back(vocabulary().id(fmt::format("<0x{:02X}>", byte)));
  }

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
      ids.push_back(number_of(last.id));
    }
    if (unknown_waits) append_unknown(word.substr(unknown_begin), ids);
  }

 private:
  /// The best way to a place in the word: its last piece.
  struct Reached {
    Sum score = 0;
    std::int32_t id = -1;  // -1: nothing ends here
    std::uint32_t begin = 0;
  };

  [[nodiscard]] UnigramPiece kind(std::int32_t id) const {
    return options_.kinds.empty() ? UnigramPiece::normal : options_.kinds[static_cast<std::size_t>(id)];
  }

  [[nodiscard]] std::vector<SortedPieces::Piece> found_pieces() const {
    std::vector<SortedPieces::Piece> pieces;
    for (std::int32_t id = 0; id < vocabulary().size(); ++id) {
      const std::string& piece = vocabulary().piece(id);
      // Where a piece stands twice, the id that the vocabulary finds is the one that counts.
      if (kind(id) != UnigramPiece::never_found && !piece.empty() && vocabulary().id(piece) == id)
        pieces.push_back({piece, id});
    }
    return pieces;
  }

  [[nodiscard]] double least_score() const {
    double least = std::numeric_limits<float>::max();
    for (std::int32_t id = 0; id < vocabulary().size(); ++id)
      if (kind(id) == UnigramPiece::normal) least = std::min(least, options_.scores[static_cast<std::size_t>(id)]);
    return least;
  }

  [[nodiscard]] double largest_score() const {
    double largest = std::numeric_limits<float>::lowest();
    for (std::int32_t id = 0; id < vocabulary().size(); ++id)
      if (kind(id) == UnigramPiece::normal) largest = std::max(largest, options_.scores[static_cast<std::size_t>(id)]);
    return largest;
  }

  [[nodiscard]] std::vector<Reached> best_spellings(std::string_view word) const {
    std::vector<Reached> best(word.size() + 1);
    for (std::size_t begin = 0; begin < word.size();) {
      const std::size_t character = utf8_length(word[begin]);
      const double before = best[begin].score;
      const auto reach = [&](std::size_t length, std::int32_t id, double score) {
        Reached& there = best[begin + length];
        const auto sum = static_cast<Sum>(score + before);
        if (there.id < 0 || sum > there.score) there = {sum, id, static_cast<std::uint32_t>(begin)};
      };
      bool has_character = false;
      pieces_.beginning(word.substr(begin), [&](std::size_t length, std::int32_t id) {
        has_character = has_character || length == character;
        const bool always = kind(id) == UnigramPiece::user_defined;
        reach(length, id,
              always ? static_cast<double>(length) * largest_ - 0.1 : options_.scores[static_cast<std::size_t>(id)]);
      });
      if (!has_character) reach(character, options_.unknown, unknown_score_);
      begin += character;
    }
    return best;
  }

  [[nodiscard]] std::int32_t number_of(std::int32_t id) const {
    return options_.number ? options_.number(vocabulary().piece(id)) : id;
  }

  void append_unknown(std::string_view text, std::vector<std::int32_t>& ids) const {
    const std::int32_t whole = options_.kinds.empty() ? vocabulary().id(text) : -1;
    const auto has_byte = [&](char byte) { return byte_ids_[static_cast<unsigned char>(byte)] >= 0; };
    if (whole < 0 && options_.byte_fallback && std::all_of(text.begin(), text.end(), has_byte))
      for (const char byte : text) ids.push_back(number_of(byte_ids_[static_cast<unsigned char>(byte)]));
    else if (options_.number)
      ids.push_back(options_.number(text));
    else
      ids.push_back(whole >= 0 ? whole : options_.unknown);
  }

  UnigramOptions options_;
  SortedPieces pieces_;
  double unknown_score_;
  double largest_ = largest_score();
  std::vector<std::int32_t> byte_ids_;
};

}  // namespace

std::unique_ptr<TokenModel> unigram(Vocabulary vocabulary, UnigramOptions options, const std::string& file) {
  if (options.scores.size() != static_cast<std::size_t>(vocabulary.size()))
    throw FormatError(fmt::format("{}: {} scores for ids 0 to {}: each needs one", file, options.scores.size(),
                                  vocabulary.size() - 1));
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string& piece = vocabulary.piece(id);
    if (!std::isfinite(options.scores[static_cast<std::size_t>(id)]))
      throw FormatError(fmt::format("{}: the score of '{}' is not finite", file, printable(piece)));
    if (piece.size() > longest_unigram_piece)
      throw FormatError(fmt::format("{}: the piece '{}' has {} bytes, at most {} are read", file, printable(piece),
                                    piece.size(), longest_unigram_piece));
  }
  if (!vocabulary.has(options.unknown))
    throw FormatError(
        fmt::format("{}: the unknown token has id {}, expected 0 to {}", file, options.unknown, vocabulary.size() - 1));
  if (options.kinds.empty()) return std::make_unique<Unigram<double>>(std::move(vocabulary), std::move(options));
  return std::make_unique<Unigram<float>>(std::move(vocabulary), std::move(options));
}

}  // namespace headwave
