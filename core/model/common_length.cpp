#include "common_length.h"

#include <map>

namespace headwave {

CommonLength common_length(const std::vector<Index>& lengths) {
  std::map<Index, Index> counts;
  for (const Index length : lengths) ++counts[length];
  CommonLength common;
  for (const auto& [length, count] : counts)
    if (count >= common.documents) common = {length, count};
  return common;
}

}  // namespace headwave
