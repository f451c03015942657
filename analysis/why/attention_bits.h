#pragma once

#include <cstdint>
#include <vector>

#include "../../core/fields/field.h"
#include "../pass/analysis.h"
#include "attention_words.h"

namespace headwave {

struct AttentionBitsOptions {
  Index documents = 16;  ///< largest number of accounted documents
  std::uint64_t seed = 1;
  int threads = 1;  ///< does not change results
};

/// Splits the bits by which each query's attention differs from uniform attention into four parts.
///
/// A_ij are attention weights, and u_ij is uniform over the keys that query i sees. S are the special keys
/// among them, the first token of a causal model, and a learned sink as one more key. X are the other keys:
/// the text. a_i is the attention on S; A^X and u^X are A and u normalised within X. Then, exactly,
///
///     bits_i = sum_j A_ij log2(A_ij / u_ij) = sink_i + (1 - a_i) sum_(j in X) A^X_ij log2(A^X_ij / u^X_ij)      (1)
///
/// Two predictors come between u^X and A^X, each a mean over random draws of the softmax over text keys:
///
///     p_pos   queries and keys are the mean of their place plus the content of a random token
///     p_key   keys are this document's own, queries the mean of their place plus the content of a random token of
///             another document                                                                                  (2)
///     A^X     queries and keys as they are
///
/// Contents are dealt as in head_account(), before rotation. If mean queries and mean keys came from the same
/// documents, words that they share would look like position. So p_pos averages two versions: mean queries of
/// even documents with mean keys of odd ones, and the reverse. A predictor must not know the document that it
/// predicts. So the document's contents chi and kappa are removed from the mean of its half of N documents,
/// which changes a score by s_ij:
///
///     s_ij = - scale chi_i . m^K_j / (N - 1),  or  - scale m^Q_i . kappa_j / (N - 1),  p ~ p_pos exp(s)
///
/// (~: proportional to). p_key takes mean queries from the half without the document. A few draws cover rare
/// queries badly, so they are mixed with p_pos:
///
///     p_key = (1 - e) (mean of the draws) + e p_pos                                                              (3)
///
/// with the e of each head that gains most on the other half of the documents. With w_i = 1 - a_i,
///
///     position = E w sum A^X log2(p_pos / u^X),  word = E w sum A^X log2(p_key / p_pos),
///     match = E w sum A^X log2(A^X / p_key),     sink + position + word + match = E bits_i                       (4)
///
/// E is the mean over the chosen queries of the accounted documents, without special tokens, the first token,
/// and tokens that see fewer than 4 text keys. A part can be slightly negative if its predictor misleads.
///
/// A hypothesis f tilts a predictor: p' ~ p exp(beta f_ij). "The word itself" tilts p_pos by f = b(w_j), the
/// log ratio of the attention that a word gets to what p_pos gives it (2 added to both), with beta = 1. The
/// others tilt p_key by f = 1 where words fit, 0 elsewhere: w_j = w_i (same word), w_(j-1) = w_i (induction),
/// w_(j-1) = w_(i-1) (same word before). b or beta is fitted on one half of the documents. On the other half
///
///     gain = E w sum A^X log2(p' / p)                                                                            (5)
///
/// so a wrong hypothesis gains nothing. Gains of several hypotheses overlap and do not add up.
///
/// Two experiments test the parts without using (4). Both look at a query's strongest text key y other than
/// its own token, if y gets at least three times its uniform share. The first swaps the contents of y and of
/// another text key o with at most a quarter of y's weight. Places stay. With A' the attention after that,
///
///     follow = mean of A'_io / (A'_io + A'_iy)                                                                   (6)
///
/// is 1 if attention goes with the content (word, match) and 0 if it stays with the place (position). In the
/// second, A' are the draws of p_key, in which a token of another document asks:
///
///     kept = sum of A'_iy / sum of A_iy                                                                          (7)
///
/// within the text. It is near 1 if the token that asks does not matter (position, word), and near 0 if this
/// query looks for this key (match).
///
/// The places at which position makes a head look are the offsets t at which
///
///     min( E w (A^X - u^X)_i(i+t), E w (p_pos - u^X)_i(i+t) ),  over the queries that see a text key at i + t     (8)
///
/// has a maximum of at least half of the largest one; at most 3, the largest first. Neighbours where (8) is
/// at least half of the largest maximum belong to the place, across dips to a quarter of it. An offset counts
/// if enough_queries() see it, and a place if attention there exceeds uniform attention beyond its interval
/// over documents. The weight at the first place is also given for each quarter of the document in which
/// queries stand. The largest and smallest of the four differ if one is at least twice the other and the
/// interval of their difference, widened for six pairs of quarters, lies above 0.
///
/// Intervals: jackknife with Student's t over up to 8 groups of documents. Predictors and fits are held.
///
/// Source: this project.
/// @param attended_keys  of AttendedKeyProbe; if empty, no words are named and no classes measured
/// @returns Fields attention_bits/..., attention_words/..., matched_content/...
/// @throws ShapeError if one half of the documents has none that was kept whole
std::vector<Field> attention_bits(const AccountHalves& halves, const AttendedKeySums& attended_keys = {},
                                  const AttentionBitsOptions& options = {});

/// In a job it reads the documents that head_account deals. Fewer than 8 give attention_bits/undefined alone.
extern const AnalysisKind attention_bits_analysis;

}  // namespace headwave
