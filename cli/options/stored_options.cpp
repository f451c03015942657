#include "stored_options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "values.h"

namespace headwave::cli {

namespace {

std::string unknown_axes(const std::string& text) {
  if (array_axes(text)) return {};
  return fmt::format("'{}': expected {}", text, expected_axes);
}

}  // namespace

StoredOptionsGiven add_stored_options(CLI::App& command, StoredOptions& options) {
  StoredOptionsGiven added{};
  const char* group = "Stored states";
  added.head_count =
      command.add_option("--head-count", options.states.heads, "heads, where neither file nor model says")
          ->check(whole_number(1, 100000))
          ->type_name("N")
          ->group(group);
  added.layer = command
                    .add_option("--layer", options.states.layer,
                                "the layer that states enter, where nothing in the file says it; else 0")
                    ->check(whole_number(0, 1023))
                    ->type_name("N")
                    ->group(group);
  added.dataset =
      command
          .add_option("--dataset", options.states.dataset,
                      "where the states are, or finished attention; {layer} stands for the layer's number, {document} "
                      "for any text")
          ->type_name("NAME")
          ->group(group);
  added.axes =
      command
          .add_option("--axes", options.axes,
                      "the dataset's axes in their order: layer,document,token,width, or of finished attention "
                      "layer,document,head,query,key; else as their number says")
          ->check(CLI::Validator(unknown_axes, "", "axes"))
          ->type_name("AXES")
          ->group(group);
  added.states_map = command
                         .add_option("--states-map", options.states.map,
                                     "TOML file that says which arrays are states, queries, keys, attention, ids, ... "
                                     "(docs/stored-states.md)")
                         ->type_name("FILE")
                         ->group(group);
  added.apply_norm = command
                         .add_flag("--apply-norm", options.states.apply_norm,
                                   "states are raw residual ones: put the model's norm before attention on them")
                         ->group(group);
  added.any_states = command
                         .add_flag("--any-states", options.states.any_states,
                                   "states were changed on purpose: take also such as no norm of the model gives")
                         ->group(group);
  added.axes->needs(added.dataset);
  added.dataset->excludes(added.states_map);
  return added;
}

StoredOptionsGiven refuse_stored_options(CLI::App& command, const std::string& why) {
  const auto refused = [&](const char* name) {
    return refused_option(command, name, "applies to stored states; " + why);
  };
  return {refused("--head-count"), refused("--layer"),      refused("--dataset"),   refused("--axes"),
          refused("--states-map"), refused("--apply-norm"), refused("--any-states")};
}

StoredStatesOptions stored_of(const StoredOptions& options) {
  StoredStatesOptions states = options.states;
  if (!options.axes.empty()) states.axes = array_axes(options.axes).value();
  return states;
}

}  // namespace headwave::cli
