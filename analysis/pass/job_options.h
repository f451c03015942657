#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// A whole-number option that is declared beside an analysis and listed in its AnalysisKind. The command
/// line, job files, provenance and documentation use this description.
struct OwnOption {
  std::string_view name;  ///< for example "atlas_draws"; on the command line and in job files "atlas-draws"
  std::string_view help;  ///< help text, with the unit
  Index usual = 0;        ///< the default
  Index least = 0, most = 0;
  bool or_zero = false;  ///< the value 0 is also allowed and turns the option off
};

/// Options of a job. job_option_table() explains the options that several analyses read, with their ranges.
struct JobOptions {
  std::vector<std::string> only = {};  ///< names of the analyses to run; empty: the default analyses
  bool everything = false;             ///< run every analysis if `only` is empty
  std::vector<std::string> heads = {};
  Index reach = 64;
  double level = 0.01;
  Index draws = 20;
  Index dealt_tokens = 4096;  ///< tokens of all dealt documents together; 0: head_account only measures the profile
  Index resamples = 200;
  double fdr = 0.05;
  std::uint64_t seed = 1;
  int threads = 0;
  Index parallel_documents = 0;
  std::int64_t max_memory = 0;  ///< limit of resident memory in bytes, by fewer documents at a time; 0: no limit
  std::map<std::string_view, Index> own = {};  ///< options of single analyses that differ from their defaults

  [[nodiscard]] Index operator[](const OwnOption& option) const {
    const auto given = own.find(option.name);
    return given == own.end() ? option.usual : given->second;
  }
  Index& operator[](const OwnOption& option) { return own.try_emplace(option.name, option.usual).first->second; }
};

}  // namespace headwave
