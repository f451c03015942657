#include "model_atlas.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "../../analysis/statistics/false_discovery.h"
#include "../../core/fields/fields.h"
#include "../../core/model/layer_positions.h"
#include "../../core/numbers/offset_peak.h"
#include "../../core/process/threads.h"
#include "../../data/sources/text_documents.h"
#include "../run/document_pass.h"
#include "../run/provenance.h"

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
             "largest predicted mean attention weight: the larger, the clearer the prediction", account.measured_weight,
             no_pair);
  fields.add("chance", heads, "1", "weight at the same offset if all allowed keys had equal weights", chance, no_pair);
  fields.add("estimate", heads, "token", "offset of the largest predicted weight, however small", estimate,
             "it is largest at the end of the search, |t| = reach");
  fields.add("profile", {layer, head, offset_axis("offset", -site.reach, site.reach)}, "1",
             "predicted mean attention weight at an offset, without the first token", profile, no_pair);
  fields.note_all("documents", account.documents).note_all("length", site.length).note_all("reach", site.reach);
  return fields.taken();
}

std::vector<KindResult> word_passes(const JobInput& input, const WordPassesOptions& options,
                                    const ProgressCallback& progress) {
  if (const Index length = input.source->length(0); length < 3)
    throw ShapeError(
        fmt::format("random words: documents have {} tokens, but predicting offsets needs at least 3", length),
        {give("length", "3 or more"), give("passes", "0", "to predict from the weights alone")});
  JobOptions job;
  job.only = {std::string(head_account_analysis.name)};
  job.reach = options.reach;
  job.dealt_tokens = job.draws = 0;  // only the measured profile is read, and its weight says what it is worth
  const int threads = thread_count(options.threads);
  DocumentPass pass(input.model, *input.source, job, threads);
  StageReport report(progress);
  pass.run(report);
  std::vector<KindResult> results;
  for (std::size_t site = 0; site < pass.sites().size(); ++site) {
    const AttentionKind kind = pass.sites()[site].kind;
    (void)pass.fields(site, report);
    if (kind == AttentionKind::cross) continue;
    Result result;
    result.fields = word_atlas(pass.finished(site).get<HeadAccount>());
    result.provenance = input.source->provenance();
    result.provenance.insert(input.provenance.begin(), input.provenance.end());
    results.push_back({kind, std::move(result)});
  }
  report.end();
  return results;
}

namespace {

/// Checks the options, in their own words.
void require_options(const Model& model, const ModelPlace& place, const ModelAtlasOptions& options) {
  const Index positions = model.stack.embedding.positions.rows(), length = options.atlas.length;
  if (positions > 0 && (length > positions || length == 1))
    throw ShapeError(
        fmt::format("{}: {} positions are requested, but the model has {}", place.weights.string(), length, positions),
        give("length", fmt::format("2 to {}, or 0", positions), "for all"));
  if (positions > 0 && (options.rows > positions || options.rows == 1))
    throw ShapeError(fmt::format("{}: {} rows of the position table are requested, but it has {}",
                                 place.weights.string(), options.rows, positions),
                     give("rows", fmt::format("2 to {}, or 0", positions), "for those that look trained"));
}

/// The number of positions that are looked at: as many as were asked for, among the rows that are read.
Index positions_read(const Stack& stack, const ModelAtlasOptions& options) {
  const Index rows = rows_to_read(stack, options.rows);
  return options.atlas.length > 0 ? std::min(options.atlas.length, rows) : rows;
}

/// The tokens of a document of random words: as asked for, or as usual for the model, but within the rows
/// that are read.
Index tokens_of(const Model& model, const ModelAtlasOptions& options) {
  if (options.atlas.length > 0) return options.atlas.length;
  PackingOptions packing;
  packing.positions = model.longest;
  Index tokens = usual_length(packing);
  for (const AttentionKind kind : model.kinds())
    if (const Stack& stack = model.stack_of(kind); !stack.embedding.positions.empty())
      tokens = std::min(tokens, rows_to_read(stack, options.rows));
  return tokens;
}

std::vector<Field> fields_of(const Stack& stack, const ModelAtlasOptions& options) {
  PositionAtlasOptions atlas = options.atlas;
  atlas.length = positions_read(stack, options);
  return position_atlas(stack, atlas);
}

/// Why no document can pass through a model; empty if it can.
std::string no_passes(const PartialModel& partial, const ModelAtlasOptions& options) {
  if (options.words.documents == 0) return "none were requested";
  if (!partial.missing.empty()) return "the checkpoint lacks tensors";
  return partial.model.stack.embedding.words.empty() ? "the model has no word embeddings" : "";
}

std::vector<KindResult> passed(const Model& model, const ModelPlace& place, const ModelAtlasOptions& options,
                               const ProgressCallback& progress) {
  WordInputOptions words = options.words;
  words.length = tokens_of(model, options);
  words.seed = options.atlas.seed;
  const JobInput input = word_input(model, place, words);
  return word_passes(input, {.reach = options.atlas.reach, .threads = options.atlas.threads}, progress);
}

/// Puts what random words predict first, because it holds in every layer.
void add_passed(Result& result, const std::vector<KindResult>& passes, AttentionKind kind) {
  for (const KindResult& pass : passes) {
    if (pass.kind != kind) continue;
    std::vector<Field> fields = pass.result.fields;
    append(fields, std::move(result.fields));
    result.fields = std::move(fields);
    result.provenance.insert(pass.result.provenance.begin(), pass.result.provenance.end());
  }
}

}  // namespace

std::vector<KindResult> model_atlas(const ModelPlace& place, const ModelAtlasOptions& options,
                                    const ProgressCallback& progress) {
  const PartialModel partial = open_partial_model(place);
  const Model& model = partial.model;
  require_options(model, place, options);
  const std::string not_passed = no_passes(partial, options);
  const std::vector<KindResult> passes =
      not_passed.empty() ? passed(model, place, options, progress) : std::vector<KindResult>{};
  std::vector<KindResult> results;
  for (const AttentionKind kind : model.kinds()) {
    if (kind == AttentionKind::cross) continue;
    const Stack& stack = model.stack_of(kind);
    Result result;
    result.title =
        fmt::format("headwave: atlas of {} with {} layers x {} heads, {} attention, {}", model.family, stack.layers(),
                    stack.block.heads, name_of(kind),
                    not_passed.empty() ? "from its weights and from random words" : "from its weights alone");
    result.fields = fields_of(stack, options);
    result.provenance = model_provenance(place);
    add_passed(result, passes, kind);
    if (!not_passed.empty()) result.provenance["no_passes"] = not_passed;
    if (!partial.missing.empty())
      result.provenance["missing"] =
          fmt::format("{} tensors, the first {}", partial.missing.size(), partial.missing.front());
    result.provenance["model_family"] = model.family;
    result.provenance["attention"] = std::string(name_of(kind));
    add_trained_rows(result.provenance, stack.embedding.positions);
    if (!stack.embedding.positions.empty())
      result.provenance["positions_read"] = static_cast<std::int64_t>(positions_read(stack, options));
    if (stack.position_term) result.provenance["position_term"] = std::string(stack.position_term.name());
    result.provenance["score_scale"] = stack.block.score_scale;
    result.provenance["reach"] = static_cast<std::int64_t>(options.atlas.reach);
    result.provenance["level"] = options.atlas.level;
    result.provenance["draws"] = static_cast<std::int64_t>(options.atlas.draws);
    result.provenance["seed"] = static_cast<std::int64_t>(options.atlas.seed);
    results.push_back({kind, std::move(result)});
  }
  return results;
}

}  // namespace headwave
