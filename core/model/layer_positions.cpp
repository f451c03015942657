#include "layer_positions.h"

#include <algorithm>

#include <fmt/format.h>

#include "layer.h"
#include "trained_rows.h"

namespace headwave {

namespace {

void require_layer(const Stack& stack, Index layer) {
  if (layer < 0 || layer >= stack.layers())
    throw ShapeError(fmt::format("there is no layer {} among {}", layer, stack.layers()));
}

/// Token type 0 and the norms between the embedding and a layer's projections.
void as_layer_sees(Matrix32& x, const Stack& stack, Index layer) {
  const Embedding& embedding = stack.embedding;
  if (!embedding.token_types.empty()) x.rowwise() += embedding.token_types.row(0);
  normalise(x, embedding.norm);
  if (!embedding.projection.empty()) x = linear(x, embedding.projection);
  if (stack.block.norm_place == NormPlace::pre) normalise(x, stack.blocks[static_cast<std::size_t>(layer)].self_norm);
}

/// Mean row, summed in double.
Eigen::RowVectorXf mean_row(const WordTable& table, float scale) {
  constexpr Index at_a_time = 1024;
  Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(table.cols());
  for (Index first = 0; first < table.rows(); first += at_a_time)
    sum += table.copied(first, std::min(at_a_time, table.rows() - first)).cast<double>().colwise().sum();
  return (sum / static_cast<double>(table.rows()) * static_cast<double>(scale)).cast<float>();
}

}  // namespace

Matrix layer_positions(const Stack& stack, Index layer, bool with_mean_word) {
  require_layer(stack, layer);
  const Embedding& embedding = stack.embedding;
  if (embedding.positions.empty()) return {};
  Matrix32 x = embedding.positions;
  if (with_mean_word && !embedding.words.empty()) x.rowwise() += mean_row(embedding.words, embedding.word_scale);
  as_layer_sees(x, stack, layer);
  return x.cast<double>();
}

Matrix32 layer_words(const Stack& stack, Index layer) {
  require_layer(stack, layer);
  const Embedding& embedding = stack.embedding;
  if (embedding.words.empty()) throw ShapeError("layer_words: the model has no word embeddings");
  Matrix32 x = embedding.words.copied(0, embedding.words.rows());
  if (embedding.word_scale != 1.0F) x *= embedding.word_scale;
  if (const MatrixView32& table = embedding.positions; !table.empty())
    x.rowwise() += mean_row(MatrixView32(table.data(), trained_rows(table).trained, table.cols()), 1.0F);
  as_layer_sees(x, stack, layer);
  return x;
}

Matrix position_rows(const Stack& stack, Index length) {
  const MatrixView32& table = stack.embedding.positions;
  return table.topRows(std::min(length, table.rows())).cast<double>();
}

}  // namespace headwave
