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

/// Queries or keys of profiles, row-major. They stay in their owner's memory, because they may be gigabytes.
struct ProfileVectors {
  std::vector<Index> shape;
  std::span<const float> values;
  std::shared_ptr<const void> owner;
};

/// Profiles from a file or from Python, with the names that headwave.watch gives. Not yet checked.
struct NamedProfiles {
  struct Stack {
    std::string name;  ///< "causal"
    Attributes about;
    std::vector<std::string> modules;            ///< of the layers
    std::vector<std::string> words;              ///< texts of the tokens that were attended to
    std::map<std::string, ProfileArray> arrays;  ///< by name, as far as a run reads them
    std::map<std::string, ProfileVectors> vectors;
  };
  std::filesystem::path called;  ///< name in messages
  Attributes about;
  std::vector<Stack> stacks;
};

/// The numbers of layers in the model: the last number in each module's path, or 0, 1, 2, ... if these do not
/// ascend.
std::vector<Index> numbered_layers(const std::vector<std::string>& modules);

/// The arrays of profiles that a run reads, with one letter per axis: {"weight", "BLAHT"}.
std::map<std::string, std::string> profile_axes();

/// Whether a run reads an array of profiles as numbers (is_profile_array) or as vectors (is_profile_vectors).
bool is_profile_array(std::string_view name);
bool is_profile_vectors(std::string_view name);

/// The sums over one stack of layers that headwave.watch collected in a running model.
struct StoredProfiles {
  std::filesystem::path path;
  std::string name;                  ///< of the stack: "causal"
  std::string model;                 ///< class of the watched model: "LlamaForCausalLM"
  std::string checkpoint, revision;  ///< what it was loaded from, and its commit on the hub; empty: unknown
  std::string weights_digest;        ///< of all parameters; empty: unknown
  AttentionKind kind = AttentionKind::self;
  std::vector<Index> layers;  ///< number of each layer in the model, ascending
  Index heads = 0, kv_heads = 0, d_head = 0;
  Index dealt_documents = 0;                      ///< documents with kept queries and keys; 0: no account
  bool dealing = false;                           ///< whether they were requested (deal=True)
  std::string special;                            ///< ids of special tokens, as JSON; "[]": none were named
  std::vector<Index> lengths;                     ///< (documents) in tokens
  std::vector<std::string> words;                 ///< texts of tokens, one per entry of arrays["word_token"]
  std::vector<std::string> left_out;              ///< stacks of the file that are not read
  std::map<std::string, ProfileArray> arrays;     ///< by name
  std::map<std::string, ProfileVectors> vectors;  ///< of the account

  [[nodiscard]] const std::vector<double>& values(const std::string& array) const { return arrays.at(array).values; }
  /// Part `number` of an array that is cut along its first axes into `parts` equal parts.
  [[nodiscard]] std::span<const double> part(const std::string& array, std::size_t number, std::size_t parts) const {
    const std::size_t size = values(array).size() / parts;
    return std::span(values(array)).subspan(number * size, size);
  }
};

/// Checks profiles and returns their stacks of layers, one for each kind of attention. Names and axes of
/// arrays are checked; numbers may be NaN only where a null is undefined.
/// @returns at least one stack; cross-attention and stacks without a null are omitted
/// @throws FormatError if these are not profiles, have another format, are damaged, were watched without
///         null=True, or hold several stacks of one kind of attention
std::vector<StoredProfiles> stored_profiles(NamedProfiles named);

/// The same for a file.
/// @param called  name in messages and StoredProfiles::path; empty: the file's path
/// @throws IoError if the file cannot be read; FormatError as above
std::vector<StoredProfiles> stored_profiles(const std::filesystem::path& path, const std::string& called = "");

}  // namespace headwave
