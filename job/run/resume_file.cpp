#include "resume_file.h"

#include <algorithm>

namespace headwave {

namespace {

const SealedKind unfinished{.name = "an unfinished run",
                            .anew = {give("force", "", "in place of resume to begin anew")},
                            .other = {give("force", "", "in place of resume to begin anew")}};

}  // namespace

ResumeFile::ResumeFile(const std::filesystem::path& file, const Attributes& identity, double seconds)
    : file_(file),
      identity_(identity),
      between_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {
  if (!std::filesystem::exists(file)) return;
  ByteReader bytes = found_.emplace(file, unfinished, identity).bytes();
  documents_ = bytes.read<Index>();
  sums_ = bytes.rest();
}

bool ResumeFile::is_due() const {
  return Clock::now() - kept_ >= between_;
}

void ResumeFile::keep(Index documents, const std::function<void(ByteWriter&)>& sums) {
  const Clock::time_point begin = Clock::now();
  write_sealed(file_, unfinished, identity_, [&](ByteWriter& bytes) {
    bytes.write<Index>(documents);
    sums(bytes);
  });
  kept_ = Clock::now();
  if (between_ > Clock::duration::zero()) between_ = std::max(between_, 10 * (kept_ - begin));
}

void ResumeFile::remove() {
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
}

}  // namespace headwave
