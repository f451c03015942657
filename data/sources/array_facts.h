#pragma once

#include <concepts>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/attention/block.h"

namespace headwave {

class NamedArrays;

/// Where arrays are: in a file or folder, or in memory.
struct ArraysPlace {
  template <class Path>
  requires std::convertible_to<Path, std::filesystem::path> ArraysPlace(Path&& file)  // NOLINT: a path is a place
      : path(std::forward<Path>(file)) {}
  /// @param called  what messages call the arrays
  ArraysPlace(std::string called, std::shared_ptr<const NamedArrays> in_memory)
      : path(std::move(called)), arrays(std::move(in_memory)) {}

  std::filesystem::path path;
  std::shared_ptr<const NamedArrays> arrays;  ///< null: in the file or folder
};

/// Facts about the attention of stored arrays, as the file states them. Unset: not stated.
struct AttentionFacts {
  std::optional<Index> heads, d_head, window;
  std::optional<bool> causal, turned;
  std::optional<double> scale;
};

/// The facts that the numbers beside arrays state (NamedArrays::number()).
/// @throws FormatError if a number is out of range
AttentionFacts attention_facts(const NamedArrays& arrays);

/// Refuses facts that differ from the model's: states of another model would give attention that nobody
/// computed.
/// @param path  for messages
/// @throws ShapeError if they differ
void require_same_attention(const std::filesystem::path& path, const AttentionFacts& facts, const BlockSpec& spec);

/// What an axis of an array counts. Finished attention has queries and keys where other arrays have tokens
/// and their width.
enum class ArrayAxis { layer, document, head, token, width, query, key };
constexpr std::size_t array_axis_kinds = 7;

/// Reads axes in their order: "layer,document,token,width", "layer,document,head,query,key".
/// @returns nothing where a word is no axis or comes twice, or there are neither token and width nor query
///         and key
std::optional<std::vector<ArrayAxis>> array_axes(std::string_view text);
/// What array_axes() expects, for messages.
constexpr const char* expected_axes =
    "some of layer, document, head, token, width in their order, token and width among them; of finished attention "
    "query and key in their place";
/// Whether axes are those of finished attention.
bool has_keys(const std::vector<ArrayAxis>& axes);
/// "layer, document, token, width"
std::string axes_text(const std::vector<ArrayAxis>& axes);

}  // namespace headwave
