#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

/// What a job computes, and how. What each member means and may be stands once, in job_option_table().
struct JobOptions {
  std::vector<std::string> only;
  std::vector<std::string> heads = {};
  Index window = 10;
  Index reach = 64;
  double level = 0.01;
  Index draws = 20;
  Index dealt_tokens =
      4096;  ///< of documents that head_account deals; 0: none, where its measured profile is all that is read
  Index resamples = 200;
  double false_share = 0.05;
  Index evidence = 5;
  Index clusters = 6;
  Index sweep = 12;
  Index score_window = 30;
  Index score_clusters = 2;
  Index atlas_draws = 40;
  Index rows = 0;
  Index map_document = 0;
  Index map_first = -1;
  Index map_tokens = 64;
  std::uint64_t seed = 1;
  int threads = 0;
  Index together = 0;
  std::int64_t max_memory =
      0;  ///< bytes of resident memory that decide how many documents pass side by side; 0: no limit
  bool may_keep_layers =
      false;  ///< a model opened layer by layer may be kept in memory once its job is known to take more
};

/// One option: its name, type, range, and what it does. Its default is that of the member.
struct JobOption {
  std::string_view name;  ///< "score_window": in results; --score-window on the command line and in job files
  std::string_view help;  ///< with the unit
  std::variant<Index JobOptions::*, double JobOptions::*, std::uint64_t JobOptions::*, int JobOptions::*,
               std::vector<std::string> JobOptions::*>
      member;
  double least = 0, most = 0;  ///< the range of a number; both 0: any number that is not negative
  bool or_none = false;        ///< 0 is allowed as well, below the range: without
  bool set_by_others = false;  ///< no option of its own on the command line

  /// "--score-window"
  [[nodiscard]] std::string flag() const;
};

/// Every option of a job, in the order in which people read of them. The command line, job files, the provenance of
/// results and the documentation all come from this table.
const std::vector<JobOption>& job_option_table();

/// The options as they were given, for the provenance.
/// @param threads  as many as were used
void add_options(Attributes& provenance, const JobOptions& options, int threads);

/// @throws ShapeError naming the option that is out of its range, and the range
void require_in_range(const JobOptions& options);

}  // namespace headwave
