#include "embedded_tokens.h"

#include <fmt/format.h>

#include "layer.h"

namespace headwave {

Matrix32 word_rows(const Embedding& embedding, const TokenSequence& tokens, const std::string& document) {
  const MatrixView32& words = embedding.words;
  Matrix32 x(static_cast<Index>(tokens.ids.size()), words.cols());
  for (Index i = 0; i < x.rows(); ++i) {
    const Index id = tokens.ids[static_cast<std::size_t>(i)];
    if (id < 0 || id >= words.rows())
      throw ShapeError(
          fmt::format("{}: token {} has id {}, outside the vocabulary of {}; was it tokenized for another model?",
                      document.empty() ? "document" : document, i, id, words.rows()));
    x.row(i) = words.row(id);
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
