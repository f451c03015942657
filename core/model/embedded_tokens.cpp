#include "embedded_tokens.h"

#include <fmt/format.h>

#include "layer.h"

namespace headwave {

namespace {

/// A patch embedding is a convolution whose stride is its size: a matrix product over the pixels of each patch.
Matrix32 image_rows(const Embedding& embedding, const TokenSequence& tokens, const std::string& document) {
  const std::string name = document.empty() ? "document" : document;
  if (tokens.patches.cols() != embedding.patches.d_in())
    throw ShapeError(fmt::format("{}: patches of {} numbers, the model expects {}", name, tokens.patches.cols(),
                                 embedding.patches.d_in()));
  const Matrix32 patches = linear(tokens.patches, embedding.patches);
  Matrix32 x(static_cast<Index>(tokens.ids.size()), patches.cols());
  for (Index i = 0; i < x.rows(); ++i) {
    const Index id = tokens.ids[static_cast<std::size_t>(i)], patch = -1 - id;
    if (patch >= patches.rows() || id >= embedding.opening.rows())
      throw ShapeError(fmt::format("{}: token {} has id {}; expected one of {} opening tokens or {} patches (-1 - n)",
                                   name, i, id, embedding.opening.rows(), patches.rows()));
    if (id >= 0)
      x.row(i) = embedding.opening.row(id);
    else
      x.row(i) = patches.row(patch);
  }
  return x;
}

}  // namespace

Matrix32 word_rows(const Embedding& embedding, const TokenSequence& tokens, const std::string& document) {
  if (!embedding.patches.empty()) return image_rows(embedding, tokens, document);
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
