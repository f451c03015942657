#include "embedding.h"

#include <algorithm>

#include <fmt/format.h>

#include "layer.h"

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
  if (read_) throw ShapeError("the word embeddings are read row by row, but they are needed in memory as floats");
  return rows_;
}

Matrix32 word_rows(const Embedding& embedding, const TokenSequence& tokens, const std::string& document) {
  const WordTable& words = embedding.words;
  Matrix32 x(static_cast<Index>(tokens.ids.size()), words.cols());
  for (Index i = 0; i < x.rows(); ++i) {
    const Index id = tokens.ids[static_cast<std::size_t>(i)];
    if (id < 0 || id >= words.rows())
      throw ShapeError(fmt::format(
          "{}: token {} has id {}, outside the vocabulary of {} tokens; was it tokenized for another model?",
          document.empty() ? "document" : document, i, id, words.rows()));
    if (id == embedding.refused_word)
      throw ShapeError(fmt::format(
          "{}: token {} has id {}, the mask token: this model scales word embeddings by the number of masks, "
          "which is not computed here; give documents without masks",
          document.empty() ? "document" : document, i, id));
    words.copy_row(id, x.row(i).data());
  }
  return x;
}

Matrix32 embedded_tokens(const Embedding& embedding, const TokenSequence& tokens, const std::string& document) {
  Matrix32 x = word_rows(embedding, tokens, document);
  if (embedding.word_scale != 1.0F) x *= embedding.word_scale;
  if (!embedding.positions.empty()) x += embedding.positions.topRows(x.rows());
  if (!embedding.token_types.empty()) x.rowwise() += embedding.token_types.row(0);
  normalise(x, embedding.norm);
  return embedding.projection.empty() ? x : linear(x, embedding.projection);
}

}  // namespace headwave
