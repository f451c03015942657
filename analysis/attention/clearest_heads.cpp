#include "clearest_heads.h"

#include <cmath>

#include <fmt/format.h>

#include "../../core/numbers/largest_entries.h"

namespace headwave {

namespace {

void require_rows(const char* name, const Vector& offset, const Vector& value) {
  if (offset.size() != value.size())
    throw ShapeError(fmt::format("{}: {} offsets and {} values; expected one of each for every head", name,
                                 offset.size(), value.size()));
}

}  // namespace

std::vector<Index> clearest_heads(const Vector& offset, const Vector& weight, Index most) {
  require_rows("clearest_heads", offset, weight);
  return largest_entries(offset.array().isNaN().select(offset, weight), most);
}

double mean_with_offset(const Vector& offset, const Vector& value) {
  require_rows("mean_with_offset", offset, value);
  double sum = 0, count = 0;
  for (Index row = 0; row < offset.size(); ++row) {
    if (std::isnan(offset[row])) continue;
    sum += value[row];
    count += 1;
  }
  return count > 0 ? sum / count : not_defined;
}

}  // namespace headwave
