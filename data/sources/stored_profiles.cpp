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

constexpr std::int64_t newest_profiles = 1;

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
/// at which its largest weights lie.
struct ProfileArrayKind {
  const char *name, *axes;
  ProfileNumbers numbers = ProfileNumbers::positive;
};

constexpr ProfileArrayKind trace_arrays[] = {{"trace", "LKHO"},
                                             {"trace_mean", "LKHO"},
                                             {"trace_count", "LKO"},
                                             {"trace_documents", "LKO"},
                                             {"null_weight", "LKHN", ProfileNumbers::open},
                                             {"null_variance", "LKHN", ProfileNumbers::open},
                                             {"null_deviation", "LKHN", ProfileNumbers::open},
                                             {"null_third", "LKHN", ProfileNumbers::open},
                                             {"null_root", "LKHN", ProfileNumbers::open},
                                             {"null_documents", "LKN"},
                                             {"account_weight", "BLHN"},
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
                                             {"head_score", "LSH", ProfileNumbers::finite},
                                             {"head_score_documents", "LSH"},
                                             {"argmax_share", "LHR"},
                                             {"argmax_documents", "LH"},
                                             {"sink_position", "LH", ProfileNumbers::finite},
                                             {"window", "L"},
                                             {"document_digest", "D"}};

/// C terms of the account, W draws of its null.
constexpr ProfileArrayKind dealt_arrays[] = {{"dealt_weight", "BLCHT"},   {"dealt_pairs", "BLT"},
                                             {"dealt_uniform", "BLT"},    {"dealt_null_weight", "LWHN"},
                                             {"dealt_null_pairs", "LWN"}, {"dealt_null_uniform", "LWN"}};

/// A file of profiles, and what messages call it.
class ProfilesFile : private Hdf5File {
 public:
  ProfilesFile(const std::filesystem::path& path, const std::string& called)
      : Hdf5File(path), called_(called.empty() ? path : std::filesystem::path(called)) {}

  using Hdf5File::attributes;
  using Hdf5File::doubles;
  using Hdf5File::has;
  using Hdf5File::integers;
  using Hdf5File::names;
  using Hdf5File::node;
  using Hdf5File::strings;
  [[nodiscard]] const std::filesystem::path& path() const { return called_; }

 private:
  std::filesystem::path called_;
};

[[noreturn]] void refuse_profiles(const std::filesystem::path& path, const std::string& found) {
  throw FormatError(fmt::format("{}: {}", path.string(), found));
}

std::int64_t whole_attribute(const ProfilesFile& file, const Attributes& of, const std::string& name) {
  const auto found = of.find(name);
  const auto* value = found == of.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  if (value == nullptr) refuse_profiles(file.path(), fmt::format("lacks the whole number '{}'; expected it", name));
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

/// Numbers of the layers in the model: as their modules' paths say, or 0, 1, 2, ...
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

void read_profile_array(const ProfilesFile& file, const ProfileArrayKind& kind, ProfileSizes& sizes,
                        StoredProfiles& profiles) {
  const std::string dataset = fmt::format("{}/{}", profiles.name, kind.name);
  if (!file.has(dataset))
    throw FormatError(
        fmt::format("{}: lacks the array '{}', which a run reads; expected a file of headwave.watch(model, null=True), "
                    "of this version or a later one",
                    file.path().string(), dataset));
  ProfileArray& array = profiles.arrays[kind.name];
  array.shape = file.node(dataset).shape;
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
  if (!fits)
    throw FormatError(fmt::format("{}: '{}' has the shape ({}); expected ({})", file.path().string(), dataset,
                                  fmt::join(array.shape, ", "), fmt::join(expected, ", ")));
  array.values = file.doubles(dataset);
  constexpr double most = 1e16, rounding = 1e-6;  // more than any sum or digest; what is computed of them stays finite
  for (const double value : array.values) {
    if (std::isnan(value) ? kind.numbers == ProfileNumbers::open
                          : std::abs(value) <= most && (value >= -rounding || kind.numbers != ProfileNumbers::positive))
      continue;
    throw FormatError(fmt::format(
        "{}: '{}' holds {}; expected finite numbers{}. Look for NaN or huge values in the watched model's weights",
        file.path().string(), dataset, value, kind.numbers == ProfileNumbers::positive ? " from 0 on" : ""));
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

Stacks stacks_of(const ProfilesFile& file) {
  Stacks stacks;
  std::vector<std::string> bare;  // profiles without a null
  for (const std::string& name : file.names("/"))
    if (!kind_of_stack(name))
      stacks.left_out.push_back(name);
    else
      (file.has(name + "/trace") ? stacks.read : bare).push_back(name);
  if (stacks.read.empty() && bare.empty())
    refuse_profiles(file.path(), fmt::format("holds no stack of self-attention{}; expected 'causal' or 'self'",
                                             stacks.left_out.empty() ? "" : " (" + joined(stacks.left_out) + ")"));
  if (stacks.read.empty()) return {{bare.front()}, {}};  // read_profile_array() says what it lacks
  for (const std::string& name : stacks.read)
    for (const std::string& other : stacks.read)
      if (name < other && kind_of_stack(name) == kind_of_stack(other))
        refuse_profiles(
            file.path(),
            fmt::format("holds several stacks of layers of one kind ({}); expected one of each kind; take "
                        "one out: headwave.open(\"{}\").save(\"{}.h5\", only=[\"{}\"])",
                        joined(stacks.read), printable(file.path().string()), printable(name), printable(name)));
  std::ranges::sort(stacks.read, {}, [](const std::string& name) { return kind_of_stack(name).value(); });
  stacks.left_out.insert(stacks.left_out.end(), bare.begin(), bare.end());
  return stacks;
}

StoredProfiles stored_stack(const ProfilesFile& file, const Attributes& about, const std::string& name) {
  StoredProfiles profiles;
  profiles.path = file.path();
  profiles.name = name;
  profiles.kind = kind_of_stack(name).value();
  profiles.model = attribute_text(about, "model");
  const auto text = [&](const char* key) {  // settings that are texts are kept as JSON
    const auto kept = nlohmann::json::parse(attribute_text(about, key), nullptr, false);
    return kept.is_string() ? kept.get<std::string>() : std::string();
  };
  profiles.checkpoint = text("checkpoint");
  profiles.revision = text("revision");
  profiles.weights_digest = text("weights_digest");
  profiles.blocks = whole_attribute(file, about, "blocks");
  profiles.dealing = whole_attribute(file, about, "deal") != 0;
  profiles.special = attribute_text(about, "special");
  profiles.exact = whole_attribute(file, about, "exact");
  const Attributes of_stack = file.attributes(profiles.name);
  profiles.heads = whole_attribute(file, of_stack, "heads");
  profiles.kv_heads = whole_attribute(file, of_stack, "kv_heads");
  profiles.d_head = whole_attribute(file, of_stack, "d_head");
  profiles.layers = numbered_layers(file.strings(profiles.name + "/layer"));
  constexpr Index most = 1 << 20;
  const auto sensible = [](Index size) { return size >= 1 && size <= most; };
  if (!sensible(profiles.heads) || !sensible(profiles.kv_heads) || !sensible(profiles.d_head) ||
      !sensible(profiles.blocks) || profiles.heads % profiles.kv_heads != 0 || profiles.layers.empty())
    refuse_profiles(
        file.path(),
        fmt::format(
            "has {} layers of {} heads, {} key heads of width {}; expected 1 or more, and key heads that divide heads",
            profiles.layers.size(), profiles.heads, profiles.kv_heads, profiles.d_head));
  ProfileSizes sizes{
      {'L', std::ssize(profiles.layers)}, {'H', profiles.heads}, {'K', 3}, {'C', 3}, {'A', 2}, {'S', 12}, {'R', 17}};
  for (const ProfileArrayKind& kind : trace_arrays) read_profile_array(file, kind, sizes, profiles);
  profiles.dealt_documents = whole_attribute(file, of_stack, "dealt_documents");
  if (profiles.dealt_documents > 0)
    for (const ProfileArrayKind& kind : dealt_arrays) read_profile_array(file, kind, sizes, profiles);
  for (const char offsets : {'O', 'N'})
    if (sizes[offsets] % 2 == 0)
      refuse_profiles(
          file.path(),
          fmt::format("has {} offsets from left to right; expected an odd number, 0 among them", sizes[offsets]));
  for (const std::int64_t length : file.integers(profiles.name + "/length")) {
    if (!sensible(length))
      refuse_profiles(file.path(), fmt::format("a document has {} tokens; expected 1 to {}", length, most));
    profiles.lengths.push_back(length);
  }
  const std::vector<double>& in_blocks = profiles.arrays.at("block_documents").values;
  const double blocked = std::accumulate(in_blocks.begin(), in_blocks.end(), 0.0);
  if (blocked != static_cast<double>(profiles.lengths.size()))
    refuse_profiles(file.path(), fmt::format("blocks hold {} documents, and {} have a length; expected as many",
                                             blocked, profiles.lengths.size()));
  if (profiles.lengths.empty() || std::ssize(profiles.lengths) != sizes['D'])
    refuse_profiles(file.path(),
                    fmt::format("{} documents have a length, and {} have traces; expected as many, 1 or more",
                                profiles.lengths.size(), sizes['D']));
  return profiles;
}

}  // namespace

std::vector<StoredProfiles> stored_profiles(const std::filesystem::path& path, const std::string& called) {
  const ProfilesFile file(path, called);
  const Attributes about = file.attributes("/");
  if (attribute_text(about, "format") != profiles_format)
    refuse_profiles(file.path(),
                    "is no file of profiles; expected one that headwave.watch(model).result().save() wrote");
  if (const std::int64_t version = whole_attribute(file, about, "format_version"); version > newest_profiles)
    refuse_profiles(file.path(),
                    fmt::format("is of format {}; this headwave reads {}: get a newer one", version, newest_profiles));
  const Stacks stacks = stacks_of(file);
  std::vector<StoredProfiles> read;
  for (const std::string& name : stacks.read) {
    read.push_back(stored_stack(file, about, name));
    read.back().left_out = stacks.left_out;
  }
  return read;
}

}  // namespace headwave
