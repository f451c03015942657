#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "../../data/sources/stored_writer.h"
#include "../inputs/job_input.h"
#include "../run/job.h"
#include "../run/resume_file.h"

namespace headwave {

/// Stored states that grow over more than one run. What there is becomes a part now and then, whole and synced,
/// "states.h5.part0", and in the end the file is put together from its parts: they and the file are on the disk together
/// for a moment. A run that keeps nothing writes the file itself.
class CapturedParts {
 public:
  /// Goes on behind the parts of an earlier run; without one, parts that lie there are removed.
  /// @param kept  what says when to keep, and remembers how many documents there are; may be null
  /// @throws IoError, FormatError if an earlier part is not there or holds other documents
  CapturedParts(const std::filesystem::path& file, const BlockSpec& block, const StoredLayout& layout,
                ResumeFile* kept);

  /// Documents that an earlier run stored, the first of all.
  [[nodiscard]] Index earlier() const { return earlier_; }

  /// @param more  whether another comes after it
  /// @throws Error as StoredWriter and ResumeFile::keep()
  void append(const Document& document, bool more);

  /// @throws Error as StoredWriter; IoError if the disk has no room for parts and file together: they stay
  void finish(const Attributes& provenance);

  /// Removes parts and what remembers them: they are in the file, or another run would come to the same end.
  void remove_all();

 private:
  StoredWriter& writer();
  void keep();
  void put_together(const Attributes& provenance);

  std::filesystem::path file_;
  BlockSpec block_;
  StoredLayout layout_;
  ResumeFile* kept_;
  Index earlier_ = 0;
  std::vector<Index> ends_;  // documents up to and with each part
  Index documents_ = 0;
  std::optional<StoredWriter> writer_;
};

/// The parts of a file that lie beside it, whosever.
std::vector<std::filesystem::path> captured_parts(const std::filesystem::path& file);

/// Removes the parts of a file that is whole, or that nobody wants any more.
void remove_captured_parts(const std::filesystem::path& file);

struct CaptureOptions {
  std::vector<Index> layers;  ///< none: all
  bool projections = false;   ///< queries and keys, turned where positions are rotary, in place of hidden states
  bool half = false;          ///< float16
  unsigned packing = 0;       ///< zlib's level, 0 to 9
  int threads = 0;            ///< 0: one per core; changes no byte
};

/// Which of a model's layers are stored.
/// @throws ShapeError if one is not there
std::vector<Index> captured_layers(const Model& model, const CaptureOptions& options);

/// Bytes that the numbers of the states take, unpacked.
/// @throws ShapeError as captured_layers
std::int64_t capture_bytes(const Model& model, const Source& source, const CaptureOptions& options);

/// What the file says of how states were stored.
/// @throws ShapeError as captured_layers
Attributes capture_provenance(const Model& model, const CaptureOptions& options);

/// Runs documents through a model and stores what enters the projections of its layers, or the queries and keys that
/// attention takes: every analysis of these gives what it gives of the documents themselves, to the bit in float32.
/// A few documents are in memory at a time.
/// @param provenance  beside the source's own
/// @param kept        where to go on, and what says when to keep what there is (captured_parts.h); may be null
/// @throws ShapeError if the model is an encoder-decoder, queries and keys are asked for where positions are added to the
///         scores, the source holds stored states, documents differ in length, or a
///         layer is not there; Error as Source, model_pass and CapturedParts
void capture_states(const Model& model, const Source& source, const std::filesystem::path& file,
                    const Attributes& provenance, const CaptureOptions& options = {},
                    const ProgressCallback& progress = {}, ResumeFile* kept = nullptr);

/// Whether a finished file still holds what capture_states() wrote of the same.
/// @throws FormatError as require_stored(); Error as Source
void require_captured(const Model& model, const Source& source, const std::filesystem::path& file,
                      const CaptureOptions& options);

}  // namespace headwave
