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
#include "../../core/process/process_memory.h"
#include "../../core/process/stopping.h"
#include "../../core/process/threads.h"
#include "../../job/run/job_memory.h"
#include "../../job/run/memory_watch.h"
#include "../../job/run/progress_text.h"
#include "../../job/run/result_size.h"
#include "../../reports/page/report.h"
#include "../options/values.h"
#include "../terminal/progress.h"
#include "../terminal/terminal.h"
#include "kept_work.h"

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
  for (const KindResult& kind : needs.job.probe) {
    const ScratchFolder scratch;
    const fs::path place = scratch.path() / "drawn";
    draw_figures(kind.result, place / "figures", folder.drawing, figure_progress);
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

[[noreturn]] void refuse(const OutputFolder& out, const RunFiles& files, std::int64_t free, bool figures) {
  std::vector<std::string> less;
  if (files.most() > files.result + files.drawn)
    less.push_back(fmt::format("--keep-every 1e6 keeps no {} for --resume", text_of(files.kept)));
  if (figures) less.push_back(fmt::format("--no-figures saves {}", text_of(files.drawn)));
  less.emplace_back("--only asks for fewer analyses");
  throw IoError(
      fmt::format("{}: {} are needed there, {} are free on its disk; make room, choose another --out, or write "
                  "less: {}",
                  out.path().string(), text_of(files.most()), text_of(free), fmt::join(less, ", ")));
}

}  // namespace

void keep_within_memory(const std::string& limit, const JobInput& input, JobOptions& job) {
  if (limit.empty()) return;
  const int wanted = thread_count(job.threads);
  job = with_together(input.model, *input.source, job, wanted, bytes_of(limit));
  const JobMemory memory = job_memory(input.model, *input.source, job);
  job.threads = threads_within(memory, bytes_of(limit), wanted);
  const auto size = [](double bytes) { return text_of(static_cast<std::int64_t>(std::min(bytes, 9e18))); };
  if (job.threads == 0)
    throw ShapeError(fmt::format(
        "--max-memory {}: at least {} are needed, on one thread: {} for the program and the model, {} for what the "
        "documents come to, {} for one on its way; give shorter or fewer documents, or ask for fewer analyses with "
        "--only",
        limit, text_of(memory.bytes(1)), size(memory.there + memory.layer + memory.prepared),
        size(memory.kept + memory.block), size(memory.document + memory.working)));
  if (const std::int64_t taken = most_resident_bytes(); taken > bytes_of(limit))
    throw ShapeError(fmt::format(
        "--max-memory {}: opening the model and reading the first document took {} already; where HDF5 chunks "
        "hold many documents, store each in chunks of its own",
        limit, text_of(taken)));
  if (job.threads < wanted)
    say(fmt::format("--max-memory {}: {} of {} threads; one more would take {}", limit, job.threads, wanted,
                    text_of(memory.bytes(job.threads + 1))));
}

void within_memory(const std::string& limit, const std::function<void()>& work) {
  if (limit.empty()) return work();
  const MemoryWatch watch(bytes_of(limit));
  try {
    const Stoppable stoppable(&watch.is_exceeded());
    work();
  } catch (const Stopped&) {
    if (!watch.is_exceeded()) throw;
    throw ShapeError(
        fmt::format("--max-memory {}: the run was ended when it took {}, more than was expected; allow more (with "
                    "--resume, where it "
                    "kept its work), give fewer --threads or documents, or ask for fewer analyses with --only",
                    limit, text_of(watch.measured())));
  }
}

std::int64_t RunFiles::most() const {
  return std::max({2 * kept, kept + result, result + drawn});
}

RunFiles largest_files(const JobInput& input, const JobOptions& job, const FolderOptions& folder) {
  constexpr std::int64_t picture = 1 << 20,
                         page = 10 << 20;  // three times the largest of the gallery's; write_report()
  RunFiles files;
  constexpr double more_than_any_disk = 1e18;  // and sums of it are numbers still
  files.result = std::min(result_bytes(input.model, *input.source, job), static_cast<std::int64_t>(more_than_any_disk));
  files.kept = job_memory(input.model, *input.source, job).unfinished_bytes();
  if (folder.figures)
    files.drawn =
        static_cast<std::int64_t>(input.model.kinds().size()) *
        (page + picture * static_cast<std::int64_t>(figure_kinds().size() * (folder.drawing.formats.size() + 1)));
  return files;
}

RunNeeds run_needs(const JobInput& input, const JobOptions& job, const FolderOptions& folder) {
  progress_at("a trial of the first documents");
  RunNeeds needs;
  needs.job = estimate_job(input.model, *input.source, job);
  needs.files.result = needs.job.result_bytes;
  needs.files.kept = needs.job.kept_bytes;
  if (folder.figures) draw(folder, needs);
  return needs;
}

std::string text_of(const RunNeeds& needs) {
  const JobEstimate& job = needs.job;
  const bool figures = needs.files.drawn > 0;
  const double computing = needs.reading + job.seconds;
  const std::string lengths =
      job.shortest == job.longest ? fmt::format("{}", job.longest) : fmt::format("{} to {}", job.shortest, job.longest);
  std::string text =
      fmt::format("{} documents x {} tokens x {} layers x {} heads\n", job.documents, lengths, job.layers, job.heads);
  text += fmt::format("time    about {}: {} computing on {} thread{}{}; {} of processor time\n",
                      about_text(computing + needs.drawing), about_text(computing), job.threads,
                      job.threads == 1 ? "" : "s", figures ? ", " + about_text(needs.drawing) + " drawing" : "",
                      about_text(needs.reading + job.processor_seconds + needs.drawing_processor));
  text += fmt::format("memory  about {}, the model's weights with it\n", text_of(job.memory_bytes));
  text += fmt::format("disk    about {} for results.h5{}; while it runs {} for {}\n", text_of(needs.files.result),
                      figures ? ", " + text_of(needs.files.drawn) + " for figures and report.html" : "",
                      text_of(needs.files.kept), unfinished_name);
  return text + fmt::format("from {} of the documents, which were run to find out\n", job.probed);
}

void require_disk(const OutputFolder& out, const JobInput& input, const JobOptions& job, const FolderOptions& folder,
                  double keep_every) {
  auto free = out.free_space();
  if (!free) return;
  std::error_code none;  // what an earlier run kept is replaced, and gives back its room
  if (const auto earlier = fs::file_size(out.path() / unfinished_name, none); !none)
    *free += static_cast<std::int64_t>(earlier);
  if (largest_files(input, job, folder).most() <= *free) return;
  RunNeeds needs = run_needs(input, job, folder);
  end_progress();
  constexpr double slower = 2;  // than expected, by others on the machine
  if (slower * needs.job.seconds < keep_every) needs.files.kept = 0;
  if (needs.files.most() > *free) refuse(out, needs.files, *free, folder.figures);
}

}  // namespace headwave::cli
