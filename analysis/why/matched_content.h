#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "attention_words.h"

namespace headwave {

/// A word of queries and a word of keys that match. The default is no pair.
struct MatchedPair {
  std::int32_t query = -1, key = -1;  ///< token ids
  double excess = not_defined;        ///< mean weight of a `query` token on all `key` tokens, beyond p_key
  double share = not_defined;         ///< share of the head's attention on text that comes from this excess
  double q_value = not_defined;       ///< p-value adjusted for the number of pairs
};

constexpr Index directions_named = 3;  ///< largest number of directions of a head whose words are named
constexpr Index directions_tested = 16;

constexpr std::size_t match_tilts = 7;  ///< tilts (2): 1, 2, 4, 8, 16 directions; place; place and 16 directions

/// Words that stand out along one direction: [0: query, 1: key][0: positive end, 1: negative end].
using DirectionWords = std::array<std::array<std::vector<NamedWord>, 2>, 2>;

/// Finds pairs of words that match, and the directions in which contents of queries and keys match.
///
/// chi_i and kappa_j are the contents of queries and keys. A^X, p_key and w are defined in attention_bits().
/// R_t is the rotation of a rotary model over t tokens. The matrix
///
///     C = sum over queries of w_i sum_j (A^X_ij - p_key,ij) chi_i (R_(j-i) kappa_j)^T = U diag(s) V^T        (1)
///
/// says how contents of queries vary together with contents of the keys that they attend to. Directions are
/// fitted on one half of the documents and tested on C of the other half. There u_r^T C v_r is compared with
/// a null in which every document's queries hold contents of another document. A head has r directions if
/// each of its first r directions exceeds the null, with false discoveries controlled over all heads. Of the
/// bits of the match part, the first r directions keep
///
///     gain = E w sum_j A^X_ij log2(p'_ij / p_key,ij),  p'_ij ~ p_key,ij exp(beta f_ij)                       (2)
///     f_ij = scale chi_i U_r U_r^T R_(j-i) kappa_j                                                           (3)
///
/// U_r and the best beta <= 1 come from the other half. If instead f_ij = scale chi_i R_(j-i) m^K_j, with
/// m^K_j the mean key of place j, (2) is what the query's content says about the key's place. The two gains
/// do not add up. Words are named along the directions of C over all documents. A word is named if its mean
/// projection differs from 0 over documents by moderated_p_values().
///
/// Two experiments test the first direction u of the other half. `without` removes u from the contents of
/// keys. `placebo` changes keys by the same amount along a random direction v with |v| = 1, and is a mean
/// over 4 such directions. y is a query's strongest text key, as in attention_bits().
///
///     k'_j = k_j - u u^T kappa_j,  or  k_j - v u^T kappa_j  (keys as query i sees them, turned by R_(j-i))
///     without, placebo = sum of A'^X_iy / sum of A^X_iy                                                     (4)
///
/// For a pair of words (a, b), let y_n = log (G_n + c_n) / (E_n + c_n). G_n is the attention that chosen
/// queries of word a in document n give to other tokens of word b. E_n is that attention in the draws of
/// p_key. c_n is what these queries would give to one key under uniform attention. A pair is found if the
/// mean of y_n over documents is above 0, tested as in AttentionWords.
///
/// Source: this project; (1) after Franco and Crovella 2025, NeurIPS.
class MatchedContent {
 public:
  /// @param accounted  must outlive this object
  MatchedContent(const AccountedDocuments& accounted, std::uint64_t seed);

  /// Measures the heads of one layer. Several threads may call it for different layers.
  /// @param mixed  [half] (rows)  e, the share of p_pos in p_key
  void read(const AttendedLayer& layer, const std::array<Vector, 2>& mixed);

  /// @returns Fields matched_content/..., once every layer has been read
  [[nodiscard]] std::vector<Field> fields(const TokenTexts& texts);

 private:
  void find_pairs(const AttendedLayer& layer);
  void find_directions(const AttendedLayer& layer, const std::array<Vector, 2>& mixed);
  void name_directions(const AttendedLayer& layer, Index head, const Matrix& query, const Matrix& key);

  const AccountedDocuments& accounted_;
  const AccountSite& site_;
  std::uint64_t seed_;
  NumberedWords asking_, asked_;         ///< words of the chosen queries, and of the keys, of the accounted documents
  std::array<NumberedWords, 2> of_all_;  ///< words of all queries, and of all keys, of all kept documents
  std::vector<std::vector<MatchedPair>> pairs_;  ///< [row]  the largest share first
  std::vector<Index> pairs_found_;               ///< [row]  number of pairs found, named or not
  Matrix p_values_;                              ///< (rows, directions_tested)  p-values of u_r^T C v_r
  std::array<HeadNumber, match_tilts> gain_;     ///< (2), bits
  HeadNumber without_, placebo_;                 ///< (4); NaN: no key stands out
  std::vector<std::array<DirectionWords, directions_named>> words_;  ///< [row]
};

}  // namespace headwave
