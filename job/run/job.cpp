#include "job.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/numbers/nearest_name.h"
#include "document_pass.h"
#include "job_stages.h"
#include "site_fields.h"

namespace headwave {

namespace {

/// Only what is known: of stored queries and keys neither the width of the states nor where the norm stands.
void add_model(Attributes& provenance, const Model& model, const Document& document, AttentionKind kind) {
  const Stack& stack = model.stack_of(kind);
  const BlockSpec& block = stack.block;
  provenance["model_family"] = model.family;
  provenance["heads"] = static_cast<std::int64_t>(block.heads);
  provenance["kv_heads"] = static_cast<std::int64_t>(block.kv_heads);
  if (stack.d_model() > 0) provenance["d_model"] = static_cast<std::int64_t>(stack.d_model());
  provenance["d_head"] = static_cast<std::int64_t>(block.d_head);
  provenance["attention"] = std::string(name_of(kind));
  provenance["score_scale"] = block.score_scale;
  if (stack.position_term) provenance["position_term"] = std::string(stack.position_term->name());
  if (!document.stored.empty()) {
    if (document.stored.front().states.size() > 0)
      provenance["hidden_states"] = std::string("as stored: what enters each layer's projections");
    return;
  }
  provenance["hidden_states"] =
      std::string(block.norm_place == NormPlace::post ? "post-norm: a layer reads the output of the block before it"
                                                      : "pre-norm: a layer reads the output of its own first norm");
}

void add_options(Attributes& provenance, const JobOptions& options, int threads) {
  provenance["window"] = static_cast<std::int64_t>(options.window);
  provenance["reach"] = static_cast<std::int64_t>(options.reach);
  provenance["level"] = options.level;
  provenance["clusters"] = static_cast<std::int64_t>(options.clusters);
  provenance["sweep_last"] = static_cast<std::int64_t>(options.sweep_last);
  provenance["atlas_draws"] = static_cast<std::int64_t>(options.atlas_draws);
  provenance["score_window"] = static_cast<std::int64_t>(options.score_window);
  provenance["score_clusters"] = static_cast<std::int64_t>(options.score_clusters);
  provenance["draws"] = static_cast<std::int64_t>(options.draws);
  provenance["resamples"] = static_cast<std::int64_t>(options.resamples);
  provenance["false_share"] = options.false_share;
  provenance["only"] = fmt::format("{}", fmt::join(options.only, ","));
  provenance["map_tokens"] = static_cast<std::int64_t>(options.map_tokens);
  provenance["seed"] = static_cast<std::int64_t>(options.seed);
  provenance["threads"] = static_cast<std::int64_t>(threads);
}

void require_known(const std::vector<std::string>& only) {
  for (const std::string& name : only) {
    std::vector<std::string> known;
    for (const JobAnalysis& analysis : job_analyses()) known.push_back(analysis.name);
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string meant = did_you_mean(name, known);
    throw ShapeError(fmt::format("there is no analysis '{}'{}", name,
                                 meant.empty() ? fmt::format("; there are {}", fmt::join(known, ", ")) : meant));
  }
}

}  // namespace

namespace {

/// What compares predictions alone would compare nothing, and say nothing.
void require_predictions(const JobOptions& options) {
  if (options.only.empty() || !options.wants("offset_agreement")) return;
  for (const char* name : {"position_atlas", "phase_rotation", "delay_spectrum"})
    if (options.wants(name)) return;
  throw ShapeError(
      "offset_agreement compares predictions with what is measured; ask for position_atlas, phase_rotation or "
      "delay_spectrum "
      "as well (--only offset_agreement,position_atlas,...)");
}

}  // namespace

const std::vector<JobAnalysis>& job_analyses() {
  static const std::vector<JobAnalysis> analyses{
      {"measured_offset", "where attention lands; always done"},
      {"head_cluster", "clusters of offset traces"},
      {"attention_map", "attention of the first tokens"},
      {"head_types", "what heads do: previous, duplicate, induction, sink, entropy"},
      {"value_use", "attention weighted by what it moves, and how alike heads of a layer are"},
      {"position_spectrum", "frequencies of the position table"},
      {"position_components", "principal components of the position table"},
      {"position_atlas", "what positions alone predict, from the weights"},
      {"position_correlation", "canonical correlations of hidden states and positions, by layer"},
      {"position_split", "hidden states as position, context and rest, by layer"},
      {"wave_spectra", "frequencies of redefined queries and keys, periodic columns"},
      {"cross_covariance", "query and key columns lag by lag, and their weighted sum"},
      {"score_cluster", "clusters of scores before mask and softmax"},
      {"phase_rotation", "phases between queries and keys, and the delay they predict"},
      {"delay_spectrum", "the delay between queries and keys, to parts of a token"},
      {"offset_agreement", "predicted beside measured offsets"}};
  return analyses;
}

bool JobOptions::wants(std::string_view analysis) const {
  return only.empty() || std::find(only.begin(), only.end(), analysis) != only.end();
}

std::vector<KindResult> run_job_by_kind(const Model& model, const Source& source, const JobOptions& options,
                                        const ProgressCallback& progress) {
  if (source.count() < 1) throw ShapeError("run_job: the source has no documents; expected at least one");
  require_known(options.only);
  require_predictions(options);
  const int threads =
      options.threads > 0 ? options.threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const DocumentPass pass(model, source, options, threads);
  StageReport report(job_stages(model, pass, options, threads), progress);
  const std::vector<Passed> all = pass.run(report);
  const auto kinds = static_cast<Index>(all.size());

  std::vector<KindResult> results;
  for (const Passed& passed : all) {
    Result result;
    result.title = fmt::format("headwave: {} with {} layers x {} heads, {} documents", model.family,
                               passed.traces.grid.layers.size(), passed.traces.grid.heads, passed.traces.documents);
    if (kinds > 1) result.title += fmt::format(", {} attention", name_of(passed.site.kind));
    result.fields = site_fields(model, pass.first(), passed, options, threads, report);
    result.provenance = source.provenance();
    add_options(result.provenance, options, threads);
    add_model(result.provenance, model, pass.first(), passed.site.kind);
    result.provenance["layers"] = static_cast<std::int64_t>(passed.traces.grid.layers.size());
    if (passed.site.no_chain.empty()) {
      result.provenance["wave_length"] = static_cast<std::int64_t>(passed.site.length);
      result.provenance["wave_documents"] = static_cast<std::int64_t>(passed.site.documents);
    } else {
      result.provenance["undefined_waves"] = passed.site.no_chain;
    }
    results.push_back({passed.site.kind, std::move(result)});
  }
  report.end();
  return results;
}

Result run_job(const Model& model, const Source& source, const JobOptions& options, const ProgressCallback& progress) {
  if (model.decoder) throw ShapeError("run_job: an encoder-decoder has three kinds of attention; use run_job_by_kind");
  return std::move(run_job_by_kind(model, source, options, progress).front().result);
}

}  // namespace headwave
