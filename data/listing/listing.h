#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave {

class Hdf5File;

/// An array, group or link in a file or folder.
struct ListingEntry {
  std::string name;
  std::string kind;          ///< "tensor", "array", "dataset", "group", "link", "type", "unreadable"
  std::string dtype;         ///< "float32", "int64", "F16" as in safetensors, ...; empty for groups and links
  std::vector<Index> shape;  ///< empty: a single entry, or no array
  std::string unit;          ///< of a dataset; empty: not said
  std::string storage;       ///< of a dataset: chunks and filters; of a link: where it leads; of a tensor: its file
  Attributes attributes;
};

/// The content of a file or folder.
struct Listing {
  std::string kind;  ///< "headwave result", "HDF5", "safetensors", "npy", "model directory", "folder of npy files"
  std::filesystem::path path;
  /// The most important facts. Of a model directory: model_type as config.json has it, family, layers, heads, kv_heads,
  /// d_head, d_model, d_feed_forward, vocabulary and positions of its map, parameters, tokenizer_files; of a result its
  /// root attributes.
  Attributes facts;
  std::vector<ListingEntry> entries;
  std::vector<std::string> notes;                  ///< what is missing or cannot be read, one sentence each
  std::shared_ptr<const Hdf5File> hdf5 = nullptr;  ///< the open file, to read arrays of; null: not HDF5
  std::string damage = {};                         ///< why a model's weights cannot be read; also a note
};

/// Lists what a path holds: a headwave result, an HDF5 file, a safetensors file, a .npy file, a model
/// directory or a folder of .npy files. Files are told apart by their content, not by their names. No array
/// is read, only headers.
/// @throws IoError if the path cannot be read; FormatError if it is none of these, or damaged
Listing listing_of(const std::filesystem::path& path);

}  // namespace headwave
