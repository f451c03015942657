#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "source.h"

namespace headwave {

struct RepeatedTokensOptions {
  Index documents = 100;
  Index period = 50;          ///< tokens drawn anew for each document
  Index repeats = 2;          ///< how often they follow one another
  std::int32_t opening = -1;  ///< id put before them; -1: none
  std::uint64_t seed = 1;
};

/// Random tokens, repeated: the text on which an induction head shows itself, since nothing but the first copy can tell
/// what comes next in the second.
///
/// Source: Elhage et al. 2021; Olsson et al. 2022.
/// @param ids  those that are drawn from, each as likely as any other
/// @throws ShapeError if there are no ids, or a number is below 1
std::unique_ptr<Source> repeated_tokens(std::vector<std::int32_t> ids, const RepeatedTokensOptions& options = {});

}  // namespace headwave
