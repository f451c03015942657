#pragma once

#include <cstdint>
#include <string>

#include "../../job/inputs/job_input.h"
#include "../../job/run/job_estimate.h"
#include "result_folder.h"

namespace headwave::cli {

/// What a run writes into its folder, in bytes.
struct RunFiles {
  std::int64_t result = 0;      ///< results.h5, of every kind of attention
  std::int64_t drawn = 0;       ///< figures and report.html
  std::int64_t unfinished = 0;  ///< results.unfinished; while it is replaced there are two

  /// The most at a time: results.unfinished is removed once the result is written, and then figures are
  /// drawn.
  [[nodiscard]] std::int64_t most() const;
};

/// What a run takes of the machine, measured on a few of its documents.
struct RunNeeds {
  JobEstimate job;
  RunFiles files;
  double reading = 0;            ///< seconds that opening the input took
  bool figures = false;          ///< are drawn, beside the page
  double drawing = 0;            ///< seconds of figures and page; 0: neither is made
  double drawing_processor = 0;  ///< seconds of processors, gnuplot's included
};

/// Runs a few documents and draws what they give. Only scratch files are written, and removed again.
/// @throws Error as estimate_job() and draw_figures()
RunNeeds run_needs(const JobInput& input, const JobOptions& job, const FolderOptions& folder);

/// Lines for people: documents, time, memory and disk.
std::string text_of(const RunNeeds& needs);

/// Refuses a run that its disk has no room for, before the work. Where 64 MiB are free for each document
/// nothing is asked; else a few documents are run to find out (estimate_job()).
/// @param keep_every  seconds between two writings of results.unfinished; a run that ends in half of that
///                    writes none
/// @throws IoError that names what is needed, what is free, and how to write less
void require_disk(const OutputFolder& out, const JobInput& input, const JobOptions& job, const FolderOptions& folder,
                  double keep_every);

}  // namespace headwave::cli
