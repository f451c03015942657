#include "attention_bits.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "../../core/errors/error.h"
#include "../../core/fields/fields.h"
#include "../../core/numbers/random.h"
#include "../../core/process/threads.h"
#include "../pass/even_spread.h"
#include "../statistics/quantile.h"

namespace headwave {

namespace {

constexpr float least_weight = 1e-15F;  // below it a weight counts as this, so that logarithms stay finite
constexpr Index least_text = 4;         // keys of text that a query must see
constexpr std::array mixtures{.01F, .02F, .05F, .1F, .2F, .4F, .6F, .8F, 1.F};  // e of (3)
constexpr std::array tilts{.5, 1., 2., 3., 4., 6., 8.};                         // beta of (5)
constexpr std::size_t matching = bits_hypotheses - 1;                           // hypotheses of the match part
constexpr Index groups = account_groups;

using Logarithms = Eigen::ArrayXf;

/// Query rows that are accounted for: cells of 8 neighbours, spread evenly over the places.
std::vector<RowSpan> chosen_rows(Index length, Index wanted, Random random) {
  constexpr Index cell = 8;
  if (wanted >= length) return {{0, length}};
  const Index cells = std::max<Index>(1, wanted / cell);
  std::vector<RowSpan> rows;
  for (Index c = 0; c < cells; ++c) {
    const Index first = c * length / cells, room = (c + 1) * length / cells - first;
    rows.push_back({first + random.below(std::max<Index>(1, room - cell + 1)), std::min(cell, room)});
  }
  return rows;
}

/// What one document says of one head: sums over its queries.
struct Told {
  double bits = 0, mass = 0, position = 0, text = 0;
  std::array<double, mixtures.size()> word{};  ///< [e]
  /// [hypothesis][e][beta]
  std::array<std::array<std::array<double, tilts.size()>, mixtures.size()>, matching> gain{};
  double word_gain = 0;
};

/// The places of a document that take part.
struct Places {
  Eigen::ArrayXf text;         ///< (keys)  1: a key of X, 0: of S
  std::vector<Index> queries;  ///< chosen query rows
  std::vector<Index> before;   ///< as many: the row of the predictors that each is
};

/// The documents of one job that are accounted for, and everything about them that no layer changes.
class Kept {
 public:
  Kept(const AccountHalves& halves, const AttentionBitsOptions& options)
      : site(halves.site), rows(chosen_rows(site.length, options.rows, Random(options.seed).stream(0))) {
    for (const AccountHalf& half : halves.halves)
      for (const AccountDocument& document : half.to_deal) documents.push_back(&document);
    std::ranges::sort(documents, {}, &AccountDocument::number);
    const Index there = std::ssize(documents), pairs = there / 2, wanted = std::max<Index>(1, options.documents / 2);
    std::vector<const AccountDocument*> spread;
    for (Index i = 0; i < there; ++i)
      if (there <= options.documents || (i / 2 < pairs && is_spread(i / 2, wanted, pairs)))
        spread.push_back(documents[static_cast<std::size_t>(i)]);
    documents = std::move(spread);
    const auto in_half = [&](Index half) {
      return std::ranges::count_if(documents, [&](const AccountDocument* one) { return one->number % 2 == half; });
    };
    if (in_half(0) == 0 || in_half(1) == 0)
      throw ShapeError("attention_bits: one half of the documents is empty; expected at least two documents");
    for (const RowSpan& span : rows)
      for (Index i = span.first; i < span.first + span.count; ++i) row_of.emplace(i, std::ssize(row_of));
    known_words = std::ranges::all_of(documents, [&](const AccountDocument* one) {
      return std::ssize(one->query_ids) == site.length && std::ssize(one->key_ids) == site.keys();
    });
    if (!known_words) return;
    for (const AccountDocument* one : documents)
      for (const std::int32_t id : one->key_ids) word_number.emplace(id, std::ssize(word_number));
  }

  [[nodiscard]] std::size_t half(std::size_t n) const { return static_cast<std::size_t>(documents[n]->number % 2); }
  [[nodiscard]] KeySpan open(std::size_t place, Index query) const {
    return allowed_keys(query, site.keys(), site.kind == AttentionKind::causal, site.window(place));
  }

  [[nodiscard]] Eigen::ArrayXf text_of(std::size_t n) const {
    const AccountDocument& document = *documents[n];
    Eigen::ArrayXf text(site.keys());
    for (Index j = 0; j < text.size(); ++j) text[j] = document.key_stays[static_cast<std::size_t>(j)] != 0 ? 0.F : 1.F;
    if (site.kind != AttentionKind::causal && document.first_key_special == 0) text[0] = 1;
    return text;
  }

  AccountSite site;
  std::vector<const AccountDocument*> documents;
  std::vector<RowSpan> rows;
  std::unordered_map<Index, Index> row_of;  ///< the row of a predictor that a query is
  bool known_words = false;
  std::unordered_map<std::int32_t, Index> word_number;  ///< words of keys, from 0
};

/// Shows every row of every head of the tiles it is shown.
template <class Row>
class RowProbe : public Probe {
 public:
  explicit RowProbe(Row row) : row_(std::move(row)) {}
  using Probe::see;
  void see(const Tile& tile) override {
    for (Index head = 0; head < tile.heads(); ++head)
      for (Index r = 0; r < tile.rows(); ++r)
        row_(head, tile.first_row + r, tile.weights[static_cast<std::size_t>(head)].row(r).transpose());
  }

 private:
  Row row_;
};

/// The account of one layer's heads.
class LayerBits {
 public:
  LayerBits(const Kept& kept, const AccountHalves& halves, std::size_t place, const AttentionBitsOptions& options)
      : kept_(kept),
        site_(kept.site),
        place_(place),
        options_(options),
        random_(Random(options.seed).stream(1 + place)),
        heads_(site_.grid.heads) {
    const auto& [even, odd] = halves.halves;
    const auto all = static_cast<float>(even.documents + odd.documents);
    mean_query_ = (even.layers[place].query + odd.layers[place].query) / all;
    mean_key_ = (even.layers[place].key + odd.layers[place].key) / all;
    told.assign(kept.documents.size(), std::vector<Told>(static_cast<std::size_t>(heads_)));
    queries.assign(kept.documents.size(), 0);
  }

  void build() {
    draw_position();
    if (kept_.known_words) drawn_.assign(2, none());
    for (std::size_t n = 0; n < kept_.documents.size(); ++n) add_document(n);
    if (!kept_.known_words) return;
    for (std::size_t n = 0; n < kept_.documents.size(); ++n) add_word_gain(n);
    drawn_.clear();
  }

  std::vector<std::vector<Told>> told;  ///< [document][head]
  std::vector<Index> queries;           ///< [document]

 private:
  /// How much attention words got, and how much p_pos gives them: (heads, words).
  struct Drawn {
    Matrix got, given;
  };

  [[nodiscard]] Drawn none() const {
    const Matrix zero = Matrix::Zero(heads_, std::ssize(kept_.word_number));
    return {zero, zero};
  }

  [[nodiscard]] const AccountDocument& document(std::size_t n) const { return *kept_.documents[n]; }

  /// Attention of the chosen rows over queries and keys of our own making.
  template <class Row>
  void attend_rows(const Matrix32& query, const Matrix32& key, Row row) const {
    RowProbe<Row> probe(std::move(row));
    std::array<Probe*, 1> probes{&probe};
    attend_layer(site_, place_, query, key, Matrix32(), probes, -1, kept_.rows);
  }

  /// Mean queries or keys with the contents of a document's tokens at other places.
  [[nodiscard]] Matrix32 dealt_query(std::size_t n, Random& random) const {
    return dealt(mean_query_, document(n).layers[place_].query, dealt_places(document(n).query_stays, random));
  }
  [[nodiscard]] Matrix32 dealt_key(std::size_t n, Random& random) const {
    return dealt(mean_key_, document(n).layers[place_].key, dealt_places(document(n).key_stays, random));
  }
  static Matrix32 dealt(const Matrix32& mean, const Matrix32& own, const std::vector<Index>& from) {
    Matrix32 result = mean;
    for (Index i = 0; i < mean.rows(); ++i) {
      const Index source = from[static_cast<std::size_t>(i)];
      result.row(i) += own.row(source) - mean.row(source);
    }
    return result;
  }

  /// Adds to `sums`, one row for each chosen query of each head, the weights within the text.
  void add_text(const Matrix32& query, const Matrix32& key, const Eigen::ArrayXf& text, Matrix32& sums) const {
    const Index rows = std::ssize(kept_.row_of);
    attend_rows(query, key, [&](Index head, Index i, const auto& weights) {
      const KeySpan open = kept_.open(place_, i);
      if (open.count == 0) return;
      const Eigen::ArrayXf seen =
          weights.segment(open.first, open.count).array() * text.segment(open.first, open.count);
      const float mass = seen.sum();
      if (mass > 0)
        sums.row(head * rows + kept_.row_of.at(i)).segment(open.first, open.count) +=
            (seen / mass).matrix().transpose();
    });
  }

  /// p_pos of (2), for every chosen row of every head.
  void draw_position() {
    const std::size_t n_documents = kept_.documents.size();
    Random random = random_.stream(0);
    position_ = Matrix32::Zero(heads_ * std::ssize(kept_.row_of), site_.keys());
    for (std::size_t n = 0; n < n_documents; ++n)
      for (Index draw = 0; draw < options_.position_draws; ++draw) {
        const std::size_t other = (n + static_cast<std::size_t>(draw)) % n_documents;
        const Matrix32 query = dealt_query(n, random), key = dealt_key(other, random);
        add_text(query, key, kept_.text_of(other), position_);
      }
    position_ /= static_cast<float>(static_cast<Index>(n_documents) * options_.position_draws);
  }

  /// The mean of the draws of p_key of (2).
  [[nodiscard]] Matrix32 drawn_key(std::size_t n) const {
    const std::size_t n_documents = kept_.documents.size();
    Random random = random_.stream(1 + n);
    Matrix32 sums = Matrix32::Zero(position_.rows(), position_.cols());
    for (Index draw = 0; draw < options_.word_draws; ++draw) {
      const auto step = static_cast<std::size_t>(1 + random.below(static_cast<Index>(n_documents) - 1));
      const Matrix32 query = dealt_query((n + step) % n_documents, random);
      add_text(query, document(n).layers[place_].key, kept_.text_of(n), sums);
    }
    return sums / static_cast<float>(options_.word_draws);
  }

  /// One chosen query of one head: its keys, its attention, its predictors.
  struct Row {
    KeySpan open;
    Eigen::ArrayXf seen;              ///< A over the keys that it sees
    Eigen::ArrayXf text;              ///< 1: key of X
    Eigen::ArrayXf within, position;  ///< A^X, p_pos
    double mass = 0;                  ///< on X
    double even = 0;                  ///< number of keys of X
  };

  /// @returns false if the query takes no part: a special token, or too little text to see
  [[nodiscard]] bool read(std::size_t n, Index head, Index i, const auto& weights, Row& row) const {
    row.open = kept_.open(place_, i);
    if (document(n).query_stays[static_cast<std::size_t>(i)] != 0) return false;
    row.text = texts_.segment(row.open.first, row.open.count);
    row.even = row.text.sum();
    if (row.even < static_cast<double>(least_text)) return false;
    row.seen = weights.segment(row.open.first, row.open.count).array();
    row.within = row.seen * row.text;
    row.mass = static_cast<double>(row.within.sum());
    row.within /= std::max(static_cast<float>(row.mass), 1e-12F);
    row.position = position_.row(head * std::ssize(kept_.row_of) + kept_.row_of.at(i))
                       .segment(row.open.first, row.open.count)
                       .array();
    return true;
  }

  static Logarithms logarithms(const Eigen::ArrayXf& p) {
    return p.max(least_weight).log() * std::numbers::log2e_v<float>;
  }
  static double dot(const Eigen::ArrayXf& a, const Eigen::ArrayXf& b) {
    return a.cast<double>().matrix().dot(b.cast<double>().matrix());
  }

  void add_document(std::size_t n) {
    texts_ = kept_.text_of(n);
    const Matrix32 drawn = drawn_key(n);
    const LayerQueriesKeys& own = document(n).layers[place_];
    attend_rows(own.query, own.key, [&](Index head, Index i, const auto& weights) {
      Row row;
      if (!read(n, head, i, weights, row)) return;
      if (head == 0) ++queries[n];
      const Eigen::ArrayXf key = drawn.row(head * std::ssize(kept_.row_of) + kept_.row_of.at(i))
                                     .segment(row.open.first, row.open.count)
                                     .array();
      add_row(n, head, row, key);
      if (kept_.known_words) add_words(n, head, i, row, key);
    });
  }

  /// Equations (1) and (4) for one query.
  void add_row(std::size_t n, Index head, const Row& row, const Eigen::ArrayXf& key) {
    Told& sum = told[n][static_cast<std::size_t>(head)];
    const bool sinks = site_.stack->has_sinks();
    const double keys = static_cast<double>(row.open.count) + (sinks ? 1 : 0);
    const double nowhere = sinks ? std::max(0.0, 1 - static_cast<double>(row.seen.sum())) : 0;
    const double entropy = -dot(row.seen, logarithms(row.seen)) - nowhere * std::log2(std::max(nowhere, 1e-15));
    sum.bits += std::log2(keys) * (static_cast<double>(row.seen.sum()) + nowhere) - entropy;
    sum.mass += 1 - row.mass;
    const double position = dot(row.within, logarithms(row.position));
    sum.text += row.mass * (dot(row.within, logarithms(row.within)) + std::log2(row.even));
    sum.position += row.mass * (position + std::log2(row.even));
    for (std::size_t e = 0; e < mixtures.size(); ++e)
      sum.word[e] +=
          row.mass * (dot(row.within, logarithms((1 - mixtures[e]) * key + mixtures[e] * row.position)) - position);
  }

  /// Equation (5) of the match part for one query, and what words draw.
  void add_words(std::size_t n, Index head, Index i, const Row& row, const Eigen::ArrayXf& key) {
    const AccountDocument& from = document(n);
    const auto word = [](const std::vector<std::int32_t>& ids, Index at) {
      return at < 0 ? std::int32_t{-1} : ids[static_cast<std::size_t>(at)];
    };
    const std::int32_t own = word(from.query_ids, i), before = word(from.query_ids, i - 1);
    std::array<double, matching> weight{}, drawn{}, position{};
    Drawn& words = drawn_[kept_.half(n)];
    for (Index k = 0; k < row.open.count; ++k) {
      if (row.text[k] == 0) continue;
      const Index j = row.open.first + k;
      const std::array fits{word(from.key_ids, j) == own, word(from.key_ids, j - 1) == own,
                            before >= 0 && word(from.key_ids, j - 1) == before};
      for (std::size_t h = 0; h < matching; ++h)
        if (fits[h]) {
          weight[h] += static_cast<double>(row.within[k]);
          drawn[h] += static_cast<double>(key[k]);
          position[h] += static_cast<double>(row.position[k]);
        }
      const Index number = kept_.word_number.at(word(from.key_ids, j));
      words.got(head, number) += row.mass * static_cast<double>(row.within[k]);
      words.given(head, number) += row.mass * static_cast<double>(row.position[k]);
    }
    Told& sum = told[n][static_cast<std::size_t>(head)];
    for (std::size_t h = 0; h < matching; ++h) {
      if (drawn[h] == 0 && position[h] == 0) continue;
      for (std::size_t e = 0; e < mixtures.size(); ++e) {
        const double mixed =
            (1 - static_cast<double>(mixtures[e])) * drawn[h] + static_cast<double>(mixtures[e]) * position[h];
        for (std::size_t b = 0; b < tilts.size(); ++b)
          sum.gain[h][e][b] +=
              row.mass * (weight[h] * tilts[b] - std::log1p(mixed * std::expm1(tilts[b]))) * std::numbers::log2e;
      }
    }
  }

  /// Equation (5) of the word part: b of the other half.
  void add_word_gain(std::size_t n) {
    texts_ = kept_.text_of(n);
    const Drawn& other = drawn_[1 - kept_.half(n)];
    const AccountDocument& from = document(n);
    Matrix tilt(heads_, site_.keys());
    for (Index j = 0; j < site_.keys(); ++j) {
      const Index number = kept_.word_number.at(from.key_ids[static_cast<std::size_t>(j)]);
      tilt.col(j) = ((other.got.col(number).array() + 2) / (other.given.col(number).array() + 2)).log();
    }
    const LayerQueriesKeys& own = from.layers[place_];
    attend_rows(own.query, own.key, [&](Index head, Index i, const auto& weights) {
      Row row;
      if (!read(n, head, i, weights, row)) return;
      const Vector b = tilt.row(head).segment(row.open.first, row.open.count).transpose();
      const double attended = row.within.template cast<double>().matrix().dot(b);
      const double even = (row.position.template cast<double>() * b.array().exp()).sum();
      if (even > 0)
        told[n][static_cast<std::size_t>(head)].word_gain +=
            row.mass * (attended - std::log(even)) * std::numbers::log2e;
    });
  }

  const Kept& kept_;
  const AccountSite& site_;
  std::size_t place_;
  const AttentionBitsOptions& options_;
  Random random_;
  Index heads_;
  Matrix32 mean_query_, mean_key_;
  Matrix32 position_;         ///< (heads * chosen rows, keys)  p_pos
  Eigen::ArrayXf texts_;      ///< of the document that is read
  std::vector<Drawn> drawn_;  ///< [half]
};

/// Sums of one head over the documents of every group, once e and beta are chosen.
struct Chosen {
  std::array<double, 2 + bits_parts + bits_hypotheses> of_document{};  ///< bits, mass, parts, gains
};

/// The choice that gains most over the documents of one half.
template <class Gain>
std::size_t best(std::size_t choices, const Gain& gain) {
  std::size_t most = 0;
  for (std::size_t c = 1; c < choices; ++c)
    if (gain(c) > gain(most)) most = c;
  return most;
}

/// Interval of a mean over documents by leaving out groups of them.
/// @param sums, counts  [group]
std::array<double, 2> jackknife(const std::array<double, groups>& sums, const std::array<double, groups>& counts,
                                double coverage) {
  double sum = 0, count = 0;
  std::vector<double> left;
  for (Index g = 0; g < groups; ++g) {
    sum += sums[static_cast<std::size_t>(g)];
    count += counts[static_cast<std::size_t>(g)];
  }
  for (std::size_t g = 0; g < groups; ++g)
    if (counts[g] > 0 && count > counts[g]) left.push_back((sum - sums[g]) / (count - counts[g]));
  if (left.size() < 3) return {not_defined, not_defined};
  const auto n = static_cast<double>(left.size());
  double mean = 0, spread = 0;
  for (const double one : left) mean += one / n;
  for (const double one : left) spread += (one - mean) * (one - mean);
  const double error = student_quantile((1 - coverage) / 2, n - 1) * std::sqrt((n - 1) / n * spread);
  return {sum / count - error, sum / count + error};
}

/// Puts the numbers of one layer's heads where they belong.
void put(const LayerBits& layer, const Kept& kept, std::size_t place, AttentionBits& result) {
  const Index heads = kept.site.grid.heads;
  for (Index head = 0; head < heads; ++head) {
    const Index at = static_cast<Index>(place) * heads + head;
    const auto told = [&](std::size_t n) -> const Told& { return layer.told[n][static_cast<std::size_t>(head)]; };
    const auto over = [&](std::size_t half, const auto& number) {
      double sum = 0;
      for (std::size_t n = 0; n < kept.documents.size(); ++n)
        if (kept.half(n) == half) sum += number(told(n));
      return sum;
    };
    std::array<std::size_t, 2> e{};  // [half]  chosen on the other half
    for (std::size_t half = 0; half < 2; ++half) {
      e[half] = best(mixtures.size(),
                     [&](std::size_t c) { return over(1 - half, [&](const Told& one) { return one.word[c]; }); });
      result.mixed[half][at] = static_cast<double>(mixtures[e[half]]);
    }
    // [half][hypothesis]  beta chosen on the other half; as many as there are: no tilt gains
    std::array<std::array<std::size_t, matching>, 2> beta{};
    for (std::size_t half = 0; half < 2; ++half)
      for (std::size_t h = 0; h < matching; ++h) {
        const auto gain = [&](std::size_t b) {
          return over(1 - half, [&](const Told& one) { return one.gain[h][e[1 - half]][b]; });
        };
        beta[half][h] = best(tilts.size(), gain);
        if (!(gain(beta[half][h]) > 0)) beta[half][h] = tilts.size();
      }
    std::array<HeadNumber*, 1 + bits_parts + bits_hypotheses> numbers{&result.bits};
    for (std::size_t p = 0; p < bits_parts; ++p) numbers[1 + p] = &result.part[p];
    for (std::size_t h = 0; h < bits_hypotheses; ++h) numbers[1 + bits_parts + h] = &result.gain[h];
    std::array<std::array<double, groups>, numbers.size()> sums{};
    std::array<double, groups> counts{};
    double mass = 0, count = 0;
    for (std::size_t n = 0; n < kept.documents.size(); ++n) {
      const Told& one = told(n);
      const std::size_t half = kept.half(n), group = n / 2 % groups;
      const double word = one.word[e[half]];
      std::array<double, numbers.size()> of_document{
          one.bits, one.bits - one.text, one.position, word, one.text - one.position - word, one.word_gain};
      for (std::size_t h = 0; h < matching; ++h)
        of_document[2 + bits_parts + h] = beta[half][h] < tilts.size() ? one.gain[h][e[half]][beta[half][h]] : 0;
      for (std::size_t q = 0; q < numbers.size(); ++q) sums[q][group] += of_document[q];
      counts[group] += static_cast<double>(layer.queries[n]);
      count += static_cast<double>(layer.queries[n]);
      mass += one.mass;
    }
    if (count == 0) continue;
    result.sink_mass[at] = mass / count;
    for (std::size_t q = 0; q < numbers.size(); ++q) {
      if (q > bits_parts && !kept.known_words) continue;
      double sum = 0;
      for (const double one : sums[q]) sum += one;
      numbers[q]->value[at] = sum / count;
      const auto [lower, upper] = jackknife(sums[q], counts, result.options.coverage);
      numbers[q]->lower[at] = lower;
      numbers[q]->upper[at] = upper;
    }
  }
}

class AttentionBitsAnalysis : public Analysis {
 public:
  using Analysis::Analysis;
  [[nodiscard]] std::vector<Field> finish(Finished& finished) override {
    const AccountHalves* halves = finished.find<AccountHalves>();
    if (halves == nullptr || halves->halves[0].to_deal.empty() || halves->halves[1].to_deal.empty()) return {};
    AttentionBitsOptions how;
    how.seed = options().seed;
    how.threads = input().threads;
    return describe(attention_bits(*halves, how));
  }
};

}  // namespace

AttentionBits attention_bits(const AccountHalves& halves, const AttentionBitsOptions& options) {
  const Kept kept(halves, options);
  const Index rows = kept.site.grid.rows();
  const Vector nothing = Vector::Constant(rows, not_defined);
  AttentionBits result;
  result.site = halves.site;
  result.options = options;
  result.documents = std::ssize(kept.documents);
  result.bits = {nothing, nothing, nothing};
  result.part.fill(result.bits);
  result.gain.fill(result.bits);
  result.sink_mass = nothing;
  result.mixed.fill(nothing);
  const Index layers = std::ssize(kept.site.grid.layers);
  std::vector<Index> queries(static_cast<std::size_t>(layers));
  parallel_for(layers, options.threads, [&](Index l) {
    LayerBits layer(kept, halves, static_cast<std::size_t>(l), options);
    layer.build();
    put(layer, kept, static_cast<std::size_t>(l), result);
    for (const Index one : layer.queries) queries[static_cast<std::size_t>(l)] += one;
  });
  result.queries = queries.empty() ? 0 : queries.front();
  return result;
}

std::vector<Field> describe(const AttentionBits& bits) {
  const Axis layer = layer_axis(bits.site.grid.layers), head = head_axis(bits.site.grid.heads);
  const Axis part{"bits_part", "1", "part of a head's attention; the parts add up to all of it",
                  std::vector<std::string>{"sink", "position", "word", "match"}};
  const Axis hypothesis{"hypothesis", "1", "what may explain the word part (the first) or the match part (the others)",
                        std::vector<std::string>{"the word itself", "same word", "induction", "same word before"}};
  const std::vector<Axis> heads{layer, head}, parts{part, layer, head}, hypotheses{hypothesis, layer, head};
  const char* const no_query = "no query of the chosen documents sees 4 keys of text";
  const char* const no_interval = "fewer than 6 documents of this length";
  const char* const no_words = "the tokens of the documents are not known";
  const auto of = [](const auto& numbers, auto member) {
    std::vector<Vector> all;
    for (const HeadNumber& one : numbers) all.push_back(one.*member);
    return all;
  };
  Fields fields("attention_bits");
  const auto with_interval = [&](const std::string& quantity, const std::vector<Axis>& axes, const std::string& said,
                                 const auto& numbers, const char* undefined) {
    fields.add(quantity, axes, "bit", said, of(numbers, &HeadNumber::value), undefined);
    fields.add(quantity + "_lower", axes, "bit", "lower end of its interval over documents",
               of(numbers, &HeadNumber::lower), no_interval);
    fields.add(quantity + "_upper", axes, "bit", "upper end of its interval over documents",
               of(numbers, &HeadNumber::upper), no_interval);
  };
  with_interval("bits", heads, "bits by which a query's attention differs from uniform attention",
                std::array{bits.bits}, no_query);
  with_interval("part", parts,
                "bits of a query's attention by part: choosing special keys or text (sink), where query and key stand "
                "(position), what draws attention whoever asks (word), what this query finds (match)",
                bits.part, no_query);
  with_interval("gain", hypotheses,
                "bits that a hypothesis, fitted on one half of the documents, gains on the other half", bits.gain,
                no_words);
  fields.add(
      "sink_mass", heads, "1",
      "share of a query's attention on special keys, on the first token of a causal model, and on a learned sink",
      bits.sink_mass, no_query);
  fields.note_all("documents", bits.documents)
      .note_all("queries", bits.queries)
      .note_all("position_draws", bits.options.position_draws)
      .note_all("word_draws", bits.options.word_draws)
      .note_all("coverage", bits.options.coverage)
      .note_all("seed", static_cast<std::int64_t>(bits.options.seed));
  return fields.taken();
}

const AnalysisKind& attention_bits_analysis() {
  static const AnalysisKind kind{.name = "attention_bits",
                                 .asks = "What is all of a head's attention made of: sink, position, word, match?",
                                 .step = Step::prediction,
                                 .needs = {Need::attention, Need::projections, Need::equal_length},
                                 .reads = {head_account_analysis},
                                 .of_sums = true,
                                 .make = make_of<AttentionBitsAnalysis>};
  return kind;
}

}  // namespace headwave
