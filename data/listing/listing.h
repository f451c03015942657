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
  std::string unit;          ///< unit of a dataset; empty: unknown
  std::string storage;       ///< chunks and filters, or byte order; for a link its target, for a tensor its file
  Attributes attributes;
};

/// The content of a file or folder.
struct Listing {
  std::string kind;  ///< one of: headwave result, HDF5, safetensors, npy, npz, model directory, folder of npy files
  std::filesystem::path path;
  /// The most important facts: for an HDF5 file its root attributes, for a safetensors file its metadata and
  /// number of parameters. For a model directory they are model_type from config.json, the family, sizes and
  /// kinds of positions, attention and norms from its map, parameters, weight_files and tokenizer_files.
  Attributes facts;
  std::vector<ListingEntry> entries;
  std::vector<std::string> notes;  ///< one sentence for each thing that is missing, unread or unreadable
  std::shared_ptr<const Hdf5File> hdf5 = nullptr;  ///< the open file, for reading arrays; null: not HDF5
  std::string damage = {};                         ///< why a model's weights cannot be read; the notes say it too
};

/// Lists what a path contains: a headwave result, an HDF5, safetensors, .npy or .npz file, a model directory
/// or a folder of .npy files. The format of a file is recognised by its content. Only headers are read.
/// @throws IoError if the path cannot be read; FormatError if the path is none of these, or is damaged
Listing listing_of(const std::filesystem::path& path);

}  // namespace headwave
