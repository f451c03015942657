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

/// The known predictions (position, called account in older results, weights, phases and scores) that predict an offset
/// for any head; all known predictions if none does. Other names come from anywhere and are not drawn.
/// @throws ShapeError if the result has none of them
std::vector<std::string> agreement_predictions(const Result& result);

/// The heads of one prediction: "weights", "phases" or "scores".
/// @throws ShapeError if the Fields have other axes than described
std::vector<AgreementHead> agreement_heads(const Result& result, const std::string& prediction);

/// The dots of heads with both a measured and a predicted offset. Deterministic: the same heads give the same dots.
/// @param inch  inches to one unit of offset_place()
std::vector<AgreementDot> agreement_dots(const std::vector<AgreementHead>& heads, double inch);

/// A dot on a panel, in inches from the panel's left and lower edge.
struct LabelledDot {
  double x = 0, y = 0;
  double size = 0;   ///< diameter
  std::string text;  ///< empty: no label, but other labels must not cover the dot
};

/// Where a label begins.
struct LabelPlace {
  std::size_t dot = 0;  ///< which of the dots it belongs to
  double left = 0;      ///< inches, of the text's left end
  double middle = 0;    ///< inches, of half its height
};

/// The panel that labels have to stay in, and how large they are.
struct LabelArea {
  double width = 2, height = 2;  ///< inches
  double points = 6;             ///< size of the letters
  std::size_t most = 8;          ///< labels
};

/// Places labels right, left, above or below their dots so that no label touches a dot, another label or the edge. A label
/// without room is omitted.
/// @param dots  in descending order of importance
std::vector<LabelPlace> label_places(const std::vector<LabelledDot>& dots, const LabelArea& area);

}  // namespace headwave
