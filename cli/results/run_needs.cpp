#include "run_needs.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "../../core/errors/error.h"
#include "../../data/results/result_file.h"
#include "../../reports/page/report.h"
#include "../terminal/progress.h"
#include "../terminal/terminal.h"
#include "resuming.h"

namespace headwave::cli {

namespace {

namespace fs = std::filesystem;

/// Seconds of processors that this process took, and the programs that it started and saw end.
double processor_seconds() {
  double seconds = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
      seconds += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  }
  return seconds;
}

/// Disks give whole blocks.
std::int64_t bytes_on_disk(const fs::path& folder) {
  constexpr std::uintmax_t block = 4096;
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) bytes += (entry.file_size() + block - 1) / block * block;
  return static_cast<std::int64_t>(bytes);
}

/// A folder among the system's temporary files, removed when the object goes.
class ScratchFolder {
 public:
  ScratchFolder() {
    path_ = (fs::temp_directory_path() / "headwave-dry-run-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr)
      throw IoError("cannot make a temporary folder: set TMPDIR to a folder that can be written");
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] fs::path path() const { return path_; }

 private:
  std::string path_;
};

/// Draws what the first documents gave: figures hardly change with the number of documents.
void draw(const FolderOptions& folder, RunNeeds& needs) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const double before = processor_seconds();
  for (const KindResult& kind : needs.job.trial) {
    const ScratchFolder scratch;
    const fs::path place = scratch.path() / "drawn";
    if (needs.figures) draw_figures(kind.result, place / "figures", folder.drawing, figure_progress);
    write_report(kind.result, place / "report.html");
    needs.files.drawn += bytes_on_disk(place);
  }
  needs.drawing = std::chrono::duration<double>(Clock::now() - start).count();
  needs.drawing_processor = processor_seconds() - before;
}

std::string text_of(std::int64_t bytes) {
  return size_text(static_cast<std::uintmax_t>(bytes));
}

/// Of short times a second is a large part.
std::string about_text(double seconds) {
  return seconds < 10 ? fmt::format("{:.1f} s", seconds) : duration_text(seconds);
}

/// Writes results into a scratch folder.
std::int64_t bytes_written(const std::vector<KindResult>& results) {
  const ScratchFolder scratch;
  for (const KindResult& found : results)
    write_result(found.result, scratch.path() / fmt::format("{}.h5", name_of(found.kind)));
  return bytes_on_disk(scratch.path());
}

[[noreturn]] void refuse(const OutputFolder& out, const RunFiles& files, std::int64_t free, bool figures) {
  std::vector<Remedy> less;
  if (files.most() > files.result + files.drawn)
    less.push_back(give("keep_every", "1e6", fmt::format("to keep no {} for resuming", text_of(files.unfinished))));
  if (figures) less.push_back(give("no_figures", "", fmt::format("to save {}", text_of(files.drawn))));
  less.push_back(give("only", "NAME,...", "to run fewer analyses"));
  less.push_back(give("out", "DIR", "on another disk"));
  throw IoError(fmt::format("{}: the run needs {} there, {} are free on its disk", out.path().string(),
                            text_of(files.most()), text_of(free)),
                less);
}

}  // namespace

std::int64_t RunFiles::most() const {
  return std::max({2 * unfinished, unfinished + result, result + drawn});
}

RunNeeds run_needs(const JobInput& input, const JobOptions& job, const FolderOptions& folder) {
  progress_at("a trial of some documents");
  RunNeeds needs;
  needs.job = estimate_job(input.model, *input.source, job, bytes_written);
  needs.files.result = needs.job.result_bytes;
  needs.files.unfinished = needs.job.unfinished_bytes;
  needs.figures = draws_figures(folder);
  if (folder.figures) draw(folder, needs);
  return needs;
}

std::string text_of(const RunNeeds& needs) {
  const JobEstimate& job = needs.job;
  const bool drawn = needs.files.drawn > 0;
  const double computing = needs.reading + job.seconds;
  const std::string lengths =
      job.shortest == job.longest ? fmt::format("{}", job.longest) : fmt::format("{} to {}", job.shortest, job.longest);
  std::string text =
      fmt::format("{} documents x {} tokens x {} layers x {} heads\n", job.documents, lengths, job.layers, job.heads);
  text += fmt::format("time    about {}: {} computing on {} thread{}{}; {} of processor time\n",
                      about_text(computing + needs.drawing), about_text(computing), job.threads,
                      job.threads == 1 ? "" : "s", drawn ? ", " + about_text(needs.drawing) + " drawing" : "",
                      about_text(needs.reading + job.processor_seconds + needs.drawing_processor));
  text += fmt::format("memory  about {}\n", text_of(job.memory_bytes));
  text += fmt::format(
      "disk    about {} for results.h5{}; while it runs {} for {}\n", text_of(needs.files.result),
      drawn ? fmt::format(", {} for {}report.html", text_of(needs.files.drawn), needs.figures ? "figures and " : "")
            : "",
      text_of(needs.files.unfinished), unfinished_name);
  return text + fmt::format("measured on {} of the documents\n", job.tried);
}

void require_disk(const OutputFolder& out, const JobInput& input, const JobOptions& job, const FolderOptions& folder,
                  double keep_every) {
  auto free = out.free_space();
  if (!free) return;
  std::error_code none;  // what an earlier run kept is replaced, and gives back its room
  if (const auto earlier = fs::file_size(out.path() / unfinished_name, none); !none)
    *free += static_cast<std::int64_t>(earlier);
  constexpr std::int64_t plenty = 64 << 20;  // bytes for a document
  if (*free / plenty >= input.source->count()) return;
  RunNeeds needs = run_needs(input, job, folder);
  end_progress();
  constexpr double slower = 2;  // than expected, by others on the machine
  if (slower * needs.job.seconds < keep_every) needs.files.unfinished = 0;
  if (needs.files.most() > *free) refuse(out, needs.files, *free, folder.figures);
}

}  // namespace headwave::cli
