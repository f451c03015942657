#include "checkpoint_sweep.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../../core/fields/fields.h"
#include "../../core/fields/head_name.h"

namespace headwave {

namespace {

constexpr const char* group_prefix = "checkpoints_";
constexpr double not_found = std::numeric_limits<double>::quiet_NaN();

bool is_named(const Axis& axis) {
  return std::holds_alternative<std::vector<std::string>>(axis.values);
}

/// Whether a Field is about single heads, and no curve.
bool is_of_heads(const Field& field) {
  if (std::holds_alternative<std::vector<std::string>>(field.values)) return false;
  const auto has = [&](const char* name) { return std::ranges::count(field.axes, name, &Axis::name) == 1; };
  return has("layer") && has("head") && std::ranges::all_of(field.axes, [](const Axis& axis) {
           return axis.name == "layer" || axis.name == "head" || is_named(axis);
         });
}

bool has_same_axes(const Field& one, const Field& other) {
  return std::ranges::equal(one.axes, other.axes, [](const Axis& a, const Axis& b) {
    return a.name == b.name && a.unit == b.unit && a.values == b.values;
  });
}

bool is_like(const Field& one, const Field* other) {
  return other != nullptr && has_same_axes(one, *other) && one.values.index() == other->values.index() &&
         one.unit == other->unit && one.flag_meanings == other->flag_meanings;
}

void keep_common(Attributes& common, const Attributes& next) {
  std::erase_if(common, [&](const auto& said) {
    const auto found = next.find(said.first);
    return found == next.end() || found->second != said.second;
  });
}

/// Puts the values of the next checkpoint behind those that came; NaN where it has none.
void append_values(Field& field, const Field* next) {
  std::visit(
      [&]<class Values>(Values& values) {
        if (next != nullptr) {
          const auto& more = std::get<Values>(next->values);
          values.insert(values.end(), more.begin(), more.end());
        } else if constexpr (std::is_same_v<Values, std::vector<double>>) {
          values.resize(values.size() + static_cast<std::size_t>(field.size()), not_found);
        }
      },
      field.values);
}

/// Layers and heads of a result, as its measured offsets have them.
std::vector<Axis> layers_and_heads(const Result& result) {
  const Field& offset = result.at("measured_offset/offset");
  return {offset.axis("layer"), offset.axis("head")};
}

std::string heads_text(const std::vector<Axis>& heads) {
  return fmt::format("{} layers of {} heads", heads[0].size(), heads[1].size());
}

/// What checkpoints of one model have in common.
struct Likeness {
  std::string name;  ///< of the checkpoint
  std::string family;
  std::vector<Axis> heads;  ///< layers and heads
};

void require_alike(const Likeness& first, const Likeness& next) {
  if (first.heads[0].values != next.heads[0].values || first.heads[1].values != next.heads[1].values)
    throw ShapeError(fmt::format("{}: {}, but {} has {}; expected checkpoints of one model", next.name,
                                 heads_text(next.heads), first.name, heads_text(first.heads)));
  if (first.family != next.family)
    throw ShapeError(fmt::format("{}: a {}, but {} is a {}; expected checkpoints of one model", next.name, next.family,
                                 first.name, first.family));
}

Likeness likeness_of(const std::string& name, const ModelMap& map, const StackMap& stack) {
  return {name, map.family, {layer_axis(stack.layers), head_axis(stack.block.heads)}};
}

/// Entries of one checkpoint in a Field of all.
std::size_t entries_of_one(const Field& field) {
  return static_cast<std::size_t>(field.size() / field.axes.front().size());
}

/// Counts, checkpoint by checkpoint, how many heads have each of the first so many flags.
std::vector<std::int64_t> counted_flags(const Field& flags, std::size_t kinds) {
  const auto& values = std::get<std::vector<std::uint8_t>>(flags.values);
  const std::size_t heads = entries_of_one(flags);
  std::vector<std::int64_t> counts(values.size() / heads * kinds);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] < kinds) ++counts[i / heads * kinds + values[i]];
  return counts;
}

/// For each of so many heads the first checkpoint from which on something holds; NaN where it does not at the
/// last.
/// @param holds  of a checkpoint and a head
template <class Holds>
std::vector<double> since(std::size_t checkpoints, std::size_t heads, const Holds& holds) {
  std::vector<double> first(heads, not_found);
  for (std::size_t head = 0; head < heads; ++head)
    for (std::size_t c = checkpoints; c > 0 && holds(c - 1, head); --c) first[head] = static_cast<double>(c - 1);
  return first;
}

/// What is said of measured offsets; pairs are the outermost axis of theirs behind the checkpoints, all of
/// them first.
void describe_offsets(Fields& fields, const Result& result, const std::vector<Axis>& heads) {
  const Field* status = result.find("checkpoints_measured_offset/status");
  const Field* offset = result.find("checkpoints_measured_offset/offset");
  if (status == nullptr || offset == nullptr) return;
  const auto& flags = std::get<std::vector<std::uint8_t>>(status->values);
  const auto& offsets = offset->doubles();
  const Axis& checkpoint = status->axes.front();
  const auto count = static_cast<std::size_t>(checkpoint.size()),
             rows = static_cast<std::size_t>(heads[0].size() * heads[1].size());
  const std::size_t step = entries_of_one(*status);
  std::vector<std::int64_t> found(count);
  for (std::size_t c = 0; c < count; ++c)
    found[c] = std::ranges::count(flags.begin() + static_cast<std::ptrdiff_t>(c * step),
                                  flags.begin() + static_cast<std::ptrdiff_t>(c * step + rows), std::uint8_t{0});
  fields.add("with_offset", {checkpoint}, "1", "heads whose measured offset stands out from shuffled positions", found)
      .note("heads", static_cast<std::int64_t>(rows));
  const std::size_t last = (count - 1) * step;
  fields
      .add("offset_since", heads, "1",
           "checkpoint, counted from 0, from which on the measured offset is that of the last one",
           since(count, rows,
                 [&](std::size_t c, std::size_t head) { return offsets[c * step + head] == offsets[last + head]; }))
      .undefined("the last checkpoint's head has no measured offset");
}

void describe_verdicts(Fields& fields, const Result& result, const std::vector<Axis>& heads) {
  const Field* verdict = result.find("checkpoints_head_account/verdict");
  if (verdict == nullptr || verdict->flag_meanings.empty()) return;
  const Axis& checkpoint = verdict->axes.front();
  const auto& flags = std::get<std::vector<std::uint8_t>>(verdict->values);
  std::vector<std::string> said = verdict->flag_meanings;
  // Nearly no head is undefined, those of one document alone: a count of none is left out.
  if (said.back() == "undefined" && std::ranges::count(flags, said.size() - 1) == 0) said.pop_back();
  const std::vector<std::int64_t> counts = counted_flags(*verdict, said.size());
  fields.add("verdicts", {checkpoint, Axis{"verdict", "1", "what the account says of a head", std::move(said)}}, "1",
             "heads of which the account says so", counts);
  const std::size_t rows = entries_of_one(*verdict);
  const auto positional = static_cast<std::size_t>(std::ranges::find(verdict->flag_meanings, "positional") -
                                                   verdict->flag_meanings.begin());
  fields
      .add("positional_since", heads, "1",
           "checkpoint, counted from 0, from which on the account says that the head is positional",
           since(static_cast<std::size_t>(checkpoint.size()), rows,
                 [&](std::size_t c, std::size_t head) { return flags[c * rows + head] == positional; }))
      .undefined("the last checkpoint's head is not called positional");
}

}  // namespace

double step_of(const std::string& name) {
  std::size_t begin = name.size();
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(name[begin - 1])) != 0) --begin;
  // 2^53: whatever is longer is a date or a hash.
  return begin < name.size() && name.size() - begin <= 15 ? std::stod(name.substr(begin)) : not_found;
}

std::vector<TrainingCheckpoint> training_checkpoints(const std::vector<std::filesystem::path>& models) {
  std::vector<TrainingCheckpoint> checkpoints;
  std::set<std::string> names;
  for (const std::filesystem::path& model : models) {
    const std::string name = (model / "").lexically_normal().parent_path().filename().string();
    if (name.empty() || name == "." || name == ".." || !names.insert(name).second)
      throw ShapeError(fmt::format("'{}': checkpoints are told apart by the names of their folders; expected each once",
                                   model.string()));
    checkpoints.push_back({name, model});
  }
  const auto step = [](const TrainingCheckpoint& checkpoint) { return step_of(checkpoint.name); };
  if (std::ranges::none_of(
          checkpoints, [](double number) { return std::isnan(number); }, step))
    std::ranges::stable_sort(checkpoints, {}, step);
  return checkpoints;
}

void require_one_model(const std::vector<std::pair<std::string, ModelPlace>>& models) {
  if (models.empty()) return;
  const auto& [first_name, first_place] = models.front();
  const ModelMap first = model_map(first_place);
  for (const auto& [name, place] : models) {
    const ModelMap next = model_map(place);
    require_alike(likeness_of(first_name, first, first.stack), likeness_of(name, next, next.stack));
    require_alike(likeness_of(first_name, first, first.decoder.value_or(first.stack)),
                  likeness_of(name, next, next.decoder.value_or(next.stack)));
  }
}

CheckpointSweep::CheckpointSweep(std::vector<std::string> names) : names_(std::move(names)) {}

void CheckpointSweep::add(const Result& result) {
  if (came_ == names_.size())
    throw ShapeError(fmt::format("checkpoints: a result more than the {} that there are", names_.size()));
  if (came_ == 0) {
    for (const Field& field : result.fields)
      if (is_of_heads(field)) fields_.push_back(field);
    common_ = result.provenance;
    ++came_;
    return;
  }
  require_alike({names_.front(), attribute_text(common_, "model_family"), layers_and_heads({"", fields_, {}})},
                {names_[came_], attribute_text(result.provenance, "model_family"), layers_and_heads(result)});
  std::erase_if(fields_, [&](Field& field) {
    const Field* found = result.find(field.name);
    const bool is_there = is_like(field, found);
    if (!is_there && !std::holds_alternative<std::vector<double>>(field.values)) {
      left_out_.push_back(field.name);
      return true;
    }
    append_values(field, is_there ? found : nullptr);
    if (is_there)
      keep_common(field.attributes, found->attributes);
    else
      field.attributes["undefined"] = fmt::format("not found of {}, for one", names_[came_]);
    return false;
  });
  keep_common(common_, result.provenance);
  ++came_;
}

Result CheckpointSweep::taken() {
  if (came_ == 0 || came_ != names_.size())
    throw ShapeError(fmt::format("checkpoints: {} results, expected {}", came_, names_.size()));
  Result result;
  const Axis checkpoint{"checkpoint", "1", "checkpoint of the training run, in its order", names_};
  const std::vector<Axis> heads = layers_and_heads({"", fields_, {}});
  std::vector<Field> all;
  for (Field& field : fields_) {
    field.name = group_prefix + field.name;
    field.axes.insert(field.axes.begin(), checkpoint);
    all.push_back(std::move(field));
  }
  fields_.clear();
  result.fields = std::move(all);
  Fields own("checkpoints");
  std::vector<double> steps;
  for (const std::string& name : names_) steps.push_back(step_of(name));
  own.add("step", {checkpoint}, "1", "step of training", steps).undefined_if_any("the name ends in no number");
  describe_offsets(own, result, heads);
  describe_verdicts(own, result, heads);
  std::vector<Field> fields = own.taken();
  append(fields, std::move(result.fields));
  result.fields = std::move(fields);
  result.title = fmt::format("headwave: {} checkpoints of a {} with {}", names_.size(),
                             attribute_text(common_, "model_family", "model"), heads_text(heads));
  result.provenance = std::move(common_);
  result.provenance.erase("run_sha256");  // of one run, also where all checkpoints are alike
  result.provenance["checkpoints"] = static_cast<std::int64_t>(names_.size());
  if (!left_out_.empty()) result.provenance["left_out"] = fmt::format("{}", fmt::join(left_out_, ", "));
  return result;
}

}  // namespace headwave
