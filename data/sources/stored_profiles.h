#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/attention/document.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

/// The attribute `format` of a file of profiles.
inline constexpr std::string_view profiles_format = "headwave profiles";

/// An array of a file of profiles, row-major.
struct ProfileArray {
  std::vector<Index> shape;
  std::vector<double> values;
};

/// The sums of one stack of layers in a file of profiles, which headwave.watch wrote beside a running model.
struct StoredProfiles {
  std::filesystem::path path;
  std::string name;                  ///< of the stack: "causal"
  std::string model;                 ///< class of the watched model: "LlamaForCausalLM"
  std::string checkpoint, revision;  ///< what it was loaded from, and its commit on the hub; empty: not known
  std::string weights_digest;        ///< of all parameters; empty: not known
  AttentionKind kind = AttentionKind::self;
  std::vector<Index> layers;  ///< number of each layer in the model, ascending
  Index heads = 0, kv_heads = 0, d_head = 0;
  Index blocks = 0;                            ///< documents of number n modulo `blocks` were summed together
  Index dealt_documents = 0;                   ///< documents whose contents were dealt; 0: there are no dealt arrays
  bool dealing = false;                        ///< whether contents were to be dealt: deal=True
  std::string special;                         ///< ids of special tokens, as JSON; "[]": none were named
  Index exact = 0;                             ///< largest offset with a bin of its own
  std::vector<Index> lengths;                  ///< (documents) tokens of each document
  std::vector<std::string> left_out;           ///< stacks of the file that were left out
  std::map<std::string, ProfileArray> arrays;  ///< the arrays of docs/profiles.md that the program reads, by name
};

/// Reads a file of profiles: its stacks of layers, one of each kind of attention. docs/profiles.md says what is in
/// it. The names and axes of its arrays are checked; numbers may be NaN, where a null is not defined.
/// @param called  what messages call it, and StoredProfiles::path; empty: by its path
/// @returns at least one; cross-attention and stacks of which nothing but profiles was summed are left out
/// @throws IoError, FormatError if it is no file of profiles, of a later format, damaged, was watched without
///         null=True, or holds several stacks of one kind of attention
std::vector<StoredProfiles> stored_profiles(const std::filesystem::path& path, const std::string& called = "");

}  // namespace headwave
