#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// One entry of a vocabulary file, as it stands there.
struct VocabularyEntry {
  std::string piece;
  std::int64_t id = 0;
};

/// More entries than this no vocabulary has, nor more merges: what holds more is another kind of file.
constexpr std::size_t most_tokens = std::size_t{1} << 20U;

/// Refuses one entry more than there may be, before it is kept.
/// @param entries  how many there are
/// @param what     they are: "tokens", "merges"
/// @throws FormatError if those are most_tokens
void require_room_for_one(std::size_t entries, const std::string& file, const char* what);

/// What is done where a piece occurs twice: BERT's own reader of vocab.txt takes the last; JSON may not say a key twice.
enum class RepeatedPiece { last_counts, refused };

/// The largest id, plus one, that so many entries may have. Files leave a few ids out; one that leaves out most is
/// broken, and must not make us allocate what it names.
Index largest_vocabulary(std::size_t entries);

/// Pieces of text and their ids, both ways.
class Vocabulary {
 public:
  /// @param entries  any order
  /// @param file     what messages call the file
  /// @throws FormatError if an id is negative, given twice, or far beyond the number of entries; if there are no
  /// entries, or a piece occurs twice and may not
  Vocabulary(std::vector<VocabularyEntry> entries, const std::string& file,
             RepeatedPiece repeated = RepeatedPiece::last_counts);
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;
  ~Vocabulary() = default;

  /// The id of a piece; -1 if it is none.
  [[nodiscard]] std::int32_t id(std::string_view piece) const {
    const auto found = ids_.find(piece);
    return found == ids_.end() ? -1 : found->second;
  }
  /// The piece of an id in 0 .. size() - 1; empty where the id was left out.
  [[nodiscard]] const std::string& piece(std::int32_t id) const { return pieces_[static_cast<std::size_t>(id)]; }
  /// Whether some piece has this id.
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

}  // namespace headwave
