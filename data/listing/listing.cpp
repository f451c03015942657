#include "listing.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../arrays/safetensors.h"
#include "../files/digest.h"
#include "../files/file_content.h"
#include "../files/json_file.h"
#include "../files/printable.h"
#include "../hdf5/hdf5_file.h"
#include "../models/model_config.h"
#include "../models/model_directory.h"
#include "../sources/named_arrays.h"
#include "../sources/stored_states.h"
#include "../tokens/tokenizer.h"

namespace headwave {

namespace {

namespace fs = std::filesystem;

Listing hdf5_listing(const fs::path& path) {
  const auto file = std::make_shared<Hdf5File>(path);
  Listing listing{"HDF5", path, {}, {}, {}, file};
  // Stored states may be large, and their digest is checked when they are read.
  if (attribute_text(file->attributes("/"), "title") != stored_states_title) require_right_seal(path);
  for (Hdf5Node& node : file->tree()) {
    if (node.path == "/") {
      listing.facts = std::move(node.attributes);
      continue;
    }
    if (node.kind == "unreadable")
      listing.notes.push_back(fmt::format("{} cannot be read: {}", node.path, node.storage));
    std::string unit = attribute_text(node.attributes, "units");
    listing.entries.push_back({std::move(node.path), std::move(node.kind), std::move(node.dtype), std::move(node.shape),
                               std::move(unit), std::move(node.storage), std::move(node.attributes)});
  }
  if (listing.facts.contains("schema_version") && attribute_text(listing.facts, "source").starts_with("headwave")) {
    listing.kind = "headwave result";
    if (!listing.facts.contains("complete")) listing.notes.emplace_back("not finished: writing it was interrupted");
  }
  return listing;
}

Listing safetensors_listing(const fs::path& path) {
  const SafetensorsFile file(path);
  Listing listing{"safetensors", path, {}, {}, {}};
  Index parameters = 0;
  for (const TensorInfo& tensor : file.tensors()) {
    listing.entries.push_back({tensor.name, "tensor", tensor.dtype, tensor.shape, "", path.filename().string(), {}});
    parameters += tensor.size();
  }
  for (const auto& [name, value] : file.metadata()) listing.facts[name] = value;
  listing.facts["parameters"] = std::int64_t{parameters};
  return listing;
}

/// Lists arrays of .npy files: in a folder, in an archive, or a single one.
Listing npy_listing(const std::string& kind, const fs::path& path) {
  Listing listing{kind, path, {}, {}, {}};
  const auto arrays = open_arrays(path);
  for (const std::string& name : arrays->names())
    listing.entries.push_back({name, "array", arrays->type(name), arrays->shape(name), "", arrays->storage(name), {}});
  return listing;
}

/// Adds what config.json says about the checkpoint; what it says about the model follows from its map.
void add_config(Listing& listing, const fs::path& file) {
  const nlohmann::json config = json_of_file(file, largest_config);
  if (!config.is_object()) throw FormatError(fmt::format("{}: expected a JSON object", shown_path(file)));
  for (const char* key : {"model_type", "torch_dtype", "dtype"})
    if (const auto value = config.find(key); value != config.end() && value->is_string())
      listing.facts[key] = value->get<std::string>();
}

/// Problems and unused tensors beyond this many are only counted.
constexpr std::size_t most_notes = 20;

void add_notes(Listing& listing, const std::vector<std::string>& what, const char* note, const char* more) {
  for (std::size_t i = 0; i < std::min(what.size(), most_notes); ++i)
    listing.notes.push_back(fmt::format(fmt::runtime(note), printable(what[i], 1000)));
  if (what.size() > most_notes) listing.notes.push_back(fmt::format("{} more {}", what.size() - most_notes, more));
}

const char* words_of(PositionKind kind) {
  constexpr std::array words{
      "none", "table", "sinusoids", "rotary", "linear bias", "relative buckets", "disentangled terms"};
  return words[static_cast<std::size_t>(kind)];
}

/// Adds the model's family and sizes, and notes what is missing or not read.
void add_model(Listing& listing, const ModelPlace& place) {
  const ModelCheck check = model_check(place);
  const StackMap& stack = check.map.stack;
  listing.facts["family"] = check.map.family;
  listing.facts["family_because"] = check.map.reason;
  for (const auto& [name, number] : {std::pair("layers", stack.layers),
                                     {"decoder_layers", check.map.decoder ? check.map.decoder->layers : 0},
                                     {"heads", stack.block.heads},
                                     {"kv_heads", stack.block.kv_heads},
                                     {"d_head", stack.block.d_head},
                                     {"d_model", stack.d_model},
                                     {"d_feed_forward", stack.d_feed_forward},
                                     {"vocabulary", stack.vocabulary},
                                     {"positions", check.map.longest}})
    if (number > 0) listing.facts[name] = static_cast<std::int64_t>(number);
  listing.facts["position_kind"] = std::string(words_of(stack.positions.kind));
  listing.facts["attention"] = std::string(check.map.decoder    ? "self, causal, cross"
                                           : stack.block.causal ? "causal"
                                                                : "self");
  listing.facts["norms"] = std::string(stack.block.norm_place == NormPlace::post ? "post-norm" : "pre-norm");
  add_notes(listing, check.problems, "{}", "like these");
  add_notes(listing, check.unused, "not read: tensor '{}'", "tensors that are not read");
  add_notes(listing, check.unread, "not read: '{}' of config.json, which may change the numbers",
            "settings that are not read");
}

void add_weights(Listing& listing, const fs::path& folder) {
  const Checkpoint checkpoint(folder);
  for (const std::string& name : checkpoint.names()) {
    const TensorInfo& tensor = checkpoint.info(name);
    listing.entries.push_back({name, "tensor", tensor.dtype, tensor.shape, "", "", {}});
  }
  listing.facts["parameters"] = std::int64_t{checkpoint.parameters()};
  std::string files;
  for (const fs::path& file : checkpoint.files()) files += (files.empty() ? "" : ", ") + file.filename().string();
  listing.facts["weight_files"] = files;
}

/// Whether the folder has safetensors weights, sound or not.
bool has_weight_files(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "model.safetensors", ignored) ||
         fs::exists(folder / "model.safetensors.index.json", ignored);
}

void add_tokenizer(Listing& listing, const fs::path& folder) {
  std::string found;
  for (const char* name : {"tokenizer.json", "vocab.txt", "tokenizer_config.json", "added_tokens.json"})
    if (std::error_code ignored; fs::is_regular_file(folder / name, ignored))
      found += (found.empty() ? "" : ", ") + std::string(name);
  if (found.empty())
    listing.notes.emplace_back("no tokenizer files: only token ids can be read, not texts");
  else
    listing.facts["tokenizer_files"] = found;
}

/// Lists a model directory. Weights that cannot be read, and problems between config.json and the tensors,
/// become notes: a directory is worth looking at before all of it is right.
Listing model_listing(const fs::path& folder) {
  Listing listing{"model directory", folder, {}, {}, {}};
  const fs::path config = folder / "config.json";
  std::error_code ignored;
  const bool has_config = fs::exists(config, ignored);
  try {
    add_weights(listing, folder);
  } catch (const FormatError& problem) {
    if (!has_config) throw;
    listing.notes.emplace_back(problem.what());
    if (has_weight_files(folder)) listing.damage = problem.what();
  }
  try {
    if (has_config) add_config(listing, config);
    if (has_config && !listing.entries.empty()) add_model(listing, folder);
  } catch (const IoError&) {
    throw;
  } catch (const Error& problem) {
    listing.notes.emplace_back(problem.what());
  }
  if (!has_config) listing.notes.emplace_back("no config.json: what the tensors mean is not known");
  add_tokenizer(listing, folder);
  return listing;
}

Listing folder_listing(const fs::path& folder) {
  std::error_code ignored;
  const auto is_array = [](const fs::directory_entry& file) { return file.path().extension() == ".npy"; };
  if (!fs::exists(folder / "config.json", ignored) &&
      std::any_of(fs::directory_iterator(folder, ignored), fs::directory_iterator(), is_array))
    return npy_listing("folder of npy files", folder);
  return model_listing(folder);
}

}  // namespace

Listing listing_of(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return folder_listing(path);
  switch (content_of_file(path)) {
    case FileContent::hdf5:
      return hdf5_listing(path);
    case FileContent::npy:
      return npy_listing("npy", path);
    case FileContent::npz:
      return npy_listing("npz", path);
    case FileContent::safetensors:
      return safetensors_listing(path);
    default:
      throw foreign_file(path, "HDF5, safetensors, .npy or .npz, or a folder of a model or of .npy files");
  }
}

}  // namespace headwave
