#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "../../core/fields/field.h"
#include "../pass/analysis.h"
#include "attention_words.h"
#include "head_account.h"
#include "matched_content.h"

namespace headwave {

/// The parts of a head's attention, in bits. They add up to the whole.
enum class BitsPart : std::uint8_t {
  sink,      ///< the choice between special keys and text, and the choice among special keys
  position,  ///< where query and key stand
  word,      ///< which keys stand there: what draws attention, whoever asks
  match,     ///< what this query finds in these keys
};
constexpr std::size_t bits_parts = 4;

/// What may explain the word part or the match part.
enum class BitsHypothesis : std::uint8_t {
  word_itself,  ///< of the word part: each word of the vocabulary draws attention of its own
  same_word,    ///< of the match part: the key is the query's word
  induction,    ///< of the match part: the key follows an earlier copy of the query's word
  same_before,  ///< of the match part: the same word stands before the query and before the key
};
constexpr std::size_t bits_hypotheses = 4;

struct AttentionBitsOptions {
  Index documents = 16;           ///< that are accounted for, at most
  Index rows = most_chosen_rows;  ///< queries of each, at most
  Index position_draws = 4;       ///< of each document's contents, for the predictor by position
  Index word_draws = 16;          ///< of other documents' queries, for the predictor by word
  Index swaps = 4;                ///< of each document's contents, for the evidence
  double coverage = 0.9;          ///< of the intervals
  std::uint64_t seed = 1;
  int threads = 1;  ///< does not change results
};

/// A place that position makes a head look at, relative to the query.
struct NamedPlace {
  Index offset = 0;           ///< t = key - query, tokens: where (8) is largest
  Index first = 0, last = 0;  ///< around it, where (8) is half of that or more
  double weight = 0;          ///< mean attention weight there, of queries that see a text key there
  double by_position = 0;     ///< what p_pos gives there
};
constexpr Index most_places = 3;
constexpr Index query_bands = 4;

/// Mean attention weight at a head's first place, by where the query stands: in the first quarter of a document, ...
struct PlaceByBand {
  std::array<double, query_bands> weight{};  ///< NaN: no query of that band sees a text key there
  bool differs = false;                      ///< by a factor of two or more, and beyond its interval over documents
};

/// All of a head's attention.
struct AttentionBits {
  AccountSite site;
  AttentionBitsOptions options;
  Index documents = 0;                           ///< that were accounted for
  Index queries = 0;                             ///< over these documents
  HeadNumber bits;                               ///< bit
  std::array<HeadNumber, bits_parts> part;       ///< bit
  std::array<HeadNumber, bits_hypotheses> gain;  ///< bit; NaN: tokens are not known
  HeadNumber follow;                             ///< (6)  1: attention goes with the content, 0: it stays
  HeadNumber kept;                               ///< (7)  1: whoever asks, 0: this query alone
  Vector trials;                                 ///< (rows)  swaps that were looked at
  std::vector<std::vector<NamedPlace>> places;   ///< [row]  (8), most_places at most; none in cross-attention
  std::vector<PlaceByBand> by_band;              ///< [row]  of the first of these places
  Vector sink_mass;                              ///< (rows)  share of attention on special keys
  std::array<Vector, 2> mixed;                   ///< [half] (rows)  e of (3)
  AttentionWords words;                          ///< what `word` is
  MatchedContent content;                        ///< what `match` is
};

/// All of a head's attention in bits: how far the attention of a query is from uniform attention, in four parts that add
/// up.
///
/// Query i sees some keys, u_ij is uniform over them, S are the special keys among them (and the first token of a causal
/// model; a learned sink counts as one more key of S), X are the others: the text. a_i is the mass on S, A^X and u^X are A
/// and u within X. Then, exactly,
///
///     bits_i = sum_j A_ij log2(A_ij / u_ij) = sink_i + (1 - a_i) sum_(j in X) A^X_ij log2(A^X_ij / u^X_ij)      (1)
///
/// Within the text three predictors follow each other, each a mean over draws of the softmax over the text keys:
///
///     p_pos   queries and keys are the mean of their place plus the content of a random token
///     p_key   keys are this document's own, queries the mean of their place plus the content of a random token of
///             another document                                                                                  (2)
///     A^X     queries and keys as they are
///
/// Contents are dealt as in head_account(), before rotation. Means would foretell the document that they hold, and words that
/// mean queries and mean keys share would look like position. So mean queries are those of one half of the documents (even
/// numbers, odd numbers) and mean keys those of the other, both ways round; p_pos is taken without the document itself in
/// the mean of its half, which changes a score by
///
///     s_ij = - scale chi_i . m^K_j / (N - 1),  or  - scale m^Q_i . kappa_j / (N - 1),  p ~ p_pos exp(s)
///
/// with N documents in that half and chi, kappa the contents of this document; and p_key has the mean queries of the half
/// that does not hold it. Few draws know little of a query that is rare, so
///
///     p_key = (1 - e) (mean of the draws) + e p_pos                                                              (3)
///
/// with e chosen for each head where it gains most on the other half of the documents. Then, with w_i = 1 - a_i,
///
///     position = E w sum A^X log2(p_pos / u^X),  word = E w sum A^X log2(p_key / p_pos),
///     match = E w sum A^X log2(A^X / p_key),     sink + position + word + match = E bits_i                       (4)
///
/// E is the mean over the chosen queries of the chosen documents: text tokens that see at least 4 text keys. A part can be
/// slightly negative: its predictor then misleads.
///
/// A hypothesis is a tilt of the predictor before it, p' ~ p exp(beta f_ij): of p_pos by f = b(w_j), the logarithm of how
/// much more attention than by p_pos a word gets (2 added to both); of p_key by f = 1 where the words fit (BitsHypothesis),
/// 0 elsewhere. beta, or b, is fitted on one half of the documents, and its gain is measured on the other half,
///
///     gain = E w sum A^X log2(p' / p)                                                                            (5)
///
/// so that a hypothesis that is not true gains nothing. Gains of several hypotheses overlap, and do not add up.
///
/// Two experiments, which know nothing of (4), are its evidence. Both look at the strongest text key y of a query, itself
/// left out, if it gets at least three times what uniform attention gives it. The first swaps the contents of the keys y
/// and o, another text key that gets at most a quarter of y's weight; their places, and all else, stay. Of the two weights
/// A' that follow,
///
///     follow = mean of A'_io / (A'_io + A'_iy)                                                                   (6)
///
/// is 1 where attention goes with the content and 0 where it stays with the place. The parts predict it: words and matches
/// go, positions stay. The second replaces the content of the query by that of a token of another document:
///
///     kept = sum of A'_iy / sum of A_iy                                                                          (7)
///
/// over the text keys, is near 1 where it does not matter who asks (position, word), and near 0 where this query looks for
/// this key (match).
///
/// Where position makes a head look is told at every distance: the places t at which
///
///     min( E w (A^X - u^X)_i(i+t), E w (p_pos - u^X)_i(i+t) ),  over the queries that see a text key at i + t     (8)
///
/// has a maximum of at least half of the largest one, the largest first, each with its neighbours down to half of it. Only
/// offsets that an eighth of the queries see count, and places at which attention itself stands out from uniform attention
/// (its interval over documents does not reach down to it). The weight at the first place is also told by quarters of the
/// document in which the query stands. The largest and the smallest of the four differ if one is twice the other and their
/// difference is above 0 beyond its interval, for six pairs of quarters.
///
/// Intervals leave out an eighth of the documents at a time (a jackknife), with Student's t; predictors and fits are held.
///
/// Source: this project.
/// @param attended_keys  what AttendedKeyProbe saw of rows chosen_rows(T, options.rows); none: no words are
///         named and no classes measured
/// @throws ShapeError if there are fewer than two kept documents, or one half has none
AttentionBits attention_bits(const AccountHalves& halves, const AttentionBitsOptions& options = {},
                             const AttendedKeySums& attended_keys = {});

/// Fields attention_bits/..., attention_words/..., matched_content/...
std::vector<Field> describe(const AttentionBits& bits);

/// Documents of one length that a job needs. From fewer the predictors know too little, and what they miss would count as
/// match.
constexpr Index least_bits_documents = 8;

/// In a job: attention_bits/..., attention_words/..., matched_content/..., of the documents that head_account deals; of too
/// few attention_bits/undefined alone.
extern const AnalysisKind attention_bits_analysis;

}  // namespace headwave
