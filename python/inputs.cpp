#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <nanobind/stl/tuple.h>

#include "../core/errors/error.h"
#include "../core/model/source.h"
#include "../data/arrays/safetensors.h"
#include "../data/models/model_directory.h"
#include "../data/sources/distinct_documents.h"
#include "../data/sources/named_arrays.h"
#include "../data/sources/text_documents.h"
#include "../job/inputs/identity.h"
#include "../job/inputs/input_rules.h"
#include "../job/inputs/intervention_text.h"
#include "../job/inputs/job_input.h"
#include "../job/inputs/run_input.h"
#include "memory.h"
#include "options.h"
#include "waiting.h"

namespace headwave::python {

namespace {

namespace fs = std::filesystem;

/// Where text is: a path, or (name, text) in memory.
TextPlace place_of(const nb::object& given) {
  if (!nb::isinstance<nb::tuple>(given)) return nb::cast<fs::path>(given);
  auto [name, text] = nb::cast<std::pair<std::string, std::string>>(given);
  return {name, std::make_shared<const std::string>(std::move(text))};
}

/// What an argument was read as. Throws FormatError if it could not be read.
template <class Known>
Known known_of(const std::optional<Known>& said, const char* name, const std::string& text, const char* expected) {
  if (!said) throw FormatError(fmt::format("{}='{}': expected {}", name, text, expected));
  return *said;
}

/// Arrays that a Python object, headwave.arrays.NamedArrays, returns block by block.
class CalledArrays : public NamedArrays {
 public:
  explicit CalledArrays(nb::object arrays) : NamedArrays(nb::cast<std::string>(arrays.attr("called"))) {
    using Described = std::tuple<std::string, std::string, std::vector<Index>>;
    for (auto& [name, type, shape] : nb::cast<std::vector<Described>>(arrays.attr("entries")))
      add(name, std::move(type), std::move(shape));
    arrays_ = kept(std::move(arrays));
  }

  [[nodiscard]] std::vector<std::string> texts(const std::string& name) const override {
    const nb::gil_scoped_acquire held;
    return nb::cast<std::vector<std::string>>(python().attr("texts")(name));
  }

 private:
  [[nodiscard]] std::vector<float> read(const std::string& name, const ArrayBlock& block) const override {
    const nb::gil_scoped_acquire held;
    const auto read = nb::cast<nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(
        python().attr("block")(name, block.first, block.count));
    if (read.size() != entries_of(block))
      throw FormatError(
          fmt::format("{}: a block holds {} numbers, expected {}", called(name), read.size(), entries_of(block)));
    return {read.data(), read.data() + read.size()};
  }
  [[nodiscard]] std::optional<double> attribute(const std::string& name) const override {
    const nb::gil_scoped_acquire held;
    return nb::cast<std::optional<double>>(python().attr("number")(name));
  }
  [[nodiscard]] nb::handle python() const { return static_cast<PyObject*>(const_cast<void*>(arrays_.get())); }

  std::shared_ptr<const void> arrays_;
};

/// Where states are: a path, or arrays that Python reads.
ArraysPlace arrays_at(const nb::object& given) {
  if (nb::hasattr(given, "entries"))
    return std::shared_ptr<const NamedArrays>(std::make_shared<const CalledArrays>(given));
  return nb::cast<fs::path>(given);
}

std::shared_ptr<const Checkpoint> checkpoint_of(const std::string& called, const nb::list& given) {
  std::vector<TensorInMemory> tensors;
  for (const auto& [name, dtype, shape, bytes] : nb::cast<std::vector<RawArray>>(given))
    tensors.push_back({name, dtype, {shape.begin(), shape.end()}, span_of(bytes)});
  return std::make_shared<const Checkpoint>(called, tensors, kept(given));
}

/// Documents that a Python function returns, with or without the states of a PyTorch model.
class CalledSource : public Source {
 public:
  CalledSource(std::vector<Index> lengths, nb::object document, Attributes provenance)
      : lengths_(std::move(lengths)), document_(kept(std::move(document))), provenance_(std::move(provenance)) {}
  [[nodiscard]] Index count() const override { return static_cast<Index>(lengths_.size()); }
  [[nodiscard]] Index length(Index i) const override { return lengths_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] Document document(Index i) const override { return called(i, true); }
  [[nodiscard]] Document ids_alone(Index i) const override { return called(i, false); }
  [[nodiscard]] Attributes provenance() const override { return provenance_; }

 private:
  [[nodiscard]] Document called(Index i, bool with_states) const {
    const nb::gil_scoped_acquire held;
    const nb::handle callable(static_cast<PyObject*>(const_cast<void*>(document_.get())));
    return document_of(nb::cast<nb::dict>(callable(i, with_states)));
  }

  std::vector<Index> lengths_;
  std::shared_ptr<const void> document_;
  Attributes provenance_;
};

/// Runs the job of an input.
/// @returns (kind, result) for every kind of attention
std::vector<std::pair<std::string, Result>> run(const JobInput& input, const nb::dict& given,
                                                const std::string& command, const nb::object& progress) {
  const JobOptions options = options_of(given);
  auto [found, by] =
      made(command, progress, [&](const ProgressCallback& told) { return run_input(input, options, told); });
  return named_results(std::move(found), by);
}

}  // namespace

Document document_of(const nb::dict& dict) {
  Document document;
  document.name = nb::cast<std::string>(dict["name"]);
  document.ids = nb::cast<std::vector<std::int32_t>>(dict["ids"]);
  document.tokens = nb::cast<std::vector<std::string>>(dict["tokens"]);
  document.special = nb::cast<std::vector<std::uint8_t>>(dict["special"]);
  using Layer = std::tuple<Index, Rows32, Rows32, Rows32>;
  for (const auto& [layer, states, query, key] : nb::cast<std::vector<Layer>>(dict["layers"]))
    document.stored.push_back({layer, matrix_of(states), matrix_of(query), matrix_of(key)});
  return document;
}

void add_inputs(nb::module_& module) {
  nb::class_<JobInput>(module, "Input", "A model and the documents to run through it.")
      .def_prop_ro("documents", [](const JobInput& input) { return input.source->count(); })
      .def(
          "intervene",
          [](JobInput& input, const std::vector<std::string>& what, std::uint64_t seed, Index shuffles) {
            wait_for([&] { intervene(input, what, {seed, shuffles}); });
          },
          nb::arg("what"), nb::arg("seed"), nb::arg("shuffles"), "Changes part of the model or the text.");
  nb::class_<ModelPlace>(module, "ModelPlace", "The folder of a model, and how much of it is opened.")
      .def(
          "__init__",
          [](ModelPlace* made, const fs::path& model, const fs::path& map, const std::string& layers,
             const std::string& weights) {
            ModelPlace place(model, map);
            if (!layers.empty()) place.layers = known_of(first_layers(layers), "layers", layers, expected_first_layers);
            place.weights_in = known_of(weights_in(weights), "weights", weights, "auto, memory or layers");
            new (made) ModelPlace(place);
          },
          nb::arg("model"), nb::arg("map"), nb::arg("layers"), nb::arg("weights"));
  module.def(
      "opened_input",
      [](const std::string& kind, const std::optional<ModelPlace>& model, const nb::object& value,
         const nb::object& target, const nb::dict& said) {
        const auto set = [&]<class Value>(Value& option, const char* name) { option = nb::cast<Value>(said[name]); };
        PackingOptions packing;
        set(packing.documents, "documents");
        set(packing.length, "length");
        set(packing.special_tokens, "special_tokens");
        set(packing.allow_unknown, "allow_unknown");
        if (kind == "states") {
          StoredStatesOptions options;
          set(options.dataset, "dataset");
          set(options.layer, "layer");
          set(options.heads, "heads");
          set(options.apply_norm, "apply_norm");
          set(options.any_states, "any_states");
          options.documents = packing.documents.value_or(0);
          if (const auto axes = nb::cast<std::string>(said["axes"]); !axes.empty())
            options.axes = known_of(array_axes(axes), "axes", axes, expected_axes);
          const ArraysPlace at = arrays_at(value);
          return opened(at.path.string(),
                        [&] { return model ? states_input(at, *model, options) : states_input(at, options); });
        }
        if (kind == "random_tokens") {
          const RepeatedTokensOptions options{.documents = packing.documents.value_or(usual_documents),
                                              .period = nb::cast<Index>(value),
                                              .seed = nb::cast<std::uint64_t>(said["seed"])};
          return opened("random tokens", [&] { return random_input(model.value(), options, packing.special_tokens); });
        }
        const TextPlace place = place_of(value);
        const std::optional<TextPlace> written = target.is_none() ? std::nullopt : std::optional(place_of(target));
        return opened(input_name(place), [&] {
          return kind == "ids" ? ids_input(model.value(), place, packing)
                               : text_input(model.value(), place, packing, written);
        });
      },
      nb::arg("kind"), nb::arg("model").none(), nb::arg("value"), nb::arg("target").none(), nb::arg("said"),
      "Opens a model directory with documents, or stored states.");
  module.def(
      "broken_input_rule",
      [](const std::vector<std::string>& given) -> std::optional<std::tuple<std::string, std::string, std::string>> {
        const InputRule* rule = broken_input_rule({given.begin(), given.end()});
        if (rule == nullptr) return {};
        return std::tuple(rule->option, rule->other, rule->why);
      },
      nb::arg("given"),
      "The first rule about options of an input that these options break: (option, other option, why); None: no rule.");
  module.def(
      "documents_of_ids",
      [](const nb::object& ids, std::optional<Index> documents, std::optional<Index> length, Index positions,
         Index vocabulary, std::int32_t pad, std::int32_t closes) {
        const PackingOptions packing{
            .documents = documents, .length = length, .positions = positions, .vocabulary = vocabulary};
        const auto source = distinct_documents(id_documents(place_of(ids), nullptr, packing, {pad, closes}));
        std::vector<std::pair<std::string, std::vector<std::int32_t>>> found;
        for (Index i = 0; i < source->count(); ++i) {
          Document document = source->document(i);
          found.emplace_back(std::move(document.name), std::move(document.ids));
        }
        return nb::make_tuple(found, dict_of(source->provenance()));
      },
      nb::arg("ids"), nb::arg("documents").none(), nb::arg("length").none(), nb::arg("positions"),
      nb::arg("vocabulary"), nb::arg("pad"), nb::arg("closes"),
      "Documents of token ids, cut, without padding, each once: (name, ids), and their entries in a result's "
      "provenance.");
  module.def(
      "exceeded_lengths",
      [](const fs::path& folder, Index tokens) { return dict_of(exceeded_lengths(folder, tokens)); }, nb::arg("folder"),
      nb::arg("tokens"),
      "Entries in a result's provenance about maximal lengths in files of a checkpoint that `tokens` tokens exceed.");
  module.def(
      "module_input",
      [](const std::string& config, const std::string& called, const nb::list& tensors, std::vector<Index> lengths,
         nb::object document, const nb::dict& provenance, const nb::dict& of_model) {
        const auto checkpoint = checkpoint_of(called, tensors);
        // Python's objects are read here, while its lock is held.
        auto source =
            std::make_unique<CalledSource>(std::move(lengths), std::move(document), attributes_of(provenance));
        const Attributes said = attributes_of(of_model);
        return opened(called, [&] { return JobInput{open_model(config, checkpoint), std::move(source), said}; });
      },
      nb::arg("config"), nb::arg("called"), nb::arg("tensors"), nb::arg("lengths"), nb::arg("document"),
      nb::arg("provenance"), nb::arg("of_model"),
      "Makes an input of weights in memory and documents that a function returns.");
  module.attr("job_options") = job_options();
  module.def("run", &run, nb::arg("input"), nb::arg("options"), nb::arg("command"), nb::arg("progress").none(),
             "Runs the job of an input: (kind, result) for every kind of attention.");
}

}  // namespace headwave::python
