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

/// Queries or keys of profiles, row-major. They stay in the memory of `owner`, since they may be gigabytes.
struct ProfileVectors {
  std::vector<Index> shape;
  std::span<const float> values;
  std::shared_ptr<const void> owner;
};

/// Profiles from a file or from Python, with the names that headwave.watch gives. They are not yet checked.
struct NamedProfiles {
  struct Stack {
    std::string name;  ///< for example "causal"
    Attributes about;
    std::vector<std::string> modules;            ///< paths of the layers' modules
    std::vector<std::string> words;              ///< tokens that were attended to, as strings
    std::map<std::string, ProfileArray> arrays;  ///< by name; only arrays that a run reads
    std::map<std::string, ProfileVectors> vectors;
  };
  std::filesystem::path called;  ///< name in messages
  Attributes about;
  std::vector<Stack> stacks;
};

/// Layers' numbers in the model: the last number in each module's path, or 0, 1, 2, ... if these do not
/// ascend.
std::vector<Index> numbered_layers(const std::vector<std::string>& modules);

/// The arrays of profiles that a run reads, each with one letter per axis, for example {"weight", "BLAHT"}.
std::map<std::string, std::string> profile_axes();

/// Whether a run reads an array of profiles as numbers (is_profile_array) or as vectors (is_profile_vectors).
bool is_profile_array(std::string_view name);
bool is_profile_vectors(std::string_view name);

/// The sums over one stack of layers that headwave.watch collected in a running model.
struct StoredProfiles {
  std::filesystem::path path;
  std::string name;                  ///< name of the stack, for example "causal"
  std::string model;                 ///< class of the watched model, for example "LlamaForCausalLM"
  std::string checkpoint, revision;  ///< where the model was loaded from, its commit on the hub; empty: unknown
  std::string weights_digest;        ///< digest of all parameters; empty: unknown
  AttentionKind kind = AttentionKind::self;
  std::vector<Index> layers;  ///< number of each layer in the model, ascending
  Index heads = 0, kv_heads = 0, d_head = 0;
  Index dealt_documents = 0;                      ///< number of documents with kept queries and keys; 0: no account
  bool dealing = false;                           ///< whether queries and keys were requested (deal=True)
  std::string special;                            ///< ids of special tokens as JSON; "[]": the user named none
  std::vector<Index> lengths;                     ///< (documents) lengths in tokens
  std::vector<std::string> words;                 ///< tokens as strings, one per entry of arrays["word_token"]
  std::vector<std::string> left_out;              ///< names of stacks in the file that are not read
  std::map<std::string, ProfileArray> arrays;     ///< the sums, by name
  std::map<std::string, ProfileVectors> vectors;  ///< queries and keys for the account, by name

  [[nodiscard]] const std::vector<double>& values(const std::string& array) const { return arrays.at(array).values; }
  /// Part `number` of an array that is cut along its first axes into `parts` equal parts.
  [[nodiscard]] std::span<const double> part(const std::string& array, std::size_t number, std::size_t parts) const {
    const std::size_t size = values(array).size() / parts;
    return std::span(values(array)).subspan(number * size, size);
  }
};

/// Checks profiles and returns their stacks of layers, one for each kind of attention. Arrays must have the
/// right names and axes, and may be NaN only where the null distribution is undefined.
/// @returns at least one stack; cross-attention and stacks without a null are omitted
/// @throws FormatError if these are not profiles, have another format, are damaged, were watched without
///         null=True, or hold several stacks of one kind of attention
std::vector<StoredProfiles> stored_profiles(NamedProfiles named);

/// Reads profiles from a file, checks them and returns their stacks.
/// @param called  the file's name in messages and in StoredProfiles::path; empty: its path
/// @throws IoError if the file cannot be read; FormatError as above
std::vector<StoredProfiles> stored_profiles(const std::filesystem::path& path, const std::string& called = "");

}  // namespace headwave
