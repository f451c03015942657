#include "attended_rows.h"

#include <algorithm>
#include <cmath>

#include "../statistics/quantile.h"

namespace headwave {

std::vector<RowSpan> chosen_rows(Index length, Index wanted) {
  constexpr Index cell = 8;
  if (wanted >= length) return {{0, length}};
  const Index cells = std::max<Index>(1, wanted / cell);
  std::vector<RowSpan> rows;
  Random random = Random(1).stream(0);
  for (Index c = 0; c < cells; ++c) {
    const Index first = c * length / cells, room = (c + 1) * length / cells - first;
    rows.push_back({first + random.below(std::max<Index>(1, room - cell + 1)), std::min(cell, room)});
  }
  return rows;
}

std::vector<Index> queries_of(const std::vector<RowSpan>& rows) {
  std::vector<Index> queries;
  for (const RowSpan& span : rows)
    for (Index i = span.first; i < span.first + span.count; ++i) queries.push_back(i);
  return queries;
}

Eigen::ArrayXf text_keys(AttentionKind kind, const std::vector<std::uint8_t>& key_stays, bool first_key_special) {
  Eigen::ArrayXf text(std::ssize(key_stays));
  for (Index j = 0; j < text.size(); ++j) text[j] = key_stays[static_cast<std::size_t>(j)] != 0 ? 0.F : 1.F;
  if (kind != AttentionKind::causal && !first_key_special) text[0] = 1;
  return text;
}

Eigen::ArrayXf text_keys(AttentionKind kind, const TokenSequence& tokens, Index keys) {
  std::vector<std::uint8_t> stays;
  for (Index j = 0; j < keys; ++j) stays.push_back(j == 0 || tokens.is_special(j) ? 1 : 0);
  return text_keys(kind, stays, tokens.is_special(0));
}

double enough_queries(const Vector& count) {
  return std::max(1.0, count.maxCoeff() / 8);
}

std::array<double, 2> jackknife(const std::array<double, account_groups>& sums,
                                const std::array<double, account_groups>& counts, double coverage) {
  double sum = 0, count = 0;
  std::vector<double> left;
  for (std::size_t g = 0; g < account_groups; ++g) {
    sum += sums[g];
    count += counts[g];
  }
  for (std::size_t g = 0; g < account_groups; ++g)
    if (counts[g] > 0 && count > counts[g]) left.push_back((sum - sums[g]) / (count - counts[g]));
  if (left.size() < 3) return {not_defined, not_defined};
  const double error = jackknife_error(Eigen::Map<const Vector>(left.data(), std::ssize(left)), coverage);
  return {sum / count - error, sum / count + error};
}

Matrix32 rows_at(MatrixView32 all, const std::vector<Index>& places) {
  return all(places, Eigen::all);
}

Matrix32 put_at(const Matrix32& rows, const std::vector<Index>& places, Index length) {
  Matrix32 all = Matrix32::Zero(length, rows.cols());
  all(places, Eigen::all) = rows;
  return all;
}

double log_excess(double got, double given, double single) {
  constexpr double rounding = 1e-4;
  const double change = std::log((got + single) / (given + single));
  return std::abs(change) < rounding ? 0 : change;
}

void put_ratio(const std::vector<double>& upper, const std::vector<double>& lower, double coverage, Index row,
               HeadNumber& number) {
  std::array<double, account_groups> sums{}, counts{};
  double sum = 0, count = 0;
  for (std::size_t n = 0; n < upper.size(); ++n) {
    const std::size_t group = n / 2 % account_groups;
    sums[group] += upper[n];
    counts[group] += lower[n];
    sum += upper[n];
    count += lower[n];
  }
  if (!(count > 0)) return;
  number.value[row] = sum / count;
  const auto [low, high] = jackknife(sums, counts, coverage);
  number.lower[row] = low;
  number.upper[row] = high;
}

void add_numbers(Fields& fields, const std::string& quantity, const std::vector<Axis>& axes, const std::string& unit,
                 const std::string& long_name, std::span<const HeadNumber> numbers, const char* undefined) {
  constexpr const char* no_interval = "fewer than 6 documents of this length";
  const auto of = [&](auto member) {
    std::vector<Vector> all;
    for (const HeadNumber& one : numbers) all.push_back(one.*member);
    return all;
  };
  fields.add(quantity, axes, unit, long_name, of(&HeadNumber::value), undefined);
  fields.add(quantity + "_lower", axes, unit, "lower end of its interval over documents", of(&HeadNumber::lower),
             no_interval);
  fields.add(quantity + "_upper", axes, unit, "upper end of its interval over documents", of(&HeadNumber::upper),
             no_interval);
}

}  // namespace headwave
