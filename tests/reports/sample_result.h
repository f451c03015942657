#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave::sample {

/// How large the made-up result is.
struct Size {
  Index layers = 4;
  Index heads = 8;
  Index length = 512;  ///< T
  Index clusters = 6;
  Index tokens = 15;
  bool bits = true;      ///< with attention_bits
  bool effects = false;  ///< with head_effect
};

/// Tokens that break careless programs: markup, quotes, format and shell characters, control characters, wide ones.
std::vector<std::string> awkward_tokens();

/// A result as a job on a planted bank would give it: adjacent, left, right, broad, sink and noise heads by turns,
/// every Field that figures, table and page draw. Made of formulas, no chance: the same numbers every time.
Result result(const Size& size = {});

/// result() as of a model of rotary positions, in which the wave of the kernel predicts by phases.
Result rotary_result(const Size& size = {});

/// The offset planted into a head of result(), NaN for a flat one.
double planted_offset(Index layer, Index head);

/// The mean attention weight that result() gives a head at an offset.
double weight_at(Index layer, Index head, double offset);

/// Whether gnuplot is there; if not says so, and the test should return.
bool can_draw();

/// The content of a file.
std::string content_of(const std::string& path);

}  // namespace headwave::sample
