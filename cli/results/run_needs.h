#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "../../job/inputs/job_input.h"
#include "../../job/run/job_estimate.h"
#include "result_folder.h"

namespace headwave::cli {

/// Gives up threads where more would take too much memory, and says so. Before anything is computed.
/// @param limit  as byte_size() takes it; empty: there is none
/// @throws ShapeError that tells what is needed at the least, and for what, where one thread takes more
void keep_within_memory(const std::string& limit, const JobInput& input, JobOptions& job);

/// Does a job's work, and ends it where more memory is measured than the limit: what was reckoned is only expected.
/// @param limit  as keep_within_memory()
/// @throws ShapeError with what was measured, if there was more; what the work throws
void within_memory(const std::string& limit, const std::function<void()>& work);

/// What a run writes into its folder, in bytes.
struct RunFiles {
  std::int64_t result = 0;  ///< results.h5, of every kind of attention
  std::int64_t drawn = 0;   ///< figures and report.html
  std::int64_t kept = 0;    ///< results.unfinished; while it is replaced there are two

  /// The most that lies there at a time: what is kept goes once the result is there, and then figures are drawn.
  [[nodiscard]] std::int64_t most() const;
};

/// Files that are certainly not larger, from sizes alone.
RunFiles largest_files(const JobInput& input, const JobOptions& job, const FolderOptions& folder);

/// What a run takes of the machine, found out by running a little of it and drawing what comes of that.
struct RunNeeds {
  JobEstimate job;
  RunFiles files;
  double reading = 0;            ///< seconds that opening the input took
  double drawing = 0;            ///< seconds; 0: no figures
  double drawing_processor = 0;  ///< seconds of processors, gnuplot's among them
};

/// Nothing is written but scratch files, which go again.
/// @throws Error as estimate_job() and draw_figures()
RunNeeds run_needs(const JobInput& input, const JobOptions& job, const FolderOptions& folder);

/// In lines for people: documents, time, memory and disk.
std::string text_of(const RunNeeds& needs);

/// Refuses a run for which the disk has no room, before anything is computed. Where there is room for the largest files
/// nothing is asked; else the first documents are run to find out how large they will be, and those decide: a bound is
/// no reason to refuse what would fit.
/// @param keep_every  seconds between one keeping and the next; a run that ends in half of that keeps nothing
/// @throws IoError that tells what is needed, what is free, and how to do with less
void require_disk(const OutputFolder& out, const JobInput& input, const JobOptions& job, const FolderOptions& folder,
                  double keep_every);

}  // namespace headwave::cli
