#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "../numbers/matrix.h"
#include "field.h"

namespace headwave {

/// One attention head of a model: "L7H8" is head 8 of layer 7. Both count from 0.
struct HeadName {
  Index layer = 0;
  Index head = 0;

  auto operator<=>(const HeadName&) const = default;
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.layer, self.head);
  }
};

/// A name from a file as an error quotes it: one short line of plain characters, others replaced by "?".
std::string quotable(std::string_view text);

/// The name a head has everywhere: head_name(7, 8) is "L7H8".
std::string head_name(Index layer, Index head);

/// An axis of heads by name: "L7H8", "L1H2".
Axis head_name_axis(std::string name, std::string long_name, const std::vector<HeadName>& heads);

/// Parses a head's name, written exactly as head_name() writes it: capital letters, no leading
/// zeros.
/// @param text  "L7H8", from anywhere
/// @throws FormatError if it is not such a name
HeadName parse_head_name(std::string_view text);

}  // namespace headwave
