#include "head_table.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/visible_text.h"
#include "checkpoint_table.h"
#include "comparison_table.h"
#include "head_findings.h"
#include "head_sentence.h"

namespace headwave {

namespace {

constexpr double notable_share = 0.1;  // of attention beyond the reach

std::string offset_text(double offset) {
  return offset == 0 ? "0" : fmt::format("{:+g}", offset);
}

std::string measured_text(const HeadFinding& head) {
  if (!std::isnan(head.offset)) return offset_text(head.offset);
  return head.status.empty() ? "undefined" : "undefined (" + head.status + ")";
}

/// "undefined (edge)" if a wider search or a closer look may find an offset.
/// @param parts  of a token: a delay
std::string predicted_text(const PredictedFinding& prediction, bool parts = false) {
  if (std::isnan(prediction.offset))
    return prediction.status == "edge" || prediction.status == "weak" ? "undefined (" + prediction.status + ")"
                                                                      : "undefined";
  if (!parts) return offset_text(prediction.offset);
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

/// Where more than a tenth of a head's attention lies beyond the reach: how much, and the offset there that draws most.
std::string far_text(const HeadFinding& head) {
  if (!(head.far.share > notable_share)) return {};
  std::string text = percent_text(head.far.share);
  if (!std::isnan(head.far.offset))
    text += fmt::format(", {}{}", offset_text(head.far.offset), head.far.source == "position" ? " by position" : "");
  return text;
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
      {"by phases", &HeadFinding::by_phases, rotary ? "rotary_wave/status" : "phase_delay/predicted_offset", !rotary},
      {"by scores", &HeadFinding::by_scores, "delay_spectrum/predicted_offset", true}};
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
    for (const Field& field : result_.fields) {
      const std::string header = attribute_text(field.attributes, "column");
      if (header.empty()) continue;
      const std::vector<double>& numbers = doubles_of(result_, field.name, {"layer", "head"});
      const FieldHeads rows = field_heads(field);
      add(visible_text(header), Align::right, [&](const HeadFinding& head) {
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
  columns.add_if("position_atlas/other_r2", "R2 (t not 0)",
                 [](const HeadFinding& head) { return share_text(head.other_r2); });
  columns.add_if("position_atlas/other_null_quantile", "its null",
                 [](const HeadFinding& head) { return share_text(head.other_null); });
  columns.add_if("position_atlas/q_value", "q", [](const HeadFinding& head) { return share_text(head.q_value); });
  return columns.taken();
}

/// What the model knows of positions without a table.
std::string positions_instead(const std::string& position_term) {
  if (position_term.empty()) return "nothing tells it positions";
  if (position_term == "linear bias") return "its positions are a linear bias of the scores";
  return "its positions are " + position_term;
}

}  // namespace

std::vector<TableColumn> head_columns(const Result& result, const std::string& pairs) {
  if (result.find("measured_offset/offset") == nullptr)
    if (std::vector<TableColumn> arrivals = arrival_columns(result); !arrivals.empty()) return arrivals;
  std::vector<HeadFinding> heads = head_findings(result, pairs);
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
  columns.add_if("grid_offset/status", "on the grid", [](const HeadFinding& head) { return head.on_grid; });
  columns.add_if("measured_offset/chance", "x chance",
                 [](const HeadFinding& head) { return times_text(head.weight, head.chance); });
  if (accounted) {
    columns.add("weight", Align::right, weight);
    columns.add_if("head_account/strength", "strength",
                   [](const HeadFinding& head) { return share_text(head.strength); });
    columns.add("why", Align::left, [](const HeadFinding& head) { return head.why; });
    columns.add("position", Align::right, [](const HeadFinding& head) { return percent_text(head.by_position); });
    columns.add("self", Align::right, [](const HeadFinding& head) { return percent_text(head.by_self); });
    columns.add("order", Align::right, [](const HeadFinding& head) { return percent_text(head.by_order); });
  }
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
      return std::isnan(head.planted->offset) ? std::string() : offset_text(head.planted->offset);
    });
    columns.add("found", Align::left,
                [](const HeadFinding& head) { return std::string(head.planted->found ? "agrees" : "differs"); });
  }
  columns.add_asked();
  return columns.taken();
}

std::vector<std::string> undefined_predictions(const Result& result) {
  if (result.find("measured_offset/offset") == nullptr) return {};
  const std::vector<HeadFinding> heads = head_findings(result);
  std::vector<std::string> headers;
  for (const Route& route : routes_of(result))
    if (!route.predicts(heads)) headers.emplace_back(route.header);
  return headers;
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

std::string head_table(const Result& result, const std::vector<TableColumn>& beside) {
  if (result.find("position_atlas/predicted_offset") == nullptr &&
      result.find("word_atlas/predicted_offset") == nullptr)
    (void)result.at("measured_offset/offset");
  std::vector<TableColumn> columns = head_columns(result);
  if (!columns.empty()) columns.insert(columns.begin() + 1, beside.begin(), beside.end());
  std::string table = terminal_table(columns);
  if (const auto agreement = agreement_columns(result); !agreement.empty()) {
    table += "\n" + terminal_table(agreement);
  }
  const std::vector<HeadSentence> sentences = telling_sentences(result);
  if (!sentences.empty()) table += '\n';
  for (const HeadSentence& sentence : sentences) table += sentence.text + '\n';
  if (const std::string why = attribute_text(result.provenance, "undefined_evidence"); !why.empty())
    table += fmt::format("no keys were moved: {}\n", visible_text(why));
  return table;
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

std::string noted_head_table(const Result& result, const std::vector<TableColumn>& beside) {
  std::string note = position_note(result);
  if (const auto undefined = undefined_predictions(result); !undefined.empty())
    note += fmt::format("{}{}: undefined for every head", note.empty() ? "" : "\n", fmt::join(undefined, ", "));
  if (const std::string grid = grid_note(result); !grid.empty()) note += (note.empty() ? "" : "\n") + grid;
  const bool only_names = head_columns(result).size() == 1;
  return (only_names && !note.empty() ? std::string() : head_table(result, beside)) +
         (note.empty() ? note : note + "\n");
}

}  // namespace headwave
