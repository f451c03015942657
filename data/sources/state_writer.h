#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "../../core/attention/document.h"
#include "../../core/fields/field.h"
#include "../../core/model/model.h"

namespace headwave {

/// The title of files that a StateWriter wrote.
inline constexpr const char* stored_states_title = "states of a model, stored by headwave";

/// What of every document is stored, and how.
struct StateLayout {
  std::vector<Index> layers;  ///< ascending
  bool states = true;         ///< what enters the layers' projections
  bool projections = false;   ///< queries and keys, turned where positions are rotary
  bool half = false;          ///< as float16: 11 bits of every number
  unsigned packing = 0;       ///< zlib's level, 0 to 9
};

/// Stored states of documents, in the layout that stored_states() reads, written one document after another: a file may
/// be larger than memory. It appears whole or not at all, and ends with the digest of its bytes, by which who reads it
/// (the provenance of state_documents(), require_stored()) refuses one that was damaged since.
///
/// Beside the states stand `tokens`, `ids`, `special` (documents, T) and `document_name` (documents), where documents
/// have them, the attributes num_heads, head_dim, causal, score_scale and, where there is one, window, and, of queries and
/// keys, `turned`.
class StateWriter {
 public:
  /// @throws IoError if the file cannot be made; ShapeError if there is no layer, or nothing of them is to be stored
  StateWriter(const std::filesystem::path& path, const BlockSpec& block, const StateLayout& layout);
  StateWriter(const StateWriter&) = delete;
  StateWriter& operator=(const StateWriter&) = delete;
  ~StateWriter();

  /// @param document  its `stored` layers are those of the layout
  /// @throws ShapeError if it has another length than the first, other layers or widths, or what the first had is missing;
  ///         NumericError if a number is not finite, or too large for float16; IoError if the disk refuses
  void append(const Document& document);

  /// @param as  another name for the file, in its folder; empty: its own
  /// @throws ShapeError if no document came; IoError if the disk refuses
  void finish(const Attributes& provenance, const std::filesystem::path& as = {});

 private:
  struct File;
  std::unique_ptr<File> file_;
};

/// Refuses a file that a StateWriter finished and that does not hold what it should. One with the digest of all its bytes
/// (sha256_of_file()) is compared with it.
/// @param first  of the documents
/// @throws FormatError if its digest is that of other bytes, an array is not there, or is not of so many documents; as
///         Hdf5File
void require_stored(const std::filesystem::path& file, const StateLayout& layout, const Document& first,
                    Index documents);

}  // namespace headwave
