#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "../../data/sources/state_writer.h"
#include "../inputs/job_input.h"
#include "../run/job.h"
#include "../run/resume_file.h"

namespace headwave {

/// Writes stored states in parts, so that an interrupted capture can be resumed. From time to time the states
/// so far become a part, "states.h5.part0", whole and synced; in the end the file is made from its parts,
/// with both on the disk for a moment. A capture without a resume file writes the file itself.
class CapturedParts {
 public:
  /// Continues after the parts of an earlier run; without an earlier run, removes parts that are there.
  /// @param kept  says when to write a part, and how many documents there are; may be null
  /// @throws IoError, FormatError if an earlier part is not there or holds other documents
  CapturedParts(const std::filesystem::path& file, const BlockSpec& block, const StateLayout& layout, ResumeFile* kept);

  /// How many of the first documents an earlier run stored.
  [[nodiscard]] Index earlier() const { return earlier_; }

  /// @param more  whether another comes after it
  /// @throws Error as StateWriter and ResumeFile::keep()
  void append(const Document& document, bool more);

  /// @throws Error as StateWriter; IoError if the disk has no room for parts and file together: they stay
  void finish(const Attributes& provenance);

  /// Removes the parts and the resume file, once the file is complete, or if a resumed run would fail in the
  /// same way.
  void remove_all();

 private:
  StateWriter& writer();
  void keep();
  void put_together(const Attributes& provenance);

  std::filesystem::path file_;
  BlockSpec block_;
  StateLayout layout_;
  ResumeFile* kept_;
  Index earlier_ = 0;
  std::vector<Index> ends_;  // documents up to and with each part
  Index documents_ = 0;
  std::optional<StateWriter> writer_;
};

/// The parts beside a file, of this run or another.
std::vector<std::filesystem::path> captured_parts(const std::filesystem::path& file);

/// Removes the parts of a file that is whole or no longer wanted.
void remove_captured_parts(const std::filesystem::path& file);

struct CaptureOptions {
  std::vector<Index> layers;  ///< none: all
  bool projections = false;   ///< queries and keys, turned where positions are rotary, in place of hidden states
  bool half = false;          ///< float16
  unsigned packing = 0;       ///< zlib's level, 0 to 9
  int threads = 0;            ///< 0: one per core; changes no byte
};

/// The layers of a model that are stored.
/// @throws ShapeError if the model lacks one
std::vector<Index> captured_layers(const Model& model, const CaptureOptions& options);

/// Bytes that the numbers of the states take, unpacked.
/// @throws ShapeError as captured_layers
std::int64_t capture_bytes(const Model& model, const Source& source, const CaptureOptions& options);

/// Provenance that says how states were stored.
/// @throws ShapeError as captured_layers
Attributes capture_provenance(const Model& model, const CaptureOptions& options);

/// Runs documents through a model and stores the inputs of its layers' projections, or the queries and keys
/// that attention takes. Every analysis of the stored states gives what it gives for the documents, to the
/// bit in float32. A few documents are in memory at a time.
/// @param provenance  added to the source's own
/// @param kept        where to continue, and when to write a part; may be null
/// @throws ShapeError if the model is an encoder-decoder, queries and keys are asked for although positions
///         are added to the scores, the source holds stored states, documents differ in length, or the model
///         lacks a layer; Error as Source, model_pass and CapturedParts
void capture_states(const Model& model, const Source& source, const std::filesystem::path& file,
                    const Attributes& provenance, const CaptureOptions& options = {},
                    const ProgressCallback& progress = {}, ResumeFile* kept = nullptr);

/// Checks that a finished file holds what capture_states() writes for the same input.
/// @throws FormatError as require_stored(); Error as Source
void require_captured(const Model& model, const Source& source, const std::filesystem::path& file,
                      const CaptureOptions& options);

}  // namespace headwave
