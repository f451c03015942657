#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../../job/inputs/job_input.h"
#include "../options/cli11.h"
#include "../options/input_options.h"
#include "result_folder.h"

namespace headwave::cli {

/// Options of a command that makes the result of a run.
struct WholeRunOptions {
  InputOptions input;
  JobOptions job;
  FolderOptions folder;
  bool json = false;       ///< print the listing of the result, not the table of heads
  std::string max_memory;  ///< "4GB"; empty: no limit
};

/// Adds the options of the input, the job, the folder and its figures, --json and --max-memory.
void add_whole_run_options(CLI::App& command, WholeRunOptions& options);

/// Opens the input, checks that the job can be done with it, and does the work within --max-memory. Resident
/// memory is measured all the time. If it comes to the limit, the work is stopped and done again with less:
/// on one thread, then with weights read layer by layer.
/// @param work  may be called several times, each time with the input opened anew
/// @throws ShapeError if none of this is enough
void within_memory(WholeRunOptions& options, const std::function<void(const JobInput&)>& work);

/// Records in each result what the run was, and writes the results.
/// @param identity  from run_identity(); finished_before() recognises the run by it
/// @param job_text  the options, as a job file
void write_run(const OutputFolder& folder, std::vector<KindResult>& results, const WholeRunOptions& options,
               const Attributes& identity, const std::string& job_text);

/// Whether the folder contains this run's results for every kind of attention. Results without a digest are
/// recognised by their provenance.
/// @throws FormatError naming what differs, if one is of another run; Error as require_sealed()
bool finished_before(const WholeRunOptions& options);

/// Prints and draws the results of a run; for a finished run, its figures and page if the page is missing.
void show_run(const OutputFolder& folder, const std::vector<KindResult>& results, const WholeRunOptions& options);
void show_finished(const WholeRunOptions& options);

}  // namespace headwave::cli
