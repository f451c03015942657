#include "head_table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../../core/fields/head_name.h"
#include "../drawing/field_values.h"
#include "head_findings.h"

namespace headwave {

namespace {

std::string offset_text(double offset) {
  return offset == 0 ? "0" : fmt::format("{:+g}", offset);
}

std::string measured_text(const HeadFinding& head) {
  if (!std::isnan(head.offset)) return offset_text(head.offset);
  return head.status.empty() ? "undefined" : "undefined (" + head.status + ")";
}

/// "undefined (edge)": there would be a prediction, but for a reason that a wider search or a closer look may lift.
std::string undefined_text(const PredictedFinding& prediction) {
  const bool said = prediction.status == "edge" || prediction.status == "weak";
  return said ? "undefined (" + prediction.status + ")" : "undefined";
}

std::string predicted_text(const PredictedFinding& prediction) {
  return std::isnan(prediction.offset) ? undefined_text(prediction) : offset_text(prediction.offset);
}

/// Delays are known to parts of a token.
std::string delay_text(const PredictedFinding& prediction) {
  if (std::isnan(prediction.offset)) return undefined_text(prediction);
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

/// The first say most; without a weight, or with the same, heads stay in order.
void rank_by_predicted_weight(std::vector<HeadFinding>& heads) {
  const auto weight = [](const HeadFinding& head) {
    return std::isnan(head.predicted_weight) ? -1.0 : head.predicted_weight;
  };
  std::stable_sort(heads.begin(), heads.end(),
                   [&](const HeadFinding& a, const HeadFinding& b) { return weight(a) > weight(b); });
}

template <class Text>
TableColumn column(const char* header, Align align, const std::vector<HeadFinding>& heads, const Text& text) {
  TableColumn result{header, align, {}};
  for (const HeadFinding& head : heads) result.cells.push_back(text(head));
  return result;
}

}  // namespace

std::vector<TableColumn> head_columns(const Result& result, const std::string& pairs) {
  std::vector<HeadFinding> heads = head_findings(result, pairs);
  if (heads.empty()) return {};
  if (result.find("measured_offset/offset") == nullptr) rank_by_predicted_weight(heads);
  std::vector<TableColumn> columns;
  const auto add = [&](const char* header, Align align, const auto& text) {
    columns.push_back(column(header, align, heads, text));
  };
  add("head", Align::left, [](const HeadFinding& head) { return head_name(head.name.layer, head.name.head); });
  const auto has = [&](const char* name) { return result.find(name) != nullptr; };
  const bool measured = has("measured_offset/offset");
  if (measured) add("offset", Align::right, measured_text);
  if (has("measured_offset/chance"))
    add("x chance", Align::right, [](const HeadFinding& head) { return times_text(head.weight, head.chance); });
  if (measured && has("head_account/verdict")) {
    add("weight", Align::right, [](const HeadFinding& head) { return number_text(head.weight); });
    add("why", Align::left, [](const HeadFinding& head) { return head.why; });
    add("position", Align::right, [](const HeadFinding& head) { return percent_text(head.by_position); });
    add("content", Align::right, [](const HeadFinding& head) { return percent_text(head.by_content); });
  }
  if (measured &&
      std::any_of(heads.begin(), heads.end(), [](const HeadFinding& head) { return !head.agrees.empty(); })) {
    add("predicted", Align::right, [](const HeadFinding& head) { return predicted_text(head.by_account); });
    add("", Align::left,
        [](const HeadFinding& head) { return head.agrees == "undefined" ? std::string() : head.agrees; });
  }
  if (has("position_atlas/q_value"))
    add(measured ? "by weights" : "predicted", Align::right,
        [](const HeadFinding& head) { return predicted_text(head.by_weights); });
  if (!measured && has("position_atlas/weight")) {
    add("weight", Align::right, [](const HeadFinding& head) { return number_text(head.predicted_weight); });
    add("x chance", Align::right,
        [](const HeadFinding& head) { return times_text(head.predicted_weight, head.predicted_chance); });
  }
  if (!measured && has("position_atlas/other_r2"))
    add("R2 (t not 0)", Align::right, [](const HeadFinding& head) { return share_text(head.other_r2); });
  if (!measured && has("position_atlas/other_null_quantile"))
    add("its null", Align::right, [](const HeadFinding& head) { return share_text(head.other_null); });
  if (!measured && has("position_atlas/q_value"))
    add("q", Align::right, [](const HeadFinding& head) { return share_text(head.q_value); });
  if (has("phase_delay/offset"))
    add("by phases", Align::right, [](const HeadFinding& head) { return delay_text(head.by_phases); });
  if (has("delay_spectrum/offset"))
    add("by scores", Align::right, [](const HeadFinding& head) { return delay_text(head.by_scores); });
  if (has("measured_offset/weight") && !has("head_account/verdict"))
    add("weight", Align::right, [](const HeadFinding& head) { return number_text(head.weight); });
  if (has("measured_offset/threshold") && !has("head_account/verdict"))
    add("threshold", Align::right, [](const HeadFinding& head) { return number_text(head.threshold); });
  if (has("head_cluster/share")) {
    add("cluster", Align::right,
        [](const HeadFinding& head) { return head.cluster ? fmt::format("{}", *head.cluster) : std::string(); });
    add("share", Align::right, [](const HeadFinding& head) {
      return head.cluster ? fmt::format("{:.0f} %", 100 * head.share) : std::string();
    });
  }
  if (heads.front().planted) {
    add("planted", Align::left, [](const HeadFinding& head) { return head.planted->kind; });
    add("at", Align::right, [](const HeadFinding& head) {
      return std::isnan(head.planted->offset) ? std::string() : offset_text(head.planted->offset);
    });
    add("found", Align::left,
        [](const HeadFinding& head) { return std::string(head.planted->found ? "agrees" : "differs"); });
  }
  return columns;
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
  const auto& attributes = result.at(heads_name).attributes;
  const auto strong = attributes.find("strong");
  const auto* least = strong == attributes.end() ? nullptr : std::get_if<double>(&strong->second);
  TableColumn counted{"how many heads it meets", Align::left, {}};
  std::vector<TableColumn> columns;
  for (const std::string& route : routes) columns.push_back({route, Align::right, {}});
  for (std::size_t row = 0; row < heads.size(); ++row) {
    if (heads[row] == 0) continue;
    counted.cells.push_back(row == 0           ? fmt::format("of the {} whose maximum stands out", heads[row])
                            : least == nullptr ? fmt::format("of the {} strong ones", heads[row])
                                               : fmt::format("of the {} with a weight above {:g}", heads[row], *least));
    for (std::size_t route = 0; route < routes.size(); ++route) {
      const double count = met[row * routes.size() + route];
      columns[route].cells.push_back(std::isnan(count) ? std::string() : fmt::format("{:.0f}", count));
    }
  }
  if (counted.cells.empty()) return {};
  columns.insert(columns.begin(), std::move(counted));
  return columns;
}

std::string head_table(const Result& result, bool color, const std::string& pairs) {
  if (result.find("position_atlas/offset") == nullptr) (void)result.at("measured_offset/offset");
  std::string table = terminal_table(head_columns(result, pairs), color);
  if (const auto agreement = agreement_columns(result); !agreement.empty()) {
    table += '\n';
    table += terminal_table(agreement, color);
  }
  return table;
}

}  // namespace headwave
