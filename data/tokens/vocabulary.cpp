#include "vocabulary.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"

namespace headwave {

Index largest_vocabulary(std::size_t entries) {
  return static_cast<Index>(std::min<std::size_t>(2 * entries + 1024, std::size_t{1} << 30U));
}

Vocabulary::Vocabulary(std::vector<VocabularyEntry> entries, const std::string& file) {
  if (entries.empty()) throw FormatError(fmt::format("{}: the vocabulary is empty: give one with tokens in it", file));
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

}  // namespace headwave
