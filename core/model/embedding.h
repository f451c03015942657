#pragma once

#include <functional>
#include <string>
#include <utility>

#include "../attention/block.h"
#include "../attention/document.h"
#include "../numbers/matrix.h"

namespace headwave {

/// The word embeddings, one row per token of the vocabulary. The rows are either in memory, or read on demand
/// so that a large table need not be in memory.
class WordTable {
 public:
  /// Writes rows first .. first + count - 1 to `out`, one after the other. May be called from several
  /// threads.
  using ReadRows = std::function<void(Index first, Index count, float* out)>;

  WordTable() = default;
  /// A view of a table that is owned elsewhere.
  WordTable(const MatrixView32& rows) : rows_(rows) {}  // NOLINT: implicit, as a view is
  WordTable(const Matrix32& rows) : rows_(rows) {}      // NOLINT: as above
  WordTable(Index rows, Index cols, ReadRows read) : rows_(nullptr, rows, cols), read_(std::move(read)) {}

  [[nodiscard]] Index rows() const { return rows_.rows(); }
  [[nodiscard]] Index cols() const { return rows_.cols(); }
  [[nodiscard]] Index size() const { return rows_.size(); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// @param row  0 .. rows() - 1
  /// @param out  room for cols() floats
  void copy_row(Index row, float* out) const;
  /// A copy of rows first .. first + count - 1.
  [[nodiscard]] Matrix32 copied(Index first, Index count) const;
  /// The table in memory. @throws ShapeError if rows are read on demand
  [[nodiscard]] const MatrixView32& in_memory() const;

 private:
  MatrixView32 rows_;
  ReadRows read_;  ///< reads rows on demand; null: `rows_` are in memory
};

/// Turns tokens into the input of the first block: projection(norm(scale * word + position + token type 0)),
/// where each part is optional.
struct Embedding {
  WordTable words;           ///< (vocabulary, d_embedding)  d_embedding is d_model if there is no projection
  float word_scale = 1;      ///< sqrt(d_model) in the original Transformer
  MatrixView32 positions;    ///< (longest document, d_embedding) row n is added to token n; empty: no position table
  MatrixView32 token_types;  ///< (types, d_embedding); or empty
  Norm norm;                 ///< norm of the sum of embeddings; or empty
  Linear projection = {};    ///< projects to d_model if embeddings are factorised (ALBERT, ELECTRA); or empty
  Index refused_word = -1;   ///< id that no document may contain: ESM's mask, which would change the scale of words
};

/// The word embeddings of a document's tokens, before they are scaled and positions are added.
/// @param document  name of the document in messages; empty: "document"
/// @returns (T, d_embedding)
/// @throws ShapeError if an id lies outside the vocabulary or is refused
Matrix32 word_rows(const Embedding& embedding, const TokenSequence& tokens, const std::string& document);

/// The input of the first block: projection(norm(scale * word + position + token type 0)).
/// @returns (T, d_model)
/// @throws ShapeError as word_rows()
Matrix32 embedded_tokens(const Embedding& embedding, const TokenSequence& tokens, const std::string& document);

}  // namespace headwave
