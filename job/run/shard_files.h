#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "document_blocks.h"
#include "job.h"
#include "sealed_file.h"

namespace headwave {

/// One part of a job that is divided by hand over machines: a file with the sums of each block of documents.
/// Every file appears whole or not at all, so a part that is run again continues with its first missing
/// block. Parts of one job may share a folder.
class ShardFolder {
 public:
  /// @param range     the blocks of this part
  /// @param identity  as for ResumeFile
  /// @param job       the options as a job file (job_text()), for the command that merges the parts
  ShardFolder(std::filesystem::path folder, DocumentBlocks blocks, BlockRange range, Attributes identity,
              std::string job);

  /// The blocks of this part that have no file yet.
  /// @throws FormatError if a file in the folder, of any part, is damaged or belongs to another run
  [[nodiscard]] std::vector<Index> missing() const;
  /// Looks at the documents of the missing blocks, and writes a file for each block.
  void gather(const std::vector<Index>& missing, DocumentPass& pass, StageReport& report) const;

 private:
  [[nodiscard]] std::filesystem::path file_of(Index block) const;

  std::filesystem::path folder_;
  DocumentBlocks blocks_;
  BlockRange range_;
  Attributes identity_;
  std::string job_;
};

/// Whether a folder contains blocks of a divided job; false if it cannot be listed.
bool holds_shard(const std::filesystem::path& folder);

/// The block files of all parts of a job.
class ShardFiles {
 public:
  /// @param places  folders of parts, or files of blocks
  /// @throws IoError if no place is given, or a folder has no block; FormatError if the first block is
  ///         damaged
  explicit ShardFiles(const std::vector<std::filesystem::path>& places);

  /// The options of the job, from the first block.
  [[nodiscard]] const std::string& job() const { return job_; }
  [[nodiscard]] Index files() const { return static_cast<Index>(files_.size()); }

  /// Adds up the sums of all blocks, in place of looking at documents.
  /// @param identity  of the job, which all parts must share
  /// @throws FormatError naming a block that is damaged, of another run, given twice, or missing, before
  ///         anything is added
  void gather(const Attributes& identity, DocumentPass& pass, StageReport& report) const;

 private:
  std::vector<std::filesystem::path> files_;
  std::string job_;
};

}  // namespace headwave
