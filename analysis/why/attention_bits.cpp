#include "attention_bits.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "../../core/fields/fields.h"
#include "../../core/process/threads.h"
#include "../pass/even_spread.h"
#include "head_account.h"
#include "matched_content.h"

namespace headwave {

namespace {

constexpr std::array mixtures{.01F, .02F, .05F, .1F, .2F, .4F, .6F, .8F, 1.F};  // e of (3)
constexpr std::array tilts{.5, 1., 2., 3., 4., 6., 8.};                         // beta of (5)
constexpr std::size_t bits_parts = 4;                                           // sink, position, word, match
constexpr std::size_t matching = 3;  // hypotheses of the match part: same word, induction, same word before
constexpr Index groups = account_groups;
constexpr double text_rounding = 1e-5;  // of float32 weights within the text
constexpr Index most_places = 3, query_bands = 4;
// Documents of one length that a job needs. With fewer, what the poor predictors miss is called match.
constexpr Index least_bits_documents = 8;

/// A place that position makes a head look at, relative to the query, in tokens.
struct NamedPlace {
  Index offset = 0;           ///< offset where (8) is largest
  Index first = 0, last = 0;  ///< around it, where (8) is at least half of its largest maximum
  double weight = 0;          ///< mean weight at `offset`, over queries that see a text key there
  double by_position = 0;     ///< the same mean of p_pos
};

/// Numbers of all heads. AttentionWords and MatchedContent hold the numbers of words, pairs and directions.
struct BitsNumbers {
  HeadNumber bits;                              ///< (1)
  std::array<HeadNumber, bits_parts> part;      ///< (4)
  std::array<HeadNumber, 1 + matching> gain;    ///< (5), the word itself first; NaN: ids are unknown
  HeadNumber follow;                            ///< (6)
  HeadNumber kept;                              ///< (7)
  Vector trials;                                ///< (rows)  swaps that count in (6)
  Vector sink_mass;                             ///< (rows)  mean attention on S
  std::array<Vector, 2> mixed;                  ///< [half] (rows)  e of (3)
  std::vector<std::vector<NamedPlace>> places;  ///< [row]  (8); none in cross-attention
  std::array<Vector, query_bands> band_weight;  ///< (rows)  mean weight at the first place, by band of queries
  std::vector<std::uint8_t> band_differs;       ///< [row]  by a factor of two, and beyond the interval

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

/// Sums over the queries of one document for one head.
struct Told {
  double bits = 0, mass = 0, position = 0, text = 0;
  std::array<double, mixtures.size()> word{};  ///< [e]
  /// [hypothesis][e][beta]
  std::array<std::array<std::array<double, tilts.size()>, mixtures.size()>, matching> gain{};
  double word_gain = 0;
  double strongest = 0, remains = 0;  ///< denominator and numerator of (7)
};

/// Computes the account of one head.
class HeadBits {
 public:
  HeadBits(const AttendedLayer& layer, Index head)
      : layer_(layer),
        accounted_(layer.accounted),
        site_(accounted_.site),
        head_(head),
        told_(layer.documents.size()),
        offsets_(site_.crosses() ? 0 : 2 * site_.length - 1) {
    const Vector none = Vector::Zero(std::ssize(accounted_.words.ids));
    drawn_.fill({none, none});
    for (std::size_t n = 0; n < told_.size(); ++n) read(n);
    if (!site_.crosses()) find_places();
    for (std::size_t n = 0; n < told_.size(); ++n) read_again(n);
  }

  /// Writes the numbers of the head to its row.
  void put(BitsNumbers& numbers) const;

 private:
  /// (words)  attention that words get, and attention that p_pos gives them.
  struct Drawn {
    Vector got, given;
  };

  /// Sums for each offset t = -(T-1) .. T-1 over the queries that see a text key there.
  struct OffsetSums {
    explicit OffsetSums(Index width)
        : given(Vector::Zero(width)), even(given), got(Matrix::Zero(groups, width)), seen(got) {}
    Vector given, even;  ///< sums of w p_pos, and of w u^X
    Matrix got, seen;    ///< (groups of documents, offsets)  sums of w (A^X - u^X), and numbers of queries
  };

  /// One chosen query with its attention and predictors over the keys that it sees.
  struct Row {
    Index query = 0;
    KeySpan open;
    Eigen::ArrayXf text;                   ///< 1: text key
    Eigen::ArrayXf within, position, key;  ///< A^X, p_pos, mean of the draws of p_key
    double mass = 0;                       ///< attention on text
    double even = 0;                       ///< number of text keys
  };

  void read(std::size_t n) {
    const AttendedDocument& one = layer_.documents[n];
    Told& sum = told_[n];
    for (std::size_t q = 0; q < one.queries.size(); ++q) {
      const Index at = head_ * accounted_.chosen() + one.rows[q];
      Row row{one.queries[q], accounted_.open(layer_.place, one.queries[q]), {}, {}, {}, {}};
      const auto seen = [&](const Matrix32& all) -> Eigen::ArrayXf {
        return all.row(at).segment(row.open.first, row.open.count).transpose().array();
      };
      row.text = one.text.segment(row.open.first, row.open.count);
      row.within = seen(one.within);
      row.position = seen(one.position);
      row.key = seen(one.drawn);
      row.mass = static_cast<double>(one.mass(head_, one.rows[q]));
      row.even = static_cast<double>(row.text.sum());
      sum.bits += one.bits(head_, one.rows[q]);
      add_row(row, sum);
      if (accounted_.known_words) add_words(n, row, sum);
      if (!site_.crosses()) add_offsets(n, row);
      if (const Index y = one.strongest[static_cast<std::size_t>(at)]; y >= 0) {
        sum.strongest += static_cast<double>(one.within(at, y));
        sum.remains += static_cast<double>(one.drawn(at, y));
      }
    }
  }

  void add_offsets(std::size_t n, const Row& row) {
    const Index first = row.open.first - row.query + site_.length - 1, group = static_cast<Index>(n / 2 % groups);
    const Eigen::ArrayXd text = row.text.cast<double>(), even = row.mass / row.even * text;
    offsets_.given.segment(first, row.open.count).array() += row.mass * row.position.cast<double>() * text;
    offsets_.even.segment(first, row.open.count).array() += even;
    offsets_.got.row(group).segment(first, row.open.count).array() +=
        (row.mass * row.within.cast<double>() - even).transpose();
    offsets_.seen.row(group).segment(first, row.open.count).array() += text.transpose();
  }

  /// Equation (4) for one query.
  static void add_row(const Row& row, Told& sum) {
    sum.mass += 1 - row.mass;
    const double position = dot_of(row.within, binary_logarithms(row.position));
    sum.text += row.mass * (dot_of(row.within, binary_logarithms(row.within)) + std::log2(row.even));
    sum.position += row.mass * (position + std::log2(row.even));
    for (std::size_t e = 0; e < mixtures.size(); ++e) {
      const Eigen::ArrayXf mixed = (1 - mixtures[e]) * row.key + mixtures[e] * row.position;
      sum.word[e] += row.mass * (dot_of(row.within, binary_logarithms(mixed)) - position);
    }
  }

  /// Equation (5) of the match part for one query, and the attention that words get.
  void add_words(std::size_t n, const Row& row, Told& sum) {
    const AccountDocument& from = *accounted_.documents[n];
    const auto word = [](const std::vector<std::int32_t>& ids, Index at) {
      return at < 0 ? std::int32_t{-1} : ids[static_cast<std::size_t>(at)];
    };
    const std::int32_t own = word(from.query_ids, row.query), before = word(from.query_ids, row.query - 1);
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
          drawn[h] += static_cast<double>(row.key[k]);
          position[h] += static_cast<double>(row.position[k]);
        }
      const Index number = accounted_.words.of_token[n][static_cast<std::size_t>(j)];
      words.got[number] += row.mass * static_cast<double>(row.within[k]);
      words.given[number] += row.mass * static_cast<double>(row.position[k]);
    }
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

  /// Adds what needs sums over all documents: (5) of the word part, with b of the other half, and bands.
  void read_again(std::size_t n) {
    const AttendedDocument& one = layer_.documents[n];
    Eigen::RowVectorXd tilt(accounted_.known_words ? site_.keys() : 0);
    const Drawn& other = drawn_[1 - accounted_.half(n)];
    for (Index j = 0; j < tilt.size(); ++j) {
      const Index number = accounted_.words.of_token[n][static_cast<std::size_t>(j)];
      tilt[j] = std::log((other.got[number] + 2) / (other.given[number] + 2));
    }
    for (std::size_t q = 0; q < one.queries.size(); ++q) {
      const Index at = head_ * accounted_.chosen() + one.rows[q];
      const auto mass = static_cast<double>(one.mass(head_, one.rows[q]));
      add_band(n, one.queries[q], mass * one.within.row(at).cast<double>());
      if (!accounted_.known_words) continue;
      const double attended = one.within.row(at).cast<double>().dot(tilt);
      const double even = (one.position.row(at).cast<double>().array() * tilt.array().exp()).sum();
      if (even > 0) told_[n].word_gain += mass * (attended - std::log(even)) * std::numbers::log2e;
    }
  }

  /// @param weights  (keys)  attention of the query on text keys
  void add_band(std::size_t n, Index query, const Eigen::RowVectorXd& weights) {
    if (places_.empty()) return;
    const Index key = query + places_.front().offset;
    const KeySpan open = accounted_.open(layer_.place, query);
    if (key < open.first || key >= open.end() || layer_.documents[n].text[key] == 0) return;
    const auto band = static_cast<std::size_t>(query_bands * query / site_.length);
    band_weight_[band][n / 2 % groups] += weights[key];
    ++band_queries_[band][n / 2 % groups];
  }

  void find_places();
  void put_bands(Index row, BitsNumbers& numbers) const;

  const AttendedLayer& layer_;
  const AccountedDocuments& accounted_;
  const AccountSite& site_;
  Index head_;
  std::vector<Told> told_;      ///< [document]
  std::array<Drawn, 2> drawn_;  ///< [half]
  OffsetSums offsets_;
  std::vector<NamedPlace> places_;
  /// [band][group]  weight at the first place summed over the queries of a band, and number of these queries.
  std::array<std::array<double, groups>, query_bands> band_weight_{}, band_queries_{};
};

/// Index of the choice that gains most; the first of equal ones.
template <class Gain>
std::size_t best(std::size_t choices, const Gain& gain) {
  std::size_t most = 0;
  for (std::size_t c = 1; c < choices; ++c)
    if (gain(c) > gain(most)) most = c;
  return most;
}

/// The places of equation (8).
void HeadBits::find_places() {
  const OffsetSums& sums = offsets_;
  const Vector count = sums.seen.colwise().sum(), got_there = sums.got.colwise().sum();
  const Index width = count.size(), middle = site_.length - 1;
  const double least = enough_queries(count);
  Vector added = Vector::Constant(width, -1);  // (8); -1: too few queries see the offset
  for (Index t = 0; t < width; ++t)
    if (count[t] >= least) added[t] = std::min(got_there[t], sums.given[t] - sums.even[t]) / count[t];
  const double half = added.maxCoeff() / 2;
  if (!(half > text_rounding)) return;
  Vector left = added;
  while (std::ssize(places_) < most_places) {
    Index peak = 0;
    if (!(left.maxCoeff(&peak) >= half)) break;
    // A place may have a dip, down to a quarter of the largest maximum.
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
    places_.push_back({peak - middle, first - middle, last - middle, (weight + sums.even[peak]) / count[peak],
                       sums.given[peak] / count[peak]});
  }
}

void HeadBits::put_bands(Index row, BitsNumbers& numbers) const {
  if (places_.empty()) return;
  const auto sum_of = [](const std::array<double, groups>& of_groups) {
    return std::accumulate(of_groups.begin(), of_groups.end(), 0.0);
  };
  std::array<double, query_bands> weight{};
  std::size_t low = query_bands, high = query_bands;
  for (std::size_t band = 0; band < weight.size(); ++band) {
    const double of_band = sum_of(band_queries_[band]);
    if (!(of_band > 0)) continue;
    numbers.band_weight[band][row] = weight[band] = sum_of(band_weight_[band]) / of_band;
    if (low == query_bands || weight[band] < weight[low]) low = band;
    if (high == query_bands || weight[band] > weight[high]) high = band;
  }
  if (low == high || !(weight[high] >= 2 * weight[low])) return;
  // One share serves both bands, since documents have the same chosen queries.
  const double queries_high = sum_of(band_queries_[high]), queries_low = sum_of(band_queries_[low]);
  std::array<double, groups> difference{}, share{};
  for (std::size_t g = 0; g < groups; ++g) {
    difference[g] = band_weight_[high][g] / queries_high - band_weight_[low][g] / queries_low;
    share[g] = band_queries_[high][g] / queries_high;
  }
  constexpr double pairs_of_bands = query_bands * (query_bands - 1) / 2.0;
  const bool differs = jackknife(difference, share, 1 - (1 - interval_coverage) / pairs_of_bands)[0] > 0;
  numbers.band_differs[static_cast<std::size_t>(row)] = differs ? 1 : 0;
}

void HeadBits::put(BitsNumbers& numbers) const {
  const Index row = layer_.row(head_);
  const auto over = [&](std::size_t half, const auto& number) {
    double sum = 0;
    for (std::size_t n = 0; n < told_.size(); ++n)
      if (accounted_.half(n) == half) sum += number(told_[n]);
    return sum;
  };
  std::array<std::size_t, 2> e{};  // [half]  chosen on the other half
  for (std::size_t half = 0; half < 2; ++half) {
    e[half] = best(mixtures.size(),
                   [&](std::size_t c) { return over(1 - half, [&](const Told& one) { return one.word[c]; }); });
    numbers.mixed[half][row] = static_cast<double>(mixtures[e[half]]);
  }
  // [half][hypothesis]  index of beta, chosen on the other half; tilts.size() if no beta gains
  std::array<std::array<std::size_t, matching>, 2> beta{};
  for (std::size_t half = 0; half < 2; ++half)
    for (std::size_t h = 0; h < matching; ++h) {
      const auto gain = [&](std::size_t b) {
        return over(1 - half, [&](const Told& one) { return one.gain[h][e[1 - half]][b]; });
      };
      beta[half][h] = best(tilts.size(), gain);
      if (!(gain(beta[half][h]) > 0)) beta[half][h] = tilts.size();
    }
  std::vector<double> queries, followed, trials;
  for (const AttendedDocument& one : layer_.documents) {
    queries.push_back(static_cast<double>(one.queries.size()));
    followed.push_back(one.followed[head_]);
    trials.push_back(one.trials[head_]);
  }
  const double all_queries = std::accumulate(queries.begin(), queries.end(), 0.0);
  if (all_queries == 0) return;
  const auto by_document = [&](const auto& number) {
    std::vector<double> all;
    for (std::size_t n = 0; n < told_.size(); ++n) all.push_back(number(told_[n], accounted_.half(n)));
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
  const std::vector<double> mass = of(&Told::mass);
  numbers.follow.set_ratio(row, followed, trials);
  numbers.kept.set_ratio(row, of(&Told::remains), of(&Told::strongest));
  numbers.trials[row] = std::accumulate(trials.begin(), trials.end(), 0.0);
  numbers.sink_mass[row] = std::accumulate(mass.begin(), mass.end(), 0.0) / all_queries;
  numbers.places[static_cast<std::size_t>(row)] = places_;
  put_bands(row, numbers);
}

/// @returns Fields attention_bits/...
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
              "(position), words that draw attention from every query (word), what this query finds (match)",
              bits.part, no_query);
  add_numbers(fields, "gain", hypotheses, "bit",
              "bits that a hypothesis, fitted on one half of the documents, gains on the other half", bits.gain,
              no_words);
  const char* const no_trial = "no text key stands out that could be swapped";
  add_numbers(fields, "follow", heads, "1",
              "share of a strongest key's attention that follows its content when it is swapped with another key's; 0: "
              "it stays with the place",
              one(bits.follow), no_trial);
  add_numbers(
      fields, "kept", heads, "1",
      "share of a strongest key's attention that remains when the query gets the content of another document's token",
      one(bits.kept), no_trial);
  fields.add("trials", heads, "1", "number of swaps of the contents of two keys", bits.trials, no_query);
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
  fields.add("place_first", places, "token", "first offset around place_offset at which position adds half as much",
             of_places(&NamedPlace::first), no_place);
  fields.add("place_last", places, "token", "last offset around place_offset at which position adds half as much",
             of_places(&NamedPlace::last), no_place);
  fields.add("place_weight", places, "1",
             "mean attention weight at place_offset, over queries that see a text key there",
             of_places(&NamedPlace::weight), no_place);
  fields.add("place_by_position", places, "1", "attention weight that position alone gives at place_offset",
             of_places(&NamedPlace::by_position), no_place);
  const Axis band{"query_band", "1", "quarter of a document in which the query stands",
                  std::vector<std::int64_t>{1, 2, 3, 4}};
  fields.add("band_weight", {band, layer, head}, "1",
             "mean attention weight at the first place, by where the query stands", bits.band_weight, no_place);
  fields.flags("band_differs", heads,
               "whether the largest band_weight is at least twice the smallest, and their difference is not chance",
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
  Index queries = 0;  // of the first layer; a window may exclude queries in other layers
  parallel_for(std::ssize(halves.site.grid.layers), options.threads, [&](Index l) {
    const AttendedLayer attended = attended_layer(accounted, static_cast<std::size_t>(l), options.seed);
    for (Index head = 0; head < attended.heads(); ++head) HeadBits(attended, head).put(numbers);
    for (const AttendedDocument& one : attended.documents) queries += l == 0 ? std::ssize(one.queries) : 0;
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
