#include "word_atlas.h"

#include "../../core/fields/fields.h"
#include "../../core/numbers/offset_peak.h"

namespace headwave {

WordAtlas word_atlas(const HeadAccount& account, const WordAtlasOptions& options) {
  WordAtlas atlas;
  atlas.site = account.site;
  atlas.options = options;
  atlas.documents = account.documents;
  atlas.profile = account.measured;
  atlas.weight = account.measured_weight;
  const Index rows = account.site.grid.rows();
  atlas.estimate = atlas.chance = atlas.offset = Vector::Constant(rows, not_defined);
  for (Index row = 0; row < rows; ++row) {
    PredictedStatus status = PredictedStatus::nothing;
    if (const auto peak = offset_peak(atlas.profile.row(row).transpose(), account.site.kind == AttentionKind::causal)) {
      atlas.chance[row] = account.uniform(row, peak->offset + account.site.reach);
      if (!peak->at_edge) atlas.estimate[row] = static_cast<double>(peak->offset);
      status = peak->at_edge                                                  ? PredictedStatus::edge
               : atlas.weight[row] >= options.least_times * atlas.chance[row] ? PredictedStatus::offset
                                                                              : PredictedStatus::weak;
    }
    atlas.status.push_back(status);
    if (status == PredictedStatus::offset) atlas.offset[row] = atlas.estimate[row];
  }
  return atlas;
}

std::vector<Field> describe(const WordAtlas& atlas) {
  const Axis layer = layer_axis(atlas.site.grid.layers), head = head_axis(atlas.site.grid.heads);
  const std::vector<Axis> heads{layer, head};
  const char* const no_pair = "no pair at that offset, or the mask forbids it";
  Fields fields("word_atlas");
  fields.add("predicted_offset", heads, "token", "offset that documents of random words predict", atlas.offset,
             "word_atlas/status says why");
  add_status(fields, heads, atlas.status).note("least_times", atlas.options.least_times);
  fields.add("predicted_weight", heads, "1",
             "mean attention weight predicted where it is largest: how much a prediction says", atlas.weight, no_pair);
  fields.add("chance", heads, "1", "weight there if all allowed keys had equal weights", atlas.chance, no_pair);
  fields.add("estimate", heads, "token", "offset of the largest predicted weight, however small", atlas.estimate,
             "it is largest at the end of the search, |t| = reach");
  fields.add("profile", {layer, head, offset_axis("offset", -atlas.site.reach, atlas.site.reach)}, "1",
             "predicted mean attention weight at an offset, the first token neither query nor key", atlas.profile,
             no_pair);
  fields.note_all("documents", atlas.documents)
      .note_all("length", atlas.site.length)
      .note_all("reach", atlas.site.reach);
  return fields.taken();
}

}  // namespace headwave
