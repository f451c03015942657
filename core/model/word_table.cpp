#include "word_table.h"

#include <algorithm>

namespace headwave {

void WordTable::copy_row(Index row, float* out) const {
  if (read_)
    read_(row, 1, out);
  else
    std::copy_n(rows_.data() + row * rows_.outerStride(), cols(), out);
}

Matrix32 WordTable::copied(Index first, Index count) const {
  Matrix32 rows(count, cols());
  if (read_)
    read_(first, count, rows.data());
  else
    rows = rows_.middleRows(first, count);
  return rows;
}

const MatrixView32& WordTable::in_memory() const {
  if (read_) throw ShapeError("the word embeddings are read row by row, they do not lie in memory as floats");
  return rows_;
}

}  // namespace headwave
