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

/// What is stored of every document, and how.
struct StateLayout {
  bool projections = false;  ///< queries and keys, turned where positions are rotary; else what enters the projections
  bool half = false;         ///< as float16: 11 bits of every number
  unsigned packing = 0;      ///< zlib's level, 0 to 9
};

/// Writes states of documents to HDF5, one document after another, in the layout that stored_states() reads.
/// A file may be larger than memory. It appears whole or not at all, and ends with the digest of its bytes,
/// so that readers refuse a file that was damaged.
///
/// Beside the states it holds `tokens`, `ids`, `special` (documents, T) and `document_name` (documents),
/// where documents have them; the attributes num_heads, head_dim, causal, score_scale, and window where there
/// is one; `turned` with queries and keys.
class StateWriter {
 public:
  /// @throws IoError if the file cannot be made
  StateWriter(const std::filesystem::path& path, const BlockSpec& block, const StateLayout& layout);
  StateWriter(const StateWriter&) = delete;
  StateWriter& operator=(const StateWriter&) = delete;
  ~StateWriter();

  /// Writes a document.
  /// @throws ShapeError if it has another length, other layers or other widths than the first, or lacks what
  ///         the first had; NumericError if a number is not finite, or too large for float16; IoError if the
  ///         disk refuses
  void append(const Document& document);

  /// Finishes the file, and gives it its name.
  /// @throws ShapeError if no document was written; IoError if the disk refuses
  void finish(const Attributes& provenance);

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace headwave
