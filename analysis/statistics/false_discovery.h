#pragma once

#include <cstdint>
#include <vector>

#include "../../core/fields/fields.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

/// Whether an offset is predicted for a head, and if not, why.
enum class PredictedStatus : std::uint8_t {
  offset,   ///< yes
  edge,     ///< the maximum lies at the end of the search: it may be larger beyond, so it is no estimate
  chance,   ///< it cannot be told from chance, or no null was drawn
  weak,     ///< attention would hardly land there: the predicted weight is not enough above chance
  nothing,  ///< there is nothing to be predicted from
};

/// Adds these statuses as the Field group/status.
/// @param axes  layer, head
/// @returns fields, to add notes
Fields& add_status(Fields& fields, std::vector<Axis> axes, const std::vector<PredictedStatus>& statuses);

/// The scale on which draws are standardised.
enum class NullScale : std::uint8_t {
  coherence,  ///< in [-1, 1], and below 0 too: Fisher's z, atanh c
  share,      ///< in [0, 1]: asin sqrt r, whose spread does not depend on r
};

/// Chance that a head without the property shows a number as large as the one observed, from draws of its
/// null.
///
/// Each head has draws of its own, too few for small chances. Every head's observation is standardised by the
/// mean and deviation of its draws on a scale of their own, each draw by those of the other draws, and one
/// pool of all heads' draws serves all:
///
///     p_h = (1 + #{pooled draws >= z_h}) / (1 + #pooled draws)                                (1)
///
/// If a draw counted in its own mean and deviation, it could not lie as far out as an observation can, and p
/// would be too small. (1) takes the heads' nulls to have one shape once standardised. A head whose draws are
/// all equal is compared with them alone: p = 1 unless it exceeds them.
///
/// Both scales are finite and smooth for all draws, also at 0 and below. On a logit scale a single draw at 0 would
/// lie so far out that the large deviation of its head hides every observation. Numbers beyond an end by
/// rounding count as the end.
///
/// Source: Westfall and Young 1993 for pooling; Phipson and Smyth 2010, doi:10.2202/1544-6115.1585, for the 1 + in (1);
/// Fisher 1921 for z.
/// @param observed  (heads); NaN: undefined, and p is NaN
/// @param null      (heads, draws); a row with a NaN, or fewer than 3 draws, makes p NaN
Vector pooled_p_values(const Vector& observed, const Matrix& null, NullScale scale);

/// Adjusted p-values, for false-discovery control over heads: giving every head with q <= level an offset
/// lets at most that share of the calls be false.
///
///     q_(i) = min over j >= i of p_(j) n / j,   p sorted ascending                            (2)
///
/// NaN are not counted and stay NaN.
///
/// Source: Benjamini and Hochberg 1995, doi:10.1111/j.2517-6161.1995.tb02031.x
Vector q_values(const Vector& p_values);

/// How a null is described.
struct NullText {
  std::string quantity;   ///< "coherence"
  std::string under;      ///< what the null is: "where keys read at random"
  std::string undefined;  ///< why there may be none
};

/// Adds the Fields p_value and q_value.
/// @param axes  layer, head
void describe_p_values(Fields& fields, const std::vector<Axis>& axes, const Vector& p_value, const Vector& q_value,
                       const NullText& text);

}  // namespace headwave
