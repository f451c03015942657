#pragma once

#include <string>
#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// The characters that stand for amounts on a terminal.
enum class Signs {
  blocks,  ///< ▁▂▃▄▅▆▇█
  ascii,   ///< .:-=+*%@
};

constexpr int sign_steps = 8;

/// The range of the defined values, in even steps from the lowest to the highest.
struct SignScale {
  double low = 0.0, high = 0.0;  ///< NaN: all are undefined
  Index undefined = 0;           ///< how many values are undefined

  [[nodiscard]] bool is_constant() const { return low == high; }
  [[nodiscard]] bool is_empty() const { return low != low; }
};

SignScale sign_scale(const std::vector<double>& values);

/// All signs, small to large.
std::string ramp_text(Signs signs);

/// The sign of a value: the first for the lowest eighth of the scale; "?" for an undefined value.
std::string sign_of(double value, const SignScale& scale, Signs signs);

/// A sign for each value.
std::string sparkline(const std::vector<double>& values, const SignScale& scale, Signs signs);

/// Explains the signs: "scale: . 0.01 to @ 0.71 token, 8 even steps .:-=+*%@, ? undefined"; says so if all values are the
/// same, or all are undefined.
/// @param unit  "1" is omitted
std::string scale_words(const SignScale& scale, const std::string& unit, Signs signs);

/// Means of groups of consecutive values; the last group may be smaller. Undefined values are ignored.
std::vector<double> in_groups(const std::vector<double>& values, Index group);

}  // namespace headwave
