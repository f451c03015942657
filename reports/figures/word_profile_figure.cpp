#include "word_profile_figure.h"

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "profile_panels.h"

namespace headwave {

namespace {

constexpr const char* profile_name = "word_atlas/profile";
constexpr const char* word_offset_name = "word_atlas/offset";

GnuplotFigure draw_word_profile(const Result& result, const FigureOptions& options) {
  const auto& weights = doubles_of(result, profile_name, {"layer", "head", "account_offset"});
  Profiles profiles = profiles_within(result.at(profile_name), weights, "account_offset");
  profiles.marked = doubles_of(result, word_offset_name, {"layer", "head"});
  if (const std::size_t rows = profiles.layers.size() * profiles.heads.size(); profiles.marked.size() != rows)
    throw ShapeError(fmt::format("{}: expected {} heads as in {}, found {}", word_offset_name, rows, profile_name,
                                 profiles.marked.size()));
  return profile_panels(profiles, {"predicted_weight", "predicted_offset", "predicted weight", "predicted offset"},
                        options.style);
}

}  // namespace

FigureKind word_profile_figure() {
  return {
      "word_profile",
      {"word_atlas/profile", "word_atlas/offset"},
      {},
      "Mean attention weight that documents of random words predict at each offset t = key position minus query "
      "position, for every head: from mean queries and keys, and what equal words add. Each panel is scaled to its "
      "own largest value, written above it. The dot and its number mark the predicted offset in tokens, an arrow one "
      "beyond the panel, which shows offsets up to 16 tokens. Panels in grey predict none: their largest weight is "
      "less than twice that of equal weights, "
      "or lies at the end of the search.",
      draw_word_profile};
}

}  // namespace headwave
