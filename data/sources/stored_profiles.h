#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/attention/document.h"
#include "../../core/fields/field.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

/// The attribute `format` of a file of profiles.
inline constexpr std::string_view profiles_format = "headwave profiles";

/// An array of profiles, row-major.
struct ProfileArray {
  std::vector<Index> shape;
  std::vector<double> values;
};

/// Queries or keys of profiles, row-major, which lie where their owner keeps them: there can be gigabytes.
struct ProfileVectors {
  std::vector<Index> shape;
  std::span<const float> values;
  std::shared_ptr<const void> owner;
};

/// Profiles as headwave.watch names them, from a file or Python, not yet checked.
struct NamedProfiles {
  struct Stack {
    std::string name;  ///< "causal"
    Attributes about;
    std::vector<std::string> modules;            ///< of its layers
    std::vector<std::string> words;              ///< texts of the tokens that were attended to
    std::map<std::string, ProfileArray> arrays;  ///< those that a run reads
    std::map<std::string, ProfileVectors> vectors;
  };
  std::filesystem::path called;  ///< what messages call them
  Attributes about;
  std::vector<Stack> stacks;
};

/// Numbers of layers in the model: as the last number in each module's path says, or 0, 1, 2, ... where these do not
/// ascend.
std::vector<Index> numbered_layers(const std::vector<std::string>& modules);

/// The arrays of profiles that a run reads, with their axes, a letter each: {"weight", "BLAHT"}.
std::map<std::string, std::string> profile_axes();

/// Whether a run reads an array of profiles as numbers; otherwise as vectors, or not at all.
bool is_profile_array(std::string_view name);
bool is_profile_vectors(std::string_view name);

/// The sums of one stack of layers, which headwave.watch wrote beside a running model.
struct StoredProfiles {
  std::filesystem::path path;
  std::string name;                  ///< of the stack: "causal"
  std::string model;                 ///< class of the watched model: "LlamaForCausalLM"
  std::string checkpoint, revision;  ///< what it was loaded from, and its commit on the hub; empty: not known
  std::string weights_digest;        ///< of all parameters; empty: not known
  AttentionKind kind = AttentionKind::self;
  std::vector<Index> layers;  ///< number of each layer in the model, ascending
  Index heads = 0, kv_heads = 0, d_head = 0;
  Index dealt_documents = 0;                      ///< documents whose queries and keys were kept; 0: no account
  bool dealing = false;                           ///< whether they were to be kept: deal=True
  std::string special;                            ///< ids of special tokens, as JSON; "[]": none were named
  std::vector<Index> lengths;                     ///< (documents) tokens of each document
  std::vector<std::string> words;                 ///< texts of tokens, as many as arrays["word_token"] has
  std::vector<std::string> left_out;              ///< stacks of the file that were left out
  std::map<std::string, ProfileArray> arrays;     ///< the arrays that the program reads, by name
  std::map<std::string, ProfileVectors> vectors;  ///< of the account

  /// The numbers of an array.
  [[nodiscard]] const std::vector<double>& values(const std::string& array) const { return arrays.at(array).values; }
  /// Part `number` of an array that is cut along its first axes into so many.
  [[nodiscard]] std::span<const double> part(const std::string& array, std::size_t number, std::size_t parts) const {
    const std::size_t size = values(array).size() / parts;
    return std::span(values(array)).subspan(number * size, size);
  }
};

/// Checks profiles: their stacks of layers, one of each kind of attention. The names and axes
/// of arrays are checked; numbers may be NaN, where a null is not defined.
/// @returns at least one; cross-attention and stacks of which nothing but profiles was summed are left out
/// @throws FormatError if they are no profiles, of another format, damaged, were watched without null=True, or hold
///         several stacks of one kind of attention
std::vector<StoredProfiles> stored_profiles(NamedProfiles named);

/// The same of a file.
/// @param called  what messages call it, and StoredProfiles::path; empty: by its path
/// @throws IoError; FormatError as above
std::vector<StoredProfiles> stored_profiles(const std::filesystem::path& path, const std::string& called = "");

}  // namespace headwave
