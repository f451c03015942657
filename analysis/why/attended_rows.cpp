#include "attended_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "../../core/errors/error.h"
#include "../pass/even_spread.h"
#include "../statistics/quantile.h"

namespace headwave {

std::vector<RowSpan> chosen_rows(Index length) {
  constexpr Index wanted = 64, cell = 8;
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
  return text_keys(kind, places_that_stay(tokens, keys), tokens.is_special(0));
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

void HeadNumber::set_ratio(Index row, const std::vector<double>& upper_sums, const std::vector<double>& lower_sums) {
  std::array<double, account_groups> sums{}, counts{};
  double sum = 0, count = 0;
  for (std::size_t n = 0; n < upper_sums.size(); ++n) {
    const std::size_t group = n / 2 % account_groups;
    sums[group] += upper_sums[n];
    counts[group] += lower_sums[n];
    sum += upper_sums[n];
    count += lower_sums[n];
  }
  if (!(count > 0)) return;
  value[row] = sum / count;
  const auto [low, high] = jackknife(sums, counts);
  lower[row] = low;
  upper[row] = high;
}

void add_numbers(Fields& fields, const std::string& quantity, const std::vector<Axis>& axes, const std::string& unit,
                 const std::string& long_name, std::span<const HeadNumber> numbers, const std::string& undefined,
                 const std::string& no_interval) {
  const auto of = [&](auto member) { return numbers | std::views::transform(member); };
  fields.add(quantity, axes, unit, long_name, of(&HeadNumber::value), undefined);
  fields.add(quantity + "_lower", axes, unit, "lower end of the interval of " + quantity + " over documents",
             of(&HeadNumber::lower), no_interval);
  fields.add(quantity + "_upper", axes, unit, "upper end of the interval of " + quantity + " over documents",
             of(&HeadNumber::upper), no_interval);
}

NumberedWords::NumberedWords(const std::vector<std::vector<std::int32_t>>& documents,
                             const std::vector<std::vector<bool>>& counts, Index least_documents) {
  std::map<std::int32_t, Index> times;
  for (std::size_t d = 0; d < documents.size(); ++d) {
    std::set<std::int32_t> here;
    for (std::size_t i = 0; i < documents[d].size(); ++i) {
      times.try_emplace(documents[d][i], 0);
      if (counts[d][i] && here.insert(documents[d][i]).second) ++times[documents[d][i]];
    }
  }
  for (const auto& [id, n] : times)
    if (n >= least_documents) {
      ids.push_back(id);
      in_documents.push_back(n);
    }
  for (std::size_t d = 0; d < documents.size(); ++d) {
    std::vector<Index>& numbers = of_token.emplace_back();
    for (std::size_t i = 0; i < documents[d].size(); ++i)
      numbers.push_back(counts[d][i] ? number(documents[d][i]) : -1);
  }
}

Index NumberedWords::number(std::int32_t id) const {
  const auto found = std::ranges::lower_bound(ids, id);
  return found != ids.end() && *found == id ? found - ids.begin() : -1;
}

AccountedDocuments::AccountedDocuments(const AccountHalves& of, Index most)
    : site(of.site),
      halves(of.halves),
      rows(chosen_rows(site.length)),
      queries(queries_of(rows)),
      row_of(static_cast<std::size_t>(site.length), -1) {
  for (const AccountHalf& one : halves)
    for (const AccountDocument& document : one.to_deal) kept.push_back(&document);
  std::ranges::sort(kept, {}, &AccountDocument::number);
  const Index there = std::ssize(kept), pairs = there / 2, wanted = std::max<Index>(1, most / 2);
  std::array<Index, 2> of_half{};
  for (Index i = 0; i < there; ++i)
    if (there <= most || (i / 2 < pairs && is_spread(i / 2, wanted, pairs))) {
      documents.push_back(kept[static_cast<std::size_t>(i)]);
      ++of_half[half(documents.size() - 1)];
    }
  if (of_half[0] == 0 || of_half[1] == 0)
    throw ShapeError("attention_bits: one half of the documents is empty; expected at least two documents");
  for (std::size_t at = 0; at < queries.size(); ++at)
    row_of[static_cast<std::size_t>(queries[at])] = static_cast<Index>(at);
  known_words = std::ranges::all_of(kept, [&](const AccountDocument* one) {
    return std::ssize(one->query_ids) == site.length && std::ssize(one->key_ids) == site.keys();
  });
  std::vector<std::vector<std::int32_t>> ids;
  for (const AccountDocument* one : documents) ids.push_back(one->key_ids);
  const std::vector<bool> all(static_cast<std::size_t>(site.keys()), true);
  if (known_words) words = NumberedWords(ids, std::vector<std::vector<bool>>(ids.size(), all), 1);
}

Eigen::ArrayXf binary_logarithms(const Eigen::ArrayXf& numbers) {
  constexpr float least = 1e-15F;
  return numbers.max(least).log() * std::numbers::log2e_v<float>;
}

double dot_of(const Eigen::ArrayXf& a, const Eigen::ArrayXf& b) {
  return a.cast<double>().matrix().dot(b.cast<double>().matrix());
}

}  // namespace headwave
