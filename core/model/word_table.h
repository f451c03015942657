#pragma once

#include <functional>
#include <utility>

#include "../numbers/matrix.h"

namespace headwave {

/// The embeddings of words, one a row: floats in memory, or rows that are read or made when somebody asks for them, so that a
/// table of which documents need little is not held.
class WordTable {
 public:
  /// Puts rows first ... first + count - 1 where they belong, one after the other. Called from several threads.
  using ReadRows = std::function<void(Index first, Index count, float* out)>;

  WordTable() = default;
  /// Of a table that somebody else owns.
  WordTable(const MatrixView32& rows) : rows_(rows) {}  // NOLINT: implicit, as a view is
  WordTable(const Matrix32& rows) : rows_(rows) {}      // NOLINT: as above
  WordTable(Index rows, Index cols, ReadRows read) : rows_(nullptr, rows, cols), read_(std::move(read)) {}

  [[nodiscard]] Index rows() const { return rows_.rows(); }
  [[nodiscard]] Index cols() const { return rows_.cols(); }
  [[nodiscard]] Index size() const { return rows_.size(); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// @param row  of those there are
  /// @param out  as many floats as there are columns
  void copy_row(Index row, float* out) const;
  /// Rows first ... first + count - 1.
  [[nodiscard]] Matrix32 copied(Index first, Index count) const;
  /// The table where it lies in memory. @throws ShapeError where rows are made when asked for
  [[nodiscard]] const MatrixView32& in_memory() const;

 private:
  MatrixView32 rows_;
  ReadRows read_;  ///< null: `rows_` are in memory
};

}  // namespace headwave
