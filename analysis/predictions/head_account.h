#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../pass/analysis_kind.h"
#include "layer_account.h"

namespace headwave {

/// What a head's profile comes from.
enum class AccountVerdict : std::uint8_t {
  positional,     ///< the position term gives nearly all that is accounted for
  content,        ///< content and spread do
  mixed,          ///< both
  unaccounted,    ///< the three terms together do not give the profile
  no_preference,  ///< the profile is not the same in both halves of the documents; or positions give it, but no offset is
                  ///< preferred more than with places in random order
  undefined,      ///< one document: its means are itself, and nothing is left to test them on
};

struct HeadAccountOptions {
  double accounted = 0.5;     ///< explained shape from which a head counts as accounted for
  double nearly_all = 0.75;   ///< share of it from which one term counts as all there is
  double false_share = 0.05;  ///< of heads that prefer offsets by position, at most so many falsely
  Index draws = 20;           ///< of the null: 0 gives none, and no verdict rests on position
  double coverage = 0.9;      ///< of the intervals
  std::uint64_t seed = 1;
  int threads = 1;  ///< changes no digit
};

/// Why every head has the offset profile that it has.
struct HeadAccount {
  AccountSite site;
  HeadAccountOptions options;
  Index documents = 0, groups = 0;
  Matrix measured;                              ///< (rows, 2 reach + 1)  mean weight; NaN: no pair, or masked
  std::array<Matrix, account_terms> kernel;     ///< (rows, 2 reach + 1)  of each term by itself, in units of scores
  std::array<Matrix, account_terms> predicted;  ///< (rows, 2 reach + 1)  mean weight
  std::array<Vector, account_terms> offset;     ///< (rows)  where predicted is largest, tokens; NaN: at the edge
  std::array<Vector, account_terms> weight;     ///< (rows)  there
  Vector measured_offset, measured_weight;      ///< (rows)  the same of measured
  std::array<Vector, account_terms> share;      ///< (rows)  explained share
  std::array<Vector, account_terms> shape;      ///< (rows)  explained share of the profile's shape
  std::array<Vector, account_terms> share_lower, share_upper, shape_lower, shape_upper;  ///< (rows); NaN: few documents
  /// (rows)  shape of the profile of one half of the documents that terms measured on the other half explain, mean of
  /// both ways; NaN: one group
  std::array<Vector, account_terms> held_out;
  Vector replicated;  ///< (rows)  ... that the other half's profile itself explains
  std::array<Vector, account_terms>
      null_shape;  ///< (rows)  median of the draws where the term's offsets are in random order
  std::array<Vector, account_terms> null_high;  ///< (rows)  their largest
  Vector alignment;                             ///< (rows)  share of the position term's square that offsets alone give
  Vector alignment_null;                        ///< (rows)  median with positions in random order
  Vector p_value, q_value;                      ///< (rows)  of the alignment
  std::vector<AccountVerdict> verdict;          ///< (rows)
};

/// The account of every head: three terms, measured where they act, that give its offset profile.
///
/// Scores s_ij are as in account_sums.h; mu^Q, mu^K are means over documents of queries and keys at fixed positions.
///
///     S_ij = scale mu^Q_i . mu^K_j + position term                                             (2) position
///     c(t) = mean over i of E[s_i,i+t] - S_i,i+t                                               (3) content
///     v(t) = mean over i of E[s^2_i,i+t] - (S_i,i+t + c(t))^2                                  (4) spread, as v / 2
///     p_1 = mean over i of softmax(S)_i,i+t,  p_2 of softmax(S + c),  p_3 of softmax(S + c + v/2)
///
/// since E[e^s] = e^(mean + variance / 2) for normal s. (4) takes what content gives to be the same along a diagonal,
/// which needs no T x T array; against the variance pair by pair it is about 1 % too large. Where scores are far from
/// normal the third term makes things worse: shares stand beside every term, and one that lowers them is said to.
///
/// The mean query of a place holds what the model knows of the place, and what texts have in common there: how they
/// begin, a token that all of them end with. Positions are zero where a model has none, or --intervene words-only took
/// them away; no head is positional then, and what means of places give counts as content.
///
/// The first token, where attention goes that has no better place, is neither query nor key of any profile; the
/// softmax sees it. Means come from the documents that are accounted for, so noise in them counts as position: shares
/// rise a little by it, and fall with more documents.
///
/// Content and spread that were measured on the documents that they are to explain explain noise as well. So the verdict
/// rests on halves: terms from one half of the documents, profiles of the other; a profile that the other half does not
/// show is no preference. There position is rid of what content leaves in means over few documents. Of one document there
/// is no verdict: its means are its own queries and keys, which give its attention whatever that comes from.
///
/// Intervals leave one group of documents out at a time (a jackknife over groups), since a bootstrap would need every
/// document's queries and keys again; Student's t with groups - 1 degrees. The null of position: places in
/// random order (shuffled_places.h). A head may be accounted for by positions that do not care how far apart they are;
/// so what makes a head positional is the alignment
///
///     a = sum_t n_t (mean over i of S_i,i+t)^2 / sum_ij S_ij^2,  |t| <= reach                  (5)
///
/// above that null, false discoveries controlled over heads. The nulls of content and spread: their offsets in random
/// order.
///
/// Source: this project; Quenouille 1956 and Shao and Wu 1989, doi:10.1214/aos/1176347263, for groups left out.
/// @param groups  sums over disjoint groups of documents, in order; none empty
/// @throws ShapeError if there is no document, or shapes differ from what the site says
HeadAccount head_account(const std::vector<AccountSums>& groups, const AccountSite& site,
                         const HeadAccountOptions& options = {});

/// Fields head_account/...
std::vector<Field> describe(const HeadAccount& account);

/// In a job: head_account/..., HeadAccount and AccountHalves for those who read them.
const AnalysisKind& head_account_analysis();

}  // namespace headwave
