#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../../core/attention/document.h"
#include "../../core/model/source.h"
#include "found_arrays.h"

namespace headwave {

/// Where a document is in the arrays of its file.
struct DocumentPlace {
  std::string text;  ///< the value of {document}
  Index row = 0;     ///< along the axis of documents
  Index length = 0;
  std::string name;
};

/// A document's array of one layer as (T, width), the heads side by side.
/// @throws FormatError if the array has another length or no such document, or holds NaN or infinity; Error
///         as the arrays
Matrix32 document_matrix(const NamedArrays& arrays, const LayerArray& part, const DocumentPlace& place);

/// A document's finished attention of one layer. Rows are read when they are asked for.
/// @param number  of the document in its source, for messages
/// @throws FormatError if the array has another length or no such document
FinishedAttention document_attention(std::shared_ptr<const NamedArrays> arrays, const LayerArray& part,
                                     const DocumentPlace& place, Index number);

/// "queries/layer_2" of "queries" and 2.
std::string at_layer(const char* what, Index layer);

/// A file, or a folder of .npy files, with the arrays of all documents.
class StateFiles {
 public:
  /// @throws Error as open_arrays(), find_arrays() and attention_facts()
  StateFiles(const ArraysPlace& at, const ArraySearch& search);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const NamedArrays& arrays() const { return *arrays_; }
  [[nodiscard]] std::shared_ptr<const NamedArrays> shared_arrays() const { return arrays_; }
  [[nodiscard]] const FoundArrays& contents() const { return contents_; }
  /// Facts about the attention from the file.
  [[nodiscard]] const AttentionFacts& facts() const { return facts_; }
  /// The sizes of an array of all documents, or of the first document.
  [[nodiscard]] ArrayExtent extent(const LayerArray& part) const;
  /// "s.h5: 'hidden_states/layer_0'"
  [[nodiscard]] std::string called(const LayerArray& part) const;

 private:
  std::filesystem::path path_;
  std::shared_ptr<const NamedArrays> arrays_;
  FoundArrays contents_;
  AttentionFacts facts_;
};

/// Changes states when they are read: normalises them, or refuses them.
/// @param called  what messages call them
using StatesChange = std::function<void(Matrix32& states, Index layer, const std::string& called)>;

/// "0, 3-5" of ascending layers 0, 3, 4, 5.
std::string layers_text(const std::vector<Index>& layers);

/// The documents of stored states, queries and keys, or attention. A document's arrays are read when it is
/// asked for. Equal documents count once (distinct_documents.h), for which the first layer of each document
/// is read.
/// @param layers   how many of the stored layers are wanted, from the first one
/// @param at_most  documents; 0: all
/// @param change   may be empty
/// @param words    how many the model knows: ids must be below; 0: unknown
/// @throws FormatError if layers differ in documents or length, there are fewer documents than asked for, or
///         ids, tokens and the like do not fit them
std::unique_ptr<Source> state_documents(std::shared_ptr<const StateFiles> files, std::size_t layers, Index at_most,
                                        StatesChange change, Index words = 0);

}  // namespace headwave
