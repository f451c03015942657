#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis.h"
#include "attended_rows.h"

namespace headwave {

// A profile is a mean attention weight p(t) for every offset |t| <= reach. Offsets with a NaN are skipped.

/// Strength of a profile: attention beyond what uniform attention u gives to the same offsets.
///
///     strength = sum_t max(p(t) - a u(t), 0),  a = min(1, sum_t p(t) / sum_t u(t))             (1)
///
/// a lowers u if a sink or offsets beyond the reach take attention from all offsets alike. The strength is 0
/// if no offset stands out, and near 1 if one offset gets all attention.
double profile_strength(Eigen::Ref<const Vector> profile, Eigen::Ref<const Vector> uniform);

/// Overlap: the share of the difference between a measured profile p and uniform attention u that a predicted
/// profile p^ reproduces.
///
///     overlap = 1 - sum_t |p - p^| / sum_t |p - u|                                             (2)
///
/// 1: all weights are right. 0: no better than uniform attention. Below 0: worse. Tails hardly matter.
/// @returns NaN if p is uniform
double profile_overlap(Eigen::Ref<const Vector> measured, Eigen::Ref<const Vector> predicted,
                       Eigen::Ref<const Vector> uniform);

/// What remains of a head's attention in a dealt profile. Each term includes the terms before it.
enum class AccountTerm : std::uint8_t {
  position,   ///< positions alone: contents of queries and of keys are dealt separately
  own_token,  ///< also every token meeting itself: contents of queries and keys are dealt together
  context,    ///< also the mean score between contents at every offset
};
constexpr std::size_t account_terms = 3;

/// Main cause of a head's profile.
enum class AccountVerdict : std::uint8_t {
  positional,     ///< the places of tokens
  own_token,      ///< tokens that attend to their own content, at any place
  context,        ///< surrounding tokens: word order, or what earlier layers brought from neighbours
  mixed,          ///< no single cause
  no_preference,  ///< a profile that is weak, not replicated, or no stronger than with shuffled places
  undefined,      ///< too few documents
};

struct HeadAccountOptions {
  double fdr = 0.05;  ///< false discovery rate over heads that prefer offsets by position
  Index draws = 20;   ///< of the null; 0: no head is called positional
  std::uint64_t seed = 1;
  int threads = 1;  ///< does not change results
};

/// The accounts of all heads.
struct HeadAccount {
  static constexpr double least_strength = 0.05;  ///< least strength of a head with a preference
  AccountSite site;
  HeadAccountOptions options;
  Index documents = 0, dealt = 0;             ///< numbers of measured and of dealt documents
  Matrix measured;                            ///< (rows, 2 reach + 1)  measured profile; NaN: no pair, or masked
  Matrix uniform;                             ///< (rows, 2 reach + 1)  profile of uniform attention
  std::array<Matrix, account_terms> profile;  ///< [term] (rows, 2 reach + 1)
  Vector strength;                            ///< (rows)  profile_strength() of `measured`
  /// [term, then replicated] (rows)  overlap with the other half's measured profile; NaN: too few documents
  std::array<HeadNumber, account_terms + 1> overlap;
  /// [term] (rows)  equation (6); the own-token part is NaN in cross-attention
  std::array<HeadNumber, account_terms> part;
  Vector measured_offset, measured_weight;           ///< (rows)  maximum of `measured`; NaN: at the search's end
  std::array<Vector, account_terms> offset, weight;  ///< [term] (rows)  the same of `profile`
  Vector position_strength;                          ///< (rows)  strength of the position profile
  Vector null_strength;                              ///< (rows)  median of its draws under the null
  Vector p_value, q_value;                           ///< (rows)  of the position strength
  std::vector<AccountVerdict> verdict;               ///< (rows)
};

/// Accounts for the profile of every head: what remains of it if contents are dealt to other places.
///
/// m^Q_i and m^K_j are the mean query and mean key of each place, before rotation. The content of a token is
/// what it adds to them: d^Q_i = q_i - m^Q_i, d^K_j = k_j - m^K_j. rho and pi are random permutations of a
/// document's places in which special tokens and the first token stay. Attention is then computed as in the
/// model, with rotation, position term, mask and soft cap:
///
///     position:  q'_i = m^Q_i + d^Q_rho(i),  k'_j = m^K_j + d^K_pi(j)                          (1)
///     own token: q'_i = m^Q_i + d^Q_pi(i),   k'_j = m^K_j + d^K_pi(j)                          (2)
///     context:   as (2), with c(j - i) added to the scores                                     (3)
///     c(t) = mean over documents and i of scale d^Q_i . d^K_(i+t), |t| < T/2, t not 0          (4)
///
/// c is taken after rotation, less its median over min(8, T/8) < |t| < T/2. The profile p(t) is the mean
/// weight at offset t. The first token, the usual sink, is neither query nor key. Profiles are averages of
/// attention weights, so the steps add up exactly, without any assumption about scores:
///
///     measured = position + (own - position) + (context - own) + (measured - context)          (5)
///
/// Documents with even numbers are one half, those with odd numbers the other. A half is dealt with its own
/// mean queries and the other half's mean keys: if both came from the same documents, noise in them would
/// share these documents' contents and pass for position. (A mean of n queries still holds 1 / n of each, so
/// own-token scores are too weak by 1 / n.) The profiles of a half are compared with the measured profile of
/// the *other* half. The overlap of the two measured profiles is `replicated`, the ceiling. Overlaps are
/// means over both directions. With a = o_position / o_replicated and b = o_own / o_replicated, within 0 ..
/// 1,
///
///     part by position = a,  by own token = max(a, b) - a,  by context = 1 - max(a, b)         (6)
///
/// The context part is what is left: (3) and the rest. It includes the order of words, and what earlier
/// layers brought from neighbouring tokens, which remains when words are shuffled.
///
/// A head has a preference if its strength is at least `least_strength` and o_replicated at least 0.5. It is
/// positional, own token or context if that part is at least 0.75, otherwise mixed. If position is the
/// largest part, the position profile must also be stronger than with shuffled places (ShuffledPlaces), since
/// a position table without order has a profile, too. False discoveries are controlled over heads.
///
/// Intervals come from a jackknife with Student's t: they omit one of up to 8 groups of documents at a time,
/// with means and c held. All documents are measured; is_dealt() says which are dealt. Over few documents
/// noise lowers o_replicated more than o_position, so small parts by own token and context come out too low,
/// by more than the interval says.
///
/// The mean query of a place also holds what texts have in common there, such as how they begin. In a model
/// without positions no head is positional, and the position part counts as context.
///
/// In cross-attention queries and keys belong to two sequences: rho permutes the places of queries, pi those
/// of keys. No token meets itself, so (2) is missing, (3) is (1) with c added, t = 0 included, and the rest
/// of the profile is context. Documents of one pair of lengths take part.
///
/// Source: this project. Shao and Wu 1989, doi:10.1214/aos/1176347263, for the jackknife by groups.
/// @param sums  of at least one document
HeadAccount head_account(const AccountSums& sums, const AccountSite& site, const HeadAccountOptions& options = {});

/// @returns Fields head_account/...
std::vector<Field> describe(const HeadAccount& account);

/// In a job it keeps HeadAccount and AccountHalves for analyses that read them.
extern const AnalysisKind head_account_analysis;

}  // namespace headwave
