#pragma once

#include <set>
#include <span>
#include <string>

namespace headwave {

/// A rule about two options of an input.
struct InputRule {
  enum class Kind {
    needs,         ///< the option has no effect unless the other is given
    has_no_place,  ///< the option has no effect if the other is given too
    replaces       ///< both options say the same thing; on the command line either replaces the other in a job file
  };

  const char* option;  ///< as in job files, with underscores: "head_count"
  Kind kind;
  const char* other;
  const char* why;  ///< what an error says after the option's name; {} stands for the other: "applies to {} only"
};

/// All rules about the options of a run's input. The command line, job files and Python enforce these rules.
std::span<const InputRule> input_rules();

/// The first rule that the given options break; null if they break none.
/// @param given  names of options that differ from their defaults; `shuffled_words` means that intervention
const InputRule* broken_input_rule(const std::set<std::string>& given);

}  // namespace headwave
