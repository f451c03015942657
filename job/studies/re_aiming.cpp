#include "re_aiming.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "../../analysis/attention/followed_keys.h"
#include "../../analysis/attention/measured_offset.h"
#include "../../analysis/registry/job_option_table.h"
#include "../../analysis/statistics/published_measures.h"
#include "../../core/fields/fields.h"
#include "../../core/model/intervention.h"
#include "../../core/process/threads.h"
#include "../run/document_pass.h"

namespace headwave {

namespace {

constexpr auto all = static_cast<std::size_t>(Pairs::all);

/// Where every head of a model looks.
struct Looks {
  OffsetTraces traces;
  MeasuredOffsets measured;

  /// t* in tokens, 0 for a head that looks at itself, NaN for one without an offset.
  [[nodiscard]] double offset(Index row) const {
    if (measured.status[all][static_cast<std::size_t>(row)] == OffsetStatus::self) return 0;
    return measured.offset[all][row];
  }
  /// Mean weight at an offset; NaN beyond the documents.
  [[nodiscard]] double weight(Index row, double offset) const {
    const Index at = static_cast<Index>(std::lround(offset)) + traces.length - 1;
    if (std::isnan(offset) || at < 0 || at >= traces.weight[all].cols()) return not_defined;
    return traces.weight[all](row, at);
  }
};

Looks looks_of(const Model& model, const Source& source, const ReAimingOptions& options, int threads) {
  JobOptions job;
  job.only = {std::string(measured_offset_analysis().name)};
  job.reach = options.reach;
  job.level = options.level;
  require_in_range(job);
  StageReport nobody({});
  DocumentPass pass(model, source, job, threads);
  pass.run(nobody);
  (void)pass.fields(0, nobody);
  return {pass.finished(0).get<OffsetTraces>(), pass.finished(0).get<MeasuredOffsets>()};
}

/// The model up to a layer: what comes after it changes nothing there.
Model up_to(const Model& model, Index layer) {
  Model front = model;
  front.stack.blocks.resize(static_cast<std::size_t>(layer) + 1);
  return front;
}

/// The heads with the largest weight at an offset of their own, in the order of the model.
std::vector<HeadName> clearest(const Looks& looks, Index most) {
  const HeadGrid& grid = looks.measured.grid;
  std::vector<Index> rows = clearest_heads(looks.measured.offset[all], looks.measured.weight[all], most);
  std::sort(rows.begin(), rows.end());
  std::vector<HeadName> names;
  for (const Index row : rows)
    names.push_back({grid.layers[static_cast<std::size_t>(row / grid.heads)], row % grid.heads});
  return names;
}

}  // namespace

ReAiming re_aiming(const Model& model, const Source& source, const ReAimingOptions& options,
                   const ProgressCallback& progress) {
  if (model.decoder)
    throw ShapeError(
        fmt::format("a {} is an encoder-decoder, with three kinds of attention; re-aiming is "
                    "for models with one",
                    model.family));
  if (model.stack.embedding.positions.empty())
    throw ShapeError(fmt::format("a {} has no position table; there is no wave to re-aim", model.family));
  for (std::size_t h = 0; h < options.heads.size(); ++h)
    if (std::find(options.heads.begin(), options.heads.begin() + static_cast<std::ptrdiff_t>(h), options.heads[h]) !=
        options.heads.begin() + static_cast<std::ptrdiff_t>(h))
      throw ShapeError(
          fmt::format("the head {} is named twice", head_name(options.heads[h].layer, options.heads[h].head)));
  for (const HeadName& name : options.heads)
    if (name.layer >= model.stack.layers() || name.head >= model.stack.block.heads)
      throw ShapeError(fmt::format("there is no head {}; the model has {} layers of {} heads",
                                   head_name(name.layer, name.head), model.stack.layers(), model.stack.block.heads));
  if (source.count() < 1) throw ShapeError("re_aiming: the source has no documents; expected at least one");
  const int threads = thread_count(options.threads);
  const Looks plain = looks_of(model, source, options, threads);

  ReAiming result;
  result.heads = options.heads.empty() ? clearest(plain, options.most_heads) : options.heads;
  result.shifts = options.shifts;
  result.shifts.push_back(0);
  std::sort(result.shifts.begin(), result.shifts.end());
  result.shifts.erase(std::unique(result.shifts.begin(), result.shifts.end()), result.shifts.end());
  const auto heads = static_cast<Index>(result.heads.size()), shifts = static_cast<Index>(result.shifts.size());
  result.offset = result.weight = result.followed = Matrix::Constant(heads, shifts, not_defined);
  result.follows = result.slope = result.fitted = Vector::Constant(heads, not_defined);

  std::map<Index, std::vector<Index>> by_layer;  // places in result.heads
  for (Index h = 0; h < heads; ++h) by_layer[result.heads[static_cast<std::size_t>(h)].layer].push_back(h);
  const Index runs = static_cast<Index>(by_layer.size()) * shifts;
  Index done = 0;
  if (progress) progress({"re-aiming", 0, runs});
  for (const auto& [layer, places] : by_layer) {
    std::vector<HeadName> names;
    for (const Index h : places) names.push_back(result.heads[static_cast<std::size_t>(h)]);
    for (Index s = 0; s < shifts; ++s) {
      const Index u = result.shifts[static_cast<std::size_t>(s)];
      const Looks looks = u == 0 ? plain : looks_of(up_to(re_aimed(model, names, u), layer), source, options, threads);
      for (const Index h : places) {
        const HeadName name = result.heads[static_cast<std::size_t>(h)];
        const Index row = looks.measured.grid.first_row(layer) + name.head;
        const Index plain_row = plain.measured.grid.first_row(layer) + name.head;
        const double target = plain.offset(plain_row);
        result.offset(h, s) = looks.offset(row);
        result.weight(h, s) = looks.measured.weight[all][row];
        result.followed(h, s) = looks.weight(row, target - static_cast<double>(u)) / plain.weight(plain_row, target);
      }
      if (progress) progress({"re-aiming", ++done, runs});
    }
  }
  for (Index h = 0; h < heads; ++h) {
    const FollowedShifts followed = followed_shifts(result.shifts, result.offset.row(h).transpose());
    result.follows[h] = followed.share;
    result.slope[h] = followed.slope;
    if (!std::isnan(followed.share)) result.fitted[h] = static_cast<double>(followed.fitted);
  }
  return result;
}

std::vector<Field> describe(const ReAiming& re_aiming) {
  const Axis head = head_name_axis("re_aimed_head", "head whose keys are re-aimed", re_aiming.heads);
  const Axis shift{"shift", "token", "u: keys stand for the position u tokens later",
                   std::vector<std::int64_t>(re_aiming.shifts.begin(), re_aiming.shifts.end())};
  const char* const beyond = "no offset, or it lies beyond the documents";
  const char* const no_offset = "the head has no offset to be moved";
  Fields fields("re_aiming");
  fields.add("offset", {head, shift}, "token", "measured offset in the re-aimed model; 0: at itself", re_aiming.offset)
      .undefined("the maximum does not rise above its null");
  fields.add("weight", {head, shift}, "1", "mean attention weight at that offset", re_aiming.weight).undefined(beyond);
  fields
      .add("followed", {head, shift}, "1",
           "mean weight u tokens further on, over the weight at the offset of the model as it is", re_aiming.followed)
      .undefined(beyond);
  fields.add("follows", {head}, "1", "share of the shifts that move the offset by exactly -u", re_aiming.follows)
      .undefined(no_offset);
  fields.add("slope", {head}, "1", "moved offset per token of shift, -1: position is all that is read", re_aiming.slope)
      .undefined("the head has no offset to be moved, or no shift moves it by 0 to 2 u");
  fields
      .add("fitted", {head}, "1", "shifts that the slope is fitted to: those that move the offset by 0 to 2 u",
           re_aiming.fitted)
      .undefined(no_offset);
  return fields.taken();
}

std::vector<Index> shifts_to(Index furthest) {
  std::vector<Index> shifts;
  for (Index u = -furthest; u <= furthest; ++u)
    if (u != 0) shifts.push_back(u);
  return shifts;
}

Result result_of(const ReAiming& re_aiming, const JobInput& input, const ReAimingOptions& options, std::uint64_t seed) {
  Result result{
      fmt::format("headwave: {} with the keys of {} heads re-aimed", input.model.family, re_aiming.heads.size()),
      describe(re_aiming), input.source->provenance()};
  result.provenance.insert(input.provenance.begin(), input.provenance.end());
  result.provenance["model_family"] = input.model.family;
  result.provenance["reach"] = static_cast<std::int64_t>(options.reach);
  result.provenance["level"] = options.level;
  result.provenance["seed"] = static_cast<std::int64_t>(seed);
  return result;
}

}  // namespace headwave
