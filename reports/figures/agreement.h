#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"

namespace headwave {

/// One prediction for one head. Tokens; NaN: undefined.
struct AgreementHead {
  HeadName name;
  double measured = 0, predicted = 0;
  double lower = 0, upper = 0;  ///< interval of the prediction; NaN: it has none
  std::string verdict;          ///< "agrees", "differs", "unpredicted", "unrealised", "undefined"

  /// Whether both offsets are defined, so that a dot can be drawn.
  [[nodiscard]] bool has_both() const;
};

/// The place of an offset on an axis that is even about 0 and logarithmic further out: sign(t) log2(1 + |t|).
double offset_place(double offset);

/// One dot of the figure; heads too close to be told apart share it.
struct AgreementDot {
  std::vector<HeadName> heads;
  double measured = 0, predicted = 0;  ///< tokens, of the first head
  double lower = 0, upper = 0;         ///< over all of them; NaN: no interval
  double x = 0, y = 0;  ///< inches from where 0 meets 0, y of the mean; moved aside where dots would cover each other
  double size = 0;      ///< inches
  bool agrees = false;
};

/// The known predictions (position, called account in older results, weights, phases and scores) that predict
/// an offset for any head; all known predictions if none does. Other names come from anywhere and are not
/// drawn.
/// @throws ShapeError if the result has none of them
std::vector<std::string> agreement_predictions(const Result& result);

/// The heads of one prediction: "weights", "phases" or "scores".
/// @throws ShapeError if the Fields have other axes than described
std::vector<AgreementHead> agreement_heads(const Result& result, const std::string& prediction);

/// The dots of heads with both a measured and a predicted offset. Deterministic: the same heads give the same
/// dots.
/// @param inch  inches to one unit of offset_place()
std::vector<AgreementDot> agreement_dots(const std::vector<AgreementHead>& heads, double inch);

/// A name beside a dot: which dot, and where the name's left end and half its height are, in inches as the
/// dots.
struct DotName {
  std::size_t dot = 0;
  double left = 0, middle = 0;
};

/// Names the heads that differ most, right or left of their dots, at most eight: one that would touch a dot,
/// another name or the panel's edge is omitted. Dots of several heads have no name.
/// @param half  inches from 0 to the panel's edge
std::vector<DotName> dot_names(const std::vector<AgreementDot>& dots, double half);

}  // namespace headwave
