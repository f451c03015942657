#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "../../core/errors/error.h"
#include "../../core/fields/field.h"
#include "../run/job.h"
#include "job_input.h"

namespace headwave {

/// Everything in an input, the program and a job's options on which a result depends, by name.
Attributes run_identity(const JobInput& input, const JobOptions& job);

/// The identity that a finished file states: its provenance without paths, without who made it and how, and
/// without facts known only after the run. For a run it equals run_identity().
Attributes stated_identity(Attributes provenance);

/// The name in a result's provenance of the digest of its run's identity.
inline constexpr const char* run_digest_name = "run_sha256";
std::string run_digest(const Attributes& identity);

/// Checks that a result is the one that a run would give.
/// @param file      of the result, for messages
/// @param there     its provenance, with the digest of its run if it has one
/// @param identity  of the run
/// @throws FormatError naming what differs, with these remedies
void require_same_run(const std::filesystem::path& file, const Attributes& there, const Attributes& identity,
                      const std::vector<Remedy>& remedies);

}  // namespace headwave
