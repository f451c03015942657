#pragma once

#include <array>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"

namespace headwave {

/// What one prediction says of one head. Tokens; NaN: not there.
struct AgreementHead {
  HeadName name;
  double measured = 0, predicted = 0;
  double lower = 0, upper = 0;  ///< interval of the prediction; NaN: it has none
  std::string verdict;          ///< "agrees", "differs", "unpredicted", "unrealised", "undefined"

  /// Whether both are there, so that a dot can be drawn.
  [[nodiscard]] bool has_both() const;
};

/// Where offsets stand on an axis that is even about 0 and logarithmic further out: sign(t) log2(1 + |t|).
double offset_place(double offset);

/// One dot: heads that differ by less than can be seen share it.
struct AgreementDot {
  std::vector<HeadName> heads;
  double measured = 0, predicted = 0;  ///< tokens, of the first head
  double lower = 0, upper = 0;         ///< over all of them; NaN: no interval
  double x = 0, y = 0;  ///< inches from where 0 meets 0, y of the mean; moved aside where dots would cover each other
  double size = 0;      ///< inches
  bool agrees = false;
};

/// The predictions that predict an offset for any head, of those that are known, position (account in older results),
/// weights, phases and scores: names of a result that anybody wrote are not drawn. All that there are where none does.
/// @throws ShapeError if there are none
std::vector<std::string> agreement_predictions(const Result& result);

/// The heads of one prediction: "weights", "phases" or "scores".
/// @throws ShapeError if the Fields have other axes than described
std::vector<AgreementHead> agreement_heads(const Result& result, const std::string& prediction);

/// The dots of those heads that have both a measured and a predicted offset. Nothing is left to chance: the same heads
/// give the same dots.
/// @param inch  inches to one unit of offset_place()
std::vector<AgreementDot> agreement_dots(const std::vector<AgreementHead>& heads, double inch);

}  // namespace headwave
