#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/tuple.h>

#include "../core/errors/error.h"
#include "../core/model/recorded_source.h"
#include "../data/arrays/npy.h"
#include "../data/arrays/safetensors.h"
#include "../data/models/named_lengths.h"
#include "../data/sources/distinct_documents.h"
#include "../data/sources/named_arrays.h"
#include "../job/inputs/identity.h"
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

/// What a text says, or the refusal of it.
template <class Known>
Known known_of(const std::optional<Known>& said, const char* name, const std::string& text, const char* expected) {
  if (!said) throw FormatError(fmt::format("{}='{}': expected {}", name, text, expected));
  return *said;
}

/// Arrays that an object of Python reads block by block, headwave.lazy.LazyArrays: of zarr, of h5py.
class CalledArrays : public NamedArrays {
 public:
  explicit CalledArrays(nb::object arrays)
      : path_(nb::cast<std::string>(arrays.attr("called"))),
        files_(nb::cast<std::vector<fs::path>>(arrays.attr("files"))) {
    using Described = std::tuple<std::string, std::string, std::vector<Index>>;
    for (auto& [name, type, shape] : nb::cast<std::vector<Described>>(arrays.attr("entries"))) {
      names_.push_back(name);
      entries_[name] = {std::move(type), std::move(shape)};
    }
    arrays_ = kept(std::move(arrays));
  }

  [[nodiscard]] std::vector<std::string> names() const override { return names_; }
  [[nodiscard]] bool has(const std::string& name) const override { return entries_.contains(name); }
  [[nodiscard]] std::vector<Index> shape(const std::string& name) const override { return entry(name).shape; }
  [[nodiscard]] std::string type(const std::string& name) const override { return entry(name).type; }
  void read(const std::string& name, const ArrayBlock& block, const FloatRoom& room) const override {
    try {
      require_inside(block, entry(name).shape);
    } catch (const ShapeError& problem) {
      throw ShapeError(fmt::format("{} {}", called(name), problem.finding()), problem.remedies());
    }
    const nb::gil_scoped_acquire held;
    const auto read = nb::cast<nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(
        python().attr("block")(name, block.first, block.count));
    if (read.size() != entries_of(block))
      throw FormatError(fmt::format("{}: gave {} numbers, expected {}", called(name), read.size(), entries_of(block)));
    std::copy_n(read.data(), read.size(), room(read.size()));
  }
  [[nodiscard]] std::vector<std::string> texts(const std::string& name) const override {
    if (!has(name)) return {};
    const nb::gil_scoped_acquire held;
    return nb::cast<std::vector<std::string>>(python().attr("texts")(name));
  }
  [[nodiscard]] std::optional<double> number(const std::string& name) const override {
    const nb::gil_scoped_acquire held;
    return nb::cast<std::optional<double>>(python().attr("number")(name));
  }
  [[nodiscard]] std::vector<fs::path> files() const override { return files_; }
  [[nodiscard]] const fs::path& path() const override { return path_; }
  [[nodiscard]] std::string called(const std::string& name) const override {
    return fmt::format("{}: '{}'", path_.string(), name);
  }

 private:
  struct Entry {
    std::string type;
    std::vector<Index> shape;
  };
  [[nodiscard]] const Entry& entry(const std::string& name) const {
    const auto found = entries_.find(name);
    if (found == entries_.end()) throw FormatError(no_such_array(*this, name, "an array"));
    return found->second;
  }
  [[nodiscard]] nb::handle python() const { return static_cast<PyObject*>(const_cast<void*>(arrays_.get())); }

  fs::path path_;
  std::vector<fs::path> files_;
  std::vector<std::string> names_;
  std::map<std::string, Entry> entries_;
  std::shared_ptr<const void> arrays_;
};

/// Where states are: a path, arrays in memory, or arrays that Python reads.
/// @param called  what messages call arrays in memory
ArraysPlace arrays_at(const nb::object& given, const std::string& called) {
  if (nb::hasattr(given, "entries")) {
    auto arrays = std::make_shared<const CalledArrays>(given);
    return {arrays->path().string(), arrays};
  }
  if (!nb::isinstance<nb::list>(given)) return nb::cast<fs::path>(given);
  std::vector<ArrayInMemory> arrays;
  for (const auto& [name, descr, shape, fortran, bytes] : nb::cast<std::vector<RawArray>>(given)) {
    const std::string header =
        fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}{}), }}", descr, fortran ? "True" : "False",
                    fmt::join(shape, ", "), shape.empty() ? "" : ",");
    arrays.push_back({name, npy_info(header, bytes.size(), called + ": '" + name + "'"), span_of(bytes)});
  }
  return {called, arrays_in_memory(called, arrays, kept(given))};
}

PackingOptions packing_of(std::optional<Index> documents, std::optional<Index> length, bool special_tokens,
                          bool allow_unknown = false) {
  return {.documents = documents, .length = length, .special_tokens = special_tokens, .allow_unknown = allow_unknown};
}

std::shared_ptr<const Checkpoint> checkpoint_of(const std::string& called, const nb::list& given) {
  std::vector<TensorInMemory> tensors;
  for (const auto& [name, dtype, shape, fortran, bytes] : nb::cast<std::vector<RawArray>>(given))
    tensors.push_back({name, dtype, {shape.begin(), shape.end()}, span_of(bytes)});
  return std::make_shared<const Checkpoint>(called, tensors, kept(given));
}

/// Documents that a function of Python gives, with the states of a model of PyTorch or without.
class CalledSource : public RecordedSource {
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
/// @param input_options  what the input was opened with, by the names of job files
/// @returns (kind, result) of every kind of attention
std::vector<std::pair<std::string, Result>> run(const JobInput& input, const nb::dict& given,
                                                const nb::dict& input_options, const std::string& command,
                                                const nb::object& progress) {
  const JobOptions options = options_of(given);
  const std::string job = job_text(input_options, options);
  auto [found, by] =
      made(command, progress, [&](const ProgressCallback& told) { return run_input(input, options, told); });
  for (KindResult& kind : found) kind.result.provenance["job"] = job;
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
  nb::class_<ModelPlace>(module, "ModelPlace", "Where a model lies, and how much of it is opened.")
      .def(
          "__init__",
          [](ModelPlace* made, const fs::path& model, const fs::path& map, const std::string& layers,
             const std::string& weights) {
            ModelPlace place(model, map);
            if (!layers.empty()) place.layers = known_of(first_layers(layers), "layers", layers, expected_first_layers);
            place.weights_in = known_of(weights_in(weights), "weights", weights, "auto, memory or layers");
            new (made) ModelPlace(place);
          },
          nb::arg("model"), nb::arg("map"), nb::arg("layers"), nb::arg("weights"))
      .def_prop_ro(
          "longest", [](const ModelPlace& place) { return model_map(place).longest; },
          "The longest document that the model reads, in tokens; 0: any.");
  module.def(
      "text_input",
      [](const ModelPlace& model, const nb::object& text, std::optional<Index> documents, std::optional<Index> length,
         bool special_tokens, bool allow_unknown) {
        const TextPlace place = place_of(text);
        return opened(input_name(place), [&] {
          return text_input(model, place, packing_of(documents, length, special_tokens, allow_unknown));
        });
      },
      nb::arg("model"), nb::arg("text"), nb::arg("documents").none(), nb::arg("length").none(),
      nb::arg("special_tokens"), nb::arg("allow_unknown"), "A text through the model's own tokenizer.");
  module.def(
      "pairs_input",
      [](const ModelPlace& model, const nb::object& text, const nb::object& target, std::optional<Index> documents,
         bool special_tokens, bool allow_unknown) {
        const TextPlace read = place_of(text), written = place_of(target);
        return opened(input_name(read), [&] {
          return pairs_input(model, read, written, packing_of(documents, {}, special_tokens, allow_unknown));
        });
      },
      nb::arg("model"), nb::arg("text"), nb::arg("target"), nb::arg("documents").none(), nb::arg("special_tokens"),
      nb::arg("allow_unknown"), "Two texts, line by line, through the model's own tokenizers.");
  module.def(
      "ids_input",
      [](const ModelPlace& model, const nb::object& ids, std::optional<Index> documents, std::optional<Index> length) {
        const TextPlace place = place_of(ids);
        return opened(input_name(place), [&] { return ids_input(model, place, packing_of(documents, length, true)); });
      },
      nb::arg("model"), nb::arg("ids"), nb::arg("documents").none(), nb::arg("length").none(),
      "Token ids that are ready.");
  module.def(
      "random_input",
      [](const ModelPlace& model, Index tokens, std::optional<Index> documents, bool special_tokens,
         std::uint64_t seed) {
        return opened("random tokens", [&] {
          return random_input(model, {.documents = documents.value_or(100), .period = tokens, .seed = seed},
                              special_tokens);
        });
      },
      nb::arg("model"), nb::arg("tokens"), nb::arg("documents").none(), nb::arg("special_tokens"), nb::arg("seed"),
      "Random tokens, three times.");
  module.def(
      "states_input",
      [](const nb::object& states, const std::optional<ModelPlace>& model, Index heads, std::optional<Index> documents,
         std::optional<Index> layer, const std::string& dataset, const std::string& axes, bool apply_norm,
         bool any_states) {
        StoredStatesOptions options{heads, documents.value_or(0), layer, dataset, {}, apply_norm, any_states};
        if (!axes.empty()) {
          const auto read = array_axes(axes);
          if (!read) throw FormatError(fmt::format("axes '{}': expected {}", axes, expected_axes));
          options.axes = *read;
        }
        const ArraysPlace at = arrays_at(states, "states");
        return opened(at.path.string(),
                      [&] { return model ? states_input(at, *model, options) : states_input(at, options); });
      },
      nb::arg("states"), nb::arg("model").none(), nb::arg("heads"), nb::arg("documents").none(),
      nb::arg("layer").none(), nb::arg("dataset"), nb::arg("axes"), nb::arg("apply_norm"), nb::arg("any_states"),
      "Stored states, queries and keys, or finished attention.");
  module.def(
      "exceeded_lengths",
      [](const fs::path& folder, Index tokens) { return dict_of(exceeded_lengths(folder, tokens)); }, nb::arg("folder"),
      nb::arg("tokens"),
      "What a result remembers of the lengths that files of a checkpoint name and documents of so many tokens exceed.");
  module.def(
      "tokenized_input",
      [](const ModelPlace& model, std::vector<Index> lengths, nb::object document, const nb::dict& provenance) {
        const Index longest = lengths.empty() ? 0 : std::ranges::max(lengths);
        auto source =
            std::make_unique<CalledSource>(std::move(lengths), std::move(document), attributes_of(provenance));
        return opened("text", [&] {
          Model opened = open_model(model);
          if (opened.decoder)
            throw ShapeError(fmt::format("text: a {} reads a text and its target", opened.family), omit("tokenizer"));
          Attributes said = model_provenance(model);
          said.merge(exceeded_lengths(model.weights, longest));
          return JobInput{std::move(opened), distinct_documents(std::move(source)), std::move(said)};
        });
      },
      nb::arg("model"), nb::arg("lengths"), nb::arg("document"), nb::arg("provenance"),
      "Documents that a tokenizer of Python made.");
  module.def(
      "module_input",
      [](const std::string& config, const std::string& called, const nb::list& tensors, std::vector<Index> lengths,
         nb::object document, const nb::dict& provenance, const nb::dict& of_model) {
        const auto checkpoint = checkpoint_of(called, tensors);
        // Python's objects are looked at here, where its lock is held.
        auto source =
            std::make_unique<CalledSource>(std::move(lengths), std::move(document), attributes_of(provenance));
        const Attributes said = attributes_of(of_model);
        return opened(called, [&] { return JobInput{open_model(config, checkpoint), std::move(source), said}; });
      },
      nb::arg("config"), nb::arg("called"), nb::arg("tensors"), nb::arg("lengths"), nb::arg("document"),
      nb::arg("provenance"), nb::arg("of_model"), "Weights in memory, and documents that a function gives.");
  module.def("run", &run, nb::arg("input"), nb::arg("options"), nb::arg("input_options"), nb::arg("command"),
             nb::arg("progress").none(), "The job of an input: (kind, result) of every kind of attention.");
}

}  // namespace headwave::python
