#pragma once

#include <cmath>
#include <vector>

#include "../drawing/frequency_span.h"
#include "chosen_heads.h"

namespace headwave {

/// Which delay each frequency of a head points to, and the one that all agree on best. Tokens; NaN: undefined.
struct DelayCurve {
  ChosenHead head;
  std::vector<double> delay;    ///< (frequencies)  t^(f), known up to T/f
  std::vector<double> modulus;  ///< (frequencies)  |C(f)|
  double largest = 1;           ///< of the modulus at f > 0; 1 where there is none above 0
  double estimate = 0;          ///< fitted to all frequencies
  double offset = 0;            ///< the same where it can be told from chance
  double lower = 0, upper = 0;  ///< ends of the interval of the estimate
  double coherence = 0;

  /// Whether the estimate can be told from chance.
  [[nodiscard]] bool told() const { return std::isfinite(estimate) && offset == estimate; }
};

struct DelayCurves {
  std::vector<DelayCurve> heads;
  FrequencySpan span;
  std::size_t last = 2;  ///< frequency shown: the last at which one of the heads has 1 % of its largest |C(f)|
  double coverage = 0;   ///< of the interval; 0: not said
};

/// The delay_spectrum of the heads to draw, see chosen_heads().
/// @throws ShapeError if a head asked for is not in the result, or the Fields have other axes than described
DelayCurves delay_curves(const Result& result, const FigureOptions& options);

}  // namespace headwave
