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
  std::string kind;          ///< "tensor", "array", "dataset", "group", "link", "type" or "unreadable"
  std::string dtype;         ///< "float32", "int64", "F16" as in safetensors, ...; empty for groups and links
  std::vector<Index> shape;  ///< empty: a single entry, or no array
  std::string unit;          ///< of a dataset; empty: unknown
  std::string storage;       ///< chunks and filters, or byte order; of a link its target; of a tensor its file
  Attributes attributes;
};

/// The content of a file or folder.
struct Listing {
  std::string kind;  ///< one of: headwave result, HDF5, safetensors, npy, npz, model directory, folder of npy files
  std::filesystem::path path;
  /// The most important facts. Of an HDF5 file its root attributes; of a safetensors file its metadata and
  /// parameters. Of a model directory model_type as in config.json, family, sizes, kinds of positions,
  /// attention and norms by its map, parameters, weight_files and tokenizer_files.
  Attributes facts;
  std::vector<ListingEntry> entries;
  std::vector<std::string> notes;                  ///< what is missing, unread or cannot be read, one sentence each
  std::shared_ptr<const Hdf5File> hdf5 = nullptr;  ///< the open file, for reading arrays; null: not HDF5
  std::string damage = {};                         ///< why a model's weights cannot be read; listed in the notes too
};

/// Lists what a path holds: a headwave result, an HDF5, safetensors, .npy or .npz file, a model directory or
/// a folder of .npy files. The format of a file is told by its content. Only headers are read, no arrays.
/// @throws IoError if the path cannot be read; FormatError if it is none of these, or damaged
Listing listing_of(const std::filesystem::path& path);

}  // namespace headwave
