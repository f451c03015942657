#pragma once

// Included by rotary_wave.cpp alone.

#include <algorithm>
#include <complex>
#include <map>
#include <numbers>
#include <vector>

#include "../../core/algebra/product.h"
#include "rotary_wave.h"

namespace headwave {

/// What pairs of one rotation make of the offsets that are searched.
class TurnSearch {
 public:
  TurnSearch(const RotaryTerm& term, const RotaryWaveOptions& options)
      : term_(term.options()), options_(options), frequency_(term.frequency(options.length)) {
    const Index searched = options.causal ? options.reach + 1 : 2 * options.reach + 1;
    const Index pairs = frequency_.size();
    wave_.resize(2 * pairs, searched);
    for (Index m = 0; m < pairs; ++m)
      for (Index t = 0; t < searched; ++t) {
        const double turn = frequency_[m] * static_cast<double>(t - options.reach);
        wave_(m, t) = std::cos(turn);
        wave_(pairs + m, t) = -std::sin(turn);
      }
    turns_ = (frequency_.array() * static_cast<double>(searched - 1) >= std::numbers::pi).cast<double>();
  }

  [[nodiscard]] const Vector& frequency() const { return frequency_; }

  /// Equation (1), without the constant.
  [[nodiscard]] MatrixC coefficients(const Matrix& query, const Matrix& key) const {
    MatrixC c(query.rows(), frequency_.size());
    const double scale = options_.score_scale * term_.attention_factor * term_.attention_factor;
    for (Index row = 0; row < c.rows(); ++row)
      for (Index m = 0; m < c.cols(); ++m) {
        const auto [re, im] = channels_of(term_, m);
        c(row, m) = scale * std::complex<double>(query(row, re), -query(row, im)) *
                    std::complex<double>(key(row, re), key(row, im));
      }
    return c;
  }

  /// Of channels that do not turn.
  [[nodiscard]] Vector constant(const Matrix& query, const Matrix& key) const {
    const Index still = query.cols() - term_.channels;
    return options_.score_scale * query.rightCols(still).cwiseProduct(key.rightCols(still)).rowwise().sum();
  }

  /// (rows, 2 reach + 1); NaN where a causal mask forbids the offset.
  [[nodiscard]] Matrix kernel(const MatrixC& c) const {
    Matrix kernel = Matrix::Constant(c.rows(), 2 * options_.reach + 1, not_defined);
    kernel.leftCols(wave_.cols()) = turned(c);
    return kernel;
  }

  /// Equation (3), the constant left out.
  [[nodiscard]] Vector coherence(const MatrixC& c) const {
    return turned(c).rowwise().maxCoeff().cwiseQuotient(c.cwiseAbs().rowwise().sum());
  }

  /// The same of the pairs that turn; 0 / 0 is NaN.
  [[nodiscard]] Vector agreement(const MatrixC& c) const {
    return coherence(c * turns_.cast<std::complex<double>>().asDiagonal());
  }

 private:
  /// Re sum_m c_m e^{i theta_m t}: (rows, offsets searched)
  [[nodiscard]] Matrix turned(const MatrixC& c) const {
    Matrix parts(c.rows(), 2 * c.cols());
    parts << c.real(), c.imag();
    return product(parts, wave_);
  }

  RotaryOptions term_;
  RotaryWaveOptions options_;
  Vector frequency_;
  Matrix wave_;   ///< (2 pairs, offsets searched)  cosines, and below them sines with their sign turned
  Vector turns_;  ///< (pairs)  1 where a pair turns by half a turn or more within the search, else 0
};

/// The same of every layer by its own rotation. Of layers that turn nothing all is zero, or NaN.
class RotarySearch {
 public:
  RotarySearch(const std::vector<const RotaryTerm*>& terms, Index heads, const RotaryWaveOptions& options)
      : terms_(terms), heads_(heads), columns_(2 * options.reach + 1) {
    for (const RotaryTerm* term : terms)
      if (term != nullptr) searches_.try_emplace(term, *term, options);
  }

  /// Of the first layer that turns.
  [[nodiscard]] Vector frequency() const { return first().frequency(); }
  /// (layers, pairs); 0 where nothing turns.
  [[nodiscard]] Matrix layer_frequency() const {
    Matrix all = Matrix::Zero(std::ssize(terms_), frequency().size());
    for (Index l = 0; l < all.rows(); ++l)
      if (const TurnSearch* search = of(l)) all.row(l) = search->frequency().transpose();
    return all;
  }
  [[nodiscard]] MatrixC coefficients(const DocumentRotary& mean) const {
    MatrixC all = MatrixC::Zero(mean.query.rows(), frequency().size());
    put(all, [&](const TurnSearch& search, Index at) {
      return search.coefficients(mean.query.middleRows(at, heads_), mean.key.middleRows(at, heads_));
    });
    return all;
  }
  [[nodiscard]] Vector constant(const DocumentRotary& mean) const {
    Matrix all = Matrix::Constant(mean.query.rows(), 1, not_defined);
    put(all, [&](const TurnSearch& search, Index at) {
      return Matrix(search.constant(mean.query.middleRows(at, heads_), mean.key.middleRows(at, heads_)));
    });
    return all.col(0);
  }
  [[nodiscard]] Matrix kernel(const MatrixC& c) const {
    Matrix all = Matrix::Constant(c.rows(), columns_, not_defined);
    put(all, [&](const TurnSearch& search, Index at) { return search.kernel(c.middleRows(at, heads_)); });
    return all;
  }
  [[nodiscard]] Vector coherence(const MatrixC& c) const { return of_rows(c, &TurnSearch::coherence); }
  [[nodiscard]] Vector agreement(const MatrixC& c) const { return of_rows(c, &TurnSearch::agreement); }

 private:
  [[nodiscard]] const TurnSearch* of(Index layer) const {
    const auto found = searches_.find(terms_[static_cast<std::size_t>(layer)]);
    return found == searches_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const TurnSearch& first() const {
    return searches_.at(*std::ranges::find_if(terms_, [](const RotaryTerm* term) { return term != nullptr; }));
  }
  template <class Rows, class Part>
  void put(Rows& all, const Part& part) const {
    for (Index l = 0; l < std::ssize(terms_); ++l)
      if (const TurnSearch* search = of(l)) all.middleRows(l * heads_, heads_) = part(*search, l * heads_);
  }
  [[nodiscard]] Vector of_rows(const MatrixC& c, Vector (TurnSearch::*what)(const MatrixC&) const) const {
    Matrix all = Matrix::Constant(c.rows(), 1, not_defined);
    put(all, [&](const TurnSearch& search, Index at) { return Matrix((search.*what)(c.middleRows(at, heads_))); });
    return all.col(0);
  }

  std::vector<const RotaryTerm*> terms_;
  Index heads_, columns_;
  std::map<const RotaryTerm*, TurnSearch> searches_;
};

}  // namespace headwave
