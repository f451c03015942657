#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "document_blocks.h"
#include "job.h"
#include "kept_bytes.h"

namespace headwave {

/// A part of a job that is divided by hand over machines: a folder with a file for each block of documents, which says
/// what the block came to. A file appears whole or not at all, so a part that ended is gone on with where it was.
class JobPart {
 public:
  /// @param identity  as of UnfinishedRun
  /// @param job       the options, for whoever puts the parts together: job_text()
  JobPart(std::filesystem::path folder, Attributes identity, std::string job);

  /// Whether there is a block in the folder, whosever.
  [[nodiscard]] bool begun() const;
  /// Those of the range whose files are not there yet.
  /// @throws FormatError if one that is there is damaged, or another run's
  [[nodiscard]] std::vector<Index> missing(const DocumentBlocks& blocks, BlockRange range) const;
  /// Looks at the documents of some blocks, and keeps each.
  void gather(const std::vector<Index>& missing, DocumentPass& pass, StageReport& report) const;
  /// Removes all blocks in the folder.
  void remove() const;

 private:
  std::filesystem::path folder_;
  Attributes identity_;
  std::string job_;
};

/// Whether a folder holds blocks of a divided job, whosever; not of what cannot be listed.
bool holds_job_part(const std::filesystem::path& folder);

/// The parts of a job together.
class JobParts {
 public:
  /// @param places  folders of parts, or files of blocks
  /// @throws IoError if there is none, or a folder has no block; FormatError if the first block is damaged
  explicit JobParts(const std::vector<std::filesystem::path>& places);

  /// The options, as the first block has them.
  [[nodiscard]] const std::string& job() const { return job_; }
  [[nodiscard]] Index files() const { return static_cast<Index>(files_.size()); }

  /// Adds up what the parts came to, in the place of looking at documents.
  /// @param identity  that all parts must have; this outlives the job
  /// @throws FormatError by name of what is damaged, another run's, there twice, or missing, before anything is added
  void gather(const Attributes& identity, DocumentPass& pass, StageReport& report) const;

 private:
  std::vector<std::filesystem::path> files_;
  std::string job_;
};

}  // namespace headwave
