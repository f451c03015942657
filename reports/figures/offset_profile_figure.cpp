#include "offset_profile_figure.h"

#include <algorithm>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "profile_panels.h"

namespace headwave {

namespace {

Profiles profiles_of(const Result& result, const std::string& pairs) {
  constexpr const char* name = "offset_trace/mean_weight";
  const auto& all = doubles_of(result, name, {"pairs", "layer", "head", "offset"});
  const Field& field = result.at(name);
  const auto rows = static_cast<std::size_t>(field.axis("layer").size() * field.axis("head").size());
  Profiles profiles = profiles_within(field, all, "offset", place_of(field, "pairs", pairs) * rows);
  if (result.find("measured_offset/offset") != nullptr) {
    profiles.marked = head_doubles(result, "measured_offset/offset", pairs);
    if (profiles.marked.size() != rows)
      throw ShapeError(fmt::format("measured_offset/offset: expected {} heads as in {}, found {}", rows, name,
                                   profiles.marked.size()));
  }
  if (result.find("measured_offset/threshold") != nullptr && result.find("measured_offset/weight") != nullptr) {
    const auto weight = head_doubles(result, "measured_offset/weight", pairs);
    const auto threshold = head_doubles(result, "measured_offset/threshold", pairs);
    for (std::size_t row = 0; row < std::min(weight.size(), threshold.size()); ++row)
      profiles.ratio.push_back(weight[row] / threshold[row]);
  }
  return profiles;
}

GnuplotFigure draw_offset_profile(const Result& result, const FigureOptions& options) {
  return profile_panels(profiles_of(result, options.pairs),
                        {"mean_weight", "measured_offset", "mean attention weight", "measured offset"}, options.style);
}

}  // namespace

FigureKind offset_profile_figure() {
  return {
      "offset_profile",
      {"offset_trace/mean_weight"},
      {"measured_offset/offset", "measured_offset/weight", "measured_offset/threshold"},
      "Mean attention weight at each offset t = key position minus query position, for every head: mean over "
      "the query-key pairs of a document at that offset, then over documents. Each panel is scaled to its own largest "
      "value, written above it. The "
      "dot and its number mark the measured offset in tokens, an arrow one beyond the panel; a hollow dot stands "
      "where the weight is less than twice what chance would reach. The ink is the fuller the further the weight "
      "exceeds that, evenly in its logarithm, up to 32 times. Offsets up to 16 tokens are shown. Panels in grey "
      "have no measured offset: none rises above the head's own null, or the largest is at the token itself or at the "
      "end of the search.",
      draw_offset_profile};
}

}  // namespace headwave
