#include "identity.h"

#include <array>
#include <string>
#include <string_view>

#include "../../analysis/registry/job_option_table.h"
#include "../../data/files/digest.h"
#include "../run/provenance.h"
#include "../run/sealed_file.h"

namespace headwave {

namespace {

// Paths: digests say what the files contain.
constexpr auto place_keys = std::to_array<std::string_view>({"model", "source_file", "target_file"});

// Options that change no digit of a result.
constexpr auto without_effect = std::to_array<std::string_view>({"threads", "parallel_documents"});

// Who made a file and how, and what a run found out about its model and documents.
constexpr std::string_view told_later[]{
    // NOLINT(modernize-avoid-c-arrays): its length is its own
    // who made the file, and how
    "processor", "command", "started", "wall_time_s", "job", "run_sha256", "merged_parts", "resumed_after_documents",
    // the model
    "model_family", "layers", "heads", "kv_heads", "d_model", "d_head", "attention", "score_scale", "position_term",
    // what was computed, and what was not
    "hidden_states", "wave_length", "wave_documents", "undefined_waves", "undefined_account", "undefined_evidence",
    "undefined_analyses"};

template <class Names>
void erase(Attributes& attributes, const Names& names) {
  for (const std::string_view name : names) attributes.erase(std::string(name));
}

}  // namespace

Attributes run_identity(const JobInput& input, const JobOptions& job) {
  Attributes identity = input.source->provenance();
  identity.insert(input.provenance.begin(), input.provenance.end());
  erase(identity, place_keys);
  add_build(identity);
  add_options(identity, job, 1);
  erase(identity, without_effect);
  return identity;
}

Attributes stated_identity(Attributes provenance) {
  erase(provenance, place_keys);
  erase(provenance, without_effect);
  erase(provenance, told_later);
  return provenance;
}

std::string run_digest(const Attributes& identity) {
  return sha256_of_text(identity_text(identity));
}

void require_same_run(const std::filesystem::path& file, const Attributes& there, const Attributes& identity,
                      const std::vector<Remedy>& remedies) {
  const std::string mark = attribute_text(there, run_digest_name), digest = run_digest(identity);
  if (mark == digest) return;
  require_same_identity(identity_text(stated_identity(there)), identity_text(identity), file.string(), remedies);
  // What a file cannot state as it was, such as a text that is not UTF-8, still changes its digest.
  if (!mark.empty())
    require_same_identity(identity_text({{run_digest_name, mark}}), identity_text({{run_digest_name, digest}}),
                          file.string(), remedies);
}

}  // namespace headwave
