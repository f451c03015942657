#include "whole_run.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../analysis/registry/registry.h"
#include "../../analysis/why/head_account.h"
#include "../../core/bytes/bytes.h"
#include "../../core/errors/error.h"
#include "../../core/fields/head_name.h"
#include "../../core/fields/measures.h"
#include "../../core/model/source.h"
#include "../../core/process/process_memory.h"
#include "../../core/process/threads.h"
#include "../../data/files/digest.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/results/result_file.h"
#include "../../job/inputs/identity.h"
#include "../../job/run/memory_limit.h"
#include "../../reports/drawing/visible_text.h"
#include "../../reports/page/report.h"
#include "../options/job_options.h"
#include "../options/option_row.h"
#include "../options/values.h"
#include "../terminal/progress.h"
#include "../terminal/terminal.h"
#include "result_json.h"
#include "result_path.h"

namespace headwave::cli {

namespace {

namespace fs = std::filesystem;

/// Checks the heads that figures will show, before the work and not after it.
void require_heads(const FigureOptions& drawing, const Model& model, const Source& source) {
  std::vector<HeadName> heads;
  for (const AttentionKind kind : model.kinds()) {
    const Stack& stack = model.stack_of(kind);
    for (const std::string& name : drawing.heads) {
      if (strongest_count(name)) continue;  // known once the run is done
      const HeadName head = parse_head_name(name);
      if (head.layer >= stack.layers() || head.head >= stack.block.heads)
        throw ShapeError(fmt::format("--heads: there is no {}; the model has {} layers of {} heads, L0H0 to {}", name,
                                     stack.layers(), stack.block.heads,
                                     head_name(stack.layers() - 1, stack.block.heads - 1)));
      heads.push_back(head);
    }
  }
  require_stored(source, heads);
}

/// Names the analyses asked for that gave nothing, and why, if that is known.
void say_not_found(const JobOptions& job, const std::vector<KindResult>& results) {
  for (const std::string& name : job.only) {
    if (std::ranges::any_of(results, [&](const KindResult& found) { return holds(found.result, name); })) continue;
    const Attributes& said = results.front().result.provenance;
    std::string why = name == head_account_analysis.name || !said.contains("watched")
                          ? attribute_text(said, "undefined_account")
                          : "it needs the documents themselves";
    if (why.empty()) why = attribute_text(said, "undefined_waves");
    say(fmt::format("--only {}: gave no result{}", name, why.empty() ? "" : ": " + why));
  }
}

/// Names the analyses that looked at only some of the documents, if these differ in length.
void say_fewer_documents(const KindResult& found) {
  const Field* lengths = found.result.find(trace_length_field);
  const auto* tokens = lengths == nullptr ? nullptr : std::get_if<std::vector<std::int64_t>>(&lengths->values);
  if (tokens == nullptr) return;
  const auto common = common_length(*tokens);
  if (common.documents == std::ssize(*tokens)) return;
  std::vector<std::string_view> fewer;
  for (const AnalysisKind* kind : analysis_kinds())
    if (kind->equal_length && holds(found.result, kind->name)) fewer.push_back(kind->name);
  if (fewer.empty()) return;
  say(
      fmt::format("documents differ in length: {} used only {} of {} documents, those of {} tokens; --length makes all "
                  "equally long",
                  fmt::join(fewer, ", "), common.documents, tokens->size(), common.length));
}

/// Opens the input, and checks before the work that the job can be done with it.
JobInput checked_input(WholeRunOptions& options) {
  options.input.place.max_memory = options.max_memory;
  if (!options.max_memory.empty()) options.job.max_memory = bytes_of(options.max_memory);
  JobInput input = input_of(options.input, options.job.seed);
  require_heads(options.folder.drawing, input.model, *input.source);
  for (const JobInput& other : input.others) require_heads(options.folder.drawing, other.model, *other.source);
  require_maps(options.job, *input.source);
  return input;
}

}  // namespace

void add_whole_run_options(CLI::App& command, WholeRunOptions& options) {
  add_input_options(command, options.input);
  add_folder_options(command, options.folder, false);
  add_drawing_options(command, options.folder.drawing);
  add_table_options(command, options.folder.table);
  command.get_option("--force")->configurable(false);
  const OptionRows row(command);
  row("--json", options.json, nullptr, "print the result as JSON instead of the table")->configurable(false);
  row("--max-memory", options.max_memory, "SIZE",
      "limit of resident memory, such as 512MB or 1.5GB; results are identical", byte_size());
  add_job_options(command, options.job);
}

void within_memory(WholeRunOptions& options, const std::function<void(const JobInput&)>& work) {
  if (options.max_memory.empty()) return work(checked_input(options));
  const std::int64_t limit = bytes_of(options.max_memory);
  const bool needs_weights = std::ranges::count(chosen_analyses(options.job), true, &AnalysisKind::all_weights) > 0;
  while (true) {
    const MemoryWatch watch(limit);
    bool can_read_layers = false, has_room = false;
    try {
      const Stoppable stoppable(&watch.is_exceeded());
      const JobInput input = checked_input(options);
      can_read_layers = options.input.place.weights == "auto" && options.input.interventions.empty() &&
                        !needs_weights && !options.input.model.empty() && !input.model.by_layer();
      has_room = resident_bytes() <= limit;
      if (!has_room) throw Stopped();
      return work(input);
    } catch (const Stopped&) {
      if (has_room && !watch.is_exceeded()) throw;
    }
    if (has_room && thread_count(options.job.threads) > 1) {
      options.job.threads = 1;
      say(fmt::format("memory reached {}: beginning again on one thread", options.max_memory));
    } else if (can_read_layers) {
      options.input.place.weights = "layers";
      say(fmt::format("memory reached {}: beginning again with weights read layer by layer", options.max_memory));
    } else {
      throw ShapeError(
          fmt::format("the run needs more than its limit of {} of resident memory", options.max_memory),
          {give("max_memory", "SIZE", "to allow more"), give("only", "NAME,...", "to run fewer analyses")});
    }
    give_back_freed_memory();
  }
}

void write_run(const OutputFolder& folder, std::vector<KindResult>& results, const WholeRunOptions& options,
               const Attributes& identity, const std::string& job_text) {
  const std::string digest = run_digest(identity);
  say_not_found(options.job, results);
  for (KindResult& found : results) {
    found.result.provenance["job"] = job_text;
    found.result.provenance[run_digest_name] = digest;
    say_fewer_documents(found);
  }
  write_results(folder, results);
}

bool finished_before(const WholeRunOptions& options) {
  const auto files = result_files(options.folder.folder);
  if (files.empty()) return false;
  InputOptions looked_at = options.input;
  // The identity of a run does not depend on values: none is read unless weights are to be changed.
  if (looked_at.interventions.empty()) looked_at.place.weights = "layers";
  const JobInput input = input_of(looked_at, options.job.seed);
  const Attributes identity = run_identity(input, options.job);
  for (const auto& [kind, path] : files) {
    const Hdf5File file(path);
    require_same_run(path, read_result(file, {}).provenance, identity,
                     {give("force", "", "in place of --resume to replace it"), give("out", "DIR", "for another one")});
    require_sealed(path);
  }
  return files.size() == input.kinds().size();
}

void show_run(const OutputFolder& folder, const std::vector<KindResult>& results, const WholeRunOptions& options) {
  std::function<void()> print;
  if (options.json) print = [&] { std::fputs(folder_json(folder.path()).c_str(), stdout); };
  show_results(folder, results, options.folder, print);
}

void show_finished(const WholeRunOptions& options) {
  const FolderOptions& given = options.folder;
  const auto files = result_files(given.folder);
  const auto lacks_page = [](const auto& one) { return !fs::exists(one.second.parent_path() / "report.html"); };
  if (given.figures && std::ranges::any_of(files, lacks_page)) {
    std::vector<KindResult> results;
    for (const auto& [kind, file] : files) results.push_back({kind, read_result(file)});
    show_results(
        OutputFolder(given.folder, {}, true), results, given, [] {}, "drawn again:");
  }
  if (options.json) std::fputs(folder_json(given.folder).c_str(), stdout);
  say(fmt::format("{}: the job is finished", visible_text(given.folder.string())));
}

}  // namespace headwave::cli
