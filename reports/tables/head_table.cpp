#include "head_table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
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

constexpr double notable_share = 0.1;  // of attention beyond the reach

std::string measured_text(const HeadFinding& head) {
  if (!std::isnan(head.offset)) return signed_tokens(head.offset);
  return head.status.empty() ? "undefined" : "undefined (" + head.status + ")";
}

/// "undefined (edge)" if a wider search or a closer look may find an offset.
/// @param parts  of a token: a delay
std::string predicted_text(const PredictedFinding& prediction, bool parts = false) {
  if (std::isnan(prediction.offset))
    return prediction.status == "edge" || prediction.status == "weak" ? "undefined (" + prediction.status + ")"
                                                                      : "undefined";
  if (!parts) return signed_tokens(prediction.offset);
  return std::abs(prediction.offset) < 0.005 ? "0.00" : fmt::format("{:+.2f}", prediction.offset);
}

std::string number_text(double number) {
  return std::isnan(number) ? "" : fmt::format("{:.4f}", number);
}

/// A weight in multiples of what chance would give.
std::string times_text(double weight, double chance) {
  const double times = weight / chance;
  if (!std::isfinite(times)) return "";
  return times < 10 ? fmt::format("{:.1f}", times) : fmt::format("{:.0f}", times);
}

std::string share_text(double share) {
  return std::isnan(share) ? "" : fmt::format("{:.3f}", share);
}

std::string percent_text(double share) {
  return std::isnan(share) ? "" : fmt::format("{:.0f} %", std::round(100 * share) + 0.0);  // + 0.0: no "-0 %"
}

/// "previous 0.98, chance 0.01"
std::string kind_cell(const HeadFinding& head) {
  if (head.kind == "other") return {};
  if (head.kind == "undefined") return "too few documents";
  std::string text = head.kind;
  if (!std::isnan(head.kind_score)) text += fmt::format(" {:.2f}", head.kind_score);
  if (!std::isnan(head.kind_chance)) text += fmt::format(", chance {:.2f}", head.kind_chance);
  return text;
}

/// How much of a head's attention lies beyond the reach, where that is more than a tenth.
std::string far_text(const HeadFinding& head) {
  return head.beyond_reach > notable_share ? percent_text(head.beyond_reach) : "";
}

/// The largest first; heads without a number, or with the same, stay in order.
void rank_by(double HeadFinding::*number, std::vector<HeadFinding>& heads) {
  std::ranges::stable_sort(heads, std::greater(),
                           [&](const HeadFinding& head) { return std::isnan(head.*number) ? -1.0 : head.*number; });
}

/// A way to predict offsets, and its column.
struct Route {
  const char* header;
  PredictedFinding HeadFinding::*prediction;
  const char* field;      ///< that says it was computed
  bool parts_of_a_token;  ///< a delay

  /// Whether it predicts an offset for any head.
  [[nodiscard]] bool predicts(const std::vector<HeadFinding>& heads) const {
    return std::ranges::any_of(heads, [&](const auto& head) { return !std::isnan((head.*prediction).offset); });
  }
};

/// The routes that were computed.
std::vector<Route> routes_of(const Result& result) {
  const bool rotary = phases_group(result) == "rotary_wave/";
  std::vector<Route> routes{
      {"by weights", &HeadFinding::by_weights, "position_atlas/q_value", false},
      {"by phases", &HeadFinding::by_phases, rotary ? "rotary_wave/status" : "phase_delay/predicted_offset", !rotary}};
  std::erase_if(routes, [&](const Route& route) { return result.find(route.field) == nullptr; });
  return routes;
}

/// Columns of the same heads, one after another.
class Columns {
 public:
  Columns(const Result& result, const std::vector<HeadFinding>& heads) : result_(result), heads_(heads) {
    add("head", Align::left, [](const HeadFinding& head) { return head_name(head.name.layer, head.name.head); });
  }

  template <class Text>
  void add(const std::string& header, Align align, const Text& text) {
    TableColumn& column = columns_.emplace_back(TableColumn{header, align, {}});
    for (const HeadFinding& head : heads_) column.cells.push_back(text(head));
  }
  template <class Text>
  void add_if(const char* field, const char* header, const Text& text) {
    if (result_.find(field) != nullptr) add(header, Align::right, text);
  }
  /// Fields of one number per head that ask for a column: their remark "column" is its header.
  void add_asked() {
    for (const Field* field : asked_columns(result_)) {
      const std::vector<double>& numbers = doubles_of(result_, field->name, {"layer", "head"});
      const FieldHeads rows = field_heads(*field);
      add(visible_text(attribute_text(field->attributes, "column")), Align::right, [&](const HeadFinding& head) {
        const std::size_t row = rows.row_of(head.name);
        return row < rows.size() ? share_text(numbers[row]) : std::string();
      });
    }
  }
  std::vector<TableColumn> taken() { return std::move(columns_); }

 private:
  const Result& result_;
  const std::vector<HeadFinding>& heads_;
  std::vector<TableColumn> columns_;
};

/// Without a text: what random words predict, and the weights, which above layer 0 are no more than a proxy.
std::vector<TableColumn> atlas_columns(const Result& result, std::vector<HeadFinding> heads) {
  const bool words = result.find("word_atlas/predicted_offset") != nullptr;
  rank_by(words ? &HeadFinding::words_weight : &HeadFinding::predicted_weight, heads);
  const auto exact = [](const HeadFinding& head) { return head.name.layer == 0; };
  const bool first = std::ranges::any_of(heads, exact), above = !std::ranges::all_of(heads, exact);
  Columns columns(result, heads);
  columns.add_if("word_atlas/predicted_offset", "predicted",
                 [](const HeadFinding& head) { return predicted_text(head.by_words); });
  columns.add_if("word_atlas/predicted_weight", "weight",
                 [](const HeadFinding& head) { return number_text(head.words_weight); });
  columns.add_if("word_atlas/chance", "x chance",
                 [](const HeadFinding& head) { return times_text(head.words_weight, head.words_chance); });
  if (first)
    columns.add_if("position_atlas/q_value", "by weights", [&](const HeadFinding& head) {
      return exact(head) ? predicted_text(head.by_weights) : std::string();
    });
  if (above)
    columns.add_if("position_atlas/q_value", "proxy", [&](const HeadFinding& head) {
      return exact(head) ? std::string() : predicted_text(head.by_weights);
    });
  if (words) return columns.taken();
  columns.add_if("position_atlas/predicted_weight", "weight",
                 [](const HeadFinding& head) { return number_text(head.predicted_weight); });
  columns.add_if("position_atlas/predicted_weight", "x chance",
                 [](const HeadFinding& head) { return times_text(head.predicted_weight, head.predicted_chance); });
  columns.add_if("position_atlas/other_r2", "R2 beyond itself",
                 [](const HeadFinding& head) { return share_text(head.other_r2); });
  columns.add_if("position_atlas/other_null_quantile", "null of R2",
                 [](const HeadFinding& head) { return share_text(head.other_null); });
  columns.add_if("position_atlas/q_value", "q of R2", [](const HeadFinding& head) { return share_text(head.q_value); });
  return columns.taken();
}

/// What the model knows of positions without a table.
std::string positions_instead(const std::string& position_term) {
  if (position_term.empty()) return "nothing tells it positions";
  if (position_term == "linear bias") return "its positions are a linear bias of the scores";
  return "its positions are " + position_term;
}

}  // namespace

std::vector<TableColumn> head_columns(const Result& result) {
  std::vector<HeadFinding> heads = head_findings(result);
  if (heads.empty()) return comparison_columns(result, true);
  if (result.find("measured_offset/offset") == nullptr) return atlas_columns(result, std::move(heads));
  const bool planted = heads.front().planted.has_value();
  const bool accounted = result.find("head_account/verdict") != nullptr;
  const bool judged = std::ranges::any_of(heads, [](const auto& head) { return !head.agrees.empty(); });
  const bool far = std::ranges::any_of(heads, [](const auto& head) { return !far_text(head).empty(); });
  const auto weight = [](const HeadFinding& head) { return number_text(head.weight); };
  if (accounted) rank_by(&HeadFinding::strength, heads);
  Columns columns(result, heads);
  columns.add("offset", Align::right, measured_text);
  columns.add_if("measured_offset/chance", "x chance",
                 [](const HeadFinding& head) { return times_text(head.weight, head.chance); });
  if (accounted) {
    columns.add("weight", Align::right, weight);
    columns.add_if("head_account/strength", "strength",
                   [](const HeadFinding& head) { return share_text(head.strength); });
    columns.add("profile", Align::left, [](const HeadFinding& head) { return head.why; });
  }
  if (std::ranges::any_of(heads, [](const auto& head) { return !head.kind.empty(); }))
    columns.add("kind", Align::left, kind_cell);
  if (far) columns.add("beyond reach", Align::left, far_text);
  if (judged) {
    columns.add("predicted", Align::right, [](const HeadFinding& head) { return predicted_text(head.by_account); });
    columns.add("", Align::left,
                [](const HeadFinding& head) { return head.agrees == "undefined" ? std::string() : head.agrees; });
  }
  for (const Route& route : routes_of(result))
    if (route.predicts(heads))
      columns.add(route.header, Align::right, [&](const HeadFinding& head) {
        return predicted_text(head.*route.prediction, route.parts_of_a_token);
      });
  if (!accounted) {
    columns.add_if("measured_offset/weight", "weight", weight);
    columns.add_if("measured_offset/threshold", "threshold",
                   [](const HeadFinding& head) { return number_text(head.threshold); });
  }
  columns.add_if("head_cluster/share", "cluster", [](const HeadFinding& head) {
    return head.cluster ? fmt::format("{}", *head.cluster) : std::string();
  });
  columns.add_if("head_cluster/share", "share", [](const HeadFinding& head) {
    return head.cluster ? fmt::format("{:.0f} %", 100 * head.share) : std::string();
  });
  if (planted) {
    columns.add("planted", Align::left, [](const HeadFinding& head) { return head.planted->kind; });
    columns.add("at", Align::right, [](const HeadFinding& head) {
      return std::isnan(head.planted->offset) ? std::string() : signed_tokens(head.planted->offset);
    });
    columns.add("found", Align::left,
                [](const HeadFinding& head) { return std::string(head.planted->found ? "agrees" : "differs"); });
  }
  columns.add_asked();
  return columns.taken();
}

std::vector<TableColumn> agreement_columns(const Result& result) {
  constexpr const char *heads_name = "offset_agreement/heads", *met_name = "offset_agreement/met";
  if (result.find(heads_name) == nullptr || result.find(met_name) == nullptr) return {};
  const std::vector<std::int64_t>& heads = counts_of(result, heads_name, {"counted"});
  const std::vector<double>& met = doubles_of(result, met_name, {"counted", "route"});
  const std::vector<std::string>& routes = labels_of(result.at(met_name), "route");
  if (met.size() != heads.size() * routes.size())
    throw ShapeError(fmt::format("{}: expected {} routes for each of {} counts, found {} numbers", met_name,
                                 routes.size(), heads.size(), met.size()));
  const double strong = attribute_number(result.at(heads_name).attributes, "strong");
  TableColumn counted{"how many heads it meets", Align::left, {}};
  const std::set<std::string> undefined = undefined_for_all(result);
  std::vector<TableColumn> columns;
  for (const std::string& route : routes) columns.push_back({route, Align::right, {}});
  for (std::size_t row = 0; row < heads.size(); ++row) {
    if (heads[row] == 0) continue;
    counted.cells.push_back(row == 0 ? fmt::format("of the {} whose maximum stands out", heads[row])
                            : std::isnan(strong)
                                ? fmt::format("of the {} strong ones", heads[row])
                                : fmt::format("of the {} with a weight above {:g}", heads[row], strong));
    for (std::size_t route = 0; route < routes.size(); ++route) {
      const double count = met[row * routes.size() + route];
      columns[route].cells.push_back(std::isnan(count) ? std::string() : fmt::format("{:.0f}", count));
    }
  }
  if (counted.cells.empty()) return {};
  std::erase_if(columns, [&](const TableColumn& column) { return undefined.contains(column.header); });
  columns.insert(columns.begin(), std::move(counted));
  return columns;
}

std::vector<std::string> head_table_fields() {
  std::vector<std::string> names = head_finding_fields();
  for (const std::string& name : head_sentence_fields())
    if (std::ranges::count(names, name) == 0) names.push_back(name);
  return names;
}

namespace {

/// Where a head looks without an account: "3 back".
std::string measured_looks(const HeadFinding& head) {
  if (head.status == "self") return "at itself";
  if (head.status == "edge") return "at the search's end";
  if (std::isnan(head.offset)) return "no preferred offset";
  return tokens_away(head.offset);
}

/// The sentences, if they are of the same heads.
std::vector<HeadSentence> sentences_of(const Result& result, const std::vector<HeadFinding>& heads) {
  std::vector<HeadSentence> sentences = head_sentences(result);
  if (sentences.size() != heads.size()) sentences.clear();
  return sentences;
}

/// head, what it looks at, how strongly, why, and what experiments say; layer by layer.
std::vector<TableColumn> short_columns(const Result& result) {
  const std::vector<HeadFinding> heads = head_findings(result);
  const std::vector<HeadSentence> sentences = sentences_of(result, heads);
  Columns columns(result, heads);
  if (sentences.empty()) {
    columns.add("looks at", Align::left, measured_looks);
    columns.add("weight", Align::right, [](const HeadFinding& head) { return number_text(head.weight); });
    columns.add_if("measured_offset/chance", "x chance",
                   [](const HeadFinding& head) { return times_text(head.weight, head.chance); });
    columns.add_asked();
    return columns.taken();
  }
  const bool composed = is_composed(sentences);
  const auto add = [&](const char* header, Align align, const auto& text) {
    std::size_t row = 0;
    columns.add(header, align, [&](const HeadFinding&) { return text(sentences[row++]); });
  };
  add("looks at", Align::left, [](const HeadSentence& said) { return said.looks; });
  if (composed)
    add("bits", Align::right,
        [](const HeadSentence& said) { return std::isnan(said.bits) ? "" : fmt::format("{:.2f}", said.bits); });
  add("why", Align::left, [](const HeadSentence& said) { return said.why; });
  if (composed) add("follows", Align::right, [](const HeadSentence& said) { return said.follows; });
  columns.add_asked();
  return columns.taken();
}

/// The rows with these names, in their order.
std::vector<TableColumn> rows_named(const std::vector<TableColumn>& columns, const std::vector<std::string>& names) {
  std::vector<TableColumn> chosen;
  for (const TableColumn& column : columns) chosen.push_back({column.header, column.align, {}});
  for (const std::string& name : names) {
    const auto& all = columns.front().cells;
    const auto row = std::ranges::find(all, name);
    if (row == all.end()) continue;
    for (std::size_t c = 0; c < columns.size(); ++c)
      chosen[c].cells.push_back(columns[c].cells[static_cast<std::size_t>(row - all.begin())]);
  }
  return chosen;
}

/// Every column: where a head looks, how strongly, why and the evidence, then what else was found. Beside an account,
/// whose offset stands first, the measured one is called so.
std::vector<TableColumn> wide_columns(const Result& result) {
  std::vector<TableColumn> columns = short_columns(result);
  const auto find = [&](const std::string& header) { return std::ranges::find(columns, header, &TableColumn::header); };
  const bool accounted = find("why") != columns.end(), composed = find("follows") != columns.end();
  for (TableColumn& column : rows_named(head_columns(result), columns.front().cells)) {
    if (!column.header.empty() && find(column.header) != columns.end()) continue;
    if (std::ranges::all_of(column.cells, &std::string::empty)) continue;
    if (accounted && column.header == "offset") column.header = "measured offset";
    const auto place =
        column.header == "kind" && accounted ? std::next(find(composed ? "follows" : "why")) : columns.end();
    columns.insert(place, std::move(column));
  }
  return columns;
}

/// Numbers from the largest, undefined ones last; words and offsets from the first.
std::vector<std::string> sorted_names(const Result& result, const std::vector<HeadFinding>& heads,
                                      const std::string& by) {
  const DataTable values = head_values(result, heads);
  const auto column = std::ranges::find(values.columns(), by);
  if (column == values.columns().end())
    throw ShapeError(fmt::format("heads are sorted by {}; there is no {}", fmt::join(values.columns(), ", "), by));
  const auto c = static_cast<std::size_t>(column - values.columns().begin());
  std::vector<std::size_t> rows(heads.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const bool ascending = by == "layer" || by == "index" || by == "cluster" || by.find("offset") != std::string::npos;
  std::ranges::stable_sort(rows, [&](std::size_t a, std::size_t b) {
    const Cell &one = values.rows()[a][c], &other = values.rows()[b][c];
    if (by == "head") return a < b;
    if (const auto* text = std::get_if<std::string>(&one)) return *text < std::get<std::string>(other);
    const auto number = [](const Cell& cell) {
      const auto* count = std::get_if<Index>(&cell);
      return count != nullptr ? static_cast<double>(*count) : std::get<double>(cell);
    };
    const double x = number(one), y = number(other);
    return std::isnan(x) || std::isnan(y) ? !std::isnan(x) && std::isnan(y) : ascending ? x < y : x > y;
  });
  std::vector<std::string> names;
  for (const std::size_t row : rows) names.push_back(head_name(heads[row].name.layer, heads[row].name.head));
  return names;
}

/// By bits beyond uniform attention; without these by the strength of the profile, else by how far the weight is above
/// chance.
void rank_strongest(std::vector<HeadFinding>& heads) {
  const bool composed = std::ranges::any_of(heads, [](const auto& head) { return !std::isnan(head.bits); });
  const bool accounted = std::ranges::any_of(heads, [](const auto& head) { return !std::isnan(head.strength); });
  std::ranges::stable_sort(heads, std::greater(), [&](const HeadFinding& head) {
    const double size = composed    ? head.bits
                        : accounted ? head.strength
                                    : head.weight - (std::isnan(head.chance) ? 0 : head.chance);
    return std::isnan(size) ? -1.0 : size;
  });
}

constexpr std::size_t strongest_heads = 10;

/// The score that a head of this kind exceeds; NaN: the result does not say.
double least_score(const Result& result, const KindText& text) {
  const Field* score = result.find(text.score);
  return score == nullptr ? std::nan("") : attribute_number(score->attributes, "threshold");
}

/// How many heads look at a preferred offset, without a full stop.
std::string offsets_sentence(const std::vector<HeadFinding>& heads) {
  const auto offsets = std::ranges::count_if(heads, [](const auto& head) { return !std::isnan(head.offset); });
  const auto selves = std::ranges::count(heads, "self", &HeadFinding::status);
  return fmt::format("{} of {} look at a preferred offset{}", offsets, counted(std::ssize(heads), "head"),
                     selves > 0 ? fmt::format(", {} at themselves", selves) : "");
}

}  // namespace

std::vector<TableColumn> sorted_columns(const Result& result, const HeadTableOptions& options) {
  const bool measured = result.find("measured_offset/offset") != nullptr;
  const bool compared = result.find("comparison/verdict") != nullptr && !measured;
  std::vector<TableColumn> columns = measured && options.wide    ? wide_columns(result)
                                     : measured                  ? short_columns(result)
                                     : compared && !options.wide ? short_comparison(result, true)
                                                                 : head_columns(result);
  if (columns.empty() || !measured) return columns;
  std::vector<HeadFinding> heads = head_findings(result);
  if (options.sort.empty()) rank_strongest(heads);
  return rows_named(columns, sorted_names(result, heads, options.sort.empty() ? "head" : options.sort));
}

std::vector<std::string> names_by_strength(const Result& result) {
  if (result.find("measured_offset/offset") == nullptr)
    throw ShapeError("the strongest heads need measured_offset/offset, which the result does not contain; name heads");
  std::vector<HeadFinding> heads = head_findings(result);
  rank_strongest(heads);
  std::vector<std::string> names;
  for (const HeadFinding& head : heads) names.push_back(head_name(head.name.layer, head.name.head));
  return names;
}

std::vector<TableColumn> shown_rows(const std::vector<TableColumn>& columns, const HeadTableOptions& options) {
  if (columns.empty()) return columns;
  std::vector<std::string> names = columns.front().cells;
  if (!options.heads.empty())
    std::erase_if(names, [&](const std::string& name) { return std::ranges::count(options.heads, name) == 0; });
  else if (!options.all && names.size() > strongest_heads)
    names.resize(strongest_heads);
  return rows_named(columns, names);
}

std::vector<TableColumn> shown_columns(const Result& result, const HeadTableOptions& options) {
  return shown_rows(sorted_columns(result, options), options);
}

std::optional<Field> looks_field(const Result& result) {
  const Field* measured = result.find("measured_offset/offset");
  if (measured == nullptr) return std::nullopt;
  const std::vector<HeadFinding> heads = head_findings(result);
  const std::vector<HeadSentence> sentences = sentences_of(result, heads);
  std::vector<double> offsets;
  for (std::size_t i = 0; i < heads.size(); ++i)
    offsets.push_back(!sentences.empty() ? sentences[i].offset : heads[i].status == "self" ? 0.0 : heads[i].offset);
  Field field =
      make_field("looks/offset", {measured->axis("layer"), measured->axis("head")}, "token",
                 sentences.empty() ? "where a head looks, as in the table: at its measured offset, or at itself"
                                   : "where a head looks, as in the table: by the account, which leaves out "
                                     "the first token",
                 std::move(offsets));
  field.attributes["undefined"] = std::string("no preferred offset, or the end of the search");
  return field;
}

std::vector<std::string> kind_sentences(const Result& result) {
  std::vector<std::string> sentences;
  for (const HeadFinding& head : head_findings(result)) {
    std::string& said = sentences.emplace_back();
    const auto text = std::ranges::find(kind_texts(), head.kind, &KindText::kind);
    if (head.kind == "undefined") said = "no kind from so few documents";
    if (text == kind_texts().end()) continue;
    said = text->one;
    if (std::isnan(head.kind_score)) continue;
    said += fmt::format(": {:.2f} {}", head.kind_score, text->of);
    std::vector<std::string> beside;
    if (const double least = least_score(result, *text); !std::isnan(least))
      beside.push_back(fmt::format("needs more than {:g}", least));
    if (!std::isnan(head.kind_chance)) beside.push_back(fmt::format("chance {:.2f}", head.kind_chance));
    if (!beside.empty()) said += fmt::format(" ({})", fmt::join(beside, "; "));
  }
  return sentences;
}

std::string finding_title(const Result& result) {
  const std::string model = model_name(result.provenance);
  std::string finding;
  if (const std::vector<HeadSentence> heads = head_sentences(result); is_composed(heads)) {
    finding = all_parts_text(result, heads);
    if (!finding.empty()) return fmt::format("Attention of {}: {}", model.empty() ? "the model" : model, finding);
  }
  if (result.find("measured_offset/offset") != nullptr) {
    if (const std::vector<HeadFinding> heads = head_findings(result); !heads.empty()) finding = offsets_sentence(heads);
  } else {
    finding = comparison_title(result);
  }
  if (finding.empty()) return result.title.empty() ? "headwave result" : visible_text(result.title);
  return model.empty() ? finding : fmt::format("In {} {}", model, finding);
}

std::string head_paragraph(const Result& result, bool titled) {
  std::string text = run_sentence(result.provenance);
  const auto add = [&](const std::string& sentence) {
    if (!sentence.empty()) text += (text.empty() ? "" : " ") + sentence;
  };
  const bool measured = result.find("measured_offset/offset") != nullptr;
  const std::vector<HeadFinding> heads = measured ? head_findings(result) : std::vector<HeadFinding>();
  if (heads.empty()) return text;
  if (const std::vector<HeadSentence> all = head_sentences(result); is_composed(all)) {
    if (const std::string parts = all_parts_text(result, all); !titled && !parts.empty())
      add(fmt::format("What makes attention differ from uniform attention: {}.", parts));
    add(largest_parts_sentence(all));
  } else if (!titled) {
    add(offsets_sentence(heads) + ".");
  }
  const auto planted = std::ranges::count_if(heads, [](const auto& head) { return head.planted.has_value(); });
  const auto found = std::ranges::count_if(heads, [](const auto& head) { return head.planted && head.planted->found; });
  if (planted > 0) add(fmt::format("{} of {} look where it was planted.", found, counted(planted, "head")));
  return text;
}

namespace {

/// How far offsets were searched, where a head looks at the end of that, or repeated tokens lie beyond.
std::string search_note(const Result& result, const std::vector<TableColumn>& columns) {
  const Field* measured = result.find("measured_offset/offset");
  if (measured == nullptr) return {};
  const double reach = attribute_number(measured->attributes, "reach");
  if (const double period = attribute_number(result.provenance, "period");
      period - 1 >= reach && attribute_number(result.provenance, "repeats", 1) > 1)
    return fmt::format(
        "the tokens repeat after {0:g}: what followed the copy before stands {1:g} back, beyond the {2:g} that were "
        "searched; a reach of {3:g} shows heads that look there",
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
    add("looks at: the largest part of its attention, and another of a fifth of the bits; words draw attention whoever "
        "asks, pairs are query > key; bits: how far the attention of a query is from uniform attention; why: parts in "
        "per cent of the bits, the largest three of 10 or more; where one is negative others exceed 100 (sink: special "
        "keys; position: where query and key stand; word: what draws attention whoever asks; match: what the query "
        "finds); follows: contents of the strongest key and another are swapped, the share of attention on the two "
        "that goes with the content (1: content, 0: place); but: an experiment contradicts the parts, the head's "
        "sentence "
        "says which");
  if (has("measured offset"))
    add("measured offset, x chance, weight: over all pairs, special tokens and the first included; undefined where the "
        "weight does not stand out from chance, or a head looks at itself");
  if (has("kind") || has("cluster"))
    add("kind: what the literature calls such a head, with the score that makes it, and that score if all keys had the "
        "same weight (docs/glossary.md says which); cluster: heads with like "
        "profiles; share: of the head's documents in that cluster");
  if (const auto agreement = agreement_columns(result); !agreement.empty()) text += "\n" + terminal_table(agreement);
  add(search_note(result, columns));
  add(position_note(result));
  if (const std::string why = attribute_text(result.provenance, "undefined_account");
      !why.empty() && result.provenance.contains("watched"))
    add(fmt::format("no account: {}", visible_text(why)));
  if (const Field* undefined = result.find("attention_bits/undefined"); undefined != nullptr)
    add(fmt::format("no parts in bits: {}", attribute_text(undefined->attributes, "undefined")));
  if (const std::string why = attribute_text(result.provenance, "undefined_evidence"); !why.empty())
    add(fmt::format("no keys were moved: {}", visible_text(why)));
  return text;
}

std::string position_note(const Result& result) {
  const Field* predicted = result.find("position_atlas/predicted_offset");
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

}  // namespace headwave
