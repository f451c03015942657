#pragma once

#include <string>
#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// Which signs stand for amounts on a terminal. Both keep their order without colour.
enum class Signs {
  blocks,  ///< ▁▂▃▄▅▆▇█
  ascii,   ///< .:-=+*%@
};

constexpr int sign_steps = 8;

/// The span of what is defined, in even steps from the lowest to the highest.
struct SignScale {
  double low = 0.0, high = 0.0;  ///< NaN: nothing is defined
  Index undefined = 0;           ///< how many values are

  [[nodiscard]] bool is_constant() const { return low == high; }
  [[nodiscard]] bool is_empty() const { return low != low; }
};

SignScale sign_scale(const std::vector<double>& values);

/// All signs, small to large.
std::string ramp_text(Signs signs);

/// The sign of a value: of the lowest eighth of the scale the first one, of what is undefined '?'.
std::string sign_of(double value, const SignScale& scale, Signs signs);

/// A sign for each value.
std::string sparkline(const std::vector<double>& values, const SignScale& scale, Signs signs);

/// What signs stand for: "scale: . 0.01 to @ 0.71 token, 8 even steps .:-=+*%@, ? undefined"; where so that every value is the
/// same, or none defined.
/// @param unit  "1" is not said
std::string scale_words(const SignScale& scale, const std::string& unit, Signs signs);

/// Means of so many values in a row, the last of what is left; undefined ones do not count.
std::vector<double> in_groups(const std::vector<double>& values, Index group);

}  // namespace headwave
