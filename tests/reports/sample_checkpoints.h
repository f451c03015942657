#pragma once

#include <algorithm>

#include "../../core/fields/fields.h"

namespace headwave::sample {

/// Three checkpoints of so many heads; positions explain 0, a half and all of every second head's profile.
inline std::vector<Field> checkpoint_fields(Index layers, Index heads) {
  const Axis checkpoint{"checkpoint", "1", "", std::vector<std::string>{"step-0", "step-10", "step-200"}};
  const Axis verdict{"verdict", "1", "", std::vector<std::string>{"positional", "self"}};
  const Axis cause{"cause", "1", "", std::vector<std::string>{"position", "self", "context"}};
  const Axis layer = layer_axis(layers), head = head_axis(heads);
  const auto rows = static_cast<std::size_t>(layers * heads);
  std::vector<double> shape, since;
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t t = 0; t < 3; ++t)
      for (std::size_t row = 0; row < rows; ++row)
        shape.push_back(t == 0 && row % 2 == 0 ? 0.5 * static_cast<double>(c) : -0.25);
  for (std::size_t row = 0; row < rows; ++row)
    since.push_back(row % 2 == 0 ? 2 - static_cast<double>(row % 3) : not_defined);
  const auto positional = static_cast<std::int64_t>(rows / 2), all = static_cast<std::int64_t>(rows);
  Fields own("checkpoints"), account("checkpoints_head_account");
  own.add("step", {checkpoint}, "1", "", std::vector<double>{0, 10, 200});
  own.add("with_offset", {checkpoint}, "1", "", std::vector<std::int64_t>{0, 1, all});
  own.add("verdicts", {checkpoint, verdict}, "1", "",
          std::vector<std::int64_t>{0, all, 1, all - 1, positional, all - positional});
  own.add("positional_since", {layer, head}, "1", "", since).undefined("not positional");
  account.add("part", {checkpoint, cause, layer, head}, "1", "", shape);
  std::vector<std::uint8_t> verdicts(3 * rows, 0);
  std::fill_n(verdicts.begin(), rows, std::uint8_t{2});
  account.flags("verdict", {checkpoint, layer, head}, "", verdicts, {"positional", "self", "no preference"});
  std::vector<Field> fields = own.taken();
  append(fields, account.taken());
  return fields;
}

}  // namespace headwave::sample
