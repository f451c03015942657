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
/// A_ij are attention weights, and u_ij is uniform over the keys that query i sees. The set S holds the
/// special keys among them, the first token of a causal model, and a learned sink as one more key. The set X
/// holds the other keys, called text. a_i is the attention on S. A^X and u^X are A and u normalised within X.
/// Then
///
///     bits_i = sum_j A_ij log2(A_ij / u_ij) = sink_i + (1 - a_i) sum_(j in X) A^X_ij log2(A^X_ij / u^X_ij)      (1)
///
/// Two predictors lie between u^X and A^X. Each is the mean over random draws of the softmax over text keys:
///
///     p_pos   queries and keys are the mean of their place plus the content of a random token
///     p_key   keys are this document's own, queries the mean of their place plus the content of a random token of
///             another document                                                                                  (2)
///     A^X     queries and keys as they are
///
/// Contents are dealt as in head_account(), before rotation. If mean queries and mean keys came from the same
/// documents, each document's words would be in both means, and their match would look like position. So p_pos averages two versions: mean
/// queries of even documents with mean keys of odd documents, and the reverse. A predictor must not know the
/// document that it predicts. So this document's contents chi (of queries) and kappa (of keys) are removed
/// from the mean of its half, which has N documents. This changes a score by s_ij:
///
///     s_ij = - scale chi_i . m^K_j / (N - 1),  or  - scale m^Q_i . kappa_j / (N - 1),  p ~ p_pos exp(s)
///
/// where ~ means proportional to. p_key takes mean queries from the half without the document. A few draws
/// cover rare queries badly, so the draws are mixed with p_pos:
///
///     p_key = (1 - e) (mean of the draws) + e p_pos                                                              (3)
///
/// For each head, e is the share that gains most on the other half of the documents. With w_i = 1 - a_i,
///
///     position = E w sum A^X log2(p_pos / u^X),  word = E w sum A^X log2(p_key / p_pos),
///     match = E w sum A^X log2(A^X / p_key),     sink + position + word + match = E bits_i                       (4)
///
/// E is the mean over the chosen queries of the accounted documents. E omits special tokens, the first token,
/// and queries that see fewer than 4 text keys. Parts can be slightly negative.
///
/// A hypothesis f changes a predictor to p' ~ p exp(beta f_ij). The hypothesis "the word itself" changes
/// p_pos, with beta = 1 and f = b(w_j). Here b is the log of the ratio between the attention that a word gets
/// and the attention that p_pos gives it (2 is added to both). The other hypotheses change p_key, with f = 1
/// if words fit and f = 0 otherwise. Words fit if w_j = w_i (same word), w_(j-1) = w_i (induction), or
/// w_(j-1) = w_(i-1) (same word before). b or beta is fitted on one half of the documents. On the other half,
///
///     gain = E w sum A^X log2(p' / p)                                                                            (5)
///
/// so a wrong hypothesis gains nothing. Gains of several hypotheses overlap and do not add up.
///
/// Two experiments test the parts without using (4). Both look at y, the text key with a query's largest
/// weight apart from the query's own token, if y gets at least three times its uniform share. The first
/// experiment swaps the contents of y and of another text key o, which has at most a quarter of y's weight.
/// Their places stay. With A' the attention after the swap,
///
///     follow = mean of A'_io / (A'_io + A'_iy)                                                                   (6)
///
/// is 1 if attention goes with the content (word, match), and 0 if it stays with the place (position). In the
/// second experiment, A' is the attention in the draws of p_key, whose queries have other contents:
///
///     kept = sum of A'_iy / sum of A_iy                                                                          (7)
///
/// within the text. It is near 1 if the query's content does not matter (position, word), and near 0 if only
/// this query looks for this key (match).
///
/// The offsets t to which position draws a head are those at which
///
///     min( E w (A^X - u^X)_i(i+t), E w (p_pos - u^X)_i(i+t) ),  over the queries that see a text key at i + t     (8)
///
/// has a maximum of at least half of its largest maximum. At most 3 of them are given as places, the largest
/// first. A place includes neighbouring offsets where (8) is at least half of the largest maximum, also
/// across dips to a quarter of it. An offset counts only if enough_queries() see it. A place counts only if
/// the interval over documents of its attention beyond uniform attention lies above 0. The weight at the
/// first place is also given for queries in each quarter of the document. The largest and smallest of these
/// four weights differ if one is at least twice the other and the interval of their difference, widened for
/// six pairs of quarters, lies above 0.
///
/// Intervals come from a jackknife with Student's t over up to 8 groups of documents, for fixed predictors.
///
/// Source: this project.
/// @param attended_keys  sums of AttendedKeyProbe; empty: no words are named, no classes measured
/// @returns Fields attention_bits/..., attention_words/..., matched_content/...
/// @throws ShapeError if one half of the documents has no document that was kept whole
std::vector<Field> attention_bits(const AccountHalves& halves, const AttendedKeySums& attended_keys = {},
                                  const AttentionBitsOptions& options = {});

/// In a job it uses the documents that head_account deals. Fewer than 8 give only attention_bits/undefined.
extern const AnalysisKind attention_bits_analysis;

}  // namespace headwave
