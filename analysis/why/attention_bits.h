#pragma once

#include <cstdint>
#include <vector>

#include "../../core/fields/field.h"
#include "../pass/analysis.h"
#include "attention_words.h"

namespace headwave {

struct AttentionBitsOptions {
  Index documents = 16;  ///< that are accounted for, at most
  std::uint64_t seed = 1;
  int threads = 1;  ///< does not change results
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
/// much more attention than by p_pos a word gets (2 added to both); of p_key by f = 1 where the words fit (the hypotheses
/// of the Field gain),
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
/// @param attended_keys  what AttendedKeyProbe saw; none: no words are named and no classes measured
/// @returns Fields attention_bits/..., attention_words/..., matched_content/...
/// @throws ShapeError if there are fewer than two kept documents, or one half has none
std::vector<Field> attention_bits(const AccountHalves& halves, const AttendedKeySums& attended_keys = {},
                                  const AttentionBitsOptions& options = {});

/// In a job: of the documents that head_account deals; of too few attention_bits/undefined alone.
extern const AnalysisKind attention_bits_analysis;

}  // namespace headwave
