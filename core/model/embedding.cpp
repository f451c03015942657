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
  if (read_) throw ShapeError("the word embeddings are read row by row, they do not lie in memory as floats");
  return rows_;
}

namespace {

/// Every `stride`-th frame and its neighbours, each channel's three side by side.
/// @returns (ceil(T / stride), channels * 3)
Matrix32 with_neighbours(MatrixView32 x, Index stride) {
  constexpr Index sight = FrameStem::frames_in_sight;
  Matrix32 wide((x.rows() + stride - 1) / stride, x.cols() * sight);
  for (Index t = 0; t < wide.rows(); ++t)
    for (Index k = 0; k < sight; ++k) {
      const Index from = t * stride + k - 1;
      auto column = wide.row(t)(Eigen::seqN(k, x.cols(), sight));
      if (from < 0 || from >= x.rows())
        column.setZero();
      else
        column = x.row(from);
    }
  return wide;
}

Matrix32 convolved(MatrixView32 x, const Linear& weights, Index stride) {
  Matrix32 y = linear(with_neighbours(x, stride), weights);
  activate(y, Activation::gelu);
  return y;
}

}  // namespace

Matrix32 frame_rows(const FrameStem& stem, MatrixView32 frames) {
  if (frames.cols() != stem.bins())
    throw ShapeError(fmt::format("frames of {} bins, the model expects {}", frames.cols(), stem.bins()));
  return convolved(convolved(frames, stem.first, 1), stem.second, FrameStem::frames_per_position);
}

namespace {

/// A patch embedding is a convolution whose stride is its size: a matrix product over the pixels of each
/// patch.
Matrix32 rows_of_signal(const Embedding& embedding, const TokenSequence& tokens, const std::string& name) {
  if (!embedding.frames.empty()) {
    if (tokens.signal.cols() != embedding.frames.bins())
      throw ShapeError(fmt::format("{}: frames of {} bins, the model expects {}", name, tokens.signal.cols(),
                                   embedding.frames.bins()));
    return frame_rows(embedding.frames, tokens.signal);
  }
  if (tokens.signal.cols() != embedding.patches.d_in())
    throw ShapeError(fmt::format("{}: patches of {} numbers, the model expects {}", name, tokens.signal.cols(),
                                 embedding.patches.d_in()));
  return linear(tokens.signal, embedding.patches);
}

/// Id -1 - n is row n of what the signal gives.
Matrix32 signal_rows(const Embedding& embedding, const TokenSequence& tokens, const std::string& name) {
  const Matrix32 rows = rows_of_signal(embedding, tokens, name);
  Matrix32 x(static_cast<Index>(tokens.ids.size()), rows.cols());
  for (Index i = 0; i < x.rows(); ++i) {
    const Index id = tokens.ids[static_cast<std::size_t>(i)], row = -1 - id;
    if (row >= rows.rows() || id >= embedding.opening.rows())
      throw ShapeError(fmt::format("{}: token {} has id {}; expected one of {} opening tokens or {} {} (-1 - n)", name,
                                   i, id, embedding.opening.rows(), rows.rows(),
                                   embedding.frames.empty() ? "patches" : "pairs of frames"));
    if (id >= 0)
      x.row(i) = embedding.opening.row(id);
    else
      x.row(i) = rows.row(row);
  }
  return x;
}

}  // namespace

Matrix32 word_rows(const Embedding& embedding, const TokenSequence& tokens, const std::string& document) {
  if (!embedding.reads_words()) return signal_rows(embedding, tokens, document.empty() ? "document" : document);
  const WordTable& words = embedding.words;
  Matrix32 x(static_cast<Index>(tokens.ids.size()), words.cols());
  for (Index i = 0; i < x.rows(); ++i) {
    const Index id = tokens.ids[static_cast<std::size_t>(i)];
    if (id < 0 || id >= words.rows())
      throw ShapeError(
          fmt::format("{}: token {} has id {}, outside the vocabulary of {}; was it tokenized for another model?",
                      document.empty() ? "document" : document, i, id, words.rows()));
    if (id == embedding.refused_word)
      throw ShapeError(
          fmt::format("{}: token {} has id {}, the model's mask: by how many there are it scales its words, which is "
                      "not computed here; give documents without it",
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
