#include "position_note.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "grid_findings.h"
#include "head_table.h"

namespace headwave {

namespace {

/// What the model knows of positions without a table.
std::string positions_instead(const std::string& position_term) {
  if (position_term.empty()) return "nothing tells it positions";
  if (position_term == "linear bias") return "its positions are a linear bias of the scores";
  return "its positions are " + position_term;
}

}  // namespace

std::string position_note(const Result& result) {
  const Field* predicted = result.find("position_atlas/offset");
  if (predicted == nullptr || attribute_text(predicted->attributes, "undefined") != "no position table") return {};
  const bool measured = result.find("measured_offset/offset") != nullptr;
  const std::string term = attribute_text(result.provenance, "position_term");
  const bool has_wave = result.find("rotary_wave/status") != nullptr;
  const bool has_kernel = result.find("position_term/kernel") != nullptr;
  return fmt::format("{}: undefined, the model has no position table ({}){}",
                     measured ? "by weights" : "offsets by position alone", positions_instead(term),
                     has_wave     ? "; rotary_wave/... in results.h5 is their wave"
                     : has_kernel ? "; position_term/kernel in results.h5 holds what these prefer by themselves"
                                  : "");
}

std::string noted_head_table(const Result& result, const std::vector<TableColumn>& beside) {
  std::string note = position_note(result);
  if (const auto undefined = undefined_predictions(result); !undefined.empty())
    note += fmt::format("{}{}: undefined for every head", note.empty() ? "" : "\n", fmt::join(undefined, ", "));
  if (const std::string grid = grid_note(result); !grid.empty()) note += (note.empty() ? "" : "\n") + grid;
  const bool only_names = head_columns(result).size() == 1;
  return (only_names && !note.empty() ? std::string() : head_table(result, false, "all", beside)) +
         (note.empty() ? note : note + "\n");
}

}  // namespace headwave
