#include "trained_rows.h"

#include <algorithm>
#include <cmath>
#include <vector>

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

/// Equation (1) of every row; `squares` are the squared norms.
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

/// Equation (3) of rows `first` to the end.
bool are_equally_long(MatrixView32 table, const Vector& squares, Index first) {
  const Vector norms = squares.tail(table.rows() - first).cwiseSqrt();
  const double mean = norms.mean();
  const double spread = std::sqrt((norms.array() - mean).square().mean());
  return spread <= 2 * mean / std::sqrt(2 * static_cast<double>(table.cols()));
}

/// Equation (4) of rows `first` to `end` - 1, of 64 of them at most, one as far from the next as the others.
/// Rows of zeros are alike with none.
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

}  // namespace headwave
