#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "../../core/errors/error.h"
#include "../../core/fields/field.h"
#include "../run/job.h"
#include "job_input.h"

namespace headwave {

/// Everything in an input, the program and a job's options that a result depends on, as names and values.
Attributes run_identity(const JobInput& input, const JobOptions& job);

/// The identity of the run that made a file, from the file's provenance: without paths, without who made the
/// file and how, and without facts known only after the run. For one run this equals run_identity().
Attributes stated_identity(Attributes provenance);

/// The entry of a result's provenance that contains the run_digest() of its run.
inline constexpr const char* run_digest_name = "run_sha256";
std::string run_digest(const Attributes& identity);

/// Checks that an existing result is the one that a run would give.
/// @param file      the result's file, for messages
/// @param there     the result's provenance; may contain the digest of its run
/// @param identity  run_identity() of the run
/// @throws FormatError naming what differs, with `remedies`
void require_same_run(const std::filesystem::path& file, const Attributes& there, const Attributes& identity,
                      const std::vector<Remedy>& remedies);

}  // namespace headwave
