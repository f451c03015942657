#include "document_correlation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "../../core/numbers/random.h"

namespace headwave {

namespace {

// With 2,048 pairs of N independent documents, (2) errs by about 0.03 / N, and a threshold by about 2 %.
constexpr Index queries_of_group = 8;
constexpr Index most_groups = PlacePairs::most / queries_of_group;
constexpr Index shortest = 4;  ///< tokens of a document with pairs: the first place, a key and two queries
constexpr std::uint64_t seed = 37;

/// Tokens of the first part of a document in which a group lies.
Index part_of(Index group, Index length) {
  return shortest + (group * (length - shortest + 1)) / most_groups;
}

}  // namespace

PlacePairs::PlacePairs(Index length, AttentionKind kind) : length_(length) {
  by_query_.resize(static_cast<std::size_t>(std::max<Index>(length, 0)));
  for (Index g = 0; g < most_groups && length >= shortest; ++g) {
    Random random = Random(seed).stream(static_cast<std::uint64_t>(g));
    const Index part = part_of(g, length);  // places 1 .. part - 1
    const bool causal = kind == AttentionKind::causal;
    const Index key = 1 + random.below(causal ? part - 3 : part - 1);
    std::vector<Index> queries;
    for (Index i = causal ? key + 1 : 1; i < part; ++i)
      if (i != key) queries.push_back(i);
    random.shuffle(std::span(queries));
    queries.resize(std::min<std::size_t>(queries.size(), queries_of_group));
    for (const Index query : queries) {
      by_query_[static_cast<std::size_t>(query)].push_back(count());
      pairs_.push_back({query, key});
    }
    groups_.push_back(count());
  }
}

PlacePairWeights::PlacePairWeights(const PlacePairs& pairs, const HeadGrid& grid, const Document& document,
                                   AttentionKind kind)
    : pairs_(pairs),
      kind_(kind),
      weights_(Matrix32::Constant(grid.rows(), pairs.count(), std::numeric_limits<float>::quiet_NaN())) {
  for (Index i = 0; i < document.queries(kind); ++i)
    query_counts_.push_back(counts(Pairs::without_sink, document.query_tokens(kind), i));
  for (Index j = 0; j < document.keys(kind); ++j)
    key_counts_.push_back(counts(Pairs::without_sink, document.key_tokens(kind), j));
}

void PlacePairWeights::see(const Tile& tile, Index first_row) {
  for (Index head = 0; head < tile.heads(); ++head)
    for (Index r = 0; r < tile.rows(); ++r) {
      const Index query = tile.first_row + r;
      if (query >= pairs_.length() || !query_counts_[static_cast<std::size_t>(query)]) continue;
      const KeySpan open = tile.allowed_keys(query);
      const auto scale = static_cast<float>(kind_ == AttentionKind::causal ? open.count : 1);
      for (const Index at : pairs_.of_query(query)) {
        const Index key = pairs_.pair(at).key;
        if (key < open.first || key >= open.end() || !key_counts_[static_cast<std::size_t>(key)]) continue;
        weights_(first_row + head, at) = scale * tile.weights[static_cast<std::size_t>(head)](r, key);
      }
    }
}

Matrix32 PlacePairWeights::deviations() const {
  Matrix32 found = weights_;
  const std::vector<Index>& groups = pairs_.groups();
  for (Index row = 0; row < found.rows(); ++row) {
    double squares = 0, present = 0;
    for (std::size_t g = 0; g + 1 < groups.size(); ++g) {
      auto group = found.row(row).segment(groups[g], groups[g + 1] - groups[g]);
      const auto here = group.array().isNaN();
      const auto count = static_cast<float>(group.size() - here.count());
      const float mean = here.select(0.0F, group.array()).sum() / count;
      group.array() -= mean;
      if (count < 2) group.setConstant(std::numeric_limits<float>::quiet_NaN());
      for (const float z : group)
        if (!std::isnan(z)) {
          squares += static_cast<double>(z) * z;
          present += 1;
        }
    }
    if (squares > 0) found.row(row) *= static_cast<float>(std::sqrt(present / squares));
  }
  return found;
}

void DocumentCorrelation::add(DocumentCorrelation&& next) {
  if (alone_.rows() > 0) add_document(std::exchange(alone_, {}));
  if (next.alone_.rows() > 0) {
    heads_ = next.heads_;
    add_document(next.alone_);
  } else if (sum_.rows() == 0) {
    *this = std::move(next);
  } else {
    sum_ += next.sum_;
    documents_ += next.documents_;
    squares_ += next.squares_;
  }
}

void DocumentCorrelation::add_document(const Matrix32& deviations) {
  if (sum_.rows() == 0) {
    sum_ = Matrix::Zero(deviations.rows(), deviations.cols());
    documents_ = Matrix::Zero(deviations.rows() / heads_, deviations.cols());
    squares_ = Vector::Zero(deviations.rows());
  }
  for (Index row = 0; row < sum_.rows(); ++row)
    for (Index at = 0; at < sum_.cols(); ++at) {
      const double z = deviations(row, at);
      if (std::isnan(z)) continue;
      sum_(row, at) += z;
      squares_[row] += z * z;
      if (row % heads_ == 0) documents_(row / heads_, at) += 1;
    }
}

Vector DocumentCorrelation::correlation() const {
  Vector correlation = Vector::Constant(std::max(sum_.rows(), alone_.rows()), not_defined);
  for (Index row = 0; row < sum_.rows(); ++row) {
    const auto n = documents_.row(row / heads_).array();
    const double both = (n * (n - 1)).sum();
    if (both > 0) correlation[row] = std::clamp((sum_.row(row).squaredNorm() - squares_[row]) / both, 0.0, 1.0);
  }
  return correlation;
}

double correlated_variance(double correlation, double variances, double deviations) {
  const double r = std::isnan(correlation) ? 1.0 : correlation;
  return (1 - r) * variances + r * deviations * deviations;
}

double correlated_third(double correlation, double thirds, double roots) {
  const double r = std::isnan(correlation) ? 1.0 : correlation;
  const double shared = std::pow(r, 1.5), own = std::pow(1 - r, 1.5);
  return (own * thirds + shared * roots * roots * roots) / (own + shared);
}

NullMoments::NullMoments(const Matrix& variances, const Matrix& thirds)
    : variances_(variances),
      deviations_(variances.cwiseSqrt()),
      thirds_(thirds),
      roots_(thirds.unaryExpr([](double w) { return std::cbrt(w); })) {}

Matrix middle_columns(const Matrix& of, Index reach) {
  return of.middleCols((of.cols() - 1) / 2 - reach, 2 * reach + 1);
}

NullMoments NullMoments::within(Index reach) const {
  return {middle_columns(variances_, reach), middle_columns(deviations_, reach), middle_columns(thirds_, reach),
          middle_columns(roots_, reach)};
}

NullMoments::Spread NullMoments::of_sum(const Vector& correlation) const {
  Matrix variance = variances_, third = thirds_;
  for (Index row = 0; row < variance.rows(); ++row)
    for (Index column = 0; column < variance.cols(); ++column) {
      variance(row, column) = correlated_variance(correlation[row], variances_(row, column), deviations_(row, column));
      third(row, column) = correlated_third(correlation[row], thirds_(row, column), roots_(row, column));
    }
  return {variance.cwiseSqrt(), third.array() / variance.array().pow(1.5).max(std::numeric_limits<double>::min())};
}

}  // namespace headwave
