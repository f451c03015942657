#include "place_text.h"

#include <charconv>

#include "../../core/model/model.h"

namespace headwave {

std::optional<Index> first_layers(std::string_view range) {
  constexpr std::string_view begins = "0-", also = "0:";
  if (range == "0") return 1;
  if (!range.starts_with(begins) && !range.starts_with(also)) return {};
  range.remove_prefix(begins.size());
  Index last = -1;
  const auto [end, problem] = std::from_chars(range.data(), range.data() + range.size(), last);
  if (problem != std::errc() || end != range.data() + range.size() || last < 0 || last >= most_layers) return {};
  return last + 1;
}

std::optional<WeightsIn> weights_in(std::string_view word) {
  if (word == "auto") return WeightsIn::either;
  if (word == "memory") return WeightsIn::memory;
  if (word == "layers") return WeightsIn::layers;
  return {};
}

}  // namespace headwave
