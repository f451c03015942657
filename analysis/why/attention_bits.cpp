#include "attention_bits.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "../../core/algebra/product.h"
#include "../../core/fields/fields.h"
#include "../../core/numbers/random.h"
#include "../../core/process/threads.h"
#include "../pass/even_spread.h"
#include "head_account.h"
#include "matched_content.h"

namespace headwave {

namespace {

constexpr Index position_draws = 4;     // of each document's contents, for the predictor by position
constexpr Index word_draws = 16;        // of other documents' queries, for the predictor by word
constexpr Index swaps_drawn = 4;        // of each document's contents, for the evidence
constexpr float least_weight = 1e-15F;  // below it a weight counts as this, so that logarithms stay finite
constexpr std::array mixtures{.01F, .02F, .05F, .1F, .2F, .4F, .6F, .8F, 1.F};  // e of (3)
constexpr std::array tilts{.5, 1., 2., 3., 4., 6., 8.};                         // beta of (5)
constexpr std::size_t bits_parts = 4;                                           // sink, position, word, match
constexpr std::size_t matching = 3;  // hypotheses of the match part: same word, induction, same word before
constexpr Index groups = account_groups;
constexpr double text_rounding = 1e-5;  // of float32 weights within the text
constexpr float stands_out = 3,
                little_beside = 0.25F;  // weight of a strongest key beside uniform, of the other beside it
constexpr Index most_places = 3, query_bands = 4;
// Documents of one length that a job needs. From fewer the predictors know too little, and what they miss would count as match.
constexpr Index least_bits_documents = 8;

/// A place that position makes a head look at, relative to the query.
struct NamedPlace {
  Index offset = 0;           ///< t = key - query, tokens: where (8) is largest
  Index first = 0, last = 0;  ///< around it, where (8) is half of that or more
  double weight = 0;          ///< mean attention weight there, of queries that see a text key there
  double by_position = 0;     ///< what p_pos gives there
};

/// The numbers of all heads, but what words.h and content tell.
struct BitsNumbers {
  HeadNumber bits;                              ///< bit
  std::array<HeadNumber, bits_parts> part;      ///< bit
  std::array<HeadNumber, 1 + matching> gain;    ///< bit, of the word itself and of these; NaN: ids are not known
  HeadNumber follow;                            ///< (6)  1: attention goes with the content, 0: it stays
  HeadNumber kept;                              ///< (7)  1: whoever asks, 0: this query alone
  Vector trials;                                ///< (rows)  swaps that were looked at
  Vector sink_mass;                             ///< (rows)  share of attention on special keys
  std::array<Vector, 2> mixed;                  ///< [half] (rows)  e of (3)
  std::vector<std::vector<NamedPlace>> places;  ///< [row]  (8), most_places at most; none in cross-attention
  std::array<Vector, query_bands> band_weight;  ///< (rows)  mean weight at the first of these, by band of queries
  std::vector<std::uint8_t> band_differs;       ///< [row]  by a factor of two, and beyond its interval

  explicit BitsNumbers(Index rows)
      : bits(rows),
        follow(rows),
        kept(rows),
        trials(Vector::Constant(rows, not_defined)),
        sink_mass(trials),
        places(static_cast<std::size_t>(rows)),
        band_differs(places.size(), 0) {
    part.fill(bits);
    gain.fill(bits);
    mixed.fill(trials);
    band_weight.fill(trials);
  }
};

using Logarithms = Eigen::ArrayXf;

/// What one document says of one head: sums over its queries.
struct Told {
  double bits = 0, mass = 0, position = 0, text = 0;
  std::array<double, mixtures.size()> word{};  ///< [e]
  /// [hypothesis][e][beta]
  std::array<std::array<std::array<double, tilts.size()>, mixtures.size()>, matching> gain{};
  double word_gain = 0;
  double followed = 0, trials = 0;    ///< of (6)
  double strongest = 0, remains = 0;  ///< of (7): weight of the strongest keys, as it is and for other queries
};

/// The account of one layer's heads.
class LayerBits {
 public:
  LayerBits(const AccountedDocuments& accounted, const AccountHalves& halves, std::size_t place, std::uint64_t seed)
      : accounted_(accounted),
        site_(accounted.site),
        place_(place),
        random_(Random(seed).stream(1 + place)),
        heads_(site_.grid.heads),
        chosen_(accounted.chosen()),
        told_(accounted.documents.size(), std::vector<Told>(static_cast<std::size_t>(heads_))) {
    const auto& [even, odd] = halves.halves;
    const auto all = static_cast<float>(even.documents + odd.documents);
    mean_query_ = (even.layers[place].query + odd.layers[place].query) / all;
    mean_key_ = (even.layers[place].key + odd.layers[place].key) / all;
    for (std::size_t h = 0; h < 2; ++h) {
      const AccountHalf& half = halves.halves[h];
      of_half_[h] = {half.layers[place].query / static_cast<float>(half.documents),
                     half.layers[place].key / static_cast<float>(half.documents), half.documents};
      of_half_[h].chosen_query = rows_at(turned(of_half_[h].query), accounted.queries);
      of_half_[h].turned_key = turned(of_half_[h].key);
    }
  }

  /// Reads the heads, and puts their numbers where they belong.
  void build(BitsNumbers& numbers) {
    draw_position();
    by_offset_.assign(static_cast<std::size_t>(heads_), OffsetSums(has_offsets() ? 2 * site_.length - 1 : 0));
    const Matrix none = Matrix::Zero(heads_, std::ssize(accounted_.words.ids));
    drawn_.fill({none, none});
    for (std::size_t n = 0; n < told_.size(); ++n) add_document(n);
    for (Index head = 0; head < heads_; ++head) named_.push_back(places(head));
    by_band_.assign(static_cast<std::size_t>(heads_), {});
    for (std::size_t n = 0; n < told_.size(); ++n) look_again(n);
    for (Index head = 0; head < heads_; ++head) put(head, numbers);
  }

  /// What every chosen query attends to, and the predictors; once.
  [[nodiscard]] AttendedLayer attended() {
    return {
        accounted_,          place_, std::move(mean_query_), std::move(mean_key_), (position_[0] + position_[1]) / 2,
        std::move(attended_)};
  }

  /// Chosen queries of all documents that take part.
  [[nodiscard]] Index queries() const {
    Index all = 0;
    for (const AttendedDocument& one : attended_) all += std::ssize(one.queries);
    return all;
  }

 private:
  /// How much attention words got, and how much p_pos gives them: (heads, words).
  struct Drawn {
    Matrix got, given;
  };

  /// Sums over queries by offset t = -(T-1) .. T-1, for queries that see a text key there.
  struct OffsetSums {
    explicit OffsetSums(Index width)
        : given(Vector::Zero(width)), even(given), count(given), got(Matrix::Zero(groups, width)), seen(got) {}
    Vector given, even, count;  ///< w p_pos, w u^X, queries
    Matrix got, seen;           ///< (groups of documents, offsets)  A - w u^X, queries
  };

  /// Sums over queries by where they stand, at a head's first place.
  struct BandSums {
    std::array<std::array<double, groups>, query_bands> weight{}, queries{};
  };

  /// The places of equation (8).
  [[nodiscard]] std::vector<NamedPlace> places(Index head) const;
  void put(Index head, BitsNumbers& numbers) const;
  void put_bands(Index head, Index row, BitsNumbers& numbers) const;

  [[nodiscard]] bool has_offsets() const { return site_.kind != AttentionKind::cross; }

  [[nodiscard]] const AccountDocument& document(std::size_t n) const { return *accounted_.documents[n]; }
  [[nodiscard]] Index row_of(Index query) const { return accounted_.row_of[static_cast<std::size_t>(query)]; }
  [[nodiscard]] Eigen::ArrayXf text_of(std::size_t n) const {
    return text_keys(site_.kind, document(n).key_stays, document(n).first_key_special != 0);
  }

  /// Attention of the chosen rows over queries and keys of our own making.
  template <class Row>
  void attend_rows(const Matrix32& query, const Matrix32& key, Row row) const {
    RowProbe<Row> probe(std::move(row));
    std::array<Probe*, 1> probes{&probe};
    attend_layer(site_, place_, query, key, Matrix32(), probes, -1, accounted_.rows);
  }

  /// Mean queries or keys with the contents of a document's tokens at other places.
  [[nodiscard]] Matrix32 dealt_query(const Matrix32& mean, std::size_t n, Random& random) const {
    return dealt(mean, document(n).layers[place_].query, dealt_places(document(n).query_stays, random));
  }
  [[nodiscard]] Matrix32 dealt_key(const Matrix32& mean, std::size_t n, Random& random) const {
    return dealt(mean, document(n).layers[place_].key, dealt_places(document(n).key_stays, random));
  }
  /// Adds to `sums`, one row for each chosen query of each head, the weights within the text.
  void add_text(const Matrix32& query, const Matrix32& key, const Eigen::ArrayXf& text, Matrix32& sums) const {
    attend_rows(query, key, [&](Index head, Index i, const auto& weights) {
      const KeySpan open = accounted_.open(place_, i);
      if (open.count == 0) return;
      const Eigen::ArrayXf seen =
          weights.segment(open.first, open.count).array() * text.segment(open.first, open.count);
      const float mass = seen.sum();
      if (mass > 0)
        sums.row(head * chosen_ + row_of(i)).segment(open.first, open.count) += (seen / mass).matrix().transpose();
    });
  }

  /// p_pos of (2) for every chosen row of every head, with mean queries of one half and mean keys of the other: words that
  /// both means share would look like position.
  void draw_position() {
    const std::size_t n_documents = told_.size();
    Random random = random_.stream(0);
    const Index draws = (position_draws + 1) / 2;
    for (std::size_t h = 0; h < 2; ++h) {
      position_[h] = Matrix32::Zero(heads_ * chosen_, site_.keys());
      for (std::size_t n = 0; n < n_documents; ++n)
        for (Index draw = 0; draw < draws; ++draw) {
          const std::size_t other = (n + static_cast<std::size_t>(draw)) % n_documents;
          const Matrix32 query = dealt_query(of_half_[h].query, n, random),
                         key = dealt_key(of_half_[1 - h].key, other, random);
          add_text(query, key, text_of(other), position_[h]);
        }
      position_[h] /= static_cast<float>(static_cast<Index>(n_documents) * draws);
    }
  }

  /// Queries or keys of every place as the model's rotary term turns them; as they are without one.
  [[nodiscard]] Matrix32 turned(Matrix32 all) const {
    Turning(site_, place_).turn(all);
    return all;
  }

  /// p_pos without a document in the means: its own content in the mean of its half would foretell it. Taking it out changes
  /// a score by little, s, the same in all draws: p_pos exp(s), normalised.
  [[nodiscard]] Matrix32 position_without(std::size_t n) const {
    const std::size_t own = accounted_.half(n);
    const Means &mine = of_half_[own], &others = of_half_[1 - own];
    Matrix32 sum = (position_[0] + position_[1]) / 2;
    if (mine.documents < 2) return sum;
    const LayerQueriesKeys& seen = document(n).layers[place_];
    const Index d_head = seen.query.cols() / heads_, rows = chosen_;
    const auto scale = static_cast<float>(-site_.stack->block.score_scale / static_cast<double>(mine.documents - 1));
    // With this document's half in the means of the queries, and in those of the keys.
    const Matrix32 own_query = rows_at(turned(seen.query - mine.query), accounted_.queries),
                   own_key = turned(seen.key - mine.key);
    const std::array<const Matrix32*, 2> query{&own_query, &others.chosen_query}, key{&others.turned_key, &own_key};
    sum.setZero();
    for (std::size_t side = 0; side < 2; ++side)
      for (Index head = 0; head < heads_; ++head) {
        const Matrix32 change =
            scale * product(query[side]->middleCols(head * d_head, d_head),
                            key[side]->middleCols(site_.stack->block.key_head(head) * d_head, d_head).transpose());
        Matrix32 without = position_[side == 0 ? own : 1 - own]
                               .middleRows(head * rows, rows)
                               .cwiseProduct(change.array().exp().matrix());
        for (Index r = 0; r < rows; ++r) {
          const float all = without.row(r).sum();
          if (all > 0) sum.row(head * rows + r) += without.row(r) / (2 * all);
        }
      }
    return sum;
  }

  /// The mean of the draws of p_key of (2).
  [[nodiscard]] Matrix32 drawn_key(std::size_t n) const {
    const std::size_t n_documents = told_.size();
    Random random = random_.stream(1 + n);
    Matrix32 sums = Matrix32::Zero(heads_ * chosen_, site_.keys());
    for (Index draw = 0; draw < word_draws; ++draw) {
      const auto step = static_cast<std::size_t>(1 + random.below(static_cast<Index>(n_documents) - 1));
      const Matrix32 query = dealt_query(of_half_[1 - accounted_.half(n)].query, (n + step) % n_documents, random);
      add_text(query, document(n).layers[place_].key, text_of(n), sums);
    }
    return sums / static_cast<float>(word_draws);
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
    row.open = accounted_.open(place_, i);
    if (document(n).query_stays[static_cast<std::size_t>(i)] != 0) return false;
    row.text = texts_.segment(row.open.first, row.open.count);
    row.even = row.text.sum();
    if (row.even < static_cast<double>(least_text_keys)) return false;
    row.seen = weights.segment(row.open.first, row.open.count).array();
    row.within = row.seen * row.text;
    row.mass = static_cast<double>(row.within.sum());
    row.within /= std::max(static_cast<float>(row.mass), 1e-12F);
    row.position =
        attended_[n].position.row(head * chosen_ + row_of(i)).segment(row.open.first, row.open.count).array();
    return true;
  }

  static Logarithms logarithms(const Eigen::ArrayXf& p) {
    return p.max(least_weight).log() * std::numbers::log2e_v<float>;
  }
  static double dot(const Eigen::ArrayXf& a, const Eigen::ArrayXf& b) {
    return a.cast<double>().matrix().dot(b.cast<double>().matrix());
  }

  void add_document(std::size_t n) {
    texts_ = text_of(n);
    Matrix32 drawn = drawn_key(n);
    const LayerQueriesKeys& own = document(n).layers[place_];
    AttendedDocument& one = attended_.emplace_back();
    one.position = position_without(n);
    one.strongest.assign(static_cast<std::size_t>(heads_ * chosen_), -1);
    one.mass = Matrix32::Zero(heads_, chosen_);
    one.within = Matrix32::Zero(heads_ * chosen_, site_.keys());
    attend_rows(own.query, own.key, [&](Index head, Index i, const auto& weights) {
      Row row;
      if (!read(n, head, i, weights, row)) return;
      const Index at = row_of(i);
      if (head == 0) {
        one.queries.push_back(i);
        one.rows.push_back(at);
      }
      const Eigen::ArrayXf key = drawn.row(head * chosen_ + at).segment(row.open.first, row.open.count).array();
      one.mass(head, at) = static_cast<float>(row.mass);
      one.within.row(head * chosen_ + at).segment(row.open.first, row.open.count) = row.within.matrix().transpose();
      add_row(n, head, row, key);
      if (accounted_.known_words) add_words(n, head, i, row, key);
      find_strongest(n, head, i, row, key);
      if (has_offsets()) add_offsets(n, head, i, row);
    });
    one.drawn = std::move(drawn);
    swap_contents(n);
  }

  void add_offsets(std::size_t n, Index head, Index i, const Row& row) {
    OffsetSums& sums = by_offset_[static_cast<std::size_t>(head)];
    const Index first = row.open.first - i + site_.length - 1, group = static_cast<Index>(n / 2 % groups);
    const Eigen::ArrayXd text = row.text.cast<double>(), even = row.mass / row.even * text;
    sums.given.segment(first, row.open.count).array() += row.mass * row.position.cast<double>() * text;
    sums.even.segment(first, row.open.count).array() += even;
    sums.count.segment(first, row.open.count).array() += text;
    sums.got.row(group).segment(first, row.open.count).array() +=
        (row.mass * row.within.cast<double>() - even).transpose();
    sums.seen.row(group).segment(first, row.open.count).array() += text.transpose();
  }

  /// The key that the experiments look at, and equation (7) for one query.
  void find_strongest(std::size_t n, Index head, Index i, const Row& row, const Eigen::ArrayXf& key) {
    Eigen::ArrayXf others = row.within;
    if (const Index own = i - row.open.first; site_.kind != AttentionKind::cross && own >= 0 && own < others.size())
      others[own] = 0;
    Index most = 0;
    const float weight = others.maxCoeff(&most);
    if (weight < stands_out / static_cast<float>(row.even)) return;
    attended_[n].strongest[static_cast<std::size_t>(head * chosen_ + row_of(i))] = row.open.first + most;
    Told& sum = told_[n][static_cast<std::size_t>(head)];
    sum.strongest += static_cast<double>(weight);
    sum.remains += static_cast<double>(key[most]);
  }

  /// Equation (6): swaps contents of all text keys in pairs at once. How the weights of two keys divide does not depend on
  /// what the other keys are, so this is a swap of one pair for every query.
  void swap_contents(std::size_t n) {
    const LayerQueriesKeys& own = document(n).layers[place_];
    const Matrix32& within = attended_[n].within;
    Random random = random_.stream(0x5ABULL + (n << 12U));
    for (Index swap = 0; swap < swaps_drawn; ++swap) {
      std::vector<Index> free = free_places(document(n).key_stays), other(static_cast<std::size_t>(site_.keys()));
      std::iota(other.begin(), other.end(), Index{0});
      for (std::size_t p = free.size(); p > 1; --p)
        std::swap(free[p - 1], free[static_cast<std::size_t>(random.below(static_cast<Index>(p)))]);
      for (std::size_t p = 0; p + 1 < free.size(); p += 2) {
        other[static_cast<std::size_t>(free[p])] = free[p + 1];
        other[static_cast<std::size_t>(free[p + 1])] = free[p];
      }
      attend_rows(own.query, dealt(mean_key_, own.key, other), [&](Index head, Index i, const auto& weights) {
        const Index at = head * chosen_ + row_of(i);
        const Index y = attended_[n].strongest[static_cast<std::size_t>(at)];
        if (y < 0) return;
        const Index o = other[static_cast<std::size_t>(y)];
        const KeySpan open = accounted_.open(place_, i);
        if (o == y || o < open.first || o >= open.first + open.count ||
            (o == i && site_.kind != AttentionKind::cross) || within(at, o) > little_beside * within(at, y))
          return;
        const auto there = static_cast<double>(weights[y]), goes = static_cast<double>(weights[o]);
        if (!(there + goes > 0)) return;
        Told& sum = told_[n][static_cast<std::size_t>(head)];
        sum.followed += goes / (goes + there);
        ++sum.trials;
      });
    }
  }

  /// Equations (1) and (4) for one query.
  void add_row(std::size_t n, Index head, const Row& row, const Eigen::ArrayXf& key) {
    Told& sum = told_[n][static_cast<std::size_t>(head)];
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
    Drawn& words = drawn_[accounted_.half(n)];
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
      const Index number = accounted_.words.of_token[n][static_cast<std::size_t>(j)];
      words.got(head, number) += row.mass * static_cast<double>(row.within[k]);
      words.given(head, number) += row.mass * static_cast<double>(row.position[k]);
    }
    Told& sum = told_[n][static_cast<std::size_t>(head)];
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

  /// What needs the sums over all documents: equation (5) of the word part, with b of the other half, and bands.
  void look_again(std::size_t n) {
    texts_ = text_of(n);
    Matrix tilt;
    if (accounted_.known_words) {
      const Drawn& other = drawn_[1 - accounted_.half(n)];
      tilt.resize(heads_, site_.keys());
      for (Index j = 0; j < site_.keys(); ++j) {
        const Index number = accounted_.words.of_token[n][static_cast<std::size_t>(j)];
        tilt.col(j) = ((other.got.col(number).array() + 2) / (other.given.col(number).array() + 2)).log();
      }
    }
    const AttendedDocument& one = attended_[n];
    for (Index head = 0; head < heads_; ++head)
      for (std::size_t q = 0; q < one.queries.size(); ++q) {
        const Index at = head * chosen_ + one.rows[q];
        const auto mass = static_cast<double>(one.mass(head, one.rows[q]));
        add_band(n, head, one.queries[q], mass * one.within.row(at).cast<double>());
        if (!accounted_.known_words) continue;
        const double attended = one.within.row(at).cast<double>().dot(tilt.row(head));
        const double even = (one.position.row(at).cast<double>().array() * tilt.row(head).array().exp()).sum();
        if (even > 0)
          told_[n][static_cast<std::size_t>(head)].word_gain +=
              mass * (attended - std::log(even)) * std::numbers::log2e;
      }
  }

  /// @param weights  (keys)  of the query on text keys
  void add_band(std::size_t n, Index head, Index i, const Eigen::RowVectorXd& weights) {
    const std::vector<NamedPlace>& places = named_[static_cast<std::size_t>(head)];
    if (places.empty()) return;
    const Index key = i + places.front().offset;
    const KeySpan open = accounted_.open(place_, i);
    if (key < open.first || key >= open.first + open.count || texts_[key] == 0) return;
    BandSums& sums = by_band_[static_cast<std::size_t>(head)];
    const auto band = static_cast<std::size_t>(query_bands * i / site_.length);
    sums.weight[band][n / 2 % groups] += weights[key];
    ++sums.queries[band][n / 2 % groups];
  }

  const AccountedDocuments& accounted_;
  const AccountSite& site_;
  std::size_t place_;
  Random random_;
  Index heads_, chosen_;
  std::vector<std::vector<Told>> told_;         ///< [document][head]
  std::vector<std::vector<NamedPlace>> named_;  ///< [head]
  /// Mean queries and keys of every place.
  struct Means {
    Matrix32 query, key;
    Index documents = 0;
    Matrix32 chosen_query = {}, turned_key = {};  ///< as a rotary term turns them, queries of the chosen rows alone
  };
  Matrix32 mean_query_, mean_key_;          ///< over all documents
  std::array<Means, 2> of_half_;            ///< [half]
  std::array<Matrix32, 2> position_;        ///< [half of the mean queries] (heads * chosen rows, keys)  p_pos
  std::vector<AttendedDocument> attended_;  ///< [document]
  std::vector<BandSums> by_band_;           ///< [head]
  std::vector<OffsetSums> by_offset_;       ///< [head]
  Eigen::ArrayXf texts_;                    ///< of the document that is read
  std::array<Drawn, 2> drawn_;              ///< [half]
};

/// The choice that gains most over the documents of one half.
template <class Gain>
std::size_t best(std::size_t choices, const Gain& gain) {
  std::size_t most = 0;
  for (std::size_t c = 1; c < choices; ++c)
    if (gain(c) > gain(most)) most = c;
  return most;
}

std::vector<NamedPlace> LayerBits::places(Index head) const {
  if (!has_offsets()) return {};
  const OffsetSums& sums = by_offset_[static_cast<std::size_t>(head)];
  const Index width = sums.count.size(), middle = site_.length - 1;
  const double least = enough_queries(sums.count);
  Vector added = Vector::Constant(width, -1);  // the smaller of what attention and p_pos have beyond uniform attention
  const Vector got_there = sums.got.colwise().sum();
  for (Index t = 0; t < width; ++t)
    if (sums.count[t] >= least) added[t] = std::min(got_there[t], sums.given[t] - sums.even[t]) / sums.count[t];
  std::vector<NamedPlace> found;
  const double half = added.maxCoeff() / 2;
  if (!(half > text_rounding)) return found;
  Vector left = added;
  while (std::ssize(found) < most_places) {
    Index peak = 0;
    if (!(left.maxCoeff(&peak) >= half)) break;
    // A dip to no less than a quarter of the largest belongs to the place.
    Index first = peak, last = peak;
    for (Index t = peak - 1; t >= 0 && added[t] >= half / 2; --t)
      if (added[t] >= half) first = t;
    for (Index t = peak + 1; t < width && added[t] >= half / 2; ++t)
      if (added[t] >= half) last = t;
    left.segment(first, last - first + 1).setConstant(-1);
    std::array<double, groups> got{}, seen{};
    double weight = 0;
    for (Index g = 0; g < groups; ++g) {
      got[static_cast<std::size_t>(g)] = sums.got(g, peak);
      seen[static_cast<std::size_t>(g)] = sums.seen(g, peak);
      weight += sums.got(g, peak);
    }
    if (jackknife(got, seen)[0] <= 0) continue;
    found.push_back({peak - middle, first - middle, last - middle, (weight + sums.even[peak]) / sums.count[peak],
                     sums.given[peak] / sums.count[peak]});
  }
  return found;
}

void LayerBits::put_bands(Index head, Index row, BitsNumbers& numbers) const {
  if (named_[static_cast<std::size_t>(head)].empty()) return;
  const BandSums& sums = by_band_[static_cast<std::size_t>(head)];
  const auto sum_of = [](const std::array<double, groups>& of_groups) {
    return std::accumulate(of_groups.begin(), of_groups.end(), 0.0);
  };
  std::array<double, query_bands> weight{};
  std::size_t low = query_bands, high = query_bands;
  for (std::size_t band = 0; band < weight.size(); ++band) {
    const double of_band = sum_of(sums.queries[band]);
    if (!(of_band > 0)) continue;
    numbers.band_weight[band][row] = weight[band] = sum_of(sums.weight[band]) / of_band;
    if (low == query_bands || weight[band] < weight[low]) low = band;
    if (high == query_bands || weight[band] > weight[high]) high = band;
  }
  if (low == high || !(weight[high] >= 2 * weight[low])) return;
  // The interval of the difference, as if every group of documents had the same number of queries, which it has.
  const double queries_high = sum_of(sums.queries[high]), queries_low = sum_of(sums.queries[low]);
  std::array<double, groups> difference{}, share{};
  for (std::size_t g = 0; g < groups; ++g) {
    difference[g] = sums.weight[high][g] / queries_high - sums.weight[low][g] / queries_low;
    share[g] = sums.queries[high][g] / queries_high;
  }
  constexpr double pairs_of_bands = query_bands * (query_bands - 1) / 2.0;
  const bool differs = jackknife(difference, share, 1 - (1 - interval_coverage) / pairs_of_bands)[0] > 0;
  numbers.band_differs[static_cast<std::size_t>(row)] = differs ? 1 : 0;
}

/// Puts the numbers of one head where they belong.
void LayerBits::put(Index head, BitsNumbers& numbers) const {
  const Index row = static_cast<Index>(place_) * heads_ + head;
  const auto told = [&](std::size_t n) -> const Told& { return told_[n][static_cast<std::size_t>(head)]; };
  const auto over = [&](std::size_t half, const auto& number) {
    double sum = 0;
    for (std::size_t n = 0; n < told_.size(); ++n)
      if (accounted_.half(n) == half) sum += number(told(n));
    return sum;
  };
  std::array<std::size_t, 2> e{};  // [half]  chosen on the other half
  for (std::size_t half = 0; half < 2; ++half) {
    e[half] = best(mixtures.size(),
                   [&](std::size_t c) { return over(1 - half, [&](const Told& one) { return one.word[c]; }); });
    numbers.mixed[half][row] = static_cast<double>(mixtures[e[half]]);
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
  std::vector<double> queries;
  for (const AttendedDocument& one : attended_) queries.push_back(static_cast<double>(one.queries.size()));
  const double all_queries = std::accumulate(queries.begin(), queries.end(), 0.0);
  if (all_queries == 0) return;
  const auto by_document = [&](const auto& number) {
    std::vector<double> all;
    for (std::size_t n = 0; n < told_.size(); ++n) all.push_back(number(told(n), accounted_.half(n)));
    return all;
  };
  const auto put = [&](HeadNumber& into, const auto& number) { into.set_ratio(row, by_document(number), queries); };
  put(numbers.bits, [](const Told& one, std::size_t) { return one.bits; });
  put(numbers.part[0], [](const Told& one, std::size_t) { return one.bits - one.text; });
  put(numbers.part[1], [](const Told& one, std::size_t) { return one.position; });
  put(numbers.part[2], [&](const Told& one, std::size_t half) { return one.word[e[half]]; });
  put(numbers.part[3], [&](const Told& one, std::size_t half) { return one.text - one.position - one.word[e[half]]; });
  if (accounted_.known_words) {
    put(numbers.gain[0], [](const Told& one, std::size_t) { return one.word_gain; });
    for (std::size_t h = 0; h < matching; ++h)
      put(numbers.gain[1 + h], [&](const Told& one, std::size_t half) {
        return beta[half][h] < tilts.size() ? one.gain[h][e[half]][beta[half][h]] : 0;
      });
  }
  const auto of = [&](double Told::*number) {
    return by_document([&](const Told& one, std::size_t) { return one.*number; });
  };
  const std::vector<double> trials = of(&Told::trials), mass = of(&Told::mass);
  numbers.follow.set_ratio(row, of(&Told::followed), trials);
  numbers.kept.set_ratio(row, of(&Told::remains), of(&Told::strongest));
  numbers.trials[row] = std::accumulate(trials.begin(), trials.end(), 0.0);
  numbers.sink_mass[row] = std::accumulate(mass.begin(), mass.end(), 0.0) / all_queries;
  numbers.places[static_cast<std::size_t>(row)] = named_[static_cast<std::size_t>(head)];
  put_bands(head, row, numbers);
}

/// Fields attention_bits/...
std::vector<Field> describe(const AccountedDocuments& accounted, const BitsNumbers& bits, Index queries,
                            std::uint64_t seed) {
  const AccountSite& site = accounted.site;
  const Axis layer = layer_axis(site.grid.layers), head = head_axis(site.grid.heads);
  const Axis part{"bits_part", "1", "part of a head's attention; the parts add up to all of it",
                  std::vector<std::string>{"sink", "position", "word", "match"}};
  const Axis hypothesis{"hypothesis", "1", "what may explain the word part (the first) or the match part (the others)",
                        std::vector<std::string>{"the word itself", "same word", "induction", "same word before"}};
  const std::vector<Axis> heads{layer, head}, parts{part, layer, head}, hypotheses{hypothesis, layer, head};
  const char* const no_query = "no query of the chosen documents sees 4 keys of text";
  const char* const no_words = "the tokens of the documents are not known";
  Fields fields("attention_bits");
  const auto one = [](const HeadNumber& number) { return std::span(&number, 1); };
  add_numbers(fields, "bits", heads, "bit", "bits by which a query's attention differs from uniform attention",
              one(bits.bits), no_query);
  add_numbers(fields, "part", parts, "bit",
              "bits of a query's attention by part: choosing special keys or text (sink), where query and key stand "
              "(position), what draws attention whoever asks (word), what this query finds (match)",
              bits.part, no_query);
  add_numbers(fields, "gain", hypotheses, "bit",
              "bits that a hypothesis, fitted on one half of the documents, gains on the other half", bits.gain,
              no_words);
  const char* const no_trial = "no text key stands out that could be swapped";
  add_numbers(fields, "follow", heads, "1",
              "share of a strongest key's attention that follows its content when it is swapped with another key's; 0: "
              "it stays with the place",
              one(bits.follow), no_trial);
  add_numbers(fields, "kept", heads, "1",
              "share of a strongest key's attention that remains when a token of another document asks from the same "
              "place",
              one(bits.kept), no_trial);
  fields.add("trials", heads, "1", "swaps of the contents of two keys that were looked at", bits.trials, no_query);
  const Axis rank{"place", "1", "places that position makes a head look at, the strongest first",
                  std::vector<std::int64_t>{1, 2, 3}};
  const auto of_places = [&](auto number) {
    std::vector<Vector> all(most_places, Vector::Constant(bits.bits.value.size(), not_defined));
    for (Index row = 0; row < bits.bits.value.size(); ++row)
      for (std::size_t p = 0; p < bits.places[static_cast<std::size_t>(row)].size(); ++p)
        all[p][row] = static_cast<double>(bits.places[static_cast<std::size_t>(row)][p].*number);
    return all;
  };
  const std::vector<Axis> places{rank, layer, head};
  const char* const no_place = "position adds attention to fewer places, or none stands out";
  fields.add("place_offset", places, "token", "where position makes the head look, relative to the query",
             of_places(&NamedPlace::offset), no_place);
  fields.add("place_first", places, "token", "first offset around it at which position adds half as much",
             of_places(&NamedPlace::first), no_place);
  fields.add("place_last", places, "token", "last offset around it at which position adds half as much",
             of_places(&NamedPlace::last), no_place);
  fields.add("place_weight", places, "1", "mean attention weight there, of queries that see a text key there",
             of_places(&NamedPlace::weight), no_place);
  fields.add("place_by_position", places, "1", "what position alone gives there", of_places(&NamedPlace::by_position),
             no_place);
  const Axis band{"query_band", "1", "quarter of a document in which the query stands",
                  std::vector<std::int64_t>{1, 2, 3, 4}};
  fields.add("band_weight", {band, layer, head}, "1",
             "mean attention weight at the first place, by where the query stands", bits.band_weight, no_place);
  fields.flags("band_differs", heads,
               "whether the largest of these is twice the smallest, and above it beyond their interval",
               bits.band_differs, {"no", "yes"});
  fields
      .add("sink_mass", heads, "1",
           "share of a query's attention on special keys, on the first token of a causal model, and on a learned sink",
           bits.sink_mass, no_query)
      .note("keys", std::string(site.kind == AttentionKind::causal ? "first token" : "special tokens") +
                        (site.stack->has_sinks() ? " and learned sink" : ""));
  fields.note_all("documents", std::ssize(accounted.documents))
      .note_all("queries", queries)
      .note_all("position_draws", position_draws)
      .note_all("word_draws", word_draws)
      .note_all("swaps", swaps_drawn)
      .note_all("coverage", interval_coverage)
      .note_all("seed", static_cast<std::int64_t>(seed));
  return fields.taken();
}

class AttentionBitsAnalysis : public AnalysisOf<AttendedKeySums> {
 public:
  explicit AttentionBitsAnalysis(const AnalysisInput& input)
      : AnalysisOf(input), kept_(attended_documents(input.site)) {}

  [[nodiscard]] std::unique_ptr<Look> look(const Document& document, Index i) const override {
    const Index number = site().number_of(i);
    if (number < 0 || !is_spread(number, kept_, site().documents)) return nullptr;
    return look_of<AttendedKeyProbe>(site(), number, document);
  }

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(AttendedKeySums& sum, Finished& finished) override {
    const AccountHalves* halves = finished.find<AccountHalves>();
    if (halves == nullptr) return {};
    if (std::ssize(halves->halves[0].to_deal) + std::ssize(halves->halves[1].to_deal) < least_bits_documents) {
      Fields fields("attention_bits");
      fields.absent("undefined", "bit", "bits of attention beyond uniform attention",
                    fmt::format("fewer than {} documents of one length", least_bits_documents));
      return fields.taken();
    }
    return attention_bits(*halves, sum, {.seed = options().seed, .threads = input().threads});
  }

 private:
  Index kept_;  ///< documents whose attended keys are kept
};

}  // namespace

std::vector<Field> attention_bits(const AccountHalves& halves, const AttendedKeySums& attended_keys,
                                  const AttentionBitsOptions& options) {
  const AccountedDocuments accounted(halves, options.documents);
  BitsNumbers numbers(halves.site.grid.rows());
  AttentionWords words(halves.site, attended_keys);
  MatchedContent content(accounted, options.seed);
  Index queries = 0;  // the same in every layer but for windows
  parallel_for(std::ssize(halves.site.grid.layers), options.threads, [&](Index l) {
    LayerBits layer(accounted, halves, static_cast<std::size_t>(l), options.seed);
    layer.build(numbers);
    if (l == 0) queries = layer.queries();
    const AttendedLayer attended = layer.attended();
    words.read(attended);
    content.read(attended, numbers.mixed);
  });
  Fields fields("attention_bits");
  fields.append(describe(accounted, numbers, queries, options.seed))
      .append(words.fields())
      .append(content.fields(attended_keys.texts));
  return fields.taken();
}

extern const AnalysisKind attention_bits_analysis{
    .name = "attention_bits",
    .asks = "What is all of a head's attention made of: sink, position, word, match?",
    .projections = true,
    .equal_length = true,
    .reads = {&head_account_analysis},
    .of_sums = true,
    .by_default = true,
    .make = make_of<AttentionBitsAnalysis>};

}  // namespace headwave
