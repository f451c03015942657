#include "comparison_table.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../../core/fields/head_name.h"
#include "../drawing/visible_text.h"

namespace headwave {

namespace {

constexpr const char* comparison_verdict_name = "comparison/verdict";
constexpr std::uint8_t beyond_interval = 1;  // among the meanings of comparison/verdict

/// @param more  digits beyond the usual number
std::string number_text(double value, bool tokens, int more = 0) {
  if (std::isnan(value)) return "-";
  if (!tokens) return fmt::format("{:.{}f}", value, 3 + more);
  return value == 0 ? "0" : fmt::format("{:+.{}f}", value, value == std::round(value) ? 0 : 1 + more);
}

/// "by position"
std::string in_words(const std::string& measure) {
  std::string words = visible_text(measure);
  replace_all(words, "_", " ");
  return words;
}

std::string change_text(const std::string& first, const std::string& second, bool changed) {
  return (first == second && !changed ? first : first + " -> " + second) + (changed ? " *" : "");
}

/// Rows (layer, head); heads that changed come first.
std::vector<std::size_t> ranked_rows(const Result& result) {
  const auto& ranks = counts_of(result, "comparison/rank", {"layer", "head"});
  std::vector<std::size_t> rows(ranks.size(), ranks.size());
  for (std::size_t row = 0; row < ranks.size(); ++row)
    if (ranks[row] >= 0 && ranks[row] < std::ssize(ranks)) rows[static_cast<std::size_t>(ranks[row])] = row;
  if (std::ranges::count(rows, ranks.size()) != 0)
    throw ShapeError(fmt::format("comparison/rank: expected each of 0 to {} once", std::ssize(ranks) - 1));
  return rows;
}

/// Two texts from shortly before they differ, so that long texts with the same beginning can be told apart.
std::string difference_text(const std::string& first, const std::string& second) {
  constexpr Index width = 40;
  constexpr std::size_t before = 8;
  const auto [one, other] = std::ranges::mismatch(first, second);
  auto begin = static_cast<std::size_t>(one - first.begin());
  begin = static_cast<Index>(std::max(first.size(), second.size())) <= width || begin <= before ? 0 : begin - before;
  const auto cut = [&](const std::string& text) {
    return (begin > 0 ? "..." : "") + shortened(visible_text(text.substr(std::min(begin, text.size()))), width);
  };
  return cut(first) + " -> " + cut(second);
}

}  // namespace

std::vector<TableColumn> comparison_columns(const Result& result, bool all, bool wide) {
  const Field* verdicts = result.find(comparison_verdict_name);
  if (verdicts == nullptr) return {};
  require_fitting(result,
                  {comparison_verdict_name, "comparison/first", "comparison/second", "comparison/changed",
                   "comparison/profile_offset", "comparison/rank", "comparison/first_word", "comparison/second_word"});
  const auto &first = doubles_of(result, "comparison/first", {"measure", "layer", "head"}),
             &second = doubles_of(result, "comparison/second", {"measure", "layer", "head"}),
             &changed_at = doubles_of(result, "comparison/profile_offset", {"layer", "head"});
  const auto &verdict = flags_of(result, comparison_verdict_name, {"measure", "layer", "head"}),
             &changed = flags_of(result, "comparison/changed", {"layer", "head"});
  const std::vector<std::string>& measures = labels_of(*verdicts, "measure");
  const FieldHeads heads = field_heads(*verdicts);
  std::vector<std::size_t> rows = ranked_rows(result);
  if (!all) std::erase_if(rows, [&](std::size_t row) { return changed[row] == 0; });
  std::vector<TableColumn> columns;
  const auto add = [&](const std::string& header, const auto& cell_of) {
    columns.push_back({header, Align::left, {}});
    for (const std::size_t row : rows) columns.back().cells.push_back(cell_of(row));
  };
  add("head", [&](std::size_t row) { return head_name(heads[row].layer, heads[row].head); });
  // Columns that have stars mark measures beyond their intervals.
  const auto add_measure = [&](std::size_t m, const std::string& header, bool stars) {
    const Field* change = result.find("change/" + measures[m]);
    const bool tokens = change != nullptr && change->unit == "token";
    add(header, [&, m](std::size_t row) {
      const std::size_t place = m * heads.size() + row;
      const bool told = stars && verdict[place] == beyond_interval;
      constexpr int most = 4;  // digits that tell the two numbers of a change apart
      int more = 0;
      const auto text = [&](double value) { return number_text(value, tokens, more); };
      while (told && first[place] != second[place] && more < most && text(first[place]) == text(second[place])) ++more;
      return change_text(text(first[place]), text(second[place]), told);
    });
  };
  for (std::size_t m = 0; m < measures.size(); ++m) {
    const std::string& name = measures[m];
    if (wide && name == "profile")
      add("changed most at", [&](std::size_t row) { return number_text(changed_at[row], true); });
    if (wide || name == "offset" || name == "bits")
      add_measure(m, in_words(name), wide);
    else if (name == "weight_at_first")
      add_measure(m, "weight there", false);
  }
  if (!wide)
    add("beyond the interval", [&](std::size_t row) {
      std::vector<std::string> names;  // "profile at -1, weight, by position, by own token"
      for (std::size_t m = 0; m < measures.size(); ++m) {
        if (verdict[m * heads.size() + row] != beyond_interval) continue;
        const std::string name = measures[m] == "profile" ? "profile at " + number_text(changed_at[row], true)
                                 : measures[m].starts_with("weight_at_") ? "weight"
                                                                         : in_words(measures[m]);
        if (std::ranges::count(names, name) == 0) names.push_back(name);
      }
      return fmt::format("{}", fmt::join(names, ", "));
    });
  if (!wide || result.find("comparison/first_word") == nullptr) return columns;
  const auto &one = strings_of(result, "comparison/first_word", {"word", "layer", "head"}),
             &other = strings_of(result, "comparison/second_word", {"word", "layer", "head"});
  const std::vector<std::string>& words = labels_of(result.at("comparison/first_word"), "word");
  for (std::size_t w = 0; w < words.size(); ++w)
    add(visible_text(words[w]), [&](std::size_t row) {
      const std::size_t place = w * heads.size() + row;
      return change_text(visible_text(one[place]), visible_text(other[place]), false);
    });
  return columns;
}

std::string comparison_note(const Result& result) {
  const Field* field = result.find(comparison_verdict_name);
  if (field == nullptr) return {};
  const std::vector<std::string>& measures = labels_of(*field, "measure");
  std::string note = "Cells: first result -> second result; * beyond the interval.";
  if (std::ranges::count(measures, "weight_at_first") > 0)
    note +=
        " weight at first, weight at second: mean weight at the offset that the first, or the second, result found.";
  if (std::ranges::count(measures, "profile") > 0)
    note += " changed most at: offset where the profile changed most in standard errors; profile: mean weight there.";
  return note;
}

std::string comparison_sentence(const Result& result) {
  if (result.find("comparison/changed") == nullptr) return {};
  const auto& changed = flags_of(result, "comparison/changed", {"layer", "head"});
  const Attributes& notes = result.at("comparison/changed").attributes;
  const double level = attribute_number(notes, "level");
  std::string text =
      fmt::format("{} of {} heads changed beyond the intervals", std::ranges::count(changed, 1), changed.size());
  if (!std::isnan(level)) text += fmt::format(" (the chance that any does by luck: {})", level);
  if (const std::string why = attribute_text(notes, "untested"); !why.empty())
    text += fmt::format("; differences between documents were not tested: {}", visible_text(why));
  return text;
}

std::vector<std::string> other_settings(const Result& result) {
  std::vector<std::string> settings;
  const Field* field = result.find("comparison/set_to");
  if (field == nullptr) return settings;
  const auto& values = strings_of(result, field->name, {"setting", "result"});
  for (const std::string& name : labels_of(*field, "setting")) {
    const std::size_t at = 2 * settings.size();
    settings.push_back(fmt::format("{}: {}", visible_text(name), difference_text(values.at(at), values.at(at + 1))));
  }
  return settings;
}

std::string comparison_paragraph(const Result& result) {
  const std::string heads = comparison_sentence(result);
  if (heads.empty()) return {};
  std::string text = fmt::format("{} against {}", visible_text(attribute_text(result.provenance, "first", "first")),
                                 visible_text(attribute_text(result.provenance, "second", "second")));
  if (const std::string comparable = attribute_text(result.provenance, "comparable"); !comparable.empty())
    text += ": " + visible_text(comparable);
  if (const std::vector<std::string> settings = other_settings(result); !settings.empty())
    text += fmt::format(". The runs differ in {}", fmt::join(settings, "; "));
  return fmt::format("{}. {}.", text, heads);
}

}  // namespace headwave
