#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../../job/inputs/job_input.h"
#include "../options/cli11.h"
#include "../options/input_options.h"
#include "result_folder.h"

namespace headwave::cli {

/// Options of a command that runs a job and writes its result.
struct WholeRunOptions {
  InputOptions input;
  JobOptions job;
  FolderOptions folder;
  bool json = false;       ///< print the result as JSON instead of the table of heads
  std::string max_memory;  ///< limit of resident memory, "4GB"; empty: no limit
};

/// Adds the options of the input, the job, the folder and its figures, --json and --max-memory.
void add_whole_run_options(CLI::App& command, WholeRunOptions& options);

/// Opens the input, checks that the job can be done with it, and does the work within --max-memory. Resident
/// memory is measured all the time. If memory comes to the limit, the work is stopped and done again with
/// less memory: first on one thread, then with weights read layer by layer.
/// @param work  the work on the input; may be called several times, each time with the input opened anew
/// @throws ShapeError if the work still needs more memory
void within_memory(WholeRunOptions& options, const std::function<void(const JobInput&)>& work);

/// Records in each result what was run, and writes the results.
/// @param identity  from run_identity(); finished_before() recognises the run by its digest
/// @param job_text  the options as a job file (job_text())
void write_run(const OutputFolder& folder, std::vector<KindResult>& results, const WholeRunOptions& options,
               const Attributes& identity, const std::string& job_text);

/// Whether the folder contains the results of this run for every kind of attention. A result without a digest
/// of its run is recognised by its provenance.
/// @throws FormatError naming what differs, if a result is of another run; Error as require_sealed()
bool finished_before(const WholeRunOptions& options);

/// Show the results of a run: show_run() prints and draws them. show_finished() is for a run that was
/// finished before, and draws figures and page only if the page is missing.
void show_run(const OutputFolder& folder, const std::vector<KindResult>& results, const WholeRunOptions& options);
void show_finished(const WholeRunOptions& options);

}  // namespace headwave::cli
