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

namespace headwave {

namespace {

constexpr std::string_view layer_mark = "{layer}", document_mark = "{document}";

std::string with_mark(std::string pattern, std::string_view mark, const std::string& text) {
  const std::size_t at = pattern.find(mark);
  return at == pattern.npos ? pattern : pattern.replace(at, mark.size(), text);
}

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

/// The names of a kind of array that say the layer, the likeliest first.
std::vector<std::string> names_by_layer(const std::string& word) {
  return {word + "/layer_{layer}", word + "_layer_{layer}", word + "/{layer}", word + "_{layer}"};
}

/// The names of hidden states, the likeliest first.
std::vector<std::string> usual_state_names() {
  std::vector<std::string> names = names_by_layer("hidden_states");
  names.insert(names.end(), {"layer_{layer}/hidden_states", "layer_{layer}", "hidden_states", "states", "embeddings",
                             "last_hidden_state"});
  return names;
}

/// The names of finished attention, the likeliest first.
std::vector<std::string> usual_attention_names() {
  std::vector<std::string> names;
  for (const std::string word : {"attentions", "attention"}) {
    const std::vector<std::string> layers = names_by_layer(word);
    names.insert(names.end(), layers.begin(), layers.end());
    names.push_back("layer_{layer}/" + word);
  }
  names.insert(names.end(), {"attentions", "attention"});
  return names;
}

/// Axes of states, or of queries or keys, by their number.
/// @param projected     queries or keys
/// @param layers_named  the name says the layer
/// @param one_document  each document has arrays of its own
/// @returns nothing where none is usual
std::vector<ArrayAxis> usual_axes(std::size_t count, bool projected, bool layers_named, bool one_document) {
  if (count == 2) return {ArrayAxis::token, ArrayAxis::width};
  if (count == 3)
    return one_document && !layers_named ? std::vector{ArrayAxis::layer, ArrayAxis::token, ArrayAxis::width}
                                         : std::vector{ArrayAxis::document, ArrayAxis::token, ArrayAxis::width};
  if (count == 4 && projected) return {ArrayAxis::document, ArrayAxis::head, ArrayAxis::token, ArrayAxis::width};
  if (count == 4 && !layers_named) return {ArrayAxis::layer, ArrayAxis::document, ArrayAxis::token, ArrayAxis::width};
  return {};
}

/// Axes of finished attention by their number: the last ones of layer, document, head, query, key. The first
/// of four is not known unless the layer is, or there is one document.
std::vector<ArrayAxis> usual_attention_axes(std::size_t count, bool layer_known, bool one_document) {
  constexpr std::array all{ArrayAxis::layer, ArrayAxis::document, ArrayAxis::head, ArrayAxis::query, ArrayAxis::key};
  if (count < 2 || count > all.size() || (count == all.size() && layer_known)) return {};
  if (count != 4) return {all.end() - static_cast<std::ptrdiff_t>(count), all.end()};
  if (layer_known) return {ArrayAxis::document, ArrayAxis::head, ArrayAxis::query, ArrayAxis::key};
  if (one_document) return {ArrayAxis::layer, ArrayAxis::head, ArrayAxis::query, ArrayAxis::key};
  return {};
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
 public:
  Search(const NamedArrays& arrays, const ArraySearch& search)
      : arrays_(arrays), search_(search), names_(arrays.names()) {}

  [[nodiscard]] FoundArrays found() {
    const bool by_hand = !search_.dataset.empty();
    const WantedNames names = by_hand ? named_by_hand() : usual_names();
    add(names.states, "hidden states", &FoundLayer::states, by_hand);
    add(names.queries, "queries", &FoundLayer::queries, by_hand);
    add(names.keys, "keys", &FoundLayer::keys, by_hand);
    add(names.attention, "finished attention", &FoundLayer::attention, by_hand);
    if (layers_.empty())
      throw FormatError(
          no_such_array(arrays_, "hidden_states/layer_L",
                        "hidden states, nor 'queries/layer_L' and 'keys/layer_L', nor 'attentions/layer_L'"),
          give("dataset", "NAME", "to name the array"));
    if (search_.layer && layers_said_)
      throw ShapeError(
          fmt::format("{}: names or an axis already say which layer states enter", arrays_.path().string()),
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

  /// Patterns of names, by what the arrays hold; empty: not stored.
  struct WantedNames {
    std::string states, queries, keys, attention;
  };

  [[nodiscard]] WantedNames named_by_hand() const {
    WantedNames names;
    const bool named = search_.axes.empty() && std::ranges::count(usual_attention_names(), search_.dataset) > 0;
    (named || has_axis(search_.axes, ArrayAxis::query) ? names.attention : names.states) = search_.dataset;
    return names;
  }

  [[nodiscard]] WantedNames usual_names() const {
    WantedNames names;
    names.states = first_usual(usual_state_names());
    names.queries = first_usual(names_by_layer("queries"));
    names.keys = first_usual(names_by_layer("keys"));
    if (!names.states.empty() || !names.queries.empty() || !names.keys.empty()) return names;
    names.attention = first_usual(usual_attention_names());
    if (names.attention.empty() && names_.size() == 1)
      (arrays_.shape(names_.front()).size() == 5 ? names.attention : names.states) = names_.front();
    return names;
  }

  /// @param needed  the array must be there
  void add(const std::string& pattern, const char* what, std::optional<LayerArray> FoundLayer::*part, bool needed) {
    if (pattern.empty()) return;
    const bool layers_named = has_mark(pattern, layer_mark);
    std::map<Index, std::pair<std::string, std::string>> numbers;  // a name of that number, and how it writes it
    for (const std::string& name : names_) {
      NameMatch match;
      if (!fits_pattern(pattern, name, match)) continue;
      const auto& [number, named] = *numbers.try_emplace(match.number, name, match.digits).first;
      if (named.second != match.digits)
        throw FormatError(fmt::format("{} and '{}' are both of number {}; expected one of them",
                                      arrays_.called(named.first), printable(name), number));
      if (!match.document.empty()) documents_.insert(match.document);
    }
    if (numbers.empty() && needed) throw FormatError(no_such_array(arrays_, pattern, what));
    for (const auto& [number, named] : numbers) {
      const auto& [name, digits] = named;
      LayerArray found{with_mark(pattern, layer_mark, digits), axes_of(pattern, name, part), -1};
      if (has_axis(found.axes, ArrayAxis::layer)) {
        add_entries(name, found, part);
        continue;
      }
      layers_said_ = layers_said_ || layers_named;
      keep(layers_named ? number : search_.layer.value_or(0), name, std::move(found), part);
    }
  }

  void add_entries(const std::string& name, LayerArray found, std::optional<LayerArray> FoundLayer::*part) {
    const auto axis = static_cast<std::size_t>(std::ranges::find(found.axes, ArrayAxis::layer) - found.axes.begin());
    const Index count = arrays_.shape(name)[axis];
    layers_said_ = true;
    for (found.entry = 0; found.entry < count; ++found.entry) keep(found.entry, name, found, part);
  }

  void keep(Index at, const std::string& name, LayerArray found, std::optional<LayerArray> FoundLayer::*part) {
    if (at < 0 || at >= most_layers)
      throw FormatError(
          fmt::format("{} would be of layer {}, expected 0 to {}", arrays_.called(name), at, most_layers - 1));
    std::optional<LayerArray>& place = layers_[at].*part;
    if (place)
      throw FormatError(fmt::format("{} would be of layer {}, which '{}' is of already; expected one of them",
                                    arrays_.called(name), at, printable(place->name)));
    place = std::move(found);
  }

  [[nodiscard]] std::vector<ArrayAxis> axes_of(const std::string& pattern, const std::string& name,
                                               std::optional<LayerArray> FoundLayer::*part) const {
    const std::vector<Index> shape = arrays_.shape(name);
    const bool layers_named = has_mark(pattern, layer_mark);
    const bool one = has_mark(pattern, document_mark);
    const bool attention = part == &FoundLayer::attention;
    std::vector<ArrayAxis> axes = search_.axes;
    if (axes.empty() && attention)
      axes = usual_attention_axes(shape.size(), layers_named || search_.layer, one);
    else if (axes.empty())
      axes = usual_axes(shape.size(), part != &FoundLayer::states, layers_named, one);
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
  const auto read = [&]<class Value>(const char* name, std::optional<Value>& fact) {
    const std::optional<double> number = arrays.number(name);
    if (!number) return;
    const double value = *number;
    const bool whole = std::is_same_v<Value, Index>;
    const bool sound = std::is_same_v<Value, bool> ? value == 0 || value == 1
                       : whole                     ? value >= 1 && value <= 1e6 && value == std::floor(value)
                                                   : value > 0;
    if (!sound)
      throw FormatError(fmt::format("{}: attribute '{}' is {:g}, expected {}", arrays.path().string(), name, value,
                                    std::is_same_v<Value, bool> ? "0 or 1"
                                    : whole                     ? "a whole number of at least 1"
                                                                : "a number above 0"));
    fact = static_cast<Value>(value);
  };
  read("num_heads", heads);
  read("head_dim", d_head);
  read("window", window);
  read("causal", causal);
  read("turned", turned);
  read("score_scale", scale);
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
    throw FormatError(fmt::format("{} has shape {}: {} queries and {} keys, expected as many of both",
                                  arrays.called(name), shape_text(shape), extent.length, keys));
  return extent;
}

}  // namespace headwave
