#pragma once

#include <filesystem>
#include <memory>
#include <variant>
#include <vector>

#include "../../analysis/attention/attention_distance.h"
#include "../../analysis/attention/offset_trace.h"
#include "../../analysis/pass/analysis.h"
#include "../../data/sources/stored_profiles.h"
#include "../run/job.h"
#include "job_input.h"

namespace headwave {

/// The value of `ids_sha256` in the provenance if some of the documents' ids are unknown.
inline constexpr const char* documents_not_seen = "not seen";

/// Sums over documents that a running model gave (docs/profiles.md), in the form of the analyses' own sums.
/// Nothing after them notices that no document was run here.
class StoredSums {
 public:
  /// @param profiles  may lack the arrays that `traces` holds
  StoredSums(OffsetTraceSum traces, StoredProfiles profiles)
      : traces_(std::move(traces)), profiles_(std::move(profiles)) {}

  /// Fills the pass of a job with these sums instead of documents. This object must outlive it.
  /// @throws ShapeError if the job's reach is larger than that of the stored null
  [[nodiscard]] Gather gather(const JobOptions& options) const;

  /// Why these sums give no account, if they give none.
  [[nodiscard]] std::string no_account() const;

  /// Their name in messages: "profiles.h5".
  [[nodiscard]] std::string file() const;

 private:
  /// The sum of an analysis; null if the files contain none.
  [[nodiscard]] std::unique_ptr<DocumentSum> sum_of(const AnalysisKind& kind, const Site& site, Index reach) const;

  OffsetTraceSum traces_;
  StoredProfiles profiles_;
};

/// Refuses options that concern documents or weights, and a choice of analyses that sums cannot give.
/// @throws ShapeError that names the option; as require_in_range() and chosen_analyses()
void require_options_of_sums(const JobOptions& options);

/// A file of profiles, or profiles in memory.
using GivenProfiles = std::variant<std::filesystem::path, NamedProfiles>;

/// Reads sums over documents (data/sources/stored_profiles.h). Of an encoder-decoder, two kinds of attention
/// are read, each as an input of its own (JobInput::others).
/// @param about  further facts about the documents, for the provenance of the results
/// @throws Error as stored_profiles()
JobInput profiles_input(GivenProfiles given, const Attributes& about = {});

/// The weights of one stack summed by distance, from its arrays `first_offset`, `last_offset`, `weight`,
/// `pairs` and `kept`.
/// @throws FormatError if offset bins leave out a distance
DistanceSum distance_sum(const StoredProfiles& profiles);

}  // namespace headwave
