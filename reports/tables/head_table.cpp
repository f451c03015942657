#include "head_table.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/visible_text.h"
#include "comparison_table.h"
#include "head_findings.h"
#include "head_sentence.h"
#include "run_sentence.h"

namespace headwave {

namespace {

/// One head, as the columns of the table describe it.
struct Row {
  const Result& result;
  const HeadValues& values;
  std::size_t head;
  const HeadSentence* said;  ///< nullptr if there are no sentences

  [[nodiscard]] double number(const char* measure) const { return values.number(head, measure); }
  [[nodiscard]] std::string word(const char* measure) const { return values.word(head, measure); }
  [[nodiscard]] bool says(const Said& one) const { return values.says(head, one); }
};

/// A number with this many digits after the point.
std::string fixed(double number, int digits) {
  return std::isnan(number) ? "" : fmt::format("{:.{}f}", number, digits);
}

std::string percent(double share) {
  return std::isnan(share) ? "" : fmt::format("{:.0f} %", std::round(100 * share) + 0.0);  // + 0.0: no "-0 %"
}

/// The ratio of a weight to the weight by chance.
std::string times(double weight, double chance) {
  const double ratio = weight / chance;
  return std::isfinite(ratio) ? fixed(ratio, ratio < 10 ? 1 : 0) : "";
}

/// "undefined (edge)" if a wider search or a closer look may find an offset.
/// @param parts  whether parts of a token are shown, as of a delay
std::string predicted(double offset, const std::string& status, bool parts = false) {
  if (std::isnan(offset))
    return status == said::predicted_at_end.word || status == said::predicted_weak.word ? "undefined (" + status + ")"
                                                                                        : "undefined";
  if (!parts) return signed_tokens(offset);
  return std::abs(offset) < 0.005 ? "0.00" : fmt::format("{:+.2f}", offset);
}

/// Where a head looks without an account: "3 back".
std::string measured_looks(const Row& head) {
  if (head.says(said::at_own_token)) return "at itself";
  if (head.says(said::at_search_end)) return "at the search's end";
  const double offset = head.number("offset");
  return std::isnan(offset) ? "no preferred offset" : tokens_away(offset);
}

std::string measured_offset(const Row& head) {
  const std::string status = head.word("status");
  if (const double offset = head.number("offset"); !std::isnan(offset)) return signed_tokens(offset);
  return status.empty() ? "undefined" : "undefined (" + status + ")";
}

/// "previous 0.98, chance 0.01"
std::string kind_cell(const Row& head) {
  if (head.says(said::no_kind)) return {};
  if (head.says(said::undefined_kind)) return "too few documents";
  std::string text = head.word("kind");
  if (const double score = head.number("kind_score"); !std::isnan(score)) text += fmt::format(" {:.2f}", score);
  if (const double chance = head.number("kind_chance"); !std::isnan(chance))
    text += fmt::format(", chance {:.2f}", chance);
  return text;
}

/// The share of a head's attention beyond the reach, if it is more than a tenth.
std::string far_cell(const Row& head) {
  const double share = head.number("offset_by_query/share_beyond");
  return share > 0.1 ? percent(share) : "";
}

/// "+0.120*": a star marks heads that matter.
std::string effect_cell(const Row& head, double effect, double scale, const char* unit) {
  if (std::isnan(effect)) return {};
  const bool matters = head.number("matters_q_value") <= matters_share;
  return fmt::format("{:+.{}f}{}{}", scale * effect, scale == 1 ? 3 : 1, unit, matters ? "*" : "");
}

bool from_words(const Row& head) {
  return head.result.find(word_offset_field) != nullptr;
}
bool is_exact(const Row& head) {
  return head.values.heads[head.head].layer == 0;
}
std::string by_weights(const Row& head) {
  return predicted(head.number("predicted_offset"), head.word("predicted_status"));
}

/// A column; it is shown if one of its cells is not empty.
struct Column {
  const char* header;
  Align align;
  std::string (*cell)(const Row& head);
  const char* needs = "";  ///< a measure that some head must also have
};

using enum Align;
using H = const Row&;

/// All columns about a head except its name, in the order of --wide.
const Column found_columns[]{
    {"looks at", left, [](H head) { return head.said == nullptr ? measured_looks(head) : head.said->looks; }},
    {"bits", right, [](H head) { return head.said == nullptr ? "" : fixed(head.said->bits, 2); }},
    {"why", left, [](H head) { return head.said == nullptr ? "" : head.said->why; }},
    {"follows", right, [](H head) { return head.said == nullptr ? "" : head.said->follows; }},
    {"loss change", left, [](H head) { return effect_cell(head, head.number("loss_change"), 1, ""); }},
    {"state change", left,
     [](H head) {
       return head.values.any("loss_change") ? "" : effect_cell(head, head.number("state_change"), 100, " %");
     }},
    {"writes", left, [](H head) { return head.said == nullptr ? "" : head.said->writes; }},
    {"offset", right, measured_offset},
    {"x chance", right, [](H head) { return times(head.number("weight"), head.number("chance")); }},
    {"weight", right, [](H head) { return fixed(head.number("weight"), 4); }},
    {"strength", right, [](H head) { return fixed(head.number("strength"), 3); }},
    {"profile", left, [](H head) { return head.word("profile"); }},
    {"kind", left, kind_cell},
    {"beyond reach", left, far_cell},
    {"predicted", right, [](H head) { return predicted(head.number("offset_by_position"), ""); }, "agrees"},
    {"", left, [](H head) { return head.says(said::undefined_agreement) ? "" : head.word("agrees"); }},
    {"by weights", right, by_weights, "predicted_offset"},
    {"by phases", right,
     [](H head) {
       return predicted(head.number("offset_by_phases"), head.word("status_by_phases"),
                        head.result.find("rotary_wave/status") == nullptr);
     },
     "offset_by_phases"},
    {"threshold", right, [](H head) { return head.values.any("profile") ? "" : fixed(head.number("threshold"), 4); }},
    {"cluster", right, [](H head) { return fixed(head.number("cluster"), 0); }},
    {"share", right, [](H head) { return percent(head.number("cluster_share")); }},
    {"planted", left, [](H head) { return head.word("planted_kind"); }},
    {"at", right,
     [](H head) {
       const double offset = head.number("planted_offset");
       return std::isnan(offset) ? "" : signed_tokens(offset);
     }},
    {"found", left, [](H head) {
       const std::string found = head.word("planted_found");
       return std::string(found.empty() ? "" : found == "true" ? "agrees" : "differs");
     }}};

/// Columns of an atlas: what random words predict, and what the weights do, above layer 0 only as a proxy.
const Column predicted_columns[]{
    {"predicted", right, [](H head) { return predicted(head.number("offset_by_words"), head.word("status_by_words")); },
     "status_by_words"},
    {"weight", right, [](H head) { return fixed(head.number(word_weight_field), 4); }},
    {"x chance", right, [](H head) { return times(head.number(word_weight_field), head.number(word_chance_field)); }},
    {"by weights", right, [](H head) { return is_exact(head) ? by_weights(head) : ""; }, "other_q_value"},
    {"proxy", right, [](H head) { return is_exact(head) ? "" : by_weights(head); }, "other_q_value"},
    {"weight", right, [](H head) { return from_words(head) ? "" : fixed(head.number("predicted_weight"), 4); }},
    {"x chance", right,
     [](H head) {
       return from_words(head) ? "" : times(head.number("predicted_weight"), head.number("predicted_chance"));
     }},
    {"R2 beyond itself", right, [](H head) { return from_words(head) ? "" : fixed(head.number("other_r2"), 3); }},
    {"null of R2", right, [](H head) { return from_words(head) ? "" : fixed(head.number("other_null_quantile"), 3); }},
    {"q of R2", right, [](H head) { return from_words(head) ? "" : fixed(head.number("other_q_value"), 3); }}};

bool is_measured(const Result& result) {
  return result.find(measured_offset_field) != nullptr;
}

/// Rows in ascending order of a key.
template <class Key>
std::vector<std::size_t> ordered(const HeadValues& values, const Key& key) {
  std::vector<std::size_t> rows(values.heads.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::ranges::stable_sort(rows, {}, key);
  return rows;
}

/// Heads, strongest first: by bits beyond uniform attention; without these by the strength of the profile, or
/// else by how far the weight is above chance. In an atlas, by the predicted weight.
std::vector<std::size_t> strongest_rows(const Result& result, const HeadValues& values) {
  const char* const by = !is_measured(result) ? (values.any(word_weight_field) ? word_weight_field : "predicted_weight")
                         : values.any("bits") ? "bits"
                         : values.any("strength") ? "strength"
                                                  : nullptr;
  return ordered(values, [&](std::size_t head) {
    const double chance = values.number(head, "chance");
    const double size =
        by != nullptr ? values.number(head, by) : values.number(head, "weight") - (std::isnan(chance) ? 0 : chance);
    return std::isnan(size) ? 1.0 : -size;
  });
}

/// Sorts by a column: numbers from the largest, but words, offsets, layers and clusters from the first.
std::vector<std::size_t> sorted_rows(const Result& result, const HeadValues& values, const std::string& by) {
  if (by.empty()) return strongest_rows(result, values);
  std::vector<std::string> known;
  for (const DataColumn& column : head_data(result, values)) known.push_back(column.name);
  if (std::ranges::count(known, by) == 0)
    throw ShapeError(fmt::format("heads cannot be sorted by '{}'; expected one of {}", by, fmt::join(known, ", ")));
  const bool ascending = by == "layer" || by == "index" || by == "cluster" || by.find("offset") != std::string::npos;
  return ordered(values, [&](std::size_t head) {
    const double number = by == "head" ? 0 : values.number(head, by);
    const std::string word = by == "head" ? "" : values.word(head, by);
    return std::tuple(word, std::isnan(number), ascending ? number : -number);
  });
}

/// The sentences, if they describe the same heads.
std::vector<HeadSentence> sentences_of(const Result& result, const HeadValues& values) {
  std::vector<HeadSentence> sentences = head_sentences(result);
  if (sentences.size() != values.heads.size()) sentences.clear();
  return sentences;
}

/// The columns of --wide, or of the short table: where a head looks, how strongly, why, and the experiments.
std::vector<TableColumn> columns_of(const Result& result, const HeadValues& values, bool wide,
                                    const std::vector<std::size_t>& rows) {
  const std::vector<HeadSentence> sentences = sentences_of(result, values);
  std::vector<TableColumn> columns;
  const auto add = [&](const Column& column) {
    if (*column.header != '\0' && std::ranges::count(columns, column.header, &TableColumn::header) > 0) return;
    if (*column.needs != '\0' && !values.any(column.needs)) return;
    TableColumn shown{column.header, column.align, {}};
    for (const std::size_t row : rows)
      shown.cells.push_back(column.cell({result, values, row, sentences.empty() ? nullptr : &sentences[row]}));
    if (!std::ranges::all_of(shown.cells, &std::string::empty)) columns.push_back(std::move(shown));
  };
  const auto add_named = [&](std::initializer_list<std::string_view> headers) {
    for (const std::string_view header : headers) add(*std::ranges::find(found_columns, header, &Column::header));
  };
  add({"head", left, [](H head) { return head.word("head"); }});
  if (!is_measured(result)) {
    for (const Column& column : predicted_columns) add(column);
    return columns;
  }
  if (sentences.empty())
    add_named({"looks at", "weight", "x chance"});
  else
    add_named({"looks at", "bits", "why", "follows"});
  add_named({"loss change", "state change"});
  if (wide && !sentences.empty()) add_named({"writes", "kind"});
  for (const Field* field : asked_columns(result)) {
    columns.push_back({visible_text(attribute_text(field->attributes, "column")), right, {}});
    for (const std::size_t row : rows) columns.back().cells.push_back(fixed(values.number(row, field->name), 3));
  }
  if (!wide) return columns;
  for (const Column& column : found_columns) add(column);
  // A sentence's offset comes first, so beside it the measured offset gets its full name.
  for (TableColumn& column : columns)
    if (column.header == "offset" && !sentences.empty()) column.header = "measured offset";
  return columns;
}

constexpr std::size_t strongest_heads = 10;

/// How many heads look at a preferred offset, without a full stop.
std::string offsets_sentence(const HeadValues& values) {
  std::size_t offsets = 0, selves = 0;
  for (std::size_t head = 0; head < values.heads.size(); ++head) {
    offsets += std::isnan(values.number(head, "offset")) ? 0 : 1;
    selves += values.says(head, said::at_own_token) ? 1 : 0;
  }
  return fmt::format("{} of {} look at a preferred offset{}", offsets, counted(std::ssize(values.heads), "head"),
                     selves > 0 ? fmt::format(", {} at themselves", selves) : "");
}

}  // namespace

std::vector<TableColumn> sorted_columns(const Result& result, const HeadTableOptions& options) {
  const HeadValues values = head_values(result);
  if (!values.heads.empty()) return columns_of(result, values, options.wide, sorted_rows(result, values, options.sort));
  return comparison_columns(result, true, options.wide);
}

std::vector<HeadName> heads_by_strength(const Result& result) {
  const HeadValues values = head_values(result);
  std::vector<HeadName> heads;
  for (const std::size_t head : strongest_rows(result, values)) heads.push_back(values.heads[head]);
  return heads;
}

std::vector<std::size_t> table_order(const Result& result, const std::vector<HeadName>& names) {
  const std::vector<HeadName> table = heads_by_strength(result);
  std::vector<std::size_t> places(names.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::stable_sort(places, {}, [&](std::size_t place) { return std::ranges::find(table, names[place]); });
  return places;
}

std::vector<TableColumn> shown_rows(const std::vector<TableColumn>& columns, const HeadTableOptions& options) {
  std::vector<TableColumn> chosen = columns;
  for (TableColumn& column : chosen) {
    std::size_t row = 0;
    std::erase_if(column.cells, [&](const std::string&) {
      const std::string& name = columns.front().cells[row++];
      return options.heads.empty() ? !options.all && row > strongest_heads
                                   : std::ranges::count(options.heads, name) == 0;
    });
  }
  return chosen;
}

std::vector<TableColumn> shown_columns(const Result& result, const HeadTableOptions& options) {
  return shown_rows(sorted_columns(result, options), options);
}

std::vector<std::string> head_table_fields() {
  std::vector<std::string> names = head_value_fields();
  names.emplace_back(model_loss_field);
  for (const std::string& name : head_sentence_fields())
    if (std::ranges::count(names, name) == 0) names.push_back(name);
  return names;
}

std::optional<Field> looks_field(const Result& result) {
  const Field* measured = result.find(measured_offset_field);
  if (measured == nullptr) return std::nullopt;
  const HeadValues values = head_values(result);
  const std::vector<HeadSentence> sentences = sentences_of(result, values);
  std::vector<double> offsets;
  for (std::size_t head = 0; head < values.heads.size(); ++head)
    offsets.push_back(!sentences.empty()                      ? sentences[head].offset
                      : values.says(head, said::at_own_token) ? 0.0
                                                              : values.number(head, "offset"));
  Field field =
      make_field("looks/offset", {measured->axis("layer"), measured->axis("head")}, "token",
                 sentences.empty() ? "where a head looks, as in the table: at its measured offset, or at itself"
                                   : "where a head looks, as in the table: by the account, which leaves out "
                                     "the first token",
                 std::move(offsets));
  field.attributes["undefined"] = std::string("no preferred offset, or the end of the search");
  return field;
}

std::string finding_title(const Result& result) {
  const std::string model = model_name(result.provenance);
  std::string finding;
  if (const std::vector<HeadSentence> heads = head_sentences(result); is_composed(heads)) {
    finding = all_parts_text(result, heads);
    if (!finding.empty()) return fmt::format("Attention of {}: {}", model.empty() ? "the model" : model, finding);
  }
  if (!is_measured(result))
    finding = comparison_sentence(result);
  else if (const HeadValues values = head_values(result); !values.heads.empty())
    finding = offsets_sentence(values);
  if (finding.empty()) return result.title.empty() ? "headwave result" : visible_text(result.title);
  return model.empty() ? finding : fmt::format("In {} {}", model, finding);
}

std::string head_paragraph(const Result& result, bool titled) {
  std::string text = run_sentence(result.provenance);
  const auto add = [&](const std::string& sentence) {
    if (!sentence.empty()) text += (text.empty() ? "" : " ") + sentence;
  };
  const HeadValues values = is_measured(result) ? head_values(result) : HeadValues();
  if (values.heads.empty()) return text;
  if (const std::vector<HeadSentence> all = head_sentences(result); is_composed(all)) {
    if (const std::string parts = all_parts_text(result, all); !titled && !parts.empty())
      add(fmt::format("What makes attention differ from uniform attention: {}.", parts));
    add(largest_parts_sentence(all));
    add(effect_findings(result, all));
  } else if (!titled) {
    add(offsets_sentence(values) + ".");
  }
  std::map<std::string, std::int64_t> planted;
  for (std::size_t head = 0; head < values.heads.size(); ++head) ++planted[values.word(head, "planted_found")];
  if (const std::int64_t all = planted["true"] + planted["false"]; all > 0)
    add(fmt::format("{} of {} look where it was planted.", planted["true"], counted(all, "head")));
  return text;
}

namespace {

/// How far offsets were searched, if a head looks at the end of the search or repeated tokens lie beyond it.
std::string search_note(const Result& result, const std::vector<TableColumn>& columns) {
  const Field* measured = result.find(measured_offset_field);
  if (measured == nullptr) return {};
  const double reach = attribute_number(measured->attributes, "reach");
  if (const double period = attribute_number(result.provenance, "period");
      period - 1 >= reach && attribute_number(result.provenance, "repeats", 1) > 1)
    return fmt::format(
        "the tokens repeat after {0:g}: what followed the earlier copy stands {1:g} back, beyond the {2:g} offsets "
        "that were searched; a reach of {3:g} shows heads that look there",
        period, period - 1, reach, period + 1);
  const bool any = std::ranges::any_of(
      columns, [](const TableColumn& column) { return std::ranges::count(column.cells, "at the search's end") > 0; });
  if (!any || std::isnan(reach)) return {};
  return fmt::format(
      "at the search's end: the weight is largest {:g} tokens away, the farthest that was searched, and may be larger "
      "beyond; offsets up to the reach are searched, and up to half of a document",
      reach);
}

}  // namespace

std::string head_answer(const Result& result, const std::vector<TableColumn>& columns) {
  std::string text;
  const auto add = [&](const std::string& note) {
    if (!note.empty()) text += wrapped_text(note) + "\n";
  };
  add(head_paragraph(result));
  const auto has = [&](const char* header) {
    return std::ranges::find(columns, header, &TableColumn::header) != columns.end();
  };
  if (columns.size() > 1) text += (text.empty() ? "" : "\n") + terminal_table(columns) + "\n";
  if (has("looks at") && has("bits"))
    for (const char* note :
         {"looks at: the largest part of the head's attention, and any other part of a fifth of the bits or more; "
          "pairs of "
          "words are query > key",
          "bits: how far a query's attention is from uniform attention",
          "why: the largest three parts of 10 % of the bits or more; if a part is negative, others can exceed 100 % "
          "(sink: "
          "special keys; position: where query and key stand; word: words that draw attention from every query; match: "
          "what the query finds)",
          "follows: the contents of the strongest key and another key are swapped; the share of the attention on both "
          "that goes with the content (0: it stays with the place, 1: it goes with the content)",
          "but: an experiment contradicts the parts; the head's sentence says which"})
      add(note);
  if (has("measured offset"))
    add("measured offset, x chance, weight: over all pairs, special tokens and the first included; undefined where the "
        "weight does not stand out from chance, or a head looks at itself");
  if (has("kind") || has("cluster"))
    add("kind: what the literature calls such a head, the score that decides it, and that score if all keys had equal "
        "weight (docs/glossary.md says which); cluster: heads with similar profiles; share: of the head's documents "
        "that "
        "are in that cluster");
  if (has("loss change") || has("state change"))
    add("loss change: how much the loss of the next token rises without the head, in nats; state change: how far the "
        "final state moves without it; without a head means that its output is replaced by its mean over other "
        "documents; "
        "*: more than by chance, and more than by a random change of equal size (5 % of the starred heads are false)");
  if (has("writes"))
    add("writes: whether the head raises the logits of the words that it attends to (copies), or lowers them, then the "
        "words whose logits its mean output raises most");
  add(search_note(result, columns));
  if (const Field* predicted = result.find(weights_offset_field);
      predicted != nullptr && attribute_text(predicted->attributes, "undefined") == "no position table")
    add("by weights: undefined, the model has no position table");
  if (const std::string why = attribute_text(result.provenance, "undefined_account");
      !why.empty() && result.provenance.contains("watched"))
    add(fmt::format("no account: {}", visible_text(why)));
  if (const Field* undefined = result.find("attention_bits/undefined"); undefined != nullptr)
    add(fmt::format("no parts in bits: {}", attribute_text(undefined->attributes, "undefined")));
  if (const std::string why = attribute_text(result.provenance, "undefined_evidence"); !why.empty())
    add(fmt::format("no keys were moved: {}", visible_text(why)));
  return text;
}

}  // namespace headwave
