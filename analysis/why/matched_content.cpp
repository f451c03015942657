#include "matched_content.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

#include "../../core/algebra/decompositions.h"
#include "../../core/algebra/product.h"
#include "../../core/fields/fields.h"
#include "../statistics/false_discovery.h"
#include "../statistics/moderated_test.h"
#include "../statistics/quantile.h"

namespace headwave {

namespace {

constexpr Index least_match_documents = 3;  // documents in which a pair, or a word of a direction, must occur
constexpr double match_fdr = 0.1;           // false discovery rate of pairs, directions and words
constexpr Index match_draws = 20;           // of the null of directions
constexpr Index pairs_named = 8;            // per head, at most
constexpr Index direction_words = 4;        // per end of a side of a direction, at most
constexpr std::array<Index, 5> directions_kept{1, 2, 4, 8, 16};
constexpr std::size_t placebo_draws = 4;

/// p_key of one head in one document.
Matrix32 mixed_key(const AttendedLayer& layer, std::size_t n, Index head, const std::array<Vector, 2>& mixed) {
  const auto e = static_cast<float>(mixed[layer.accounted.half(n)][layer.row(head)]);
  return (1 - e) * layer.of_head(layer.documents[n].drawn, head) + e * layer.of_head(layer.documents[n].position, head);
}

constexpr std::array betas{.25, .5, .75, 1.};  // of (2)

/// Gain (2) of one head in one document for each beta, summed over queries.
/// @param score  (chosen rows, keys)  f of (2)
Eigen::RowVector4d tilt_gains(const AttendedLayer& layer, std::size_t n, Index head, const Matrix32& predicted,
                              const Matrix32& score) {
  const AttendedDocument& one = layer.documents[n];
  const auto within = layer.of_head(one.within, head);
  Eigen::RowVector4d gains = Eigen::RowVector4d::Zero();
  for (const Index row : one.rows) {
    const Eigen::ArrayXf p = predicted.row(row).transpose(), f = score.row(row).transpose();
    const float most = (p > 0).select(f, -1e30F).maxCoeff();
    const auto above = static_cast<double>(within.row(row).dot(score.row(row))) - static_cast<double>(most);
    const Eigen::ArrayXf quarter = (.25F * (f - most).min(0.F)).exp(), half = quarter.square();
    const std::array even{(p * quarter).sum(), (p * half).sum(), (p * half * quarter).sum(), (p * half.square()).sum()};
    for (std::size_t b = 0; b < betas.size(); ++b)
      gains[static_cast<Index>(b)] += static_cast<double>(one.mass(head, row)) * std::numbers::log2e *
                                      (betas[b] * above - std::log(static_cast<double>(std::max(even[b], 1e-30F))));
  }
  return gains;
}

/// Gain of each document with the beta that gains most on the other half; 0 if no beta gains there.
std::vector<double> best_gains(const AttendedLayer& layer, const std::vector<Matrix>& gains, Index tilt) {
  std::array<Vector, 2> sums{Vector::Zero(std::ssize(betas)), Vector::Zero(std::ssize(betas))};
  for (std::size_t n = 0; n < gains.size(); ++n) sums[layer.accounted.half(n)] += gains[n].row(tilt).transpose();
  std::vector<double> best;
  for (std::size_t n = 0; n < gains.size(); ++n) {
    Index beta = 0;
    const double most = sums[1 - layer.accounted.half(n)].maxCoeff(&beta);
    best.push_back(most > 0 ? gains[n](tilt, beta) : 0);
  }
  return best;
}

/// Items with a positive value and a q-value of at most match_fdr, the largest value first.
std::vector<Index> found_items(const Vector& q_values, const Vector& values) {
  std::vector<Index> found;
  for (Index i = 0; i < q_values.size(); ++i)
    if (q_values[i] <= match_fdr && values[i] > 0) found.push_back(i);
  std::ranges::stable_sort(found, [&](Index a, Index b) { return values[a] > values[b]; });
  return found;
}

/// Sum of the weights of one head's strongest text keys after a change of the scores.
/// @param change  (chosen rows, keys)  added to the scores; empty: no change
double strongest_weights(const AttendedLayer& layer, std::size_t n, Index head, const Matrix32& change) {
  const AttendedDocument& one = layer.documents[n];
  const auto within = layer.of_head(one.within, head);
  double sum = 0;
  for (const Index row : one.rows) {
    const Index key = one.strongest[static_cast<std::size_t>(head * layer.accounted.chosen() + row)];
    if (key < 0) continue;
    const auto weight = static_cast<double>(within(row, key));
    if (change.size() == 0) {
      sum += weight;
      continue;
    }
    const Eigen::ArrayXf of_row = change.row(row).transpose().array();
    const auto all =
        static_cast<double>((within.row(row).transpose().array() * (of_row - of_row[key]).min(80.F).exp()).sum());
    sum += all > 0 ? weight / all : 0;
  }
  return sum;
}

}  // namespace

MatchedContent::MatchedContent(const AccountedDocuments& accounted, std::uint64_t seed)
    : accounted_(accounted),
      site_(accounted.site),
      seed_(seed),
      pairs_(static_cast<std::size_t>(site_.grid.rows())),
      pairs_found_(pairs_.size(), 0),
      p_values_(Matrix::Constant(site_.grid.rows(), directions_tested, not_defined)),
      without_(site_.grid.rows()),
      placebo_(site_.grid.rows()),
      words_(pairs_.size()) {
  gain_.fill(HeadNumber(site_.grid.rows()));
  if (!accounted.known_words) return;
  const auto numbered = [&](const std::vector<const AccountDocument*>& documents, const auto& ids, const auto& stays,
                            bool chosen) {
    std::vector<std::vector<std::int32_t>> of_places;
    std::vector<std::vector<bool>> counts;
    for (const AccountDocument* one : documents) {
      of_places.push_back(one->*ids);
      std::vector<bool>& of_document = counts.emplace_back();
      for (std::size_t i = 0; i < of_places.back().size(); ++i)
        of_document.push_back((one->*stays)[i] == 0 && (!chosen || accounted.row_of[i] >= 0));
    }
    return NumberedWords(of_places, counts, least_match_documents);
  };
  using One = AccountDocument;
  asking_ = numbered(accounted.documents, &One::query_ids, &One::query_stays, true);
  asked_ = numbered(accounted.documents, &One::key_ids, &One::key_stays, false);
  of_all_ = {numbered(accounted.kept, &One::query_ids, &One::query_stays, false),
             numbered(accounted.kept, &One::key_ids, &One::key_stays, false)};
}

void MatchedContent::read(const AttendedLayer& layer, const std::array<Vector, 2>& mixed) {
  if (accounted_.known_words) find_pairs(layer);
  find_directions(layer, mixed);
}

void MatchedContent::find_pairs(const AttendedLayer& layer) {
  const Index of_query = std::ssize(asking_.ids), of_key = std::ssize(asked_.ids), pairs = of_query * of_key;
  const std::size_t documents = layer.documents.size();
  const auto other = [&](Index i, Index j) { return site_.crosses() || i != j; };
  // Pairs of words that occur in a document, and the number of queries of each word.
  std::vector<std::vector<Index>> shown(documents);
  Matrix queries_of_word = Matrix::Zero(static_cast<Index>(documents), of_query);
  for (std::size_t n = 0; n < documents; ++n) {
    const AttendedDocument& one = layer.documents[n];
    std::vector<std::uint8_t> seen(static_cast<std::size_t>(pairs), 0);
    for (std::size_t k = 0; k < one.rows.size(); ++k) {
      const Index a = asking_.of_token[n][static_cast<std::size_t>(one.queries[k])];
      if (a < 0) continue;
      queries_of_word(static_cast<Index>(n), a) += 1;
      const KeySpan open = accounted_.open(layer.place, one.queries[k]);
      for (Index j = open.first; j < open.end(); ++j)
        if (const Index b = asked_.of_token[n][static_cast<std::size_t>(j)]; b >= 0 && other(one.queries[k], j))
          seen[static_cast<std::size_t>(a * of_key + b)] = 1;
    }
    for (Index pair = 0; pair < pairs; ++pair)
      if (seen[static_cast<std::size_t>(pair)] != 0) shown[n].push_back(pair);
  }
  Vector got(pairs), given(pairs), excess(pairs), queries(pairs), single(of_query);
  for (Index head = 0; head < layer.heads(); ++head) {
    ItemSums changes(pairs);
    excess.setZero();
    queries.setZero();
    double on_text = 0;
    for (std::size_t n = 0; n < documents; ++n) {
      const AttendedDocument& one = layer.documents[n];
      // Not mixed with p_pos, which would take a little from every word that draws attention.
      const auto key = layer.of_head(one.drawn, head);
      const auto within = layer.of_head(one.within, head);
      got.setZero();
      given.setZero();
      single.setZero();
      on_text += one.mass.row(head).cast<double>().sum();
      for (std::size_t k = 0; k < one.rows.size(); ++k) {
        const Index row = one.rows[k], i = one.queries[k];
        const Index a = asking_.of_token[n][static_cast<std::size_t>(i)];
        if (a < 0) continue;
        const auto mass = static_cast<double>(one.mass(head, row));
        double* const got_of = got.data() + a * of_key;
        double* const given_of = given.data() + a * of_key;
        const Index* const words = asked_.of_token[n].data();
        Index keys = 0;
        for (Index j = 0; j < site_.keys(); ++j) {
          keys += key(row, j) > 0 ? 1 : 0;
          if (words[j] < 0 || !other(i, j)) continue;
          got_of[words[j]] += mass * static_cast<double>(within(row, j));
          given_of[words[j]] += mass * static_cast<double>(key(row, j));
        }
        single[a] += mass / static_cast<double>(std::max<Index>(1, keys));
      }
      for (const Index pair : shown[n]) {
        const double c = single[pair / of_key];
        if (!(c > 0)) continue;
        changes.add(pair, log_excess(got[pair], given[pair], c));
        excess[pair] += got[pair] - given[pair];
        queries[pair] += queries_of_word(static_cast<Index>(n), pair / of_key);
      }
    }
    const Vector q = q_values(moderated_p_values(changes, {.least_documents = least_match_documents}));
    const auto row = static_cast<std::size_t>(layer.row(head));
    std::vector<Index> found = found_items(q, excess);
    pairs_found_[row] = std::ssize(found);
    if (std::ssize(found) > pairs_named) found.resize(pairs_named);
    for (const Index pair : found)
      pairs_[row].push_back({asking_.ids[static_cast<std::size_t>(pair / of_key)],
                             asked_.ids[static_cast<std::size_t>(pair % of_key)],
                             excess[pair] / std::max(1.0, queries[pair]), excess[pair] / on_text, q[pair]});
  }
}

void MatchedContent::find_directions(const AttendedLayer& layer, const std::array<Vector, 2>& mixed) {
  const std::size_t documents = layer.documents.size();
  const Index heads = layer.heads(), d_head = layer.mean_query.cols() / heads;
  const std::vector<Index>& places = accounted_.queries;
  const Turning turning(site_, layer.place);
  const double scale = site_.stack->block.score_scale;
  const Index tested = std::min(directions_tested, d_head);
  std::vector<Matrix32> whole, query, key;  // [document] of all heads: queries, their contents, contents of keys
  std::vector<double> counts;
  for (std::size_t n = 0; n < documents; ++n) {
    const LayerQueriesKeys& own = accounted_.documents[n]->layers[layer.place];
    whole.push_back(rows_at(own.query, places));
    query.push_back(whole.back() - rows_at(layer.mean_query, places));
    key.emplace_back(own.key - layer.mean_key);
    turning.turn(key.back());
    counts.push_back(static_cast<double>(layer.documents[n].queries.size()));
  }
  Matrix32 mean_key = layer.mean_key;
  turning.turn(mean_key);
  Random random = Random(seed_).stream(1 + layer.place).stream(2);
  for (Index head = 0; head < heads; ++head) {
    const auto key_of_head = [&](const Matrix32& all) {
      return all.middleCols(site_.stack->block.key_head(head) * d_head, d_head);
    };
    const auto key_of = [&](std::size_t n) { return key_of_head(key[n]); };
    std::vector<Matrix32> asks;       // [document] (chosen rows, d_head)  chi
    std::vector<Matrix32> attended;   // [document] (chosen rows, d_head)  w_i sum_j (A^X - p_key)_ij R_(j-i) kappa_j
    std::vector<Matrix32> predicted;  // [document] (chosen rows, keys)  p_key
    std::array<Eigen::MatrixXd, 2> covariance;
    covariance.fill(Eigen::MatrixXd::Zero(d_head, d_head));
    for (std::size_t n = 0; n < documents; ++n) {
      const AttendedDocument& one = layer.documents[n];
      predicted.push_back(mixed_key(layer, n, head, mixed));
      Matrix32 beyond = layer.of_head(one.within, head) - predicted.back();
      beyond.array().colwise() *= one.mass.row(head).transpose().array();
      asks.emplace_back(query[n].middleCols(head * d_head, d_head));
      attended.push_back(turning.turned(product(beyond, key_of(n)), places, site_.length, true));
      covariance[accounted_.half(n)] += product(asks[n].transpose(), attended[n]).cast<double>();
    }
    const std::array<ThinSvd, 2> fitted{thin_svd(covariance[0]), thin_svd(covariance[1])};
    // Directions of one half on the other half, and with shifted contents of another document in the queries.
    Vector observed = Vector::Zero(tested);
    Matrix dealt = Matrix::Zero(match_draws, tested);
    for (std::size_t half = 0; half < 2; ++half) {
      const Matrix32 left = fitted[half].u.leftCols(tested).cast<float>();
      const Matrix32 right = fitted[half].v.leftCols(tested).cast<float>();
      std::vector<Matrix32> asking, asked;
      for (std::size_t n = 0; n < documents; ++n) {
        asking.push_back(product(asks[n], left));
        asked.push_back(product(attended[n], right));
      }
      for (std::size_t n = 0; n < documents; ++n) {
        if (accounted_.half(n) == half) continue;
        observed += asking[n].cwiseProduct(asked[n]).colwise().sum().transpose().cast<double>();
        for (Index draw = 0; draw < match_draws; ++draw) {
          const auto step = static_cast<std::size_t>(1 + random.below(static_cast<Index>(documents) - 1));
          const Matrix32& from = asking[(n + step) % documents];
          const Index rows = from.rows(), shift = random.below(rows);
          dealt.row(draw) +=
              (from.bottomRows(rows - shift).cwiseProduct(asked[n].topRows(rows - shift)).colwise().sum() +
               from.topRows(shift).cwiseProduct(asked[n].bottomRows(shift)).colwise().sum())
                  .cast<double>();
        }
      }
    }
    constexpr auto drawn = static_cast<double>(match_draws);
    for (Index r = 0; r < tested; ++r) {
      const double mean = dealt.col(r).mean();
      const double sd = std::sqrt((dealt.col(r).array() - mean).square().sum() / (drawn - 1));
      if (sd > 0)
        p_values_(layer.row(head), r) = student_tail((observed[r] - mean) / (sd * std::sqrt(1 + 1 / drawn)), drawn - 1);
    }
    // Gains (2) and experiments (4).
    std::array<Matrix32, placebo_draws> others;
    for (Matrix32& one : others) {
      one.resize(d_head, 1);
      for (float& number : one.reshaped()) number = static_cast<float>(random.normal());
      one.normalize();
    }
    std::vector<double> strongest(documents), without(documents), placebo(documents);
    std::vector<Matrix> gains;  // [document] (tilts, betas)
    for (std::size_t n = 0; n < documents; ++n) {
      Matrix& of_document = gains.emplace_back(match_tilts, std::ssize(betas));
      const auto add = [&](std::size_t tilt, const Matrix32& score) {
        of_document.row(static_cast<Index>(tilt)) =
            tilt_gains(layer, n, head, predicted[n], static_cast<float>(scale) * score);
      };
      Matrix32 score = Matrix32::Zero(accounted_.chosen(), site_.keys());
      for (std::size_t k = 0; k < directions_kept.size(); ++k) {
        const Index before = k == 0 ? 0 : std::min(directions_kept[k - 1], d_head);
        const Matrix32 more = fitted[1 - accounted_.half(n)]
                                  .u.middleCols(before, std::min(directions_kept[k], d_head) - before)
                                  .cast<float>();
        const Matrix32 along = product(asks[n], more);
        if (turning)
          multiply_add(score, turning.turned(product(along, more.transpose()), places, site_.length, false),
                       key_of(n).transpose());
        else
          multiply_add(score, along, product(key_of(n), more).transpose());
        add(k, score);
      }
      const Matrix32 place =
          product(turning.turned(asks[n], places, site_.length, false), key_of_head(mean_key).transpose());
      add(directions_kept.size(), place);
      add(directions_kept.size() + 1, score + place);
      const Matrix32 direction = fitted[1 - accounted_.half(n)].u.leftCols(1).cast<float>();
      // Change of the scores in (4) if keys lose their content along the direction, in the direction `lost`.
      const auto change = [&](const Matrix32& lost) -> Matrix32 {
        const Matrix32 along = product(whole[n].middleCols(head * d_head, d_head), lost);
        const auto factor = -static_cast<float>(scale);
        if (!turning) return factor * product(along, product(key_of(n), direction).transpose());
        return factor * product(turning.turned(product(along, direction.transpose()), places, site_.length, false),
                                key_of(n).transpose());
      };
      strongest[n] = strongest_weights(layer, n, head, {});
      without[n] = strongest_weights(layer, n, head, change(direction));
      for (const Matrix32& other : others)
        placebo[n] += strongest_weights(layer, n, head, change(other)) / placebo_draws;
    }
    without_.set_ratio(layer.row(head), without, strongest);
    placebo_.set_ratio(layer.row(head), placebo, strongest);
    for (std::size_t tilt = 0; tilt < match_tilts; ++tilt)
      gain_[tilt].set_ratio(layer.row(head), best_gains(layer, gains, static_cast<Index>(tilt)), counts);
    if (!accounted_.known_words) continue;
    ThinSvd both = thin_svd(covariance[0] + covariance[1]);
    const Index named = std::min(directions_named, d_head);
    for (Index r = 0; r < named; ++r) {
      Index largest = 0;
      both.u.col(r).cwiseAbs().maxCoeff(&largest);
      if (both.u(largest, r) < 0) {
        both.u.col(r) *= -1;
        both.v.col(r) *= -1;
      }
    }
    name_directions(layer, head, both.u.leftCols(named), both.v.leftCols(named));
  }
}

void MatchedContent::name_directions(const AttendedLayer& layer, Index head, const Matrix& query, const Matrix& key) {
  const Index d_head = query.rows(), directions = query.cols();
  std::array<std::vector<ItemSums>, 2> sums;  // [side][direction]
  std::array<Vector, 2> deviation;            // [side] (directions)  root mean square of the projections of all tokens
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const NumberedWords& words = of_all_[side];
    const auto of_words = std::ssize(words.ids);
    const Index column = (side == 0 ? head : site_.stack->block.key_head(head)) * d_head;
    const Matrix32 vectors = (side == 0 ? query : key).cast<float>();
    sums[side].assign(static_cast<std::size_t>(directions), ItemSums(of_words));
    Vector square = Vector::Zero(directions);
    double tokens = 0;
    for (std::size_t n = 0; n < accounted_.kept.size(); ++n) {
      const LayerQueriesKeys& own = accounted_.kept[n]->layers[layer.place];
      const Matrix32& mean = side == 0 ? layer.mean_query : layer.mean_key;
      const Matrix32 contents =
          (side == 0 ? own.query : own.key).middleCols(column, d_head) - mean.middleCols(column, d_head);
      const Matrix32 along = product(contents, vectors);
      Matrix sum = Matrix::Zero(of_words, directions);
      Vector count = Vector::Zero(of_words);
      square += along.cast<double>().colwise().squaredNorm().transpose();
      tokens += static_cast<double>(along.rows());
      for (Index i = 0; i < along.rows(); ++i) {
        const Index word = words.of_token[n][static_cast<std::size_t>(i)];
        if (word < 0) continue;
        sum.row(word) += along.row(i).cast<double>();
        count[word] += 1;
      }
      for (Index word = 0; word < of_words; ++word)
        for (Index r = 0; r < directions && count[word] > 0; ++r)
          sums[side][static_cast<std::size_t>(r)].add(word, sum(word, r) / count[word]);
    }
    deviation[side] = (square / tokens).cwiseSqrt();
  }
  // False discoveries are controlled over the words of both sides of all directions.
  std::vector<double> p_values;
  for (const auto& side : sums)
    for (const ItemSums& direction : side) {
      const Vector p = moderated_p_values(direction, {least_match_documents, true});
      p_values.insert(p_values.end(), p.begin(), p.end());
    }
  const Vector q = q_values(Eigen::Map<const Vector>(p_values.data(), std::ssize(p_values)));
  Index first = 0;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const std::vector<std::int32_t>& ids = of_all_[side].ids;
    const auto of_words = std::ssize(ids);
    for (Index r = 0; r < directions; ++r, first += of_words)
      for (const std::size_t end : {std::size_t{0}, std::size_t{1}}) {
        const double sign = end == 0 ? 1 : -1;
        Vector projection(of_words);
        for (Index word = 0; word < of_words; ++word)
          projection[word] = sign * sums[side][static_cast<std::size_t>(r)].mean(word) / deviation[side][r];
        std::vector<Index> found = found_items(q.segment(first, of_words), projection);
        if (std::ssize(found) > direction_words) found.resize(direction_words);
        for (const Index word : found)
          words_[static_cast<std::size_t>(layer.row(head))][static_cast<std::size_t>(r)][side][end].push_back(
              {ids[static_cast<std::size_t>(word)], sign * projection[word], q[first + word]});
      }
  }
}

std::vector<Field> MatchedContent::fields(const TokenTexts& texts) {
  // Directions after the first one that does not beat the null do not count, and keep no words.
  const Vector q = q_values(p_values_.reshaped<Eigen::RowMajor>());
  std::vector<Index> counts;
  for (std::array<DirectionWords, directions_named>& of_head : words_) {
    const Index first = std::ssize(counts) * directions_tested;
    Index& count = counts.emplace_back(0);
    while (count < directions_tested && q[first + count] <= match_fdr) ++count;
    for (Index r = count; r < directions_named; ++r) of_head[static_cast<std::size_t>(r)] = {};
  }
  const Axis layer = layer_axis(site_.grid.layers), head = head_axis(site_.grid.heads);
  const Axis pair_rank = counting_axis("matched_pair", "1", "rank by the share of attention", 0, pairs_named - 1);
  const Axis tilt{"match_tilt", "1", "what is kept of the scores that queries' contents make",
                  std::vector<std::string>{"1 direction", "2 directions", "4 directions", "8 directions",
                                           "16 directions", "place", "place and 16 directions"}};
  const std::vector<Axis> heads{layer, head}, pairs{layer, head, pair_rank}, gains{tilt, layer, head};
  const std::vector<Axis> words{layer,
                                head,
                                counting_axis("direction", "1", "direction, the strongest first", 1, directions_named),
                                {"matched_side", "1", "side of the scores", std::vector<std::string>{"query", "key"}},
                                {"direction_end", "1", "sign of the projection; like ends match",
                                 std::vector<std::string>{"positive", "negative"}},
                                counting_axis("direction_rank", "1", "rank by projection", 0, direction_words - 1)};
  const std::vector<MatchedPair> named = filled_up(pairs_, pairs_named);
  const auto all = [](const auto& items, auto of) { return items | std::views::transform(of); };
  const auto text = [&](auto id) { return [&texts, id](const auto& item) { return texts.text(item.*id); }; };
  const char* const no_query = "no query of the chosen documents sees 4 keys of text";
  const char* const fewer_pairs = "fewer pairs of words get more weight than keys alone tell";
  Fields fields("matched_content");
  fields.add("pair_query_id", pairs, "1", "token of the query of a pair of words that match",
             all(named, &MatchedPair::query), std::string("-1: ") + fewer_pairs);
  fields.add("pair_key_id", pairs, "1", "token of the key of a pair of words that match", all(named, &MatchedPair::key),
             std::string("-1: ") + fewer_pairs);
  fields.add("pair_query", pairs, "1", "text of the query's token; empty: not known, or fewer pairs",
             all(named, text(&MatchedPair::query)));
  fields.add("pair_key", pairs, "1", "text of the key's token; empty: not known, or fewer pairs",
             all(named, text(&MatchedPair::key)));
  fields.add(
      "pair_excess", pairs, "1",
      "mean weight that a query of the one word gives to keys of the other, beyond what the key draws from every query",
      all(named, &MatchedPair::excess), fewer_pairs);
  fields.add("pair_share", pairs, "1", "pair_excess as a share of the head's attention on text",
             all(named, &MatchedPair::share), fewer_pairs);
  fields.add("pair_q_value", pairs, "1", "p-value of the pair over documents, adjusted for the number of pairs",
             all(named, &MatchedPair::q_value), fewer_pairs);
  fields.add("pairs_found", heads, "1", "number of pairs of words that match", pairs_found_);
  fields.add("directions", heads, "1", "number of directions in which queries and keys match beyond dealt documents",
             counts);
  add_numbers(
      fields, "gain", gains, "bit",
      "bits of the match part that the strongest directions of contents keep, or what the query's content tells of "
      "the key's place, on documents that they were not fitted on",
      gain_, no_query);
  add_numbers(
      fields, "without", heads, "1",
      "share of its weight that a strongest key keeps when the first direction is taken out of the contents of keys",
      std::span(&without_, 1), "no text key stands out");
  add_numbers(fields, "placebo", heads, "1",
              "share of its weight that the key keeps when as much is taken out along a random direction",
              std::span(&placebo_, 1), "no text key stands out");
  add_named_words(fields, words, words_ | std::views::join | std::views::join | std::views::join, direction_words,
                  texts,
                  {"direction_word_id", "direction_word", "direction_projection", "direction_q_value",
                   "tokens that stand out along a direction",
                   "mean content of the token along the direction, in standard deviations over all tokens",
                   "p-value of that mean over documents, adjusted for the number of words",
                   "fewer directions, or fewer words that stand out along this one"});
  fields.note_all("documents", std::ssize(accounted_.documents))
      .note_all("least_documents", least_match_documents)
      .note_all("fdr", match_fdr)
      .note_all("draws", match_draws)
      .note_all("coverage", interval_coverage)
      .note_all("seed", static_cast<std::int64_t>(seed_));
  return fields.taken();
}

}  // namespace headwave
