#include "comparison_provenance.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"

namespace headwave {

namespace {

using Names = std::set<std::string_view>;

/// Of every run its own, and the numbers do not depend on them.
const Names of_the_moment{"command",      "started",  "wall_time_s", "threads",
                          "job",          "NX_class", "processor",   "resumed_after_documents",
                          "merged_parts", "ranks",    "run_sha256"};
const Names about_program{"version", "commit", "compiler", "libraries", "instruction_set"};
const Names about_model{"model",         "model_sha256",  "model_family", "layers",      "heads",
                        "kv_heads",      "d_model",       "d_head",       "attention",   "position_term",
                        "hidden_states", "stored_layers", "score_scale",  "intervention"};
const Names about_text{"source", "documents", "length", "special_tokens", "tokenizer", "tokenizer_sha256", "encoding"};

std::string shown(const Attributes& attributes, const std::string& name) {
  const auto found = attributes.find(name);
  if (found == attributes.end()) return "none";
  return std::visit(
      [](const auto& value) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::vector<double>>)
          return fmt::format("{}", fmt::join(value, " "));
        else
          return fmt::format("{}", value);
      },
      found->second);
}

std::string about(const std::string& name) {
  if (about_program.contains(name)) return "program";
  if (about_model.contains(name) || name.starts_with("model") || name.starts_with("interven") ||
      name.starts_with("captured_"))
    return "model";
  if (about_text.contains(name) || name.starts_with("source") || name.starts_with("target_")) return "text";
  return "options";
}

template <class Numbers>
void require_same(const char* what, const Numbers& first, const Numbers& second,
                  const std::vector<std::string>& names) {
  if (first != second)
    throw ShapeError(
        fmt::format("{} and {} cannot be compared: {} {} against {}", names[0], names[1], what, first, second));
}

/// "-64 .. 64 (129)"
std::string span_of(const Axis& axis) {
  return std::visit(
      [](const auto& values) {
        return values.empty() ? std::string("none")
                              : fmt::format("{} .. {} ({})", values.front(), values.back(), values.size());
      },
      axis.values);
}

}  // namespace

std::vector<ProvenanceChange> provenance_changes(const Attributes& first, const Attributes& second) {
  std::set<std::string> names;
  for (const Attributes* attributes : {&first, &second})
    for (const auto& [name, value] : *attributes)
      if (!of_the_moment.contains(name)) names.insert(name);
  std::vector<ProvenanceChange> changes;
  for (const char* group : {"model", "text", "options", "program"})
    for (const std::string& name : names) {
      const std::string one = shown(first, name), other = shown(second, name);
      if (about(name) == group && one != other) changes.push_back({group, name, one, other});
    }
  return changes;
}

namespace {

/// Whether the documents are what stands in files, whatever the seed.
bool comes_from_files(const Attributes& provenance) {
  const std::string source = attribute_text(provenance, "source");
  return source == "text" || source == "images" || source == "sound";
}

}  // namespace

bool same_documents(const Result& first, const Result& second) {
  const Field *lengths = first.find("offset_trace/length"), *others = second.find("offset_trace/length");
  if (lengths == nullptr || others == nullptr || lengths->values != others->values) return false;
  if (!first.provenance.contains("source")) return false;
  for (const auto* of : {&first.provenance, &second.provenance})
    if (!comes_from_files(*of) && !of->contains("seed")) return false;
  std::vector<ProvenanceChange> changes = provenance_changes(first.provenance, second.provenance);
  // Documents of a seed are the same only of one seed; of a text, whatever the seed.
  const bool text = comes_from_files(first.provenance);
  return std::none_of(changes.begin(), changes.end(), [&](const ProvenanceChange& change) {
    return (change.about == "text" && change.name != "source_file" && change.name != "target_file") ||
           (!text && change.name == "seed");
  });
}

void require_comparable(const Result& first, const Result& second, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < 2; ++i)
    if ((i == 0 ? first : second).find("measured_offset/offset") == nullptr)
      throw ShapeError(
          fmt::format("{}: expected a result with measured offsets, found none; compare results of "
                      "`headwave run`",
                      names[i]));
  require_same("attention is", attribute_text(first.provenance, "attention", "self"),
               attribute_text(second.provenance, "attention", "self"), names);
  const auto axes_of = [&](const char* name, const char* axis, const char* what) {
    const Field *one = first.find(name), *other = second.find(name);
    if (one == nullptr || other == nullptr) return;
    require_same(what, span_of(one->axis(axis)), span_of(other->axis(axis)), names);
    if (one->axis(axis).values != other->axis(axis).values)
      throw ShapeError(fmt::format("{} and {} cannot be compared: {} are not the same", names[0], names[1], what));
  };
  axes_of("measured_offset/offset", "layer", "layers");
  axes_of("measured_offset/offset", "head", "heads");
  axes_of("measured_offset/offset", "pairs", "pairs");
  axes_of("offset_trace/by_document", "near_offset", "reach, offsets");
  const Attribute *reach = nullptr, *other = nullptr;
  for (const auto& [of, to] : {std::pair{&first, &reach}, std::pair{&second, &other}})
    if (const auto found = of->provenance.find("reach"); found != of->provenance.end()) *to = &found->second;
  if (reach != nullptr && other != nullptr)
    require_same("reach is", shown(first.provenance, "reach"), shown(second.provenance, "reach"), names);
}

}  // namespace headwave
