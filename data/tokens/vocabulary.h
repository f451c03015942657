#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// One entry of a vocabulary file.
struct VocabularyEntry {
  std::string piece;
  std::int64_t id = 0;
};

/// One more than the largest id that so many entries may have. Files may omit a few ids; one that omits most
/// is broken, and must not make us allocate what it names.
Index largest_vocabulary(std::size_t entries);

/// Pieces of text and their ids, both ways.
class Vocabulary {
 public:
  /// @param entries  any order; of a piece that occurs twice the last one counts, as in BERT's own reader
  /// @param file     what messages call the file
  /// @throws FormatError if an id is negative, occurs twice, or is far beyond the number of entries; if there
  ///         are no entries
  Vocabulary(std::vector<VocabularyEntry> entries, const std::string& file);
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;
  ~Vocabulary() = default;

  /// The id of a piece; -1 if there is no such piece.
  [[nodiscard]] std::int32_t id(std::string_view piece) const {
    const auto found = ids_.find(piece);
    return found == ids_.end() ? -1 : found->second;
  }
  /// The piece of an id in 0 .. size() - 1; empty where the id is omitted.
  [[nodiscard]] const std::string& piece(std::int32_t id) const { return pieces_[static_cast<std::size_t>(id)]; }
  /// Whether a piece has this id.
  [[nodiscard]] bool has(std::int64_t id) const {
    return id >= 0 && id < size() && given_[static_cast<std::size_t>(id)] != 0;
  }
  /// One more than the largest id.
  [[nodiscard]] Index size() const { return static_cast<Index>(pieces_.size()); }

 private:
  std::vector<std::string> pieces_;
  std::vector<std::uint8_t> given_;
  std::unordered_map<std::string_view, std::int32_t> ids_;  // looks into pieces_, which never changes
};

/// Pieces in the order of their bytes, to find those that a text begins with.
class PiecePrefixes {
 public:
  struct Piece {
    std::string_view text;  ///< not empty; outlives the object
    std::int32_t id = 0;
  };

  /// @param pieces  of two with the same text only the first is found
  explicit PiecePrefixes(std::vector<Piece> pieces);

  /// Hands every piece that a text begins with to `seen(length, id)`, the shortest first.
  /// @param text  not empty
  template <class Seen>
  void of(std::string_view text, Seen seen) const {
    Range range = begins_[static_cast<unsigned char>(text.front())];
    for (std::size_t depth = 1; range.begin < range.end; ++depth) {
      if (const Piece& shortest = pieces_[range.begin]; shortest.text.size() == depth) {
        seen(depth, shortest.id);
        ++range.begin;
      }
      if (depth == text.size() || range.begin == range.end) return;
      range = narrowed(range, depth, static_cast<unsigned char>(text[depth]));
    }
  }

 private:
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  // The pieces of a range, all longer than `depth` and alike before it, that have this byte there.
  [[nodiscard]] Range narrowed(Range range, std::size_t depth, std::size_t byte) const;

  std::vector<Piece> pieces_;
  std::array<Range, 256> begins_{};
};

}  // namespace headwave
