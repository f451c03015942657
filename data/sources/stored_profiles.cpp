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

/// Sizes that arrays share, by the letters below.
using ProfileSizes = std::map<char, Index>;

/// What the numbers of an array may be.
enum class ProfileNumbers {
  positive,  ///< counts, and sums of weights: 0 or more
  finite,    ///< offsets, places, and sums of what may be negative
  open,      ///< the same, or NaN where there is no pair or no null
};

/// An array and its axes: L layers, K kinds of pairs, H heads, O offsets, N near offsets, B blocks, P pairs of
/// places, D documents; T bins of offsets, A pairs that are not apart and such as are; S scores of a head, R offsets
/// at which its largest weights lie. Of the account: Y parts of the documents, Z halves, E documents that are kept, J
/// places, U offsets between places, G key heads, M components, F pairs of components that turn; C documents whose
/// attended keys were summed, Q queries of each, W words in them. kept_stays is 1 for tokens that are never dealt;
/// turn_neighbours is 1 where channels 2m and 2m + 1 turn together, 0 where m and m + r/2 do. attended_got is the
/// attention that the chosen queries give to each key of text, attended_mass what each of them gives to all.
struct ProfileArrayKind {
  const char *name, *axes;
  ProfileNumbers numbers = ProfileNumbers::positive;
};

constexpr ProfileArrayKind trace_arrays[] = {{"trace", "KLHO"},
                                             {"trace_mean", "KLHO"},
                                             {"trace_count", "KLO"},
                                             {"trace_documents", "KLO"},
                                             {"null_weight", "KLHN", ProfileNumbers::open},
                                             {"null_variance", "KLHN", ProfileNumbers::open},
                                             {"null_deviation", "KLHN", ProfileNumbers::open},
                                             {"null_third", "KLHN", ProfileNumbers::open},
                                             {"null_root", "KLHN", ProfileNumbers::open},
                                             {"null_documents", "KLN"},
                                             {"place_sum", "LHP", ProfileNumbers::finite},
                                             {"place_documents", "LP"},
                                             {"place_squares", "LH"},
                                             {"by_document", "DLHN", ProfileNumbers::open},
                                             {"block_documents", "B"},
                                             {"first_offset", "T", ProfileNumbers::finite},
                                             {"last_offset", "T", ProfileNumbers::finite},
                                             {"weight", "BLAHT"},
                                             {"pairs", "BLAT"},
                                             {"kept", "BLH"},
                                             {"head_score", "SLH", ProfileNumbers::finite},
                                             {"head_score_documents", "SLH"},
                                             {"argmax_share", "LHR"},
                                             {"argmax_documents", "LH"},
                                             {"sink_position", "LH", ProfileNumbers::finite},
                                             {"window", "L"},
                                             {"length", "D"},
                                             {"document_digest", "D"}};

constexpr ProfileArrayKind account_arrays[] = {{"account_documents", "Y"},
                                               {"account_weight", "YLHN"},
                                               {"kept_number", "E"},
                                               {"kept_token", "EJ", ProfileNumbers::finite},
                                               {"kept_stays", "EJ"},
                                               {"kept_first_special", "E"},
                                               {"scale", "L", ProfileNumbers::finite},
                                               {"soft_cap", "L"},
                                               {"account_window", "L"},
                                               {"turn_frequency", "LF", ProfileNumbers::open},
                                               {"turn_gain", "L", ProfileNumbers::finite},
                                               {"turn_neighbours", "L"},
                                               {"score_bias", "LHU", ProfileNumbers::finite},
                                               {"sink_score", "LH", ProfileNumbers::open},
                                               {"attended_number", "C"},
                                               {"attended_token", "CJ"},
                                               {"attended_text", "CJ"},
                                               {"word_token", "W"}};
constexpr ProfileArrayKind account_vectors[] = {{"half_query", "ZLJHM"},  {"half_key", "ZLJGM"},
                                                {"kept_query", "ELJHM"},  {"kept_key", "ELJGM"},
                                                {"attended_got", "CLHJ"}, {"attended_mass", "CLHQ"}};
/// Whether a stack may lack an array: a layer need not have it, or tokens were not known.
bool may_lack(const NamedProfiles::Stack& stack, std::string_view name) {
  return name == "score_bias" || name == "sink_score" || name == "word_token" ||
         (name.starts_with("attended_") && !stack.arrays.contains("attended_number"));
}

[[noreturn]] void refuse_profiles(const std::filesystem::path& path, const std::string& found) {
  throw FormatError(fmt::format("{}: {}", path.string(), found));
}

std::int64_t whole_attribute(const std::filesystem::path& path, const Attributes& of, const std::string& name) {
  const auto found = of.find(name);
  const auto* value = found == of.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  if (value == nullptr) refuse_profiles(path, fmt::format("lacks the whole number '{}'; expected it", name));
  return *value;
}

/// The last number in a module's path: 3 of "encoder.layer.3.attention.self".
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

/// Takes an array, or vectors, out of a stack, and checks their axes.
/// @param sizes  of the axes that are known; those that are not are set
template <class Array>
Array taken(std::map<std::string, Array>& arrays, const ProfileArrayKind& kind, ProfileSizes& sizes,
            const StoredProfiles& profiles) {
  const std::string dataset = fmt::format("{}/{}", profiles.name, kind.name);
  const auto found = arrays.find(kind.name);
  if (found == arrays.end())
    throw FormatError(fmt::format(
        "{}: lacks the array '{}', which a run reads; expected what headwave.watch(model, null=True) of this "
        "version sums",
        profiles.path.string(), dataset));
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
    throw FormatError(fmt::format("{}: '{}' has the shape ({}); expected ({})", profiles.path.string(), dataset,
                                  fmt::join(array.shape, ", "), fmt::join(expected, ", ")));
  return array;
}

[[noreturn]] void refuse_number(const StoredProfiles& profiles, const char* array, double value, const char* expected) {
  throw FormatError(fmt::format(
      "{}: '{}/{}' holds {}; expected finite numbers{}. Look for NaN or huge values in the watched model's weights",
      profiles.path.string(), profiles.name, array, value, expected));
}

void take_array(NamedProfiles::Stack& stack, const ProfileArrayKind& kind, ProfileSizes& sizes,
                StoredProfiles& profiles) {
  ProfileArray array = taken(stack.arrays, kind, sizes, profiles);
  constexpr double most = 1e16, rounding = 1e-6;  // more than any sum or digest; what is computed of them stays finite
  for (const double value : array.values) {
    if (std::isnan(value) ? kind.numbers == ProfileNumbers::open
                          : std::abs(value) <= most && (value >= -rounding || kind.numbers != ProfileNumbers::positive))
      continue;
    refuse_number(profiles, kind.name, value, kind.numbers == ProfileNumbers::positive ? " from 0 on" : "");
  }
  profiles.arrays[kind.name] = std::move(array);
}

/// What the account reads. Documents that are kept have the length of the first.
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
    refuse_profiles(profiles.path, fmt::format("turns {} pairs of {} components; expected at most half as many",
                                               sizes['F'], profiles.d_head));
  profiles.words = std::move(stack.words);
  if (std::ssize(profiles.words) != sizes['W'])
    refuse_profiles(profiles.path, fmt::format("has the texts of {} words, and {} are attended to; expected as many",
                                               profiles.words.size(), sizes['W']));
  constexpr float most = 1e15F;
  for (const ProfileArrayKind& kind : account_vectors) {
    if (!stack.vectors.contains(kind.name) && may_lack(stack, kind.name)) continue;
    ProfileVectors vectors = taken(stack.vectors, kind, sizes, profiles);
    for (const float value : vectors.values)
      if (!(std::abs(value) <= most)) refuse_number(profiles, kind.name, value, "");
    profiles.vectors[kind.name] = std::move(vectors);
  }
}

/// Kind of attention of a stack; nullopt: cross-attention.
std::optional<AttentionKind> kind_of_stack(const std::string& name) {
  for (const AttentionKind kind : {AttentionKind::causal, AttentionKind::self})
    if (name == name_of(kind) || name.starts_with(std::string(name_of(kind)) + "_")) return kind;
  return std::nullopt;
}

/// The stacks that are read, and those that are left out.
struct Stacks {
  std::vector<std::string> read, left_out;
};

std::string joined(const std::vector<std::string>& names) {
  return printable(fmt::format("{}", fmt::join(names, ", ")));
}

/// Whether a stack holds more than profiles: what a run reads.
bool has_null(const NamedProfiles::Stack& stack) {
  return stack.arrays.contains("trace");
}

Stacks stacks_of(const NamedProfiles& named) {
  Stacks stacks;
  std::vector<std::string> bare;  // profiles without a null
  for (const NamedProfiles::Stack& stack : named.stacks)
    if (!kind_of_stack(stack.name))
      stacks.left_out.push_back(stack.name);
    else
      (has_null(stack) ? stacks.read : bare).push_back(stack.name);
  if (stacks.read.empty() && bare.empty())
    refuse_profiles(named.called, fmt::format("holds no stack of self-attention{}; expected 'causal' or 'self'",
                                              stacks.left_out.empty() ? "" : " (" + joined(stacks.left_out) + ")"));
  if (stacks.read.empty()) return {{bare.front()}, {}};  // taken() says what it lacks
  for (const std::string& name : stacks.read)
    for (const std::string& other : stacks.read)
      if (name < other && kind_of_stack(name) == kind_of_stack(other))
        refuse_profiles(
            named.called,
            fmt::format("holds several stacks of layers of one kind ({}); expected one of each kind; take "
                        "one out: headwave.open(\"{}\").save(\"{}.h5\", only=[\"{}\"])",
                        joined(stacks.read), printable(named.called.string()), printable(name), printable(name)));
  std::ranges::sort(stacks.read, {}, [](const std::string& name) { return kind_of_stack(name).value(); });
  stacks.left_out.insert(stacks.left_out.end(), bare.begin(), bare.end());
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
  const auto text = [&](const char* key) {  // settings that are texts are kept as JSON
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
            "has {} layers of {} heads, {} key heads of width {}; expected 1 or more, and key heads that divide heads",
            profiles.layers.size(), profiles.heads, profiles.kv_heads, profiles.d_head));
  ProfileSizes sizes{
      {'L', std::ssize(profiles.layers)}, {'H', profiles.heads}, {'K', 3}, {'A', 2}, {'S', 12}, {'R', 17}};
  for (const ProfileArrayKind& kind : trace_arrays) take_array(stack, kind, sizes, profiles);
  for (const char offsets : {'O', 'N'})
    if (sizes[offsets] % 2 == 0)
      refuse_profiles(
          path, fmt::format("has {} offsets from left to right; expected an odd number, 0 among them", sizes[offsets]));
  for (const double length : profiles.arrays.at("length").values) {
    if (!sensible(static_cast<Index>(length)))
      refuse_profiles(path, fmt::format("a document has {} tokens; expected 1 to {}", length, most));
    profiles.lengths.push_back(static_cast<Index>(length));
  }
  const std::vector<double>& in_blocks = profiles.arrays.at("block_documents").values;
  const double blocked = std::accumulate(in_blocks.begin(), in_blocks.end(), 0.0);
  if (blocked != static_cast<double>(profiles.lengths.size()))
    refuse_profiles(path, fmt::format("blocks hold {} documents, and {} have a length; expected as many", blocked,
                                      profiles.lengths.size()));
  if (profiles.lengths.empty()) refuse_profiles(path, "holds no document; expected one or more");
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
                    "is no file of profiles; expected one that headwave.watch(model).result().save() wrote");
  if (const std::int64_t version = whole_attribute(named.called, named.about, "format_version");
      version != profiles_version)
    refuse_profiles(named.called, fmt::format("is of format {}, and this headwave reads {}; watch the model again",
                                              version, profiles_version));
  const Stacks stacks = stacks_of(named);
  std::vector<StoredProfiles> read;
  for (const std::string& name : stacks.read) {
    read.push_back(stored_stack(named, *std::ranges::find(named.stacks, name, &NamedProfiles::Stack::name)));
    read.back().left_out = stacks.left_out;
  }
  return read;
}

std::vector<StoredProfiles> stored_profiles(const std::filesystem::path& path, const std::string& called) {
  const Hdf5File file(path);
  NamedProfiles named{called.empty() ? path : std::filesystem::path(called), file.attributes("/"), {}};
  for (const std::string& name : file.names("/")) {
    NamedProfiles::Stack& stack = named.stacks.emplace_back();
    stack.name = name;
    if (!kind_of_stack(name) || !file.has(name + "/trace")) continue;
    stack.about = file.attributes(name);
    stack.modules = file.strings(name + "/layer");
    if (file.has(name + "/word")) stack.words = file.strings(name + "/word");
    for (const std::string& array : file.names(name)) {
      const std::string dataset = fmt::format("{}/{}", name, array);
      if (is_profile_array(array)) stack.arrays[array] = {file.node(dataset).shape, file.doubles(dataset)};
      if (!is_profile_vectors(array)) continue;
      const auto values = std::make_shared<const std::vector<float>>(file.floats(dataset));
      stack.vectors[array] = {file.node(dataset).shape, *values, values};
    }
  }
  return stored_profiles(std::move(named));
}

}  // namespace headwave
