#include <nanobind/stl/tuple.h>

#include "../core/attention/position_term.h"
#include "../core/errors/error.h"
#include "../data/models/model_directory.h"
#include "../data/models/model_map.h"
#include "../data/sources/stored_states.h"
#include "memory.h"
#include "waiting.h"

namespace headwave::python {

namespace {

/// Queries or keys after the rotary positions of a model.
nb::object turned(const ModelMap& map, const Rows32& rows) {
  Matrix32 turned = matrix_of(rows);
  RotaryTerm(map.stack.positions.rotary).turn(turned, map.stack.block.d_head);
  return owned(std::move(turned), {static_cast<std::size_t>(rows->shape(0)), static_cast<std::size_t>(rows->shape(1))});
}

/// Whether each position adds its own vector to the words. If so, it matters at which position a document begins.
bool has_table(const PositionMap& positions) {
  return positions.has_table() || positions.kind == PositionKind::sinusoids;
}

bool adds_to_scores(const ModelMap& map) {
  const PositionKind kind = map.stack.positions.kind;
  return kind == PositionKind::linear_bias || kind == PositionKind::buckets || kind == PositionKind::disentangled;
}

/// Whether projected queries and keys do not determine the weights: they are normalised or projected from compressed
/// states, scores are capped, heads have sinks, attention is divided into chunks, or layers differ.
bool only_states(const ModelMap& map) {
  const StackMap& stack = map.stack;
  return !stack.query_norm.empty() || !stack.key_norm.empty() || stack.block.soft_cap > 0 || !stack.latent.empty() ||
         !stack.sinks.empty() || stack.unit_head_norm || stack.block.chunk > 0 || !stack.others.layers.empty();
}

}  // namespace

void add_capture(nb::module_& module) {
  nb::class_<ModelMap>(module, "ModelMap", "A model's description, and which modules make its queries and keys.")
      .def_ro("family", &ModelMap::family)
      .def_prop_ro("layers", [](const ModelMap& map) { return map.stack.layers; })
      .def_prop_ro("d_model", [](const ModelMap& map) { return map.stack.d_model; })
      .def_prop_ro("heads", [](const ModelMap& map) { return map.stack.block.heads; })
      .def_prop_ro("kv_heads", [](const ModelMap& map) { return map.stack.block.kv_heads; })
      .def_prop_ro("d_head", [](const ModelMap& map) { return map.stack.block.d_head; })
      .def_prop_ro("causal", [](const ModelMap& map) { return map.stack.block.causal; })
      .def_prop_ro("score_scale", [](const ModelMap& map) { return map.stack.block.score_scale; })
      .def_prop_ro("window", [](const ModelMap& map) { return map.stack.block.window; })
      .def_prop_ro("longest", [](const ModelMap& map) { return map.longest; })
      .def_prop_ro("pairs", [](const ModelMap& map) { return map.decoder.has_value(); })
      .def_prop_ro("rotary", [](const ModelMap& map) { return map.stack.positions.kind == PositionKind::rotary; })
      .def_prop_ro("has_table", [](const ModelMap& map) { return has_table(map.stack.positions); })
      .def_prop_ro("first_row", [](const ModelMap& map) { return map.stack.positions.first_row; })
      .def_prop_ro("adds_to_scores", &adds_to_scores)
      .def_prop_ro("only_states", &only_states)
      .def_prop_ro("query",
                   [](const ModelMap& map) {  // the projection that reads the hidden state
                     const StackMap& stack = map.stack;
                     return stack.latent.query.empty() ? stack.self.query.weight : stack.latent.query.weight;
                   })
      .def_prop_ro("key", [](const ModelMap& map) { return map.stack.self.key.weight; })
      .def_prop_ro("fused", [](const ModelMap& map) { return map.stack.self.fusion == Fusion::qkv; })
      .def_prop_ro("fused_by_head", [](const ModelMap& map) { return map.stack.self.fusion == Fusion::qkv_by_head; })
      .def("turned", &turned, nb::arg("rows"),
           "Turns queries or keys, (T, heads * d_head), by the model's rotary positions.");
  module.def("model_map",
             nb::overload_cast<const std::string&, const std::string&, const std::vector<std::string>&>(&model_map),
             nb::arg("config"), nb::arg("called"), nb::arg("tensors"),
             "Describes a model by its config and the names of its tensors.");
  module.attr("stored_states_title") = stored_states_title;
}

}  // namespace headwave::python
