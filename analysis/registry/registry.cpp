#include "registry.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/nearest_name.h"

// Every analysis, in the order of the argument: one line each.
// clang-format off
#define HEADWAVE_ANALYSES(analysis) \
  analysis(measured_offset) \
  analysis(head_cluster) \
  analysis(attention_distance) \
  analysis(attention_map) \
  analysis(strongest_pairs) \
  analysis(head_types) \
  analysis(position_spectrum) \
  analysis(position_components) \
  analysis(position_atlas) \
  analysis(position_split) \
  analysis(qk_svd) \
  analysis(cross_covariance) \
  analysis(wave_spectra) \
  analysis(periodic_columns) \
  analysis(redefined) \
  analysis(phase_delay) \
  analysis(head_account) \
  analysis(attention_bits) \
  analysis(score_sources) \
  analysis(head_writes) \
  analysis(head_effect) \
  analysis(offset_by_query) \
  analysis(rotary_wave) \
  analysis(offset_agreement)
// clang-format on

namespace headwave {

#define HEADWAVE_DECLARE(name) extern const AnalysisKind name##_analysis;
#define HEADWAVE_LIST(name) &name##_analysis,

HEADWAVE_ANALYSES(HEADWAVE_DECLARE)

namespace {

const AnalysisKind& analysis_named(const std::string& name) {
  std::vector<std::string> known;
  for (const AnalysisKind* kind : analysis_kinds()) {
    if (kind->name == name) return *kind;
    known.emplace_back(kind->name);
  }
  const std::string meant = did_you_mean(name, known);
  throw ShapeError(fmt::format("there is no analysis '{}'{}", name,
                               meant.empty() ? fmt::format("; there are {}", fmt::join(known, ", ")) : meant));
}

void add_with_what_it_reads(const AnalysisKind& kind, std::set<const AnalysisKind*>& chosen) {
  if (!chosen.insert(&kind).second) return;
  for (const AnalysisKind* read : kind.reads) add_with_what_it_reads(*read, chosen);
}

}  // namespace

const std::vector<const AnalysisKind*>& analysis_kinds() {
  static const std::vector<const AnalysisKind*> kinds{HEADWAVE_ANALYSES(HEADWAVE_LIST)};
  return kinds;
}

std::vector<const AnalysisKind*> chosen_analyses(const JobOptions& options) {
  std::set<const AnalysisKind*> chosen;
  for (const AnalysisKind* kind : analysis_kinds())
    if (kind->always || (options.only.empty() && (options.everything || kind->by_default)))
      add_with_what_it_reads(*kind, chosen);
  for (const std::string& name : options.only) add_with_what_it_reads(analysis_named(name), chosen);
  std::vector<const AnalysisKind*> ordered;
  for (const AnalysisKind* kind : analysis_kinds())
    if (chosen.contains(kind)) ordered.push_back(kind);
  return ordered;
}

}  // namespace headwave
