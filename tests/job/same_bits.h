#pragma once

#include <variant>
#include <vector>

#include "../../core/bytes/bytes.h"
#include "../../core/fields/field.h"
#include "../catch.h"

namespace headwave {

/// Whether two Fields have one name and the same values, NaN being what it is.
inline bool same_bits(const Field& a, const Field& b) {
  ByteWriter left, right;
  std::visit([&](const auto& values) { left.write(values); }, a.values);
  std::visit([&](const auto& values) { right.write(values); }, b.values);
  return a.name == b.name && a.values.index() == b.values.index() && left.bytes() == right.bytes();
}

/// The same of many, in their order.
inline void check_same_bits(const std::vector<Field>& a, const std::vector<Field>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(a[i].name);
    CHECK(same_bits(a[i], b[i]));
  }
}

}  // namespace headwave
