#include "layer_positions.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../algebra/product.h"
#include "../process/threads.h"
#include "layer.h"

namespace headwave {

namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double median_of(const Vector& values, Index first, Index count) {
  return median({values.data() + first, values.data() + first + count});
}

/// Equation (1) for every row; `squares` are the squared norms of the rows.
std::vector<bool> learned_rows(MatrixView32 table, const Vector& squares, double noise) {
  const auto width = static_cast<double>(table.cols());
  const double apart = std::max(1.0, 3 * std::sqrt(2 / width)), alike = std::max(0.5, 2.5 / std::sqrt(width));
  std::vector<bool> learned;
  for (Index n = 0; n < table.rows(); ++n) {
    bool row = squares[n] > (1 + apart) * noise || squares[n] < (1 - apart / 2) * noise;
    if (!row && n > 0) {
      const double product = table.row(n).cast<double>().dot(table.row(n - 1).cast<double>());
      row = product > alike * std::sqrt(squares[n] * squares[n - 1]);
    }
    learned.push_back(row);
  }
  return learned;
}

/// Equation (2).
Index boundary_of(const std::vector<bool>& learned) {
  Index best = 0, score = 0, largest = 0;
  for (std::size_t n = 0; n < learned.size(); ++n) {
    score += learned[n] ? 1 : -1;
    if (score <= largest) continue;
    largest = score;
    best = static_cast<Index>(n) + 1;
  }
  return best;
}

/// Equation (3) for the rows from `first` on.
bool are_equally_long(MatrixView32 table, const Vector& squares, Index first) {
  const Vector norms = squares.tail(table.rows() - first).cwiseSqrt();
  const double mean = norms.mean();
  const double spread = std::sqrt((norms.array() - mean).square().mean());
  return spread <= 2 * mean / std::sqrt(2 * static_cast<double>(table.cols()));
}

/// Equation (4) for rows `first` to `end` - 1, at most 64 of them, evenly spaced. A zero row has cosine 0.
bool are_independent(MatrixView32 table, const Vector& squares, Index first, Index end) {
  constexpr Index most = 64;
  const Index count = std::min(end - first, most);
  Matrix unit(count, table.cols());
  for (Index i = 0; i < count; ++i) {
    const Index n = first + i * (end - first) / count;
    unit.row(i) = table.row(n).cast<double>() / std::max(std::sqrt(squares[n]), 1e-300);
  }
  double sum = 0;
  for (Index i = 1; i < count; ++i)
    for (Index j = 0; j < i; ++j) {
      const double cosine = unit.row(i).dot(unit.row(j));
      sum += cosine * cosine;
    }
  const double pairs = 0.5 * static_cast<double>(count * (count - 1));
  return sum / pairs <= (1 + 4 * std::sqrt(2 / pairs)) / static_cast<double>(table.cols());
}

void require_layer(const Stack& stack, Index layer) {
  if (layer < 0 || layer >= stack.layers())
    throw ShapeError(fmt::format("there is no layer {} among {} layers (counted from 0)", layer, stack.layers()));
}

/// Turns position embeddings into a layer's input: adds token type 0, then applies norms and projection.
void as_layer_sees(Matrix32& x, const Stack& stack, Index layer) {
  const Embedding& embedding = stack.embedding;
  if (!embedding.token_types.empty()) x.rowwise() += embedding.token_types.row(0);
  normalise(x, embedding.norm);
  if (!embedding.projection.empty()) x = linear(x, embedding.projection);
  if (stack.block.norm_place == NormPlace::pre) normalise(x, stack.blocks[static_cast<std::size_t>(layer)].self_norm);
}

constexpr Index words_at_a_time = 2048;
constexpr Index slab = 64;  ///< positions at a time

void require_words(const Stack& stack, Index length) {
  const Index rows = stack.embedding.words.rows(), positions = stack.embedding.positions.rows();
  if (rows == 0 || length < 1 || length > positions)
    throw ShapeError(
        fmt::format("EmbeddingMeans: expected words and 1 to {} positions, found {} words and {} positions", positions,
                    rows, length));
}

/// The matrix of a projection of row vectors, (d_in, d_out), in double.
Matrix projected_by(const Linear& projection) {
  return projection.weight.transpose().cast<double>();
}

/// Applies a norm's scale and shift; does nothing if the norm is empty.
void scale_and_shift(Matrix& rows, const Norm& norm) {
  if (norm.empty()) return;
  rows.array().rowwise() *= norm.scale.cast<double>().transpose().array();
  if (!norm.shift.empty()) rows.rowwise() += norm.shift.cast<double>().transpose();
}

}  // namespace

TrainedRows trained_rows(MatrixView32 table) {
  TrainedRows found;
  const Index rows = found.rows = found.trained = table.rows();
  Vector squares(rows);
  for (Index n = 0; n < rows; ++n) squares[n] = table.row(n).cast<double>().squaredNorm();
  const auto all_trained = [&] {
    found.trained_norm = std::sqrt(median_of(squares, 0, rows));
    return found;
  };
  if (rows < 2 * fewest_untrained) return all_trained();

  const Index end = std::max(fewest_untrained, rows / 16);
  const std::vector<bool> learned = learned_rows(table, squares, median_of(squares, rows - end, end));
  const Index boundary = boundary_of(learned), untrained = rows - boundary;
  if (boundary < fewest_untrained || untrained < fewest_untrained) return all_trained();
  if (4 * std::count(learned.begin(), learned.begin() + boundary, true) < 3 * boundary) return all_trained();
  const Index inside = boundary + std::min(untrained / 2, untrained - fewest_untrained);
  if (!are_equally_long(table, squares, inside) || !are_independent(table, squares, inside, rows)) return all_trained();
  if (are_independent(table, squares, 0, boundary)) return all_trained();

  found.trained = boundary;
  found.trained_norm = std::sqrt(median_of(squares, 0, boundary));
  found.untrained_norm = std::sqrt(median_of(squares, boundary, untrained));
  return found;
}

Index rows_to_read(const Stack& stack, Index asked) {
  const MatrixView32& table = stack.embedding.positions;
  return asked > 0 ? std::min(asked, table.rows()) : trained_rows(table).trained;
}

Matrix layer_positions(const Stack& stack, Index layer) {
  require_layer(stack, layer);
  if (stack.embedding.positions.empty()) return {};
  Matrix32 x = stack.embedding.positions;
  as_layer_sees(x, stack, layer);
  return x.cast<double>();
}

Matrix position_rows(const Stack& stack, Index length) {
  const MatrixView32& table = stack.embedding.positions;
  return table.topRows(std::min(length, table.rows())).cast<double>();
}

EmbeddingMeans::EmbeddingMeans(const Stack& stack, Index length, int threads)
    : stack_(stack),
      count_(stack.embedding.words.rows()),
      length_(length),
      threads_(threads),
      ones_(Vector32::Ones(stack.embedding.words.cols())) {
  require_words(stack, length);
}

/// Scaled embeddings of consecutive words plus token type 0.
Matrix32 EmbeddingMeans::words(Index first, Index count) const {
  const Embedding& embedding = stack_.embedding;
  Matrix32 rows = embedding.words.copied(first, count);
  if (embedding.word_scale != 1.0F) rows *= embedding.word_scale;
  if (!embedding.token_types.empty()) rows.rowwise() += embedding.token_types.row(0);
  return rows;
}

/// Equation (3).
Matrix EmbeddingMeans::by_one_norm(const Norm& norm) const {
  const Index d = stack_.embedding.words.cols();
  const double chance = 1 / static_cast<double>(count_);
  const bool centred = !norm.empty() && norm.kind == NormKind::layer;
  Matrix result(length_, d);
  parallel_for((length_ + slab - 1) / slab, threads_, [&](Index s) {
    const Index rows = std::min(slab, length_ - s * slab);
    Matrix32 p = stack_.embedding.positions.middleRows(s * slab, rows);
    if (centred) p.colwise() -= p.rowwise().mean().eval();
    const Vector p_square = p.cast<double>().rowwise().squaredNorm();
    Vector alone = Vector::Zero(rows);
    Matrix with_words = Matrix::Zero(rows, d);
    for (Index first = 0; first < count_; first += words_at_a_time) {
      const Index here = std::min(words_at_a_time, count_ - first);
      Matrix32 u = words(first, here);
      if (centred) u.colwise() -= u.rowwise().mean().eval();
      const Vector u_square = u.cast<double>().rowwise().squaredNorm();
      const Matrix32 products = product(p, u.transpose());
      Matrix share(rows, here);
      for (Index n = 0; n < rows; ++n)
        for (Index w = 0; w < here; ++w) {
          const double square = p_square[n] + u_square[w] + 2 * static_cast<double>(products(n, w));
          const double sigma =
              norm.empty() ? 1.0
                           : std::sqrt(std::max(0.0, square) / static_cast<double>(d) + static_cast<double>(norm.eps));
          share(n, w) = chance / sigma;
        }
      alone += share.rowwise().sum();
      with_words += product(share.cast<float>(), u).cast<double>();
    }
    result.middleRows(s * slab, rows) = with_words + Matrix(alone.asDiagonal() * p.cast<double>());
  });
  scale_and_shift(result, norm);
  return result;
}

/// The part of a mean over all words that comes from some of them.
Eigen::RowVectorXd EmbeddingMeans::share_of(const Matrix32& rows) const {
  const Vector chance = Vector::Constant(rows.rows(), 1 / static_cast<double>(count_));
  return product(chance.transpose(), rows.cast<double>());
}

Matrix EmbeddingMeans::one_by_one(const Norm& own) const {
  Matrix result = Matrix::Zero(length_, stack_.embedding.words.cols());
  parallel_for(length_, threads_, [&](Index n) {
    for (Index first = 0; first < count_; first += words_at_a_time) {
      Matrix32 x =
          words(first, std::min(words_at_a_time, count_ - first)).rowwise() + stack_.embedding.positions.row(n);
      normalise(x, stack_.embedding.norm);
      normalise(x, own);
      result.row(n) += share_of(x);
    }
  });
  return result;
}

/// Equation (2) in two passes: the mean, then products of deviations from it.
Matrix EmbeddingMeans::covariance(const Norm& own) const {
  const Index d = stack_.embedding.words.cols();
  const MatrixView32& table = stack_.embedding.positions;
  const Index trained = std::max(length_, trained_rows(table).trained);
  const Eigen::RowVectorXf middle = table.topRows(trained).cast<double>().colwise().mean().cast<float>();
  const auto seen = [&](Index first) {
    Matrix32 x = words(first, std::min(words_at_a_time, count_ - first)).rowwise() + middle;
    normalise(x, stack_.embedding.norm);
    normalise(x, own);
    return x;
  };
  Eigen::RowVectorXd mean = Eigen::RowVectorXd::Zero(d);
  for (Index first = 0; first < count_; first += words_at_a_time) mean += share_of(seen(first));
  Matrix covariance = Matrix::Zero(d, d);
  parallel_in_order((count_ + words_at_a_time - 1) / words_at_a_time, threads_, [&](Index b) -> std::function<void()> {
    Matrix32 x = seen(b * words_at_a_time);
    x.rowwise() -= mean.cast<float>();
    const Matrix32 part = product(x.transpose(), x);
    return [&covariance, part] { covariance += part.cast<double>(); };
  });
  return covariance / static_cast<double>(count_);
}

const EmbeddingMeans::Means& EmbeddingMeans::means(const Norm& own) {
  const auto key = std::make_tuple(own.empty(), own.eps, own.kind);
  if (const auto found = means_.find(key); found != means_.end()) return found->second;
  Norm plain = own;
  plain.shift = {};
  if (!own.empty()) plain.scale = VectorView32(ones_.data(), ones_.size());
  const Norm& embedding = stack_.embedding.norm;
  const bool two = !own.empty() && !embedding.empty();
  Means found{two ? one_by_one(plain) : by_one_norm(own.empty() ? embedding : plain), covariance(plain)};
  return means_.emplace(key, std::move(found)).first->second;
}

Norm EmbeddingMeans::own_norm(Index layer) const {
  require_layer(stack_, layer);
  if (stack_.block.norm_place == NormPlace::post) return {};
  const Norm& own = stack_.blocks[static_cast<std::size_t>(layer)].self_norm;
  if (!own.empty() && !stack_.embedding.projection.empty())
    throw ShapeError(
        "EmbeddingMeans: the embeddings are projected and then normalised by the layer; expected one of the two");
  return own;
}

Matrix EmbeddingMeans::positions(Index layer) {
  const Norm own = own_norm(layer);
  Matrix result = means(own).positions;
  scale_and_shift(result, own);
  const Linear& projection = stack_.embedding.projection;
  if (projection.empty()) return result;
  result = product(result, projected_by(projection));
  if (!projection.bias.empty()) result.rowwise() += projection.bias.cast<double>().transpose();
  return result;
}

Matrix EmbeddingMeans::word_covariance(Index layer) {
  const Norm own = own_norm(layer);
  const Matrix& covariance = means(own).covariance;
  const Linear& projection = stack_.embedding.projection;
  if (!projection.empty()) {
    const Matrix by = projected_by(projection);
    return product(by.transpose(), product(covariance, by));
  }
  if (own.empty()) return covariance;
  const Vector scale = own.scale.cast<double>();
  return scale.asDiagonal() * covariance * scale.asDiagonal();
}

}  // namespace headwave
