#pragma once

#include <cstdint>
#include <vector>

#include "../../core/fields/fields.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

/// Whether an offset is predicted for a head, and if not, why.
enum class PredictedStatus : std::uint8_t {
  offset,   ///< an offset is predicted
  edge,     ///< the maximum lies at the end of the search; a larger one may lie beyond, so it is no estimate
  chance,   ///< the maximum cannot be told from chance, or no null was drawn
  weak,     ///< the predicted weight is not far enough above chance: attention would hardly land there
  nothing,  ///< the data that the prediction needs are missing
};

/// Adds the statuses as the Field "status".
/// @param axes  layer, head
/// @returns `fields`, so that notes can be added
Fields& add_status(Fields& fields, std::vector<Axis> axes, const std::vector<PredictedStatus>& statuses);

/// Transformation of draws before they are standardised.
enum class NullScale : std::uint8_t {
  coherence,  ///< Fisher's z, atanh c, for c in [-1, 1]
  share,      ///< asin sqrt r for r in [0, 1], whose spread does not depend on r
};

/// Probability that a head's null gives a number at least as large as the observed one, estimated from draws.
///
/// The draws of one head are too few for small probabilities, so the draws of all heads are pooled. First,
/// observations and draws are transformed. Then each observation is standardised by the mean and standard
/// deviation of its head's draws, and each draw by those of its head's other draws:
///
///     p_h = (1 + #{pooled draws >= z_h}) / (1 + #pooled draws)                                (1)
///
/// If a draw counted in its own mean and deviation, it could not lie as far out as an observation can, and p
/// would be too small. (1) assumes that the standardised nulls of all heads have the same shape. If all draws
/// of a head are equal, its observation is compared with these alone, and p = 1 unless it exceeds them.
///
/// Both transformations are finite and smooth, also at and below 0. On a logit scale, a single draw at 0
/// would inflate its head's deviation, and no observation could stand out. Values outside the range by
/// rounding are clipped.
///
/// Source: Westfall and Young 1993 for pooling; Phipson and Smyth 2010, doi:10.2202/1544-6115.1585, for 1 +
/// in (1); Fisher 1921 for z.
/// @param observed  (heads)  NaN: undefined; p is then NaN
/// @param null      (heads, draws)  p is NaN if the head's row contains a NaN or fewer than 3 draws
Vector pooled_p_values(const Vector& observed, const Matrix& null, NullScale scale);

/// P-values adjusted to control the rate of false discoveries over heads. If every head with q <= level is
/// given an offset, the expected share of false offsets among them is at most level.
///
///     q_(i) = min over j >= i of p_(j) n / j,   p sorted ascending                            (2)
///
/// NaN values stay NaN and are not counted in n.
///
/// Source: Benjamini and Hochberg 1995, doi:10.1111/j.2517-6161.1995.tb02031.x
Vector q_values(const Vector& p_values);

/// Strings that describe a null in Fields.
struct NullText {
  std::string quantity;   ///< name of the tested number, for example "coherence"
  std::string under;      ///< the null, for example "where keys read at random"
  std::string undefined;  ///< why a p-value may be undefined
};

/// Adds the Fields p_value and q_value.
/// @param axes  layer, head
void describe_p_values(Fields& fields, const std::vector<Axis>& axes, const Vector& p_value, const Vector& q_value,
                       const NullText& text);

}  // namespace headwave
