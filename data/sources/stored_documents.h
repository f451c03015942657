#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../../core/model/source.h"
#include "states_at.h"
#include "stored_contents.h"

namespace headwave {

/// "queries/layer_2" of "queries" and 2.
std::string at_layer(const char* what, Index layer);

/// Documents by where their arrays lie: all in one file, or in a folder a file for each, in the order of their names.
class StoredPlace {
 public:
  /// A folder is one of arrays where the map's names, or the usual ones, with {layer} fit its .npy files; else its .npy,
  /// .npz, .safetensors, .h5 and .hdf5 files are a document each.
  /// @throws Error as open_stored_arrays(), stored_contents() and stated_attention()
  StoredPlace(const StatesAt& at, StoredSearch search);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// The arrays of all documents, or of the first.
  [[nodiscard]] const StoredArrays& arrays() const { return *arrays_; }
  [[nodiscard]] const StoredContents& contents() const { return contents_; }
  /// What is known of the attention beside the arrays: of every document the same.
  [[nodiscard]] const StatedAttention& stated() const { return stated_; }
  /// What is stored of the first document, as far as it is one.
  [[nodiscard]] StoredExtent extent(const StoredPart& part) const;
  /// "s.h5: 'hidden_states/layer_0'"
  [[nodiscard]] std::string called(const StoredPart& part) const;
  /// A file for each document; empty where all are in one.
  [[nodiscard]] const std::vector<std::filesystem::path>& document_files() const { return document_files_; }
  [[nodiscard]] std::vector<std::filesystem::path> files() const;

  /// One document's arrays, and what they are.
  struct Opened {
    std::shared_ptr<const StoredArrays> arrays;
    StoredContents contents;
  };
  /// @throws Error as the constructor; FormatError if what is stored, or said beside it, is not of the kind of the first;
  ///         IoError if it is not what it was
  [[nodiscard]] Opened opened(std::size_t document) const;

 private:
  [[nodiscard]] StatedAttention stated_by(const StoredArrays& arrays) const;
  void require_as_first(std::size_t document, const StoredArrays& arrays, const StoredContents& contents) const;

  std::filesystem::path path_;
  StoredSearch search_;
  std::vector<std::filesystem::path> document_files_;
  std::shared_ptr<const StoredArrays> arrays_;
  StoredContents contents_;
  StatedAttention stated_;
};

/// What is done to states before anybody sees them: it may normalise them, or refuse them.
/// @param called  what messages call them
using StatesChange = std::function<void(Matrix32& states, Index layer, const std::string& called)>;

/// Ascending numbers of layers as messages and `stored_layers` say them: "0, 3-5".
std::string layers_text(const std::vector<Index>& layers);

/// The stored arrays, document by document: of a file no more is read than the document asked for. Equal documents count
/// once (distinct_documents.h), for which the first layer of each is read.
/// @param layers   how many of the place's are wanted, from the first on
/// @param at_most  documents; 0: all
/// @param change   may be empty
/// @param words    how many the model knows, which ids must be of; 0: nobody knows
/// @throws FormatError if layers differ in documents or length, there are fewer documents than asked for, or what stands
///         beside them ('ids', 'tokens', ...) does not fit them
std::unique_ptr<Source> stored_documents(std::shared_ptr<const StoredPlace> place, std::size_t layers, Index at_most,
                                         StatesChange change, Index words = 0);

}  // namespace headwave
