#include "word_atlas.h"

#include "../../core/fields/fields.h"
#include "../../core/numbers/offset_peak.h"
#include "../statistics/false_discovery.h"

namespace headwave {

std::vector<Field> word_atlas(const HeadAccount& account) {
  constexpr double least_times = 2;
  const AccountSite& site = account.site;
  const Matrix& profile = account.measured;
  Vector estimate = Vector::Constant(site.grid.rows(), not_defined), chance = estimate, offset = estimate;
  std::vector<PredictedStatus> statuses;
  for (Index row = 0; row < estimate.size(); ++row) {
    PredictedStatus status = PredictedStatus::nothing;
    if (const auto peak = offset_peak(profile.row(row).transpose(), site.kind == AttentionKind::causal)) {
      chance[row] = account.uniform(row, peak->offset + site.reach);
      if (!peak->at_edge) estimate[row] = static_cast<double>(peak->offset);
      status = peak->at_edge                                               ? PredictedStatus::edge
               : account.measured_weight[row] >= least_times * chance[row] ? PredictedStatus::offset
                                                                           : PredictedStatus::weak;
    }
    statuses.push_back(status);
    if (status == PredictedStatus::offset) offset[row] = estimate[row];
  }

  const Axis layer = layer_axis(site.grid.layers), head = head_axis(site.grid.heads);
  const std::vector<Axis> heads{layer, head};
  const char* const no_pair = "no pair at that offset, or the mask forbids it";
  Fields fields("word_atlas");
  fields.add("predicted_offset", heads, "token", "offset that documents of random words predict", offset,
             "word_atlas/status says why");
  add_status(fields, heads, statuses).note("least_times", least_times);
  fields.add("predicted_weight", heads, "1",
             "mean attention weight predicted where it is largest: how much a prediction says", account.measured_weight,
             no_pair);
  fields.add("chance", heads, "1", "weight there if all allowed keys had equal weights", chance, no_pair);
  fields.add("estimate", heads, "token", "offset of the largest predicted weight, however small", estimate,
             "it is largest at the end of the search, |t| = reach");
  fields.add("profile", {layer, head, offset_axis("offset", -site.reach, site.reach)}, "1",
             "predicted mean attention weight at an offset, the first token neither query nor key", profile, no_pair);
  fields.note_all("documents", account.documents).note_all("length", site.length).note_all("reach", site.reach);
  return fields.taken();
}

}  // namespace headwave
