#include "largest_entries.h"

#include <algorithm>
#include <cmath>

namespace headwave {

std::vector<Index> largest_entries(Eigen::Ref<const Vector> values, Index count) {
  std::vector<Index> places;
  places.reserve(static_cast<std::size_t>(values.size()));
  for (Index i = 0; i < values.size(); ++i)
    if (!std::isnan(values[i])) places.push_back(i);
  const auto kept = std::clamp<std::ptrdiff_t>(count, 0, static_cast<std::ptrdiff_t>(places.size()));
  std::partial_sort(places.begin(), places.begin() + kept, places.end(),
                    [&](Index a, Index b) { return values[a] != values[b] ? values[a] > values[b] : a < b; });
  places.resize(static_cast<std::size_t>(kept));
  return places;
}

}  // namespace headwave
