#include "unigram.h"

#include <algorithm>
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

/// @tparam Sum  the type of sums of scores
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
  /// The last piece of the best spelling up to a place in the word.
  struct Reached {
    Sum score = 0;
    std::int32_t id = -1;  // -1: nothing ends here
    std::uint32_t begin = 0;
  };

  [[nodiscard]] UnigramPiece kind(std::int32_t id) const {
    return options_.kinds.empty() ? UnigramPiece::normal : options_.kinds[static_cast<std::size_t>(id)];
  }

  [[nodiscard]] std::vector<PiecePrefixes::Piece> found_pieces() const {
    std::vector<PiecePrefixes::Piece> pieces;
    for (std::int32_t id = 0; id < vocabulary().size(); ++id) {
      const std::string& piece = vocabulary().piece(id);
      // Of a piece that occurs twice the id that the vocabulary finds counts.
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
      pieces_.of(word.substr(begin), [&](std::size_t length, std::int32_t id) {
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
  PiecePrefixes pieces_;
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
