#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "name_pattern.h"
#include "stored_documents.h"
#include "usual_arrays.h"

namespace headwave {

namespace {

namespace fs = std::filesystem;

/// Whether the .npy files of a folder are arrays of several layers, not a document each.
bool holds_arrays(const StoredArrays& folder, const StoredSearch& search) {
  std::vector<std::string> patterns{"hidden_states_layer_{layer}", "hidden_states_{layer}", "layer_{layer}",
                                    "queries_layer_{layer}", "queries_{layer}"};
  std::ranges::copy_if(usual_attention_names(), std::back_inserter(patterns), has_layer_mark);
  if (search.map) patterns = {search.map->states.name, search.map->queries.name, search.map->attention.name};
  const std::vector<std::string> names = folder.names();
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return std::ranges::any_of(names, [&](const std::string& name) {
      NameMatch ignored;
      return !pattern.empty() && fits_pattern(pattern, name, ignored);
    });
  });
}

std::vector<fs::path> files_of_documents(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    for (const char* ending : {".npy", ".npz", ".safetensors", ".h5", ".hdf5"})
      if (entry.path().extension() == ending) files.push_back(entry.path());
  std::ranges::sort(files);
  if (files.empty())
    throw FormatError(fmt::format(
        "{}: no .npy, .npz, .safetensors, .h5 or .hdf5 file in this folder; expected stored states, a file for each "
        "document or .npy files such as hidden_states_layer_0.npy",
        shown_path(folder)));
  return files;
}

/// "5 layers of states".
std::string holding_text(const StoredContents& contents) {
  const StoredLayerParts& first = contents.layers.front();
  std::vector<Index> layers;
  for (const StoredLayerParts& layer : contents.layers) layers.push_back(layer.layer);
  std::vector<const char*> kinds;
  if (first.states) kinds.push_back("states");
  if (first.queries) kinds.push_back("queries and keys");
  if (first.attention) kinds.push_back("finished attention");
  return fmt::format("{} of layer{} {}", fmt::join(kinds, " and "), layers.size() == 1 ? "" : "s", layers_text(layers));
}

}  // namespace

StoredPlace::StoredPlace(const StatesAt& at, StoredSearch search)
    : path_(at.path), search_(std::move(search)), arrays_(at.arrays) {
  const fs::path& path = path_;
  if (!arrays_) arrays_ = open_stored_arrays(path);
  if (!at.arrays && fs::is_directory(path) && !holds_arrays(*arrays_, search_)) {
    document_files_ = files_of_documents(path);
    search_.one_document = true;
    arrays_ = open_stored_arrays(document_files_.front());
  }
  contents_ = stored_contents(*arrays_, search_);
  if (!document_files_.empty() && !contents_.documents.empty())
    throw FormatError(
        fmt::format("{}: a folder with a file for each document, and names with {{document}}; expected one "
                    "of them",
                    shown_path(path)));
  stated_ = stated_by(*arrays_);
}

StatedAttention StoredPlace::stated_by(const StoredArrays& arrays) const {
  return stated_attention(arrays, search_.map ? search_.map->stated : StatedAttention{});
}

StoredExtent StoredPlace::extent(const StoredPart& part) const {
  return stored_extent(*arrays_, part, contents_.documents.empty() ? "" : contents_.documents.front());
}

std::string StoredPlace::called(const StoredPart& part) const {
  return arrays_->called(name_of_document(part.name, contents_.documents.empty() ? "" : contents_.documents.front()));
}

std::vector<fs::path> StoredPlace::files() const {
  return document_files_.empty() ? arrays_->files() : document_files_;
}

StoredPlace::Opened StoredPlace::opened(std::size_t document) const {
  if (document_files_.empty() || document == 0) return {arrays_, contents_};
  std::shared_ptr<const StoredArrays> arrays = open_stored_arrays(document_files_[document]);
  StoredContents contents = stored_contents(*arrays, search_);
  require_as_first(document, *arrays, contents);
  return {std::move(arrays), std::move(contents)};
}

void StoredPlace::require_as_first(std::size_t document, const StoredArrays& arrays,
                                   const StoredContents& contents) const {
  const auto differs = [&](const std::string& came, const std::string& first) {
    throw FormatError(fmt::format("{}: {}, the first document ({}) {}; expected the same of all documents",
                                  shown_path(document_files_[document]), came,
                                  printable(document_files_.front().filename().string()), first));
  };
  const auto same = [](const StoredLayerParts& a, const StoredLayerParts& b) {
    return a.layer == b.layer && a.states.has_value() == b.states.has_value() &&
           a.queries.has_value() == b.queries.has_value() && a.attention.has_value() == b.attention.has_value();
  };
  if (!std::ranges::equal(contents.layers, contents_.layers, same))
    differs("holds " + holding_text(contents), holding_text(contents_));
  if (const StatedAttention stated = stated_by(arrays); stated != stated_)
    differs("says " + text_of(stated), text_of(stated_));
  if (arrays.captured() != arrays_->captured())
    differs("was captured of one model", "of another, or changed otherwise");
  const auto beside = [&](const char* what, const std::string& name, const std::string& first) {
    if (name.empty() != first.empty())
      differs(fmt::format("{} '{}'", name.empty() ? "has no" : "has", what), name.empty() ? "has" : "has none");
  };
  beside("ids", contents.ids, contents_.ids);
  beside("special", contents.special, contents_.special);
  beside("tokens", contents.tokens, contents_.tokens);
}

}  // namespace headwave
