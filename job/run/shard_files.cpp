#include "shard_files.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../data/files/printable.h"
#include "../../data/files/replaced_file.h"
#include "document_pass.h"

namespace headwave {

namespace {

namespace fs = std::filesystem;

constexpr const char* extension = ".part";

const SealedKind part_block{.name = "a block of a divided run", .anew = {}, .other = {}};

/// What comes before the sums.
struct BlockHead {
  Index block = 0, blocks = 0;
  std::string job;
};

/// Whether a name is that of a block. Other programs, such as browsers, also write .part files.
bool is_block(const std::string& name) {
  return name.size() == std::string_view("block-01-of-64.part").size() && is_numbered_name(name, "block-#-of-#.part");
}

std::vector<fs::path> blocks_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code problem;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, problem))
    if (is_block(entry.path().filename().string())) files.push_back(entry.path());
  if (problem) throw IoError(fmt::format("{}: cannot be listed: {}", shown_path(folder), problem.message()));
  std::sort(files.begin(), files.end());
  return files;
}

/// "documents 16 to 31 (blocks 5 to 8 of 25)".
std::string run_of(const DocumentBlocks& blocks, Index first, Index last) {
  return fmt::format(
      "documents {} to {} ({} of {})", blocks.first(first), blocks.first(last + 1) - 1,
      first == last ? fmt::format("block {}", first + 1) : fmt::format("blocks {} to {}", first + 1, last + 1),
      blocks.count());
}

/// Names the first blocks without a file, as far as they follow each other.
void require_all(const std::vector<fs::path>& by_block, const DocumentBlocks& blocks) {
  const auto first = std::find_if(by_block.begin(), by_block.end(), [](const fs::path& file) { return file.empty(); });
  if (first == by_block.end()) return;
  const auto end = std::find_if(first, by_block.end(), [](const fs::path& file) { return !file.empty(); });
  const auto others = std::count_if(end, by_block.end(), [](const fs::path& file) { return file.empty(); });
  throw FormatError(fmt::format(
      "the parts are incomplete: {}{} are missing; run their parts again, which continue where they stopped",
      run_of(blocks, first - by_block.begin(), end - by_block.begin() - 1),
      others > 0 ? fmt::format(", and {} more block{}", others, others == 1 ? "" : "s") : ""));
}

}  // namespace

bool holds_shard(const fs::path& folder) {
  try {
    return !blocks_in(folder).empty();
  } catch (const IoError&) {
    return false;
  }
}

ShardFolder::ShardFolder(fs::path folder, DocumentBlocks blocks, BlockRange range, Attributes identity, std::string job)
    : folder_(std::move(folder)),
      blocks_(blocks),
      range_(range),
      identity_(std::move(identity)),
      job_(std::move(job)) {}

fs::path ShardFolder::file_of(Index block) const {
  return folder_ / fmt::format("block-{:02}-of-{:02}{}", block + 1, blocks_.count(), extension);
}

std::vector<Index> ShardFolder::missing() const {
  std::vector<Index> result;
  for (const fs::path& file : blocks_in(folder_)) SealedFile(file, part_block, identity_);
  for (Index block = range_.first; block < range_.end; ++block)
    if (!fs::exists(file_of(block))) result.push_back(block);
  return result;
}

void ShardFolder::gather(const std::vector<Index>& missing, DocumentPass& pass, StageReport& report) const {
  const DocumentBlocks& blocks = pass.blocks();
  Index documents = 0, done = 0;
  for (const Index block : missing) documents += blocks.first(block + 1) - blocks.first(block);
  report.begin("preparation");
  pass.prepare();
  report.begin("attention", documents);
  const auto keep = [&](Index block, const BlockSums& sums) {
    write_sealed(file_of(block), part_block, identity_, [&](ByteWriter& bytes) {
      bytes.write(BlockHead{block, blocks.count(), job_});
      DocumentPass::write(bytes, sums);
    });
  };
  pass.run_blocks(missing, keep, [&] { report.reached(++done); });
}

ShardFiles::ShardFiles(const std::vector<fs::path>& places) {
  for (const fs::path& place : places) {
    if (!fs::is_directory(place)) {
      files_.push_back(place);
      continue;
    }
    const std::vector<fs::path> files = blocks_in(place);
    if (files.empty())
      throw IoError(
          fmt::format("{}: holds no part of a run; expected {} files of a divided run", shown_path(place), extension));
    files_.insert(files_.end(), files.begin(), files.end());
  }
  if (files_.empty()) throw IoError("there are no parts to merge; expected the folders of a divided run");
  job_ = SealedFile(files_.front(), part_block, {}).bytes().read<BlockHead>().job;
}

void ShardFiles::gather(const Attributes& identity, DocumentPass& pass, StageReport& report) const {
  const DocumentBlocks& blocks = pass.blocks();
  std::vector<fs::path> by_block(static_cast<std::size_t>(blocks.count()));
  for (const fs::path& file : files_) {
    const BlockHead head = SealedFile(file, part_block, identity).bytes().read<BlockHead>();
    if (head.blocks != blocks.count() || head.block < 0 || head.block >= head.blocks)
      throw FormatError(fmt::format("{}: is block {} of {}, but the run has {} blocks", shown_path(file),
                                    head.block + 1, head.blocks, blocks.count()));
    fs::path& place = by_block[static_cast<std::size_t>(head.block)];
    if (!place.empty())
      throw FormatError(fmt::format("{}: contains {}, as does {}; give each part once", shown_path(file),
                                    run_of(blocks, head.block, head.block), shown_path(place)));
    place = file;
  }
  require_all(by_block, blocks);
  report.begin("preparation");
  pass.prepare();
  report.begin("attention", blocks.first(blocks.count()));
  for (Index block = 0; block < blocks.count(); ++block) {
    const SealedFile kept(by_block[static_cast<std::size_t>(block)], part_block, identity);
    ByteReader bytes = kept.bytes();
    (void)bytes.read<BlockHead>();
    pass.join(pass.read_block(bytes));
    report.reached(blocks.first(block + 1));
  }
}

}  // namespace headwave
