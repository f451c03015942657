#include "found_arrays.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/model/model.h"
#include "../files/printable.h"
#include "../models/model_map.h"

namespace headwave {

namespace {

constexpr std::string_view layer_mark = "{layer}", document_mark = "{document}";

bool has_mark(std::string_view pattern, std::string_view mark) {
  return pattern.find(mark) != pattern.npos;
}

bool has_axis(const std::vector<ArrayAxis>& axes, ArrayAxis axis) {
  return std::ranges::find(axes, axis) != axes.end();
}

constexpr auto axis_words = std::to_array<std::string_view>(
    {"layer", "document", "head", "token", "width", "query", "key"});  // in the order of ArrayAxis

/// Sorts by number where all are numbers, else by bytes.
void sort_documents(std::vector<std::string>& documents) {
  const bool numbers = std::ranges::all_of(documents, [](const std::string& text) {
    return text.size() < 18 && text.find_first_not_of("0123456789") == text.npos;
  });
  if (numbers)
    std::ranges::sort(documents, {}, [](const std::string& text) { return std::pair(std::stoll(text), text); });
  else
    std::ranges::sort(documents);
}

/// The names of a kind of array, the likeliest first.
std::vector<std::string> usual_names(const std::string& word) {
  return {word + "/layer_{layer}", word + "_layer_{layer}", word};
}

/// Axes of an array that says nothing of them, by their number.
/// @param part          what the array holds
/// @param layer_named   the name says the layer
/// @param layer_known   the name or the search does
/// @param one_document  each document has arrays of its own
/// @returns nothing where none is usual
std::vector<ArrayAxis> usual_axes(std::size_t count, std::optional<LayerArray> FoundLayer::*part, bool layer_named,
                                  bool layer_known, bool one_document) {
  const bool projected = part == &FoundLayer::queries || part == &FoundLayer::keys;
  const char* axes = "";
  if (part == &FoundLayer::attention) {
    if (count == 2) axes = "query,key";
    if (count == 3) axes = "head,query,key";
    if (count == 4 && layer_known) axes = "document,head,query,key";
    if (count == 4 && !layer_known && one_document) axes = "layer,head,query,key";
    if (count == 5 && !layer_known) axes = "layer,document,head,query,key";
  } else {
    if (count == 2) axes = "token,width";
    if (count == 3) axes = one_document && !layer_named ? "layer,token,width" : "document,token,width";
    if (count == 4 && projected) axes = "document,head,token,width";
    if (count == 4 && !projected && !layer_named) axes = "layer,document,token,width";
  }
  return array_axes(axes).value_or(std::vector<ArrayAxis>());
}

/// The values of {layer} and {document} with which a pattern fits a name.
struct NameMatch {
  Index number = -1;     ///< {layer}; -1: not in the pattern
  std::string digits;    ///< the number as it is written: "07"
  std::string document;  ///< {document}; empty: not in the pattern
};

/// Whether a name fits a pattern. Of several ways to fit, the one with the shortest document counts.
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
  if (!pattern.starts_with(document_mark))  // a brace of the name's own
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
  Search(const NamedArrays& arrays, const ArraySearch& search)
      : arrays_(arrays), search_(search), names_(arrays.names()) {}

  [[nodiscard]] FoundArrays found() {
    if (search_.dataset.empty())
      add_usual();
    else if (!add(search_.dataset, named_part()))
      throw FormatError(no_such_array(arrays_, search_.dataset,
                                      named_part() == &FoundLayer::states ? "hidden states" : "finished attention"));
    if (layers_.empty())
      throw FormatError(
          no_such_array(arrays_, "hidden_states/layer_L",
                        "hidden states, nor 'queries/layer_L' and 'keys/layer_L', nor 'attentions/layer_L'"),
          give("dataset", "NAME", "to name the array"));
    if (search_.layer && layers_said_)
      throw ShapeError(fmt::format("{}: the layer is already given by a name or an axis", arrays_.path().string()),
                       omit("layer"));
    FoundArrays contents;
    for (auto& [layer, parts] : layers_) {
      parts.layer = layer;
      if (parts.queries.has_value() != parts.keys.has_value())
        throw FormatError(fmt::format("{}: of layer {} only the {} are stored; expected both or neither",
                                      arrays_.path().string(), layer, parts.queries ? "queries" : "keys"));
      contents.layers.push_back(std::move(parts));
    }
    contents.documents.assign(documents_.begin(), documents_.end());
    sort_documents(contents.documents);
    contents.ids = first_usual({"ids", "input_ids"});
    contents.special = first_usual({"special", "special_tokens_mask"});
    contents.tokens = first_usual({"tokens"});
    contents.document_name = first_usual({"document_name"});
    contents.attention_mask = first_usual({"attention_mask"});
    return contents;
  }

 private:
  [[nodiscard]] std::string first_usual(const std::vector<std::string>& patterns) const {
    for (const std::string& pattern : patterns)
      for (const std::string& name : names_)
        if (NameMatch ignored; fits_pattern(pattern, name, ignored)) return pattern;
    return "";
  }

  /// What the dataset holds.
  [[nodiscard]] Part named_part() const {
    const bool named = search_.axes.empty() && std::ranges::count(usual_names("attentions"), search_.dataset) > 0;
    return named || has_axis(search_.axes, ArrayAxis::query) ? &FoundLayer::attention : &FoundLayer::states;
  }

  void add_usual() {
    constexpr std::array<std::pair<const char*, Part>, 3> words{
        {{"hidden_states", &FoundLayer::states}, {"queries", &FoundLayer::queries}, {"keys", &FoundLayer::keys}}};
    for (const auto& [word, part] : words) add(first_usual(usual_names(word)), part);
    if (layers_.empty()) add(first_usual(usual_names("attentions")), &FoundLayer::attention);
    if (!layers_.empty() || names_.size() != 1) return;
    const bool five = arrays_.shape(names_.front()).size() == 5;
    add(names_.front(), five ? &FoundLayer::attention : &FoundLayer::states);
  }

  /// Adds the arrays whose names fit.
  /// @returns whether there are any
  bool add(const std::string& pattern, Part part) {
    const bool layer_named = has_mark(pattern, layer_mark);
    std::map<Index, std::pair<std::string, std::string>> numbers;  // a name of that number, and how it writes it
    for (const std::string& name : names_) {
      NameMatch match;
      if (pattern.empty() || !fits_pattern(pattern, name, match)) continue;
      const auto& [number, named] = *numbers.try_emplace(match.number, name, match.digits).first;
      if (named.second != match.digits)
        throw FormatError(fmt::format("{} and '{}' are both of number {}; expected one of them",
                                      arrays_.called(named.first), printable(name), number));
      if (!match.document.empty()) documents_.insert(match.document);
    }
    for (const auto& [number, named] : numbers) {
      const auto& [name, digits] = named;
      LayerArray found{with_mark(pattern, layer_mark, digits), axes_of(pattern, name, part), -1};
      if (has_axis(found.axes, ArrayAxis::layer)) {
        add_entries(name, found, part);
        continue;
      }
      layers_said_ = layers_said_ || layer_named;
      keep(layer_named ? number : search_.layer.value_or(0), name, std::move(found), part);
    }
    return !numbers.empty();
  }

  void add_entries(const std::string& name, LayerArray found, Part part) {
    const auto axis = static_cast<std::size_t>(std::ranges::find(found.axes, ArrayAxis::layer) - found.axes.begin());
    const Index count = arrays_.shape(name)[axis];
    layers_said_ = true;
    for (found.entry = 0; found.entry < count; ++found.entry) keep(found.entry, name, found, part);
  }

  void keep(Index at, const std::string& name, LayerArray found, Part part) {
    if (at < 0 || at >= most_layers)
      throw FormatError(
          fmt::format("{}: its layer would be {}, expected 0 to {}", arrays_.called(name), at, most_layers - 1));
    std::optional<LayerArray>& place = layers_[at].*part;
    if (place)
      throw FormatError(fmt::format("{} would be of layer {}, which '{}' is of already; expected one of them",
                                    arrays_.called(name), at, printable(place->name)));
    place = std::move(found);
  }

  [[nodiscard]] std::vector<ArrayAxis> axes_of(const std::string& pattern, const std::string& name, Part part) const {
    const std::vector<Index> shape = arrays_.shape(name);
    const bool layer_named = has_mark(pattern, layer_mark), attention = part == &FoundLayer::attention;
    std::vector<ArrayAxis> axes = search_.axes;
    if (axes.empty())
      axes =
          usual_axes(shape.size(), part, layer_named, layer_named || search_.layer, has_mark(pattern, document_mark));
    const bool sound = axes.size() == shape.size() && std::ranges::all_of(shape, [](Index size) { return size > 0; });
    if (sound) return axes;
    if (!search_.axes.empty())
      throw FormatError(fmt::format("{} has shape {}, expected ({}), none of them 0", arrays_.called(name),
                                    shape_text(shape), axes_text(search_.axes)));
    const bool square = shape.size() > 3 && shape.back() == shape[shape.size() - 2];
    throw FormatError(
        fmt::format("{} has shape {}, expected {}, none of them 0", arrays_.called(name), shape_text(shape),
                    attention
                        ? "(layers, documents, heads, T, T) or, where the layer is known, (documents, heads, T, T)"
                        : "(documents, T, width) or (T, width)"),
        give("axes", square && !attention ? "layer,document,head,query,key" : "",
             square && !attention ? "if it is finished attention" : "to say which axes it has"));
  }

  const NamedArrays& arrays_;
  const ArraySearch& search_;
  std::vector<std::string> names_;
  std::map<Index, FoundLayer> layers_;
  std::set<std::string> documents_;
  bool layers_said_ = false;
};

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

AttentionFacts::AttentionFacts(const NamedArrays& arrays) {
  const auto read = [&]<class Value>(const char* name, std::optional<Value>& fact, bool (*is_sound)(double),
                                     const char* expected) {
    const std::optional<double> number = arrays.number(name);
    if (number && !is_sound(*number))
      throw FormatError(
          fmt::format("{}: attribute '{}' is {:g}, expected {}", arrays.path().string(), name, *number, expected));
    if (number) fact = static_cast<Value>(*number);
  };
  const auto read_count = [&](const char* name, std::optional<Index>& fact) {
    read(
        name, fact, [](double n) { return n >= 1 && n <= 1e6 && n == std::floor(n); }, "a whole number of at least 1");
  };
  const auto read_flag = [&](const char* name, std::optional<bool>& fact) {
    read(
        name, fact, [](double n) { return n == 0 || n == 1; }, "0 or 1");
  };
  read_count("num_heads", heads);
  read_count("head_dim", d_head);
  read_count("window", window);
  read_flag("causal", causal);
  read_flag("turned", turned);
  read(
      "score_scale", scale, [](double n) { return n > 0; }, "a number above 0");
}

std::string LayerArray::of(const std::string& document) const {
  return with_mark(name, document_mark, document);
}

std::vector<const LayerArray*> FoundLayer::parts() const {
  std::vector<const LayerArray*> parts;
  for (const std::optional<LayerArray>* part : {&states, &queries, &keys, &attention})
    if (*part) parts.push_back(&**part);
  return parts;
}

FoundArrays find_arrays(const NamedArrays& arrays, const ArraySearch& search) {
  return Search(arrays, search).found();
}

ArrayExtent array_extent(const NamedArrays& arrays, const LayerArray& part, const std::string& document) {
  const std::string name = part.of(document);
  const std::vector<Index>& shape = arrays.shape(name);
  if (shape.size() != part.axes.size() || std::ranges::any_of(shape, [](Index size) { return size < 1; }))
    throw FormatError(fmt::format("{} has shape {}, expected ({}), none of them 0", arrays.called(name),
                                  shape_text(shape), axes_text(part.axes)));
  ArrayExtent extent;
  Index keys = 0;
  for (std::size_t a = 0; a < shape.size(); ++a) {
    const ArrayAxis axis = part.axes[a];
    if (axis == ArrayAxis::document) extent.documents = shape[a];
    if (axis == ArrayAxis::token || axis == ArrayAxis::query) extent.length = shape[a];
    if (axis == ArrayAxis::width || axis == ArrayAxis::head) extent.width *= shape[a];
    if (axis == ArrayAxis::head) extent.heads = shape[a];
    if (axis == ArrayAxis::key) keys = shape[a];
  }
  if (has_axis(part.axes, ArrayAxis::key) && keys != extent.length)
    throw FormatError(fmt::format("{} has shape {}: {} queries and {} keys, expected equal numbers",
                                  arrays.called(name), shape_text(shape), extent.length, keys));
  return extent;
}

}  // namespace headwave
