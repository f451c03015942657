#include "job.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../analysis/attention/attention_map.h"
#include "../../analysis/registry/job_option_table.h"
#include "../../core/model/source.h"
#include "../../core/process/threads.h"
#include "account_evidence.h"
#include "document_pass.h"
#include "provenance.h"

namespace headwave {

namespace {

void require_job(const Source& source, const JobOptions& options) {
  if (source.count() < 1) throw ShapeError("run_job: the source has no documents; expected at least one");
  require_in_range(options);
}

/// Adds what is known of the model. With stored queries and keys that is neither the width of states nor the
/// place of the norm; with finished attention it is nothing about queries and keys either.
void add_model(Attributes& provenance, const Model& model, const Document& document, AttentionKind kind) {
  const Stack& stack = model.stack_of(kind);
  const BlockSpec& block = stack.block;
  provenance["model_family"] = model.family;
  provenance["heads"] = static_cast<std::int64_t>(block.heads);
  if (stack.d_model() > 0) provenance["d_model"] = static_cast<std::int64_t>(stack.d_model());
  provenance["attention"] = std::string(name_of(kind));
  if (block.d_head > 0) {
    provenance["kv_heads"] = static_cast<std::int64_t>(block.kv_heads);
    provenance["d_head"] = static_cast<std::int64_t>(block.d_head);
    if (std::isfinite(block.score_scale)) provenance["score_scale"] = block.score_scale;
  }
  if (stack.position_term) provenance["position_term"] = std::string(stack.position_term.name());
  add_trained_rows(provenance, stack.embedding.positions);
  if (!document.stored.empty()) {
    if (document.stored.front().states.size() > 0)
      provenance["hidden_states"] = std::string("as stored: what enters each layer's projections");
    return;
  }
  provenance["hidden_states"] =
      std::string(block.norm_place == NormPlace::post ? "post-norm: a layer reads the output of the block before it"
                                                      : "pre-norm: a layer reads the output of its own first norm");
}

/// Names the analyses for which sums over documents are not enough.
void add_left_out(Attributes& provenance, const std::vector<const AnalysisKind*>& kinds, const Site& site) {
  std::vector<std::string_view> names;
  for (const AnalysisKind* kind : kinds)
    if (!applies(*kind, site)) names.push_back(kind->name);
  if (!names.empty()) provenance["undefined_analyses"] = fmt::format("{}: {}", fmt::join(names, ", "), site.only_sums);
}

void add_evidence(Result& result, const Model& model, const Source& source, const DocumentPass& pass, std::size_t s,
                  const AccountEvidenceOptions& options, StageReport& report) {
  const auto* account = pass.finished(s).find<HeadAccount>();
  if (account == nullptr) return;
  if (const std::string& why = pass.sites()[s].only_sums; !why.empty()) {
    result.provenance["undefined_evidence"] = why;
    return;
  }
  if (const std::string why = no_account_evidence(model, account->site, source.ids_alone(0)); !why.empty()) {
    result.provenance["undefined_evidence"] = why;
    return;
  }
  report.begin("evidence", std::min(evidence_documents, pass.sites()[s].documents));
  append(result.fields, account_evidence(model, source, pass.sites()[s], *account, pass.finished(s).find<KeySources>(),
                                         options, [&](Index through) { report.reached(through); }));
}

}  // namespace

void require_maps(const JobOptions& options, const Source& source) {
  if (options[map_document_option] >= source.count())
    throw ShapeError(fmt::format("attention maps: there is no document {} among {} documents, counted from 0",
                                 options[map_document_option], source.count()),
                     give("map_document", fmt::format("0 to {}", source.count() - 1)));
}

void run_part_of_job(const Model& model, const Source& source, const JobOptions& options,
                     const ProgressCallback& progress, const Gather& gather) {
  require_job(source, options);
  (void)source.provenance();  // takes digests of files before they are read
  DocumentPass pass(model, source, options, thread_count(options.threads));
  StageReport report(progress);
  gather(pass, report);
  report.end();
}

bool holds(const Result& result, std::string_view analysis) {
  return std::ranges::any_of(result.fields, [&](const Field& field) { return field.group() == analysis; });
}

std::vector<KindResult> run_job_by_kind(const Model& model, const Source& source, const JobOptions& options,
                                        const ProgressCallback& progress, const Gather& gather) {
  require_job(source, options);
  (void)source.provenance();  // takes digests of files before they are read
  const int threads = thread_count(options.threads);
  DocumentPass pass(model, source, options, threads);
  StageReport report(progress);
  if (gather)
    gather(pass, report);
  else
    pass.run(report);

  std::vector<KindResult> results;
  for (std::size_t s = 0; s < pass.sites().size(); ++s) {
    const Site& site = pass.sites()[s];
    Result result;
    const auto counted = [](auto count, const char* one) {
      return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
    };
    result.title = fmt::format("headwave: {} with {} x {}, {}", model.family, counted(site.grid.layers.size(), "layer"),
                               counted(site.grid.heads, "head"), counted(source.count(), "document"));
    if (pass.sites().size() > 1) result.title += fmt::format(", {} attention", name_of(site.kind));
    result.fields = pass.fields(s, report);
    result.provenance = source.provenance();
    add_options(result.provenance, options, threads);
    add_model(result.provenance, model, pass.first(), site.kind);
    result.provenance["layers"] = static_cast<std::int64_t>(site.grid.layers.size());
    if (site.no_chain.empty()) {
      result.provenance["wave_length"] = static_cast<std::int64_t>(site.length);
      result.provenance["wave_documents"] = static_cast<std::int64_t>(site.documents);
    } else {
      result.provenance["undefined_waves"] = site.no_chain;
    }
    if (!site.no_projections.empty()) result.provenance["undefined_account"] = site.no_projections;
    if (!site.only_sums.empty()) add_left_out(result.provenance, pass.kinds(), site);
    results.push_back({site.kind, std::move(result)});
  }
  const AccountEvidenceOptions evidence{.together = model.by_layer() ? pass.together() : threads, .threads = threads};
  for (std::size_t s = 0; s < results.size(); ++s)
    add_evidence(results[s].result, model, source, pass, s, evidence, report);
  report.end();
  return results;
}

Result run_job(const Model& model, const Source& source, const JobOptions& options, const ProgressCallback& progress) {
  if (model.decoder) throw ShapeError("run_job: an encoder-decoder has three kinds of attention; use run_job_by_kind");
  return std::move(run_job_by_kind(model, source, options, progress).front().result);
}

}  // namespace headwave
