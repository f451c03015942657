#pragma once

#include <map>
#include <string>
#include <vector>

#include "../attention/document.h"
#include "../fields/field.h"
#include "../numbers/matrix.h"

namespace headwave {

/// The most common length of documents. Ties go to the larger length.
template <class Length>
struct CommonLength {
  Length length{};      ///< T in tokens, or the lengths of several sequences
  Index documents = 0;  ///< documents of that length
};

template <class Length>
CommonLength<Length> common_length(const std::vector<Length>& lengths) {
  std::map<Length, Index> counts;
  for (const Length& length : lengths) ++counts[length];
  CommonLength<Length> common;
  for (const auto& [length, count] : counts)
    if (count >= common.documents) common = {length, count};
  return common;
}

/// Where documents come from: text through a tokenizer, token ids, stored states, stored queries and keys,
/// finished attention, or the planted model. Callers need not know which of these it is.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  [[nodiscard]] virtual Index count() const = 0;

  /// Document i, 0 <= i < count(). May be called from several threads at once.
  /// @throws Error if stored arrays cannot be read or have the wrong shape
  [[nodiscard]] virtual Document document(Index i) const = 0;

  /// Document i for another pass of the model. If the ids are enough for a pass, stored states are left out.
  [[nodiscard]] virtual Document ids_alone(Index i) const { return document(i); }

  /// Length T of document i, or of its target if the target is longer. The document is not made.
  [[nodiscard]] virtual Index length(Index i) const = 0;

  /// What a result records about the documents: paths, sha256, packing of the text, use of special tokens.
  [[nodiscard]] virtual Attributes provenance() const = 0;
};

}  // namespace headwave
