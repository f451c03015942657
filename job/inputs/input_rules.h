#pragma once

#include <set>
#include <span>
#include <string>

namespace headwave {

/// A rule about two options of an input.
struct InputRule {
  enum class Kind {
    needs,         ///< the option has no effect without the other
    has_no_place,  ///< the option has no effect beside the other
    replaces       ///< says the same as the other in another way; on the command line it replaces that of a job file
  };

  const char* option;  ///< as in job files, with underscores: "head_count"
  Kind kind;
  const char* other;
  const char* why;  ///< what an error says after the option, {} being the other: "applies to {} only"
};

/// All rules about the options of a run's input. The command line, job files and Python enforce them.
std::span<const InputRule> input_rules();

/// The first rule that options break; null if none.
/// @param given  names of options whose values are not the usual ones; `shuffled_words` is that intervention
const InputRule* broken_input_rule(const std::set<std::string>& given);

}  // namespace headwave
