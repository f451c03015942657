#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "document_blocks.h"
#include "job.h"
#include "sealed_file.h"

namespace headwave {

/// One part of a job that is divided by hand over machines: a folder with a file for each block of documents,
/// which contains the block's sums. Every file appears whole or not at all, so a part that is run again
/// continues with its first missing block. Several parts of one job may share a folder.
class ShardFolder {
 public:
  /// @param range     the blocks of this part
  /// @param identity  as for ResumeFile
  /// @param job       the options as a job file (job_text()), for the command that merges the parts
  ShardFolder(std::filesystem::path folder, DocumentBlocks blocks, BlockRange range, Attributes identity,
              std::string job);

  /// The blocks of this part that have no file yet.
  /// @throws FormatError if any part's file in the folder is damaged or belongs to another run
  [[nodiscard]] std::vector<Index> missing() const;
  /// Runs the documents of the missing blocks, and writes a file for each block.
  void gather(const std::vector<Index>& missing, DocumentPass& pass, StageReport& report) const;

 private:
  [[nodiscard]] std::filesystem::path file_of(Index block) const;

  std::filesystem::path folder_;
  DocumentBlocks blocks_;
  BlockRange range_;
  Attributes identity_;
  std::string job_;
};

/// Whether a folder contains blocks of a divided job. False if the folder cannot be listed.
bool holds_shard(const std::filesystem::path& folder);

/// The block files of all parts of a job.
class ShardFiles {
 public:
  /// @param places  folders of parts, or files of blocks
  /// @throws IoError if no place is given, or a folder has no block; FormatError if the first file is damaged
  explicit ShardFiles(const std::vector<std::filesystem::path>& places);

  /// The options of the job, from the first block.
  [[nodiscard]] const std::string& job() const { return job_; }
  [[nodiscard]] Index files() const { return static_cast<Index>(files_.size()); }

  /// Adds up the sums of all blocks, instead of running documents.
  /// @param identity  identity of the job, which all parts must have
  /// @throws FormatError naming a block that is damaged, belongs to another run, is given twice, or is
  ///         missing; nothing has been added then
  void gather(const Attributes& identity, DocumentPass& pass, StageReport& report) const;

 private:
  std::vector<std::filesystem::path> files_;
  std::string job_;
};

}  // namespace headwave
