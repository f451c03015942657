#include "input_rules.h"

#include <algorithm>

namespace headwave {

namespace {

/// Reasons that several rules share.
namespace why {

constexpr auto summed = "does not apply to {}, which hold sums over documents that have already run",
               stored = "does not apply to {}: stored documents are read as they are", only = "applies to {} only",
               norm = "uses a norm of the model; give {} too", reads = "needs {}, which reads it",
               twice = "cannot be combined with {}: each gives the documents; keep one of them",
               written = "belongs to a text, but {} is not a text; give a text, or omit it";

}  // namespace why

using Rule = InputRule::Kind;

constexpr InputRule input_rule_table[]{
    {"text", Rule::replaces, "random_tokens", why::twice},
    {"text", Rule::replaces, "ids", why::twice},
    {"text", Rule::replaces, "states", why::twice},
    {"text", Rule::replaces, "profiles", why::twice},
    {"random_tokens", Rule::replaces, "ids", why::twice},
    {"random_tokens", Rule::replaces, "states", why::twice},
    {"random_tokens", Rule::replaces, "profiles", why::twice},
    {"ids", Rule::replaces, "states", why::twice},
    {"ids", Rule::replaces, "profiles", why::twice},
    {"states", Rule::replaces, "profiles", why::twice},
    {"target", Rule::replaces, "random_tokens", why::written},
    {"target", Rule::replaces, "ids", why::written},
    {"target", Rule::replaces, "states", why::written},
    {"target", Rule::replaces, "profiles", why::written},
    {"model", Rule::replaces, "profiles",
     "does not apply to {}, which name the model that they were summed in; omit it"},
    {"map", Rule::replaces, "profiles", why::summed},
    {"text", Rule::needs, "model", why::reads},
    {"ids", Rule::needs, "model", why::reads},
    {"random_tokens", Rule::needs, "model", why::reads},
    {"map", Rule::needs, "model", "describes the tensors of {}; give that too"},
    {"layers", Rule::has_no_place, "profiles", why::summed},
    {"layers", Rule::has_no_place, "states", "does not apply to {}: the stored layers are read"},
    {"weights", Rule::has_no_place, "profiles", why::summed},
    {"target", Rule::needs, "text", "holds the outputs for the documents of {}; give that too"},
    {"documents", Rule::has_no_place, "profiles", why::summed},
    {"length", Rule::has_no_place, "profiles", why::summed},
    {"length", Rule::has_no_place, "target", "does not apply to {}: each line is one document"},
    {"length", Rule::has_no_place, "random_tokens", "does not apply to {}, which states the length"},
    {"length", Rule::has_no_place, "states", why::stored},
    {"no_special_tokens", Rule::has_no_place, "profiles", why::summed},
    {"no_special_tokens", Rule::has_no_place, "ids", "does not apply to {}: ids get no special tokens"},
    {"no_special_tokens", Rule::has_no_place, "states", why::stored},
    {"allow_unknown", Rule::needs, "text", why::only},
    {"head_count", Rule::needs, "states", "applies to {} only; a model says how many heads there are"},
    {"head_count", Rule::has_no_place, "model", "does not apply with {}, which says how many heads there are"},
    {"layer", Rule::needs, "states", why::only},
    {"dataset", Rule::needs, "states", why::only},
    {"axes", Rule::needs, "states", why::only},
    {"axes", Rule::needs, "dataset", "says the axes of {}; give that too"},
    {"apply_norm", Rule::needs, "states", why::only},
    {"apply_norm", Rule::needs, "model", why::norm},
    {"any_states", Rule::needs, "states", why::only},
    {"any_states", Rule::needs, "model", why::norm},
    {"intervene", Rule::has_no_place, "profiles", why::summed},
    {"intervene", Rule::has_no_place, "states",
     "does not apply to {}: the stored values already depend on words and positions"},
    {"shuffles", Rule::needs, "shuffled_words", why::only},
};

}  // namespace

std::span<const InputRule> input_rules() {
  return input_rule_table;
}

const InputRule* broken_input_rule(const std::set<std::string>& given) {
  const auto* broken = std::ranges::find_if(input_rule_table, [&](const InputRule& rule) {
    return given.contains(rule.option) && given.contains(rule.other) != (rule.kind == Rule::needs);
  });
  return broken == std::end(input_rule_table) ? nullptr : broken;
}

}  // namespace headwave
