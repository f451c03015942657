#include "stored_profiles.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "../hdf5/hdf5_file.h"

namespace headwave {

namespace {

constexpr std::int64_t profiles_version = 2;

constexpr Index account_parts = 8;  ///< of each half of the documents

/// Sizes of the axes that arrays share, by their letters.
using ProfileSizes = std::map<char, Index>;

/// An array and its axes, one letter each: L layers, K kinds of pairs, H heads, O offsets, N near offsets, B
/// blocks of documents, D documents, P pairs of places, T bins of offsets, A pairs without and with a token
/// counted apart, S scores of a head, R offsets of its largest weights. Of the account: Y parts of the
/// documents, Z halves, E kept documents, J places, U offsets between places, G key heads, M channels of a
/// head, F pairs of channels that turn, C documents whose attended keys were summed, Q queries chosen in
/// each, W words in them. kept_stays is 1 for tokens that are never dealt. turn_neighbours is 1 if channels
/// 2m and 2m + 1 turn together, 0 if m and m + r/2 do. attended_got is the attention of the chosen queries to
/// each key of text; attended_mass is what each of these queries gives to all such keys.
struct ProfileArrayKind {
  const char *name, *axes;
  bool open = false;  ///< numbers are NaN where there is no pair or no null
};

constexpr ProfileArrayKind trace_arrays[] = {{"trace", "KLHO"},
                                             {"trace_mean", "KLHO"},
                                             {"trace_count", "KLO"},
                                             {"trace_documents", "KLO"},
                                             {"null_weight", "KLHN", true},
                                             {"null_variance", "KLHN", true},
                                             {"null_deviation", "KLHN", true},
                                             {"null_third", "KLHN", true},
                                             {"null_root", "KLHN", true},
                                             {"null_documents", "KLN"},
                                             {"place_sum", "LHP"},
                                             {"place_documents", "LP"},
                                             {"place_squares", "LH"},
                                             {"by_document", "DLHN", true},
                                             {"block_documents", "B"},
                                             {"first_offset", "T"},
                                             {"last_offset", "T"},
                                             {"weight", "BLAHT"},
                                             {"pairs", "BLAT"},
                                             {"kept", "BLH"},
                                             {"head_score", "SLH"},
                                             {"head_score_documents", "SLH"},
                                             {"argmax_share", "LHR"},
                                             {"argmax_documents", "LH"},
                                             {"sink_position", "LH"},
                                             {"window", "L"},
                                             {"length", "D"},
                                             {"document_digest", "D"}};

constexpr ProfileArrayKind account_arrays[] = {{"account_documents", "Y"},
                                               {"account_weight", "YLHN"},
                                               {"kept_number", "E"},
                                               {"kept_token", "EJ"},
                                               {"kept_stays", "EJ"},
                                               {"kept_first_special", "E"},
                                               {"scale", "L"},
                                               {"soft_cap", "L"},
                                               {"account_window", "L"},
                                               {"turn_frequency", "LF", true},
                                               {"turn_gain", "L"},
                                               {"turn_neighbours", "L"},
                                               {"score_bias", "LHU"},
                                               {"sink_score", "LH", true},
                                               {"attended_number", "C"},
                                               {"attended_token", "CJ"},
                                               {"attended_text", "CJ"},
                                               {"word_token", "W"}};
constexpr ProfileArrayKind account_vectors[] = {{"half_query", "ZLJHM"},  {"half_key", "ZLJGM"},
                                                {"kept_query", "ELJHM"},  {"kept_key", "ELJGM"},
                                                {"attended_got", "CLHJ"}, {"attended_mass", "CLHQ"}};
/// Whether a stack may lack an array, because no layer has that part or tokens were not known.
bool may_lack(const NamedProfiles::Stack& stack, std::string_view name) {
  return name == "score_bias" || name == "sink_score" || name == "word_token" ||
         (name.starts_with("attended_") && !stack.arrays.contains("attended_number"));
}

[[noreturn]] void refuse_profiles(const std::filesystem::path& path, const std::string& found) {
  throw FormatError(fmt::format("{}: {}", shown_path(path), found));
}

std::int64_t whole_attribute(const std::filesystem::path& path, const Attributes& of, const std::string& name) {
  const auto found = of.find(name);
  const auto* value = found == of.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  if (value == nullptr) refuse_profiles(path, fmt::format("the attribute '{}' is missing or not a whole number", name));
  return *value;
}

/// The last number in a module's path: 3 in "encoder.layer.3.attention.self".
std::optional<Index> layer_in_path(const std::string& module) {
  std::optional<Index> number;
  for (std::size_t at = 0; at < module.size();) {
    const std::size_t end = std::min(module.find('.', at), module.size());
    const std::string part = module.substr(at, end - at);
    if (!part.empty() && part.size() < 5 && std::ranges::all_of(part, [](unsigned char c) { return std::isdigit(c); }))
      number = std::stol(part);
    at = end + 1;
  }
  return number;
}

/// Takes an array, or vectors, out of a stack and checks the axes.
/// @param sizes  known sizes of axes; the others are added
template <class Array>
Array taken(std::map<std::string, Array>& arrays, const ProfileArrayKind& kind, ProfileSizes& sizes,
            const StoredProfiles& profiles) {
  const std::string dataset = fmt::format("{}/{}", profiles.name, kind.name);
  const auto found = arrays.find(kind.name);
  if (found == arrays.end())
    throw FormatError(fmt::format(
        "{}: the array '{}' is missing; expected profiles that headwave.watch(model, null=True) of this version "
        "computed",
        shown_path(profiles.path), dataset));
  Array array = std::move(found->second);
  const std::string_view axes = kind.axes;
  bool fits = array.shape.size() == axes.size();
  std::vector<std::string> expected;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const auto known = sizes.find(axes[axis]);
    if (known != sizes.end()) {
      expected.push_back(fmt::format("{}", known->second));
      fits = fits && array.shape[axis] == known->second;
    } else {
      expected.emplace_back("any");
      if (fits) sizes[axes[axis]] = array.shape[axis];
    }
  }
  Index entries = 1;
  for (const Index size : array.shape) entries *= size;
  if (!fits || entries != std::ssize(array.values))
    throw FormatError(fmt::format("{}: '{}' has the shape ({}); expected ({})", shown_path(profiles.path), dataset,
                                  fmt::join(array.shape, ", "), fmt::join(expected, ", ")));
  return array;
}

/// Refuses NaN where no array may hold it, and numbers too large for what is computed of sums to stay finite.
template <class Number>
void require_finite(std::span<const Number> values, const ProfileArrayKind& kind, const StoredProfiles& profiles) {
  constexpr double most = 1e16;
  for (const Number value : values)
    if (!(std::abs(value) <= most) && !(kind.open && std::isnan(value)))
      throw FormatError(fmt::format(
          "{}: '{}/{}' holds {}; expected finite numbers. Look for NaN or huge values in the watched model's weights",
          shown_path(profiles.path), profiles.name, kind.name, value));
}

void take_array(NamedProfiles::Stack& stack, const ProfileArrayKind& kind, ProfileSizes& sizes,
                StoredProfiles& profiles) {
  ProfileArray array = taken(stack.arrays, kind, sizes, profiles);
  require_finite(std::span<const double>(array.values), kind, profiles);
  profiles.arrays[kind.name] = std::move(array);
}

/// Takes what the account reads. All kept documents have the length of the first.
void take_account(NamedProfiles::Stack& stack, ProfileSizes& sizes, StoredProfiles& profiles) {
  const Index length = static_cast<Index>(profiles.arrays.at("length").values.front());
  sizes['Y'] = 2 * account_parts;
  sizes['Z'] = 2;
  sizes['J'] = length;
  sizes['U'] = 2 * length - 1;
  sizes['G'] = profiles.kv_heads;
  sizes['M'] = profiles.d_head;
  for (const ProfileArrayKind& kind : account_arrays)
    if (stack.arrays.contains(kind.name) || !may_lack(stack, kind.name)) take_array(stack, kind, sizes, profiles);
  if (2 * sizes['F'] > profiles.d_head)
    refuse_profiles(
        profiles.path,
        fmt::format("rotates {} pairs in heads of {} channels; expected at most half as many pairs as channels",
                    sizes['F'], profiles.d_head));
  profiles.words = std::move(stack.words);
  if (std::ssize(profiles.words) != sizes['W'])
    refuse_profiles(profiles.path,
                    fmt::format("has the spelling of {} words, but {} words are attended to; expected equal numbers",
                                profiles.words.size(), sizes['W']));
  for (const ProfileArrayKind& kind : account_vectors) {
    if (!stack.vectors.contains(kind.name) && may_lack(stack, kind.name)) continue;
    ProfileVectors vectors = taken(stack.vectors, kind, sizes, profiles);
    require_finite(vectors.values, kind, profiles);
    profiles.vectors[kind.name] = std::move(vectors);
  }
}

/// The kind of attention of a stack; nullopt: cross-attention.
std::optional<AttentionKind> kind_of_stack(const std::string& name) {
  for (const AttentionKind kind : {AttentionKind::causal, AttentionKind::self})
    if (name == name_of(kind) || name.starts_with(std::string(name_of(kind)) + "_")) return kind;
  return std::nullopt;
}

std::string joined(const std::vector<std::string>& names) {
  return printable(fmt::format("{}", fmt::join(names, ", ")));
}

/// The stacks to read, one for each kind of attention.
/// @param left_out  receives the names of the others: cross-attention, and profiles without a null
std::vector<NamedProfiles::Stack*> stacks_to_read(NamedProfiles& named, std::vector<std::string>& left_out) {
  std::map<AttentionKind, NamedProfiles::Stack*> read;
  NamedProfiles::Stack* bare = nullptr;  // self-attention without a null
  for (NamedProfiles::Stack& stack : named.stacks) {
    const std::optional<AttentionKind> kind = kind_of_stack(stack.name);
    if (!kind || !stack.arrays.contains("trace")) {
      left_out.push_back(stack.name);
      if (kind && bare == nullptr) bare = &stack;
    } else if (NamedProfiles::Stack*& there = read[*kind]; there == nullptr) {
      there = &stack;
    } else {
      refuse_profiles(named.called,
                      fmt::format("holds several stacks of layers of one kind ({}); expected one of each kind; save "
                                  "one alone: headwave.open(\"{}\").save(\"{}.h5\", only=[\"{}\"])",
                                  joined({there->name, stack.name}), printable(named.called.string()),
                                  printable(stack.name), printable(stack.name)));
    }
  }
  if (read.empty() && bare == nullptr)
    refuse_profiles(named.called, fmt::format("holds no stack of self-attention{}; expected 'causal' or 'self'",
                                              left_out.empty() ? "" : " (" + joined(left_out) + ")"));
  if (read.empty()) return {bare};  // its error says what the stack lacks
  std::vector<NamedProfiles::Stack*> stacks;
  for (const auto& [kind, stack] : read) stacks.push_back(stack);
  return stacks;
}

StoredProfiles stored_stack(const NamedProfiles& named, NamedProfiles::Stack& stack) {
  const std::filesystem::path& path = named.called;
  const Attributes &about = named.about, &of_stack = stack.about;
  StoredProfiles profiles;
  profiles.path = path;
  profiles.name = stack.name;
  profiles.kind = kind_of_stack(stack.name).value();
  profiles.model = attribute_text(about, "model");
  const auto text = [&](const char* key) {  // text settings are stored as JSON
    const auto kept = nlohmann::json::parse(attribute_text(about, key), nullptr, false);
    return kept.is_string() ? kept.get<std::string>() : std::string();
  };
  profiles.checkpoint = text("checkpoint");
  profiles.revision = text("revision");
  profiles.weights_digest = text("weights_digest");
  profiles.dealing = whole_attribute(path, about, "deal") != 0;
  profiles.special = attribute_text(about, "special");
  profiles.heads = whole_attribute(path, of_stack, "heads");
  profiles.kv_heads = whole_attribute(path, of_stack, "kv_heads");
  profiles.d_head = whole_attribute(path, of_stack, "d_head");
  profiles.layers = numbered_layers(stack.modules);
  constexpr Index most = 1 << 20;
  const auto sensible = [](Index size) { return size >= 1 && size <= most; };
  if (!sensible(profiles.heads) || !sensible(profiles.kv_heads) || !sensible(profiles.d_head) ||
      profiles.heads % profiles.kv_heads != 0 || profiles.layers.empty())
    refuse_profiles(
        path,
        fmt::format(
            "has {} layers of {} heads and {} key heads of width {}; expected each at least 1, and the number of key "
            "heads to divide the number of heads",
            profiles.layers.size(), profiles.heads, profiles.kv_heads, profiles.d_head));
  ProfileSizes sizes{
      {'L', std::ssize(profiles.layers)}, {'H', profiles.heads}, {'K', 3}, {'A', 2}, {'S', 12}, {'R', 17}};
  for (const ProfileArrayKind& kind : trace_arrays) take_array(stack, kind, sizes, profiles);
  for (const char offsets : {'O', 'N'})
    if (sizes[offsets] % 2 == 0)
      refuse_profiles(path,
                      fmt::format("has {} offsets from left to right; expected an odd number, with 0 in the middle",
                                  sizes[offsets]));
  for (const double length : profiles.arrays.at("length").values) {
    if (!sensible(static_cast<Index>(length)))
      refuse_profiles(path, fmt::format("a document has {} tokens; expected 1 to {}", length, most));
    profiles.lengths.push_back(static_cast<Index>(length));
  }
  const std::vector<double>& in_blocks = profiles.arrays.at("block_documents").values;
  const double blocked = std::accumulate(in_blocks.begin(), in_blocks.end(), 0.0);
  if (blocked != static_cast<double>(profiles.lengths.size()))
    refuse_profiles(path,
                    fmt::format("its blocks hold {} documents, but {} documents have a length; expected equal numbers",
                                blocked, profiles.lengths.size()));
  if (profiles.lengths.empty()) refuse_profiles(path, "holds no documents; expected at least one");
  profiles.dealt_documents = whole_attribute(path, of_stack, "dealt_documents");
  if (profiles.dealt_documents > 0) take_account(stack, sizes, profiles);
  return profiles;
}

}  // namespace

std::vector<Index> numbered_layers(const std::vector<std::string>& modules) {
  std::vector<Index> numbers;
  for (const std::string& module : modules) {
    const std::optional<Index> number = layer_in_path(module);
    if (!number || (!numbers.empty() && *number <= numbers.back())) break;
    numbers.push_back(*number);
  }
  if (numbers.size() == modules.size()) return numbers;
  numbers.clear();
  for (std::size_t layer = 0; layer < modules.size(); ++layer) numbers.push_back(static_cast<Index>(layer));
  return numbers;
}

std::map<std::string, std::string> profile_axes() {
  std::map<std::string, std::string> axes;
  for (const std::span<const ProfileArrayKind> kinds :
       {std::span<const ProfileArrayKind>(trace_arrays), {account_arrays}, {account_vectors}})
    for (const ProfileArrayKind& kind : kinds) axes[kind.name] = kind.axes;
  return axes;
}

bool is_profile_array(std::string_view name) {
  const auto is = [&](const ProfileArrayKind& kind) { return kind.name == name; };
  return std::ranges::any_of(trace_arrays, is) || std::ranges::any_of(account_arrays, is);
}

bool is_profile_vectors(std::string_view name) {
  return std::ranges::any_of(account_vectors, [&](const ProfileArrayKind& kind) { return kind.name == name; });
}

std::vector<StoredProfiles> stored_profiles(NamedProfiles named) {
  if (attribute_text(named.about, "format") != profiles_format)
    refuse_profiles(named.called,
                    "is not a file of profiles; expected one that headwave.watch(model).result().save() wrote");
  if (const std::int64_t version = whole_attribute(named.called, named.about, "format_version");
      version != profiles_version)
    refuse_profiles(named.called,
                    fmt::format("is of format {}, but this headwave reads format {}; watch the model again", version,
                                profiles_version));
  std::vector<std::string> left_out;
  std::vector<StoredProfiles> read;
  for (NamedProfiles::Stack* stack : stacks_to_read(named, left_out)) read.push_back(stored_stack(named, *stack));
  for (StoredProfiles& profiles : read) profiles.left_out = left_out;
  return read;
}

std::vector<StoredProfiles> stored_profiles(const std::filesystem::path& path, const std::string& called) {
  const Hdf5File file(path);
  NamedProfiles named{called.empty() ? path : std::filesystem::path(called), file.attributes("/"), {}};
  for (const Hdf5Node& node : file.tree()) {
    const std::string path_in_file = node.path.substr(1);
    const std::size_t slash = path_in_file.find('/');
    const std::string name = path_in_file.substr(0, slash);
    if (!name.empty() && slash == name.npos) named.stacks.push_back({name, node.attributes, {}, {}, {}, {}});
    if (slash == name.npos || node.kind != "dataset" || !kind_of_stack(name)) continue;
    NamedProfiles::Stack& stack = named.stacks.back();
    const std::string array = path_in_file.substr(slash + 1);
    if (array == "layer") stack.modules = file.strings(node.path);
    if (array == "word") stack.words = file.strings(node.path);
    if (is_profile_array(array)) stack.arrays[array] = {node.shape, file.doubles(node.path)};
    if (!is_profile_vectors(array)) continue;
    const auto values = std::make_shared<const std::vector<float>>(file.floats(node.path));
    stack.vectors[array] = {node.shape, *values, values};
  }
  return stored_profiles(std::move(named));
}

}  // namespace headwave
