#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "../../core/errors/error.h"
#include "../../core/fields/field.h"
#include "../run/job.h"
#include "job_input.h"

namespace headwave {

/// Everything about an input, the program and a job's options that a result depends on, by name.
Attributes run_identity(const JobInput& input, const JobOptions& job);

/// The identity that a finished file states: its provenance without places, without who made it and how, and
/// without facts that are known only after the run. For a run it equals run_identity().
Attributes stated_identity(Attributes provenance);

/// The name in a result's provenance of the digest of its run's identity, by which it is recognised.
inline constexpr const char* run_digest_name = "run_sha256";
std::string run_digest(const Attributes& identity);

/// Checks that a result is the one that a run would give.
/// @param file      of the result, for messages
/// @param there     its provenance, with the digest that it was signed with, if it was
/// @param identity  of the run
/// @throws FormatError naming what differs, with these remedies
void require_same_run(const std::filesystem::path& file, const Attributes& there, const Attributes& identity,
                      const std::vector<Remedy>& remedies);

}  // namespace headwave
