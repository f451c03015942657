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
const std::vector<std::string> comparison_fields{
    comparison_verdict_name,     "comparison/first", "comparison/second",     "comparison/changed",
    "comparison/profile_offset", "comparison/rank",  "comparison/first_word", "comparison/second_word"};
constexpr std::uint8_t beyond_interval = 1;  // place among the meanings of comparison/verdict

/// @param more  digits beyond the usual
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

}  // namespace

std::vector<std::size_t> ranked_rows(const Result& result) {
  const auto& ranks = counts_of(result, "comparison/rank", {"layer", "head"});
  std::vector<std::size_t> rows(ranks.size(), ranks.size());
  for (std::size_t row = 0; row < ranks.size(); ++row)
    if (ranks[row] >= 0 && ranks[row] < std::ssize(ranks)) rows[static_cast<std::size_t>(ranks[row])] = row;
  if (std::ranges::count(rows, ranks.size()) != 0)
    throw ShapeError(fmt::format("comparison/rank: expected 0 .. {}, each once", std::ssize(ranks) - 1));
  return rows;
}

namespace {

/// A comparison as it is read, with the rows that a table shows.
class Compared {
 public:
  Compared(const Result& result, bool all)
      : result_(result),
        first_(doubles_of(result, "comparison/first", {"measure", "layer", "head"})),
        second_(doubles_of(result, "comparison/second", {"measure", "layer", "head"})),
        verdict_(flags_of(result, comparison_verdict_name, {"measure", "layer", "head"})),
        at_(doubles_of(result, "comparison/profile_offset", {"layer", "head"})),
        measures_(labels_of(result.at(comparison_verdict_name), "measure")),
        heads_(field_heads(result.at(comparison_verdict_name))),
        rows_(ranked_rows(result)) {
    require_fitting(result, comparison_fields);
    const auto& changed = flags_of(result, "comparison/changed", {"layer", "head"});
    if (!all) std::erase_if(rows_, [&](std::size_t row) { return changed[row] == 0; });
    add("head", [&](std::size_t row) { return head_name(heads_[row].layer, heads_[row].head); });
  }

  template <class Cell>
  void add(const std::string& header, const Cell& cell_of) {
    columns_.push_back({header, Align::left, {}});
    for (const std::size_t row : rows_) columns_.back().cells.push_back(cell_of(row));
  }
  /// A column of a measure, with a star where it is beyond its interval and `stars`; none if there is no such measure.
  void add_measure(const std::string& name, const std::string& header, bool stars) {
    const auto m = static_cast<std::size_t>(std::ranges::find(measures_, name) - measures_.begin());
    if (m == measures_.size()) return;
    const Field* change = result_.find("change/" + name);
    const bool tokens = change != nullptr && change->unit == "token";
    add(header, [&](std::size_t row) {
      const double one = first_[place(m, row)], other = second_[place(m, row)];
      const bool changed = stars && beyond(m, row);
      constexpr int most = 4;  // digits that tell the two numbers of a change apart
      int more = 0;
      const auto text = [&](double value) { return number_text(value, tokens, more); };
      while (changed && one != other && more < most && text(one) == text(other)) ++more;
      return change_text(text(one), text(other), changed);
    });
  }
  /// Columns of all measures, and of words that both results say.
  void add_all() {
    for (const std::string& name : measures_) {
      if (name == "profile") add("changed most at", [&](std::size_t row) { return number_text(at_[row], true); });
      add_measure(name, in_words(name), true);
    }
    if (result_.find("comparison/first_word") == nullptr) return;
    const auto& one = strings_of(result_, "comparison/first_word", {"word", "layer", "head"});
    const auto& other = strings_of(result_, "comparison/second_word", {"word", "layer", "head"});
    const auto& words = labels_of(result_.at("comparison/first_word"), "word");
    for (std::size_t w = 0; w < words.size(); ++w)
      add(visible_text(words[w]), [&](std::size_t row) {
        return change_text(visible_text(one[place(w, row)]), visible_text(other[place(w, row)]), false);
      });
  }
  /// "profile at -1, weight, by position, by own token": what changed beyond its interval.
  [[nodiscard]] std::string changed(std::size_t row) const {
    std::vector<std::string> names;
    for (std::size_t m = 0; m < measures_.size(); ++m) {
      if (!beyond(m, row)) continue;
      const std::string& name = measures_[m];
      names.push_back(name == "profile"                ? fmt::format("profile at {}", number_text(at_[row], true))
                      : name.starts_with("weight_at_") ? "weight"
                                                       : in_words(name));
      if (std::ranges::count(names, names.back()) > 1) names.pop_back();
    }
    return fmt::format("{}", fmt::join(names, ", "));
  }
  [[nodiscard]] std::vector<TableColumn> columns() { return std::move(columns_); }

 private:
  [[nodiscard]] std::size_t place(std::size_t measure, std::size_t row) const { return measure * heads_.size() + row; }
  [[nodiscard]] bool beyond(std::size_t measure, std::size_t row) const {
    return verdict_[place(measure, row)] == beyond_interval;
  }

  const Result& result_;
  const std::vector<double>&first_, &second_;  ///< (measure, layer, head)
  const std::vector<std::uint8_t>& verdict_;   ///< (measure, layer, head)
  const std::vector<double>& at_;              ///< (layer, head)
  const std::vector<std::string>& measures_;
  FieldHeads heads_;
  std::vector<std::size_t> rows_;
  std::vector<TableColumn> columns_;
};

/// Two texts from where they begin to differ, so that long ones that begin alike can be told apart.
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

std::vector<TableColumn> comparison_columns(const Result& result, bool all) {
  if (result.find(comparison_verdict_name) == nullptr) return {};
  Compared compared(result, all);
  compared.add_all();
  return compared.columns();
}

std::vector<TableColumn> short_comparison(const Result& result, bool all) {
  if (result.find(comparison_verdict_name) == nullptr) return {};
  Compared compared(result, all);
  compared.add_measure("offset", "offset", false);
  compared.add_measure("weight_at_first", "weight there", false);
  compared.add_measure("bits", "bits", false);
  compared.add("beyond the interval", [&](std::size_t row) { return compared.changed(row); });
  return compared.columns();
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
    text += fmt::format("; no document decides: {}", visible_text(why));
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
