#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis.h"
#include "attended_rows.h"

namespace headwave {

// How strong an offset profile is, and how well another profile gives it. A profile is a mean attention
// weight p(t) for every offset t = -reach .. reach. An offset at which one of the profiles is NaN (no pair,
// or masked) is skipped.

/// Mass that a head draws to some offsets beyond what uniform attention u gives them:
///
///     strength = sum_t max(p(t) - a u(t), 0),  a = min(1, sum_t p(t) / sum_t u(t))             (1)
///
/// a lowers u where a sink, or what lies beyond the reach, takes mass away from all offsets alike. 0: nothing
/// stands out; near 1: one offset gets all attention.
double profile_strength(Eigen::Ref<const Vector> profile, Eigen::Ref<const Vector> uniform);

/// Share of the mass that makes p differ from uniform attention u which a predicted profile p^ gives:
///
///     overlap = 1 - sum_t |p - p^| / sum_t |p - u|                                             (2)
///
/// 1: every weight is right. 0: no better than uniform attention. Below 0: worse. Tails of 1e-5 hardly count.
/// @returns NaN where p is uniform
double profile_overlap(Eigen::Ref<const Vector> measured, Eigen::Ref<const Vector> predicted,
                       Eigen::Ref<const Vector> uniform);

/// What a dealt profile still contains of a head's attention. Each term includes the terms before it.
enum class AccountTerm : std::uint8_t {
  position,   ///< positions: every token's content is dealt to another place, queries and keys apart
  own_token,  ///< ... and every token meeting itself: queries and keys are dealt together
  context,    ///< ... and how contents vary together on average at every distance
};
constexpr std::size_t account_terms = 3;

/// Why a head has its offset profile.
enum class AccountVerdict : std::uint8_t {
  positional,     ///< where tokens stand gives nearly all of it
  own_token,      ///< a token attending to its own content, at any place, does
  context,        ///< the tokens around do: words that follow each other, what earlier layers brought along
  mixed,          ///< none of the three alone
  no_preference,  ///< it has no strength; or other documents do not show it; or places without order would do as well
  undefined,      ///< too few documents
};

struct HeadAccountOptions {
  double fdr = 0.05;  ///< of heads that prefer offsets by position, at most so many falsely
  Index draws = 20;   ///< of the null; 0: no head is called positional
  std::uint64_t seed = 1;
  int threads = 1;  ///< does not change results
};

/// Why every head looks where it looks.
struct HeadAccount {
  static constexpr double least_strength = 0.05;  ///< of a head that has a preference
  AccountSite site;
  HeadAccountOptions options;
  Index documents = 0, dealt = 0;
  Matrix measured;  ///< (rows, 2 reach + 1)  mean weight at an offset; NaN: no pair, or masked
  Matrix uniform;   ///< (rows, 2 reach + 1)  the same of uniform attention
  std::array<Matrix, account_terms> profile;  ///< [term] (rows, 2 reach + 1)
  Vector strength;                            ///< (rows)  of `measured`, profile_strength()
  /// [term, then replicated: the other half's measured profile, the ceiling] (rows)  profile_overlap(), and its interval
  /// over documents; NaN: too few documents
  std::array<HeadNumber, account_terms + 1> overlap;
  /// [term] (rows)  parts of what can be explained: by position, by own token, by context; they add up to 1. Of own token everything is NaN in cross-attention
  std::array<HeadNumber, account_terms> part;
  Vector measured_offset, measured_weight;           ///< (rows)  where `measured` is largest; NaN: at the search's end
  std::array<Vector, account_terms> offset, weight;  ///< [term] (rows)  the same of `profile`
  Vector position_strength;                          ///< (rows)  strength of the position profile
  Vector null_strength;                              ///< (rows)  median of its draws
  Vector p_value, q_value;                           ///< (rows)  of the position strength
  std::vector<AccountVerdict> verdict;               ///< (rows)
};

/// The account of every head, by dealing: what remains of its offset profile when the contents of a document
/// are dealt to other places.
///
/// With m^Q_i and m^K_j the mean query and key at each place, before rotation, the content of a token is what
/// it adds: d^Q_i = q_i - m^Q_i, d^K_j = k_j - m^K_j. rho and pi are random permutations of a document's
/// places; special tokens and the first token stay. Then attention is computed as in the model, with every
/// rotation, position term, mask and cap:
///
///     position:  q'_i = m^Q_i + d^Q_rho(i),  k'_j = m^K_j + d^K_pi(j)                          (1)
///     own token: q'_i = m^Q_i + d^Q_pi(i),   k'_j = m^K_j + d^K_pi(j)                          (2)
///     context:   as (2), with c(j - i) added to the scores                                     (3)
///     c(t) = mean over documents and i of scale d^Q_i . d^K_(i+t), |t| < T/2, t not 0          (4)
///
/// c after rotation, less its median at the distances min(8, T/8) < |t| < T/2. The profile p(t) of each is
/// the mean weight at offset t; the first token, where attention goes that has no better place, is neither
/// query nor key. Profiles are averages of attention weights, and nothing is assumed of scores, so what each
/// step adds is exact:
///
///     measured = position + (own - position) + (context - own) + (measured - context)          (5)
///
/// Documents of even and of odd number are two halves. A half is dealt with its own mean queries and the
/// other half's mean keys, since noise in both means of one half would have their contents in common and pass
/// for position. (What is left of it: the mean of n queries holds a share 1 / n of each, so tokens that meet
/// themselves do so too weakly by 1 / n.) Its profiles are held against the *other* half's measured profile:
/// so is its own measured profile (`replicated`), which is the ceiling. Measures are means over both ways.
/// With o_x the overlap of a term, a = o_position / o_replicated and b = o_own /
/// o_replicated, each within 0 .. 1,
///
///     part by position = a,  by own token = max(a, b) - a,  by context = 1 - max(a, b)         (6)
///
/// Context is all that is left: (3) and the rest. It holds the order of words, and what earlier layers brought
/// from one token to its neighbours; this stays where words are shuffled.
///
/// A head has a preference if its strength is at least `least_strength` and o_replicated at
/// least a half. It is positional, own token or context if that part is at least three quarters, else mixed. A
/// head of which position is the largest part is called positional or mixed only if the strength of its
/// position profile is above what the same weights give with places in random order (ShuffledPlaces), false
/// discoveries controlled over heads: a position table without order has a profile, too.
///
/// Intervals leave out an eighth of the documents at a time (a jackknife), with Student's t; means and c are
/// held. All documents are measured; so many are dealt, evenly spread, as make 4096 tokens, at least 8. Over few documents noise lowers o_replicated
/// more than o_position, so small parts by own token and context come out too low, beyond what the interval says.
///
/// The mean query of a place holds what the model knows of the place, and what texts have in common there:
/// how they begin, a token that all of them end with. Where a model has no positions, or an intervention took
/// them away, no head is positional, and what means of places give counts as context.
///
/// In cross-attention queries and keys are tokens of two sequences, and places of two: rho deals the contents
/// of queries among their places, pi those of keys among theirs. No token meets itself, so (2) is missing;
/// (3) is (1) with c added, t = 0 included, and the rest of the profile is by context. Documents of one pair of
/// lengths take part.
///
/// Source: this project. Shao and Wu 1989, doi:10.1214/aos/1176347263, for the jackknife by groups.
/// @param sums  of one document at least
HeadAccount head_account(const AccountSums& sums, const AccountSite& site, const HeadAccountOptions& options = {});

/// Fields head_account/...
std::vector<Field> describe(const HeadAccount& account);

/// In a job: head_account/... Keeps HeadAccount and AccountHalves for analyses that read them.
extern const AnalysisKind head_account_analysis;

}  // namespace headwave
