#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "../../analysis/attention/offset_trace.h"
#include "../../analysis/pass/analysis_kind.h"
#include "../../data/sources/stored_profiles.h"
#include "../run/job.h"
#include "job_input.h"

namespace headwave {

/// Provenance `ids_sha256` of documents of which some ids are not known.
inline constexpr const char* documents_not_seen = "not seen";

/// Sums over documents that a running model gave (docs/profiles.md), in the form in which analyses add up their
/// own: nothing after them knows that no document was run here.
class StoredSums {
 public:
  /// @param traces    of all files
  /// @param profiles  of each file; what `traces` hold may be gone
  StoredSums(OffsetTraceSum traces, std::vector<StoredProfiles> profiles)
      : traces_(std::move(traces)), profiles_(std::move(profiles)) {}

  /// Fills the pass of a job with these sums, in place of documents. This outlives it.
  /// @throws ShapeError if the job's reach is larger than that of the stored null
  [[nodiscard]] Gather gather(const JobOptions& options) const;

  /// Why these sums give no account, where they give none.
  [[nodiscard]] std::string no_account() const;

  /// What messages call them: "profiles.h5", or "0.h5 and 3 more".
  [[nodiscard]] std::string files() const;

 private:
  /// The sum of an analysis, null if the files hold none.
  [[nodiscard]] std::unique_ptr<DocumentSum> sum_of(const AnalysisKind& kind, const Site& site, Index reach) const;

  OffsetTraceSum traces_;
  std::vector<StoredProfiles> profiles_;
};

/// Refuses options that are about documents or weights, and a choice of analyses of which sums give none.
/// @throws ShapeError that names the option; as require_in_range() and chosen_analyses()
void require_options_of_sums(const JobOptions& options);

/// Opens files of profiles (data/sources/stored_profiles.h). Documents of several files stand one after another.
/// An encoder-decoder has two kinds of attention that are read, each an input of its own (JobInput::others).
/// @param files   at least one
/// @param called  what messages and results call them, as many; empty: by their paths
/// @param about   what else the results remember of the documents
/// @throws Error as stored_profiles(); ShapeError naming what differs if the files are not of one model, watched
///         with the same options
JobInput profiles_input(const std::vector<std::filesystem::path>& files, const std::vector<std::string>& called = {},
                        const Attributes& about = {});

}  // namespace headwave
