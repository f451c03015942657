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

/// Overlap: the share of p - u that a predicted profile p^ reproduces. p is measured, u is uniform attention.
///
///     overlap = 1 - sum_t |p - p^| / sum_t |p - u|                                             (2)
///
/// An overlap of 1 means that all weights are right. At 0, p^ is no better than uniform attention, and below
/// 0 it is worse. Offsets with small weights hardly matter.
/// @returns NaN if p is uniform
double profile_overlap(Eigen::Ref<const Vector> measured, Eigen::Ref<const Vector> predicted,
                       Eigen::Ref<const Vector> uniform);

/// What a dealt profile still contains of a head's attention. Each term includes the terms before it.
enum class AccountTerm : std::uint8_t {
  position,   ///< positions alone: contents of queries and of keys are dealt separately
  own_token,  ///< also the score of a token with itself: contents of queries and keys are dealt together
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
  double fdr = 0.05;  ///< false discovery rate over the heads that are called positional
  Index draws = 20;   ///< number of draws of the null; 0: no head is called positional
  std::uint64_t seed = 1;
  int threads = 1;  ///< does not change results
};

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
  Vector measured_offset, measured_weight;  ///< (rows)  maximum of `measured`; NaN: it is at the end of the search
  std::array<Vector, account_terms> offset, weight;  ///< [term] (rows)  the same for `profile`
  Vector position_strength;                          ///< (rows)  profile_strength() of the position profile
  Vector null_strength;                              ///< (rows)  median of position_strength under the null
  Vector p_value, q_value;                           ///< (rows)  p-value and q-value of position_strength
  std::vector<AccountVerdict> verdict;               ///< (rows)
};

/// Accounts for the profile of every head by what remains of it if contents are dealt to other places.
///
/// m^Q_i and m^K_j are the mean query and mean key of each place, before rotation. The content of a token is
/// what it adds to them: d^Q_i = q_i - m^Q_i, d^K_j = k_j - m^K_j. rho and pi are random permutations of a
/// document's places in which special tokens and the first token stay. Attention is then computed as in the
/// model, with rotation, position term, mask and soft cap, from these queries and keys:
///
///     position:  q'_i = m^Q_i + d^Q_rho(i),  k'_j = m^K_j + d^K_pi(j)                          (1)
///     own token: q'_i = m^Q_i + d^Q_pi(i),   k'_j = m^K_j + d^K_pi(j)                          (2)
///     context:   as (2), with c(j - i) added to the scores                                     (3)
///     c(t) = mean over documents and i of scale d^Q_i . d^K_(i+t), |t| < T/2, t not 0          (4)
///
/// c is computed after rotation, and its median over min(8, T/8) < |t| < T/2 is subtracted. The profile p(t)
/// is the mean weight at offset t. The first token, the usual sink, is omitted as query and as key. Profiles
/// are averages of attention weights, so the steps add up exactly, without any assumption about scores:
///
///     measured = position + (own - position) + (context - own) + (measured - context)          (5)
///
/// Documents with even numbers are one half, and documents with odd numbers are the other. A half is dealt
/// with its own mean queries and the other half's mean keys. If both means came from the same documents,
/// their noise would contain the same contents and pass for position. (A mean of n queries still holds 1 / n
/// of each query, so own-token scores are too weak by 1 / n.) The profiles of a half are compared with the
/// measured profile of the *other* half. The overlap of the two measured profiles is `replicated`, the
/// ceiling for the other overlaps. Overlaps o are means over both directions. With a = o_position /
/// o_replicated and b = o_own / o_replicated, both clamped to 0 .. 1,
///
///     part by position = a,  by own token = max(a, b) - a,  by context = 1 - max(a, b)         (6)
///
/// The context part is what is left: (3) and the rest. It includes the order of words, and what earlier
/// layers copied from neighbouring tokens, which remains even if the words of a text are shuffled.
///
/// A head has a preference if its strength is at least `least_strength` and o_replicated is at least 0.5. The
/// head is positional, own token or context if that part is at least 0.75, and mixed otherwise. If position
/// is the largest part, the position profile must also be stronger than with shuffled places
/// (ShuffledPlaces), since a position table without order has a profile, too. False discoveries are
/// controlled over heads.
///
/// Intervals come from a jackknife with Student's t, which omits one of up to 8 groups of documents at a time
/// and does not recompute means and c. All documents are measured, but only those chosen by is_dealt() are
/// dealt. With few documents, noise lowers o_replicated more than o_position. Small parts by own token and
/// context are then too low, by more than the interval says.
///
/// The mean query of a place also holds what texts have in common there, for example how they begin. In a
/// model without positions no head is positional, and the position part counts as context.
///
/// In cross-attention queries and keys belong to two sequences: rho permutes the places of queries, and pi
/// permutes the places of keys. No token meets itself, so (2) is missing, and (3) is (1) with c added, c(0)
/// included. The rest of the profile is context. Only documents with the same pair of lengths take part.
///
/// Source: this project. Shao and Wu 1989, doi:10.1214/aos/1176347263, for the jackknife by groups.
/// @param sums  sums over at least one document
HeadAccount head_account(const AccountSums& sums, const AccountSite& site, const HeadAccountOptions& options = {});

/// @returns Fields head_account/...
std::vector<Field> describe(const HeadAccount& account);

/// In a job it gives Fields head_account/..., and keeps HeadAccount and AccountHalves for other analyses.
extern const AnalysisKind head_account_analysis;

}  // namespace headwave
