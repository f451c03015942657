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

/// The value of `ids_sha256` in the provenance if the token ids of some documents are unknown.
inline constexpr const char* documents_not_seen = "not seen";

/// Sums over documents that were measured in a running model (docs/profiles.md), in the form that the
/// analyses themselves use. The rest of a job treats these sums like those of documents that it ran.
class StoredSums {
 public:
  /// @param profiles  may lack the arrays from which `traces` was made
  StoredSums(OffsetTraceSum traces, StoredProfiles profiles)
      : traces_(std::move(traces)), profiles_(std::move(profiles)) {}

  /// Makes a Gather that fills a job's pass with these sums instead of documents. This object must outlive
  /// it.
  /// @throws ShapeError if the job's reach is larger than that of the stored null
  [[nodiscard]] Gather gather(const JobOptions& options) const;

  /// Says why these sums give no account. Call it only if they give none.
  [[nodiscard]] std::string no_account() const;

  /// The name of the sums in messages, such as "profiles.h5".
  [[nodiscard]] std::string file() const;

 private:
  /// The sum for one analysis; null if the profiles contain none.
  [[nodiscard]] std::unique_ptr<DocumentSum> sum_of(const AnalysisKind& kind, const Site& site, Index reach) const;

  OffsetTraceSum traces_;
  StoredProfiles profiles_;
};

/// Refuses options that concern documents or weights, and requests for analyses that sums cannot give.
/// @throws ShapeError that names the option; any Error that require_in_range() and chosen_analyses() throw
void require_options_of_sums(const JobOptions& options);

/// A file of profiles, or profiles in memory.
using GivenProfiles = std::variant<std::filesystem::path, NamedProfiles>;

/// Reads sums over documents (data/sources/stored_profiles.h). For an encoder-decoder, each kind of attention
/// becomes an input of its own (JobInput::others).
/// @param about  further facts about the documents, for the provenance of the results
/// @throws Error as stored_profiles()
JobInput profiles_input(GivenProfiles given, const Attributes& about = {});

/// The attention weights of one stack, summed by distance. They come from the arrays `first_offset`,
/// `last_offset`, `weight`, `pairs` and `kept`.
/// @throws FormatError if the offset bins leave out a distance
DistanceSum distance_sum(const StoredProfiles& profiles);

}  // namespace headwave
