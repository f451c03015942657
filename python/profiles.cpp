#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "../analysis/attention/attention_distance.h"
#include "../analysis/attention/document_correlation.h"
#include "../analysis/why/attended_rows.h"
#include "../data/files/digest.h"
#include "../data/files/replaced_file.h"
#include "../job/inputs/stored_sums.h"
#include "memory.h"
#include "options.h"
#include "waiting.h"

namespace headwave::python {

namespace {

template <class Number>
using Numbers = nb::ndarray<const Number, nb::c_contig, nb::device::cpu>;

template <class Number>
std::vector<Index> shape_of(const Numbers<Number>& array) {
  std::vector<Index> shape;
  for (std::size_t axis = 0; axis < array.ndim(); ++axis) shape.push_back(static_cast<Index>(array.shape(axis)));
  return shape;
}

ProfileArray array_of(const nb::handle& given) {
  const auto array = nb::cast<Numbers<double>>(given);
  return {shape_of(array), {array.data(), array.data() + array.size()}};
}

ProfileVectors vectors_of(const nb::handle& given) {
  const auto array = nb::cast<Numbers<float>>(given);
  return {shape_of(array), {array.data(), array.size()}, kept(nb::cast(array))};
}

/// Sums of headwave.watch: a path, or in memory (name, attributes, [(stack, attributes, modules, words, arrays)]).
GivenProfiles given_profiles(const nb::handle& given) {
  if (!nb::isinstance<nb::tuple>(given)) return nb::cast<std::filesystem::path>(given);
  using Texts = std::vector<std::string>;
  using Stack = std::tuple<std::string, nb::dict, Texts, Texts, std::map<std::string, nb::object>>;
  const auto [called, about, stacks] = nb::cast<std::tuple<std::string, nb::dict, std::vector<Stack>>>(given);
  NamedProfiles profiles{called, attributes_of(about), {}};
  for (const auto& [name, of_stack, modules, words, arrays] : stacks) {
    NamedProfiles::Stack stack{name, attributes_of(of_stack), modules, words, {}, {}};
    for (const auto& [label, array] : arrays)
      if (is_profile_array(label))
        stack.arrays[label] = array_of(array);
      else if (is_profile_vectors(label))
        stack.vectors[label] = vectors_of(array);
    profiles.stacks.push_back(std::move(stack));
  }
  return profiles;
}

JobInput profiles(const nb::handle& given, const nb::dict& about) {
  GivenProfiles read = given_profiles(given);
  const auto* path = std::get_if<std::filesystem::path>(&read);
  const std::string name = path != nullptr ? path->string() : std::get<NamedProfiles>(read).called.string();
  const Attributes said = attributes_of(about);
  return opened(name, [&] { return profiles_input(std::move(read), said); });
}

/// How far the heads of a stack look: Fields attention_distance/...
Result distances(const std::map<std::string, nb::object>& arrays, const std::vector<std::string>& modules, Index heads,
                 Index kv_heads, const std::vector<double>& shares, const std::vector<Index>& recent) {
  StoredProfiles profiles;
  profiles.path = "profiles";
  profiles.heads = heads;
  profiles.layers = numbered_layers(modules);
  for (const auto& [label, array] : arrays) profiles.arrays[label] = array_of(array);
  Result result;
  result.fields = waited_for([&] {
    return attention_distances(distance_sum(profiles), {profiles.layers, heads}, kv_heads,
                               {.shares = shares, .recent = recent});
  });
  return result;
}

/// A file that Python writes under its temporary name.
struct NewFile {
  NewFile(const std::filesystem::path& path, bool overwrite) : file(std::make_unique<ReplacedFile>(path, overwrite)) {}
  std::unique_ptr<ReplacedFile> file;
};

}  // namespace

void add_profiles(nb::module_& module) {
  module.def("profiles_input", &profiles, nb::arg("given"), nb::arg("about"),
             "Opens sums of headwave.watch, from a file or memory. `about`: entries in a result's provenance.");
  nb::class_<NewFile>(module, "NewFile", "A file that appears whole or not at all.")
      .def(nb::init<const std::filesystem::path&, bool>(), nb::arg("path"), nb::arg("overwrite"))
      .def_prop_ro("temporary", [](const NewFile& made) { return made.file->temporary(); })
      .def(
          "seal", [](const NewFile& made) { wait_for([&] { made.file->seal(); }); }, "Appends the digest of its bytes.")
      .def(
          "commit", [](const NewFile& made) { wait_for([&] { made.file->commit(); }); },
          "Renames the file to its own name.")
      .def(
          "abandon", [](NewFile& made) { made.file.reset(); }, "Removes the file unless commit() was called.");
  module.attr("profile_axes") = profile_axes();
  module.def("require_right_seal", &require_right_seal, nb::arg("path"),
             "Refuses a file that changed since it was written.");
  module.def(
      "require_options_of_sums", [](const nb::dict& options) { require_options_of_sums(options_of(options)); },
      nb::arg("options"), "Refuses options of a job that profiles cannot follow.");
  module.def("distances", &distances, nb::arg("arrays"), nb::arg("modules"), nb::arg("heads"), nb::arg("kv_heads"),
             nb::arg("shares"), nb::arg("recent"), "How far the heads of a stack look, from its sums by distance.");
  module.def(
      "place_pairs",
      [](Index length, bool causal) {
        const PlacePairs pairs(length, causal ? AttentionKind::causal : AttentionKind::self);
        std::array<std::vector<Index>, 3> found;  // queries, keys, groups
        for (std::size_t group = 0; group + 1 < pairs.groups().size(); ++group)
          for (Index i = pairs.groups()[group]; i < pairs.groups()[group + 1]; ++i) {
            found[0].push_back(pairs.pair(i).query);
            found[1].push_back(pairs.pair(i).key);
            found[2].push_back(static_cast<Index>(group));
          }
        return nb::make_tuple(found[0], found[1], found[2]);
      },
      nb::arg("length"), nb::arg("causal"),
      "Pairs of positions at which documents are compared: queries, keys, groups.");
  module.def(
      "dealt_documents",
      [](Index documents, Index length) {
        std::vector<Index> numbers;
        for (Index i = 0; i < documents; ++i)
          if (is_dealt(i, documents, length)) numbers.push_back(i);
        return numbers;
      },
      nb::arg("documents"), nb::arg("length"),
      "Numbers of the documents that an account permutes, of `documents` documents of `length` tokens.");
  module.def(
      "chosen_rows",
      [](Index length) {
        std::vector<std::pair<Index, Index>> rows;
        for (const RowSpan& span : chosen_rows(length)) rows.emplace_back(span.first, span.count);
        return rows;
      },
      nb::arg("length"),
      "Query rows of a document whose attention is accounted for, as runs of rows: (first row, number of rows).");
}

}  // namespace headwave::python
