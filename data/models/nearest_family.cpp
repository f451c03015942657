#include "nearest_family.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../arrays/safetensors.h"
#include "../files/printable.h"
#include "config_arithmetic.h"
#include "model_family.h"
#include "name_likeness.h"

namespace headwave {

namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += fmt::format("{}'{}'", list.empty() ? "" : ", ", printable(name, 80));
  return list;
}

/// A family that reads the config, and what its map finds.
struct Fit {
  ModelCheck check;
  ModelConfig read_as;
};

using Checked = std::function<ModelCheck(ModelMap)>;

/// @throws FormatError if the family does not read the config
Fit fit_of(const ModelConfig& config, const std::string& family, const Checkpoint& checkpoint, const Checked& checked) {
  const ModelConfig as = config.as(family);
  ModelCheck check = checked(family_map(as, [&](const std::string& tensor) { return checkpoint.has(tensor); }));
  return {std::move(check), as};
}

/// Whether a map reads half of the tensors or more, what predicts left aside: a map of few tensors leaves few problems in any
/// checkpoint.
bool reads_half(const Fit& fit, const Checkpoint& checkpoint) {
  const auto of_heads = [](const std::vector<std::string>& names) {
    return std::ranges::count_if(names, is_of_a_head);
  };
  const std::vector<std::string>& names = checkpoint.names();
  const auto unread = std::ssize(fit.check.unused) - of_heads(fit.check.unused);
  return 2 * unread <= std::ssize(names) - of_heads(names);
}

/// Of the families that read the config and half of the tensors the one with the fewest problems.
std::optional<Fit> best_fit(const ModelConfig& config, const Checkpoint& checkpoint, const Checked& checked) {
  std::vector<std::string> known = known_families();
  // Of those that tensors do not tell apart the plainest is proposed: what the others add stands in config.json.
  std::ranges::stable_partition(known, [](const std::string& name) { return name != "gemma" && name != "granite"; });
  std::optional<Fit> best;
  for (const std::string& name : known) {
    try {
      Fit fit = fit_of(config, name, checkpoint, checked);
      if (!reads_half(fit, checkpoint)) continue;
      if (!best || fit.check.problems.size() < best->check.problems.size()) best.emplace(std::move(fit));
    } catch (const FormatError&) {
      continue;  // its settings are not these
    }
  }
  return best;
}

/// What of the config may change the numbers and is not read; empty: nothing.
std::string unread_part(const ModelConfig& read_as) {
  const std::vector<std::string> unread = unread_arithmetic(read_as);
  return unread.empty() ? "" : fmt::format("{} may change its numbers in a way that is not known here", listed(unread));
}

/// Why the map of a family that fits would compute something else; empty: it would not.
std::string other_arithmetic(const std::string& type, const Fit& fit) {
  if (std::string silent = silent_arithmetic(type); !silent.empty()) return silent;
  if (std::string unread = unread_part(fit.read_as); !unread.empty()) return unread;
  std::vector<std::string> unused = fit.check.unused;
  std::erase_if(unused, [](const std::string& name) { return is_of_a_head(name); });
  return unused.empty() ? "" : fmt::format("that does not read the tensors {}", listed(unused));
}

/// Why the nearest family is not the one: its first problem, or what of the config it refuses; then what it would not read.
std::string obstacle(const ModelConfig& config, const NameLikeness& near, const Checkpoint& checkpoint,
                     const Checked& checked) {
  std::string first, unread;
  try {
    const Fit fit = fit_of(config, near.family, checkpoint, checked);
    const std::size_t problems = fit.check.problems.size();
    first = problems > 0 ? fit.check.problems.front() : "its map is not half of what is there";
    if (problems > 1) first += fmt::format(" (and {} more like it)", problems - 1);
    unread = unread_part(fit.read_as);
  } catch (const FormatError& refused) {
    // A message about a config begins with its place, as the one does that this becomes part of.
    const std::string place = config.place() + ": ";
    first = refused.what();
    if (first.starts_with(place)) first = first.substr(place.size());
    unread = unread_part(config.as(near.family, near.keys));  // which it would have read, but for that
  }
  return first + (unread.empty() ? "" : "; " + unread);
}

/// @throws FormatError always: no family reads the config, or none finds its tensors
[[noreturn]] void refuse_stranger(const ModelConfig& config, const Checkpoint& checkpoint, const Checked& checked) {
  const NameLikeness near = nearest_by_names(checkpoint.names());
  const std::string nearest =
      near.family.empty() || 2 * near.shared < near.own
          ? "no known family has tensors of such names"
          : fmt::format("by the names of its tensors {} comes nearest ({} of {} are there), but {}", near.family,
                        near.shared, near.own, obstacle(config, near, checkpoint, checked));
  config.fail(
      fmt::format("model type '{}' is not known; {}: no map is proposed (docs/model-map.md tells how to write one)",
                  printable(config.family(), 60), nearest));
}

}  // namespace

ModelCheck nearest_family(const ModelConfig& config, const Checkpoint& checkpoint,
                          const std::function<ModelCheck(ModelMap)>& checked) {
  const std::string type = config.family();
  require_floating_point(config);
  std::optional<Fit> best = best_fit(config, checkpoint, checked);
  if (!best || 2 * best->check.problems.size() > checkpoint.names().size())
    refuse_stranger(config, checkpoint, checked);
  ModelCheck& check = best->check;
  if (const std::string why = other_arithmetic(type, *best); !why.empty())
    config.fail(
        fmt::format("model type '{}' is not known; it looks like a {}, but {}: its attention would be wrong, so no "
                    "map is proposed (docs/model-map.md)",
                    printable(type, 60), check.map.family, why));
  check.proposed = true;
  check.map.reason = fmt::format("config.json says '{}', which is not known; of the known families {} fits best", type,
                                 check.map.family);
  return std::move(check);
}

}  // namespace headwave
