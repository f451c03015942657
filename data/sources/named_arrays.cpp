#include "named_arrays.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/errors/nearest_name.h"
#include "../../core/model/model.h"
#include "../../core/numbers/decimal_number.h"
#include "../arrays/npy.h"
#include "../arrays/safetensors.h"
#include "../files/file_content.h"
#include "../files/printable.h"
#include "../files/zip_archive.h"
#include "../hdf5/hdf5_file.h"
#include "../models/model_map.h"

namespace headwave {

namespace {

namespace fs = std::filesystem;

/// "s.npz: found no hidden states 'hiden'; it holds 'hidden', 'ids'", the name nearest to `name` first.
/// @param what  what was looked for
std::string no_such_array(const NamedArrays& arrays, const std::string& name, const std::string& what) {
  constexpr std::size_t most_named = 6, longest = 100;
  std::vector<std::string> names = arrays.names();
  const std::size_t all = names.size();
  std::ranges::stable_sort(
      names, {}, [near = name.substr(0, longest)](const std::string& other) { return edit_distance(near, other); });
  names.resize(std::min(all, most_named));
  std::string list;
  for (const std::string& other : names) list += fmt::format("{}'{}'", list.empty() ? "" : ", ", printable(other, 60));
  return fmt::format("{}: found no {} '{}'; it holds {}{}", shown_path(arrays.path()), what, printable(name),
                     names.empty() ? "no arrays" : list,
                     all > names.size() ? fmt::format(" and {} more", all - names.size()) : "");
}

}  // namespace

void NamedArrays::add(const std::string& name, std::string type, std::vector<Index> shape, std::string storage) {
  names_.push_back(name);
  arrays_[name] = {std::move(type), std::move(shape), std::move(storage)};
}

const NamedArrays::Array& NamedArrays::array(const std::string& name) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end()) throw FormatError(no_such_array(*this, name, "array"));
  return found->second;
}

std::string NamedArrays::called(const std::string& name) const {
  return fmt::format("{}: '{}'", shown_path(path_), printable(name));
}

std::vector<float> NamedArrays::block(const std::string& name, const ArrayBlock& block) const {
  require_inside(block, shape(name), called(name) + ": ");
  return read(name, block);
}

std::optional<double> NamedArrays::number(const std::string& name) const {
  std::optional<double> value = attribute(name);
  if (!value && has(name)) value = entries_of(whole_block(shape(name))) == 1 ? floats(name).front() : std::nan("");
  if (value && !std::isfinite(*value)) throw FormatError(fmt::format("{} is not one finite number", called(name)));
  return value;
}

namespace {

class Hdf5Arrays : public NamedArrays {
 public:
  explicit Hdf5Arrays(const fs::path& path) : NamedArrays(path, {path}), file_(path) {
    for (Hdf5Node& node : file_.tree()) {
      if (node.kind == "dataset")
        add(node.path.substr(1), std::move(node.dtype), std::move(node.shape), std::move(node.storage));
      if (node.path == "/") attributes_ = std::move(node.attributes);
    }
  }
  [[nodiscard]] std::vector<std::string> texts(const std::string& name) const override {
    return file_.strings("/" + name);
  }

 private:
  [[nodiscard]] std::vector<float> read(const std::string& name, const ArrayBlock& block) const override {
    return file_.floats("/" + name, block);
  }
  [[nodiscard]] std::optional<double> attribute(const std::string& name) const override {
    const auto found = attributes_.find(name);
    if (found == attributes_.end()) return {};
    if (const auto* whole = std::get_if<std::int64_t>(&found->second)) return static_cast<double>(*whole);
    // An attribute made from numpy's array([2]) is a list of one entry.
    if (const auto* list = std::get_if<std::vector<double>>(&found->second); list != nullptr && list->size() == 1)
      return list->front();
    const auto* real = std::get_if<double>(&found->second);
    return real != nullptr ? *real : std::nan("");
  }

  Hdf5File file_;
  Attributes attributes_;
};

/// Arrays with the layout of .npy files: in such files, in an archive of them, or in a safetensors file.
class PlacedArrays : public NamedArrays {
 public:
  using NamedArrays::NamedArrays;

  /// @param bytes  unset: open the file for every read, since there may be too many to keep open
  void place(const std::string& name, NpyInfo info, const fs::path& file, std::optional<FileBytes> bytes) {
    add(name, info.number ? name_of(*info.number) : info.dtype, info.shape,
        std::string(info.fortran_order ? "Fortran order" : "C order") + (info.big_endian ? ", big-endian" : ""));
    placed_[name] = {std::move(info), file, std::move(bytes)};
  }
  void set_metadata(std::map<std::string, std::string> metadata) { metadata_ = std::move(metadata); }

  [[nodiscard]] std::vector<std::string> texts(const std::string& name) const override {
    (void)shape(name);  // refuses a missing name
    return npy_texts(placed_.at(name).opened(), placed_.at(name).info, called(name));
  }

 private:
  struct Placed {
    NpyInfo info;
    fs::path file;
    std::optional<FileBytes> bytes;
    [[nodiscard]] FileBytes opened() const { return bytes ? *bytes : FileBytes(file); }
  };
  [[nodiscard]] std::vector<float> read(const std::string& name, const ArrayBlock& block) const override {
    const Placed& array = placed_.at(name);
    return read_block(array.opened(), placed_numbers(array.info, called(name)), block);
  }
  [[nodiscard]] std::optional<double> attribute(const std::string& name) const override {
    const auto found = metadata_.find(name);
    if (found == metadata_.end()) return {};
    return decimal_number(found->second).value_or(std::nan(""));
  }

  std::map<std::string, Placed> placed_;
  std::map<std::string, std::string> metadata_;
};

/// @param files  not empty
std::unique_ptr<NamedArrays> npy_arrays(const fs::path& path, const std::vector<fs::path>& files) {
  auto arrays = std::make_unique<PlacedArrays>(path, files);
  for (const fs::path& file : files) arrays->place(file.stem().string(), npy_info(file), file, {});
  return arrays;
}

std::unique_ptr<NamedArrays> npy_folder_arrays(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".npy") files.push_back(entry.path());
  std::ranges::sort(files);
  if (files.empty())
    throw FormatError(fmt::format(
        "{}: no .npy file in this folder; expected stored states, such as hidden_states_layer_0.npy, or one HDF5, "
        ".npz or safetensors file",
        shown_path(folder)));
  return npy_arrays(folder, files);
}

std::unique_ptr<NamedArrays> npz_arrays(const fs::path& path) {
  auto arrays = std::make_unique<PlacedArrays>(path, std::vector{path});
  const FileBytes file(path);
  for (const ZipMember& member : zip_members(file)) {
    if (!member.name.ends_with(".npy")) continue;
    const std::string name = member.name.substr(0, member.name.size() - 4);
    const FileBytes bytes = file.part(member.first, member.bytes);
    arrays->place(name, npy_info(bytes, arrays->called(name)), path, bytes);
  }
  return arrays;
}

std::unique_ptr<NamedArrays> safetensors_arrays(const fs::path& path) {
  auto arrays = std::make_unique<PlacedArrays>(path, std::vector{path});
  const FileBytes file(path);
  SafetensorsHeader header = safetensors_header(file);
  for (const TensorInfo& tensor : header.tensors)
    arrays->place(
        tensor.name,
        {tensor.shape, tensor.dtype, tensor.dtype, false, false, header.data + tensor.begin, number_type(tensor.dtype)},
        path, file);
  arrays->set_metadata(std::move(header.metadata));
  return arrays;
}

}  // namespace

std::unique_ptr<NamedArrays> open_arrays(const fs::path& path) {
  if (fs::is_directory(path)) return npy_folder_arrays(path);
  const FileContent content = content_of_file(path);
  const bool known = content == FileContent::hdf5 || content == FileContent::npy || content == FileContent::npz ||
                     content == FileContent::safetensors;
  // The readers of .npy, .h5 and .safetensors say what is wrong with a file that only has the right name.
  const auto is = [&](FileContent kind, const char* ending) {
    return known ? content == kind : path.extension() == ending;
  };
  if (is(FileContent::hdf5, ".h5")) return std::make_unique<Hdf5Arrays>(path);
  if (is(FileContent::npy, ".npy")) return npy_arrays(path, {path});
  if (content == FileContent::npz) return npz_arrays(path);
  if (is(FileContent::safetensors, ".safetensors")) return safetensors_arrays(path);
  throw foreign_file(path, expected_states);
}

namespace {

constexpr std::string_view layer_mark = "{layer}", document_mark = "{document}";

constexpr auto axis_words = std::to_array<std::string_view>(
    {"layer", "document", "head", "token", "width", "query", "key"});  // in the order of ArrayAxis

bool has_axis(const std::vector<ArrayAxis>& axes, ArrayAxis axis) {
  return std::ranges::find(axes, axis) != axes.end();
}

bool is_empty(const std::vector<Index>& shape) {
  return std::ranges::any_of(shape, [](Index size) { return size < 1; });
}

}  // namespace

std::optional<std::vector<ArrayAxis>> array_axes(std::string_view text) {
  std::vector<ArrayAxis> axes;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    std::string word(text.substr(0, comma));
    std::erase(word, ' ');
    const auto* found = std::ranges::find(axis_words, word);
    const auto axis = static_cast<ArrayAxis>(found - axis_words.begin());
    if (found == axis_words.end() || has_axis(axes, axis)) return {};
    axes.push_back(axis);
    more = comma != text.npos;
    if (more) text.remove_prefix(comma + 1);
  }
  const auto count = [&](ArrayAxis one, ArrayAxis other) { return has_axis(axes, one) + has_axis(axes, other); };
  const int states = count(ArrayAxis::token, ArrayAxis::width), attention = count(ArrayAxis::query, ArrayAxis::key);
  if (states + attention != 2 || states == 1) return {};
  return axes;
}

std::string axes_text(const std::vector<ArrayAxis>& axes) {
  std::string text;
  for (const ArrayAxis axis : axes)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", axis_words[static_cast<std::size_t>(axis)]);
  return text;
}

std::string of_document(const std::string& pattern, const std::string& document) {
  return with_mark(pattern, document_mark, document);
}

ArrayExtent LayerArray::extent(const NamedArrays& arrays, const std::string& document) const {
  const std::string array = of_document(name, document);
  const std::vector<Index>& shape = arrays.shape(array);
  if (shape.size() != axes.size() || is_empty(shape))
    throw FormatError(fmt::format("{} has shape {}, expected ({}), each at least 1", arrays.called(array),
                                  shape_text(shape), axes_text(axes)));
  ArrayExtent extent;
  Index keys = 0;
  for (std::size_t a = 0; a < shape.size(); ++a) {
    if (axes[a] == ArrayAxis::document) extent.documents = shape[a];
    if (axes[a] == ArrayAxis::token || axes[a] == ArrayAxis::query) extent.length = shape[a];
    if (axes[a] == ArrayAxis::width || axes[a] == ArrayAxis::head) extent.width *= shape[a];
    if (axes[a] == ArrayAxis::head) extent.heads = shape[a];
    if (axes[a] == ArrayAxis::key) keys = shape[a];
  }
  if (has_axis(axes, ArrayAxis::key) && keys != extent.length)
    throw FormatError(fmt::format("{} has shape {}, that is {} queries and {} keys; expected equal numbers",
                                  arrays.called(array), shape_text(shape), extent.length, keys));
  return extent;
}

std::vector<const LayerArray*> FoundLayer::parts() const {
  std::vector<const LayerArray*> parts;
  for (const std::optional<LayerArray>* part : {&states, &queries, &keys, &attention})
    if (*part) parts.push_back(&**part);
  return parts;
}

namespace {

/// Sorts numerically if all documents are numbers, otherwise by bytes.
void sort_documents(std::vector<std::string>& documents) {
  const bool numbers = std::ranges::all_of(documents, [](const std::string& text) {
    return text.size() < 18 && text.find_first_not_of("0123456789") == text.npos;
  });
  std::ranges::sort(documents, {},
                    [&](const std::string& text) { return std::pair(numbers ? std::stoll(text) : 0, text); });
}

/// The usual names of a kind of array, the likeliest first.
std::vector<std::string> usual_names(const std::string& word) {
  return {word + "/layer_{layer}", word + "_layer_{layer}", word};
}

/// The values of {layer} and {document} in a name that fits a pattern.
struct NameMatch {
  Index number = -1;     ///< {layer}; -1: not in the pattern
  std::string digits;    ///< the number as written: "07"
  std::string document;  ///< {document}; empty: not in the pattern
};

/// Whether a name fits a pattern. If there are several ways to fit, the shortest document counts.
bool fits_pattern(std::string_view pattern, std::string_view name, NameMatch& match) {
  const std::size_t brace = pattern.find('{');
  if (name.substr(0, brace) != pattern.substr(0, brace)) return false;
  if (brace == pattern.npos) return name.size() == pattern.size();
  name.remove_prefix(brace);
  pattern.remove_prefix(brace);
  if (pattern.starts_with(layer_mark)) {
    const auto [stop, problem] = std::from_chars(name.data(), name.data() + name.size(), match.number);
    match.digits.assign(name.data(), stop);
    return problem == std::errc() && match.number >= 0 &&
           fits_pattern(pattern.substr(layer_mark.size()), name.substr(match.digits.size()), match);
  }
  if (!pattern.starts_with(document_mark))  // a brace in the name itself
    return name.starts_with('{') && fits_pattern(pattern.substr(1), name.substr(1), match);
  for (std::size_t length = 1; length <= name.size() && name[length - 1] != '/'; ++length) {
    match.document = name.substr(0, length);
    if (fits_pattern(pattern.substr(document_mark.size()), name.substr(length), match)) return true;
  }
  return false;
}

class Search {
  using Part = std::optional<LayerArray> FoundLayer::*;

 public:
  Search(const NamedArrays& arrays, const ArraySearch& search) : arrays_(arrays), search_(search) {}

  [[nodiscard]] FoundArrays found() {
    const bool named = search_.axes.empty() && std::ranges::count(usual_names("attentions"), search_.dataset) > 0;
    const bool attention = named || has_axis(search_.axes, ArrayAxis::query);
    if (search_.dataset.empty())
      add_usual();
    else if (!add(search_.dataset, attention ? &FoundLayer::attention : &FoundLayer::states))
      throw FormatError(no_such_array(arrays_, search_.dataset, attention ? "finished attention" : "hidden states"));
    if (layers_.empty())
      throw FormatError(no_such_array(arrays_, "hidden_states/layer_L",
                                      "arrays 'queries/layer_L' and 'keys/layer_L', 'attentions/layer_L' or"),
                        give("dataset", "NAME", "to name the array"));
    if (search_.layer && layers_said_)
      throw ShapeError(fmt::format("{}: the layer is already given by a name or an axis", shown_path(arrays_.path())),
                       omit("layer"));
    FoundArrays contents{{},
                         {documents_.begin(), documents_.end()},
                         first_usual({"ids", "input_ids"}),
                         first_usual({"special", "special_tokens_mask"}),
                         first_usual({"tokens"}),
                         first_usual({"document_name"}),
                         first_usual({"attention_mask"})};
    sort_documents(contents.documents);
    for (auto& [layer, parts] : layers_) {
      parts.layer = layer;
      if (parts.queries.has_value() != parts.keys.has_value())
        throw FormatError(fmt::format("{}: of layer {} only the {} are stored; expected queries and keys, or neither",
                                      shown_path(arrays_.path()), layer, parts.queries ? "queries" : "keys"));
      contents.layers.push_back(std::move(parts));
    }
    return contents;
  }

 private:
  [[nodiscard]] std::string first_usual(const std::vector<std::string>& patterns) const {
    for (const std::string& pattern : patterns)
      for (const std::string& name : arrays_.names())
        if (NameMatch ignored; fits_pattern(pattern, name, ignored)) return pattern;
    return "";
  }

  void add_usual() {
    add(first_usual(usual_names("hidden_states")), &FoundLayer::states);
    add(first_usual(usual_names("queries")), &FoundLayer::queries);
    add(first_usual(usual_names("keys")), &FoundLayer::keys);
    if (layers_.empty()) add(first_usual(usual_names("attentions")), &FoundLayer::attention);
    if (!layers_.empty() || arrays_.names().size() != 1) return;
    const std::string& only = arrays_.names().front();
    add(only, arrays_.shape(only).size() == 5 ? &FoundLayer::attention : &FoundLayer::states);
  }

  /// Adds the arrays whose names fit the pattern.
  /// @returns whether there are any
  bool add(const std::string& pattern, Part part) {
    const bool layer_named = pattern.find(layer_mark) != pattern.npos;
    bool any = false;
    for (const std::string& name : arrays_.names()) {
      NameMatch match;
      if (pattern.empty() || !fits_pattern(pattern, name, match)) continue;
      any = true;
      const std::string numbered = with_mark(pattern, layer_mark, match.digits);
      if (!match.document.empty()) documents_.insert(match.document);
      if (!match.document.empty() && is_found(numbered, part)) continue;
      LayerArray found{numbered, axes_of(pattern, name, part), -1};
      if (!has_axis(found.axes, ArrayAxis::layer)) {
        layers_said_ = layers_said_ || layer_named;
        keep(layer_named ? match.number : search_.layer.value_or(0), name, std::move(found), part);
        continue;
      }
      layers_said_ = true;
      const auto axis = static_cast<std::size_t>(std::ranges::find(found.axes, ArrayAxis::layer) - found.axes.begin());
      for (found.entry = 0; found.entry < arrays_.shape(name)[axis]; ++found.entry)
        keep(found.entry, name, found, part);
    }
    return any;
  }

  [[nodiscard]] bool is_found(const std::string& pattern, Part part) const {
    return std::ranges::any_of(layers_, [&](const auto& layer) {
      const std::optional<LayerArray>& there = layer.second.*part;
      return there && there->name == pattern;
    });
  }

  void keep(Index at, const std::string& name, LayerArray found, Part part) {
    if (at < 0 || at >= most_layers)
      throw FormatError(
          fmt::format("{}: its layer is {}, expected 0 to {}", arrays_.called(name), at, most_layers - 1));
    std::optional<LayerArray>& place = layers_[at].*part;
    if (place)
      throw FormatError(fmt::format("{} and '{}' both belong to layer {}; expected only one of them",
                                    arrays_.called(name), printable(place->name), at));
    place = std::move(found);
  }

  /// The axes of an array: the given ones, or the usual ones for its number of axes.
  [[nodiscard]] std::vector<ArrayAxis> axes_of(const std::string& pattern, const std::string& name, Part part) const {
    const std::vector<Index>& shape = arrays_.shape(name);
    const bool layer_named = pattern.find(layer_mark) != pattern.npos, layer_known = layer_named || search_.layer;
    const bool one_document = pattern.find(document_mark) != pattern.npos;  // each document has its own arrays
    const bool attention = part == &FoundLayer::attention, states = part == &FoundLayer::states;
    const std::size_t count = shape.size();
    std::vector<ArrayAxis> axes = search_.axes;
    if (axes.empty()) {
      const char* usual = "";
      if (attention && count == 2) usual = "query,key";
      if (attention && count == 3) usual = "head,query,key";
      if (attention && count == 4 && layer_known) usual = "document,head,query,key";
      if (attention && count == 4 && !layer_known && one_document) usual = "layer,head,query,key";
      if (attention && count == 5 && !layer_known) usual = "layer,document,head,query,key";
      if (!attention && count == 2) usual = "token,width";
      if (!attention && count == 3) usual = one_document && !layer_named ? "layer,token,width" : "document,token,width";
      if (!attention && count == 4 && !states) usual = "document,head,token,width";
      if (states && count == 4 && !layer_named) usual = "layer,document,token,width";
      axes = array_axes(usual).value_or(std::vector<ArrayAxis>());
    }
    if (axes.size() == count && !is_empty(shape)) return axes;
    if (!search_.axes.empty())
      throw FormatError(fmt::format("{} has shape {}, expected ({}), each at least 1", arrays_.called(name),
                                    shape_text(shape), axes_text(search_.axes)));
    const bool square = count > 3 && shape.back() == shape[count - 2];
    throw FormatError(
        fmt::format("{} has shape {}, expected {}, each at least 1", arrays_.called(name), shape_text(shape),
                    attention
                        ? "(layers, documents, heads, T, T) or, where the layer is known, (documents, heads, T, T)"
                        : "(documents, T, width) or (T, width)"),
        give("axes", square && !attention ? "layer,document,head,query,key" : "",
             square && !attention ? "if it is finished attention" : "to say which axes it has"));
  }

  const NamedArrays& arrays_;
  const ArraySearch& search_;
  std::map<Index, FoundLayer> layers_;
  std::set<std::string> documents_;
  bool layers_said_ = false;
};

}  // namespace

FoundArrays find_arrays(const NamedArrays& arrays, const ArraySearch& search) {
  return Search(arrays, search).found();
}

}  // namespace headwave
