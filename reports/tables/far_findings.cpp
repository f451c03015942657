#include "far_findings.h"

#include <limits>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../drawing/field_values.h"

namespace headwave {

std::vector<FarFinding> far_findings(const Result& result, std::size_t heads) {
  constexpr double silent = std::numeric_limits<double>::quiet_NaN();
  std::vector<FarFinding> findings(heads, {silent, silent, {}});
  for (const char* name : far_names)
    if (result.find(name) == nullptr) return findings;
  const auto& shares = doubles_of(result, far_names[0], {"layer", "head"});
  const auto& offsets = doubles_of(result, far_names[1], {"layer", "head", "query_band", "far_peak"});
  const auto& excesses = doubles_of(result, far_names[2], {"layer", "head", "query_band", "far_peak"});
  const auto& sources = flags_of(result, far_names[3], {"layer", "head", "query_band", "far_peak"});
  if (shares.size() != heads || offsets.size() % heads != 0 || excesses.size() != offsets.size() ||
      sources.size() != offsets.size())
    throw ShapeError(
        fmt::format("{}: expected as many peaks of each of {} heads, found {} shares, {} offsets, {} "
                    "excesses and {} sources",
                    far_names[1], heads, shares.size(), offsets.size(), excesses.size(), sources.size()));
  const auto& meanings = result.at(far_names[3]).flag_meanings;
  for (std::size_t i = 0; i < heads; ++i) {
    FarFinding& finding = findings[i];
    finding.share = shares[i];
    double largest = 0;
    for (std::size_t at = i * (offsets.size() / heads); at < (i + 1) * (offsets.size() / heads); ++at)
      if (excesses[at] > largest) {
        largest = excesses[at];
        finding.offset = offsets[at];
        finding.source = sources[at] < meanings.size() ? meanings[sources[at]] : std::string("unknown");
      }
  }
  return findings;
}

}  // namespace headwave
