#pragma once

#include <variant>

#include "../../core/fields/field.h"
#include "../../core/numbers/bytes.h"

namespace headwave {

/// Whether two Fields have one name and the same values, NaN being what it is.
inline bool same_bits(const Field& a, const Field& b) {
  ByteWriter left, right;
  std::visit([&](const auto& values) { left.write(values); }, a.values);
  std::visit([&](const auto& values) { right.write(values); }, b.values);
  return a.name == b.name && a.values.index() == b.values.index() && left.bytes() == right.bytes();
}

}  // namespace headwave
