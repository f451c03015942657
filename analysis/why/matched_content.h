#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "attention_words.h"

namespace headwave {

/// A query word and a key word that it finds. The default: no pair.
struct MatchedPair {
  std::int32_t query = -1, key = -1;
  double excess = not_defined;   ///< mean weight that a query of the one gives to all keys of the other, beyond p_key
  double share = not_defined;    ///< of the head's attention on text that is this excess; pairs stand in its order
  double q_value = not_defined;  ///< chance that the pair is false, adjusted for the number of pairs
};

constexpr Index directions_named = 3;  ///< of each head, at most
constexpr Index directions_tested = 16;

constexpr std::size_t match_tilts =
    7;  // of the scores: the first 1, 2, 4, 8, 16 directions; place; place and 16 directions

/// The words that stand out along one direction, by their mean content in standard deviations over all tokens: [0: query, 1: key][0: positive end, 1: negative end].
using DirectionWords = std::array<std::array<std::vector<NamedWord>, 2>, 2>;

/// Pairs of words that find each other, and the directions in which queries and keys match.
///
/// With chi_i and kappa_j the contents of queries and keys (what a token adds to the mean of its place), A^X, p_key and w of
/// attention_bits(), and R_t the rotation of a rotary model over t tokens,
///
///     C = sum over queries of w_i sum_j (A^X_ij - p_key,ij) chi_i (R_(j-i) kappa_j)^T = U diag(s) V^T        (1)
///
/// is how contents of queries vary together with contents of the keys that they attend to. The documents are two halves.
/// u_r^T C v_r, with C of one half and u_r, v_r of the other, is compared with the same where every document's queries hold
/// the contents of another document; a head has as many directions as its first ones beat this, false discoveries controlled
/// over directions of all heads. The first r directions keep of the match part the bits
///
///     gain = E w sum_j A^X_ij log2(p'_ij / p_key,ij),  p'_ij ~ p_key,ij exp(beta f_ij)                       (2)
///     f_ij = scale chi_i U_r U_r^T R_(j-i) kappa_j                                                           (3)
///
/// with U_r of the other half, and beta, at most 1, that gains most on the other half. With the mean key of place j,
/// f_ij = scale chi_i R_(j-i) m^K_j, (2) is what the query's content tells of the place that it attends to. The two add up
/// in the scores, not in bits. Words of a direction, of C over all documents, are those with a mean projection that differs
/// from 0 by moderated_p_values() over documents.
///
/// Two experiments are the evidence. They take the first direction u, of the other half, out of the contents of keys, or as
/// much in a random direction v (|v| = 1; the mean over 4), and look at the weights of the strongest text keys y as attention_bits() does:
///
///     k'_j = k_j - u u^T kappa_j,  or  k_j - v u^T kappa_j  (both as query i sees them, turned by R_(j-i))
///     without, placebo = sum of A'^X_iy / sum of A^X_iy                                                     (4)
///
/// A pair of words (a, b): y_n = log (G_n + c_n) / (E_n + c_n), with G_n what the chosen queries of word a in document n give
/// to other tokens of word b, E_n the same of the draws of p_key, c_n what they would give to one key if attention were
/// uniform. A pair is found if the mean of y_n over documents is above 0, as words are in AttentionWords.
///
/// Source: this project; (1) for finished heads after Franco and Crovella 2025, NeurIPS.
class MatchedContent {
 public:
  /// @param accounted  outlives this
  MatchedContent(const AccountedDocuments& accounted, std::uint64_t seed);

  /// Reads the heads of one layer. May be called from several threads, for different layers.
  /// @param mixed  [half] (rows)  share of p_pos in p_key
  void read(const AttendedLayer& layer, const std::array<Vector, 2>& mixed);

  /// Fields matched_content/..., once every layer has been read.
  /// @param texts  of tokens
  [[nodiscard]] std::vector<Field> fields(const TokenTexts& texts);

 private:
  void find_pairs(const AttendedLayer& layer);
  void find_directions(const AttendedLayer& layer, const std::array<Vector, 2>& mixed);
  void name_directions(const AttendedLayer& layer, Index head, const Matrix& query, const Matrix& key);

  const AccountedDocuments& accounted_;
  const AccountSite& site_;
  std::uint64_t seed_;
  NumberedWords asking_, asked_;                 ///< of the accounted documents: of the chosen queries, of the keys
  std::array<NumberedWords, 2> of_all_;          ///< of all kept documents: of all queries, of the keys
  std::vector<std::vector<MatchedPair>> pairs_;  ///< [row]  the largest excess first
  std::vector<Index> pairs_found_;               ///< [row]  pairs beyond p_key, named or not
  Matrix p_values_;                           ///< (rows, directions_tested)  of each direction against dealt documents
  std::array<HeadNumber, match_tilts> gain_;  ///< bit
  HeadNumber without_, placebo_;              ///< (4)  NaN: no key stands out
  std::vector<std::array<DirectionWords, directions_named>> words_;  ///< [row]
};

}  // namespace headwave
