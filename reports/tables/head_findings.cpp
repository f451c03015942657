#include "head_findings.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"

namespace headwave {

namespace {

const double missing = std::nan("");

/// The Field of a number or a word of each head.
template <class Value>
struct HeadField {
  const char* field;
  Value HeadFinding::*member;
};

constexpr HeadField<double> number_fields[]{{"measured_offset/offset", &HeadFinding::offset},
                                            {"measured_offset/weight", &HeadFinding::weight},
                                            {"measured_offset/threshold", &HeadFinding::threshold},
                                            {"measured_offset/chance", &HeadFinding::chance},
                                            {"head_account/strength", &HeadFinding::strength},
                                            {"attention_bits/bits", &HeadFinding::bits},
                                            {"attention_bits/follow", &HeadFinding::follow},
                                            {"attention_bits/kept", &HeadFinding::kept},
                                            {"account_evidence/moved", &HeadFinding::moved},
                                            {"position_atlas/predicted_weight", &HeadFinding::predicted_weight},
                                            {"position_atlas/chance", &HeadFinding::predicted_chance},
                                            {"position_atlas/toeplitz_r2", &HeadFinding::toeplitz_r2},
                                            {"position_atlas/other_r2", &HeadFinding::other_r2},
                                            {"position_atlas/other_null_quantile", &HeadFinding::other_null},
                                            {"position_atlas/q_value", &HeadFinding::q_value},
                                            {"word_atlas/predicted_weight", &HeadFinding::words_weight},
                                            {"word_atlas/chance", &HeadFinding::words_chance},
                                            {"offset_by_query/share_beyond", &HeadFinding::beyond_reach}};

constexpr HeadField<std::string> word_fields[]{{"measured_offset/status", &HeadFinding::status},
                                               {"head_types/kind", &HeadFinding::kind},
                                               {"head_account/verdict", &HeadFinding::why}};

/// The score and the chance of every head's own kind.
void add_kind_scores(std::vector<HeadFinding>& findings, const Result& result) {
  for (const KindText& text : kind_texts()) {
    const auto set = [&](const char* name, double HeadFinding::*member) {
      const Field* field = result.find(name);
      if (field == nullptr) return;
      const std::vector<double>& numbers = doubles_of(result, name, {"layer", "head"});
      const FieldHeads heads = field_heads(*field);
      for (HeadFinding& finding : findings)
        if (const std::size_t row = heads.row_of(finding.name); finding.kind == text.kind && row < numbers.size())
          finding.*member = numbers[row];
    };
    set(text.score, &HeadFinding::kind_score);
    set(text.baseline, &HeadFinding::kind_chance);
  }
}

/// Where an offset that is predicted stands, and what became of it.
struct PredictionFields {
  const char *offset, *status;
  PredictedFinding HeadFinding::*member;
};

constexpr PredictionFields prediction_fields[]{
    {"position_atlas/predicted_offset", "position_atlas/status", &HeadFinding::by_weights},
    {"word_atlas/predicted_offset", "word_atlas/status", &HeadFinding::by_words},
    {"phase_delay/predicted_offset", "phase_delay/status", &HeadFinding::by_phases},
    {"rotary_wave/predicted_offset", "rotary_wave/status", &HeadFinding::by_phases}};  // goes before the one above

constexpr const char *cluster_share_field = "head_cluster/share", *part_field = "head_account/part",
                     *bits_part_field = "attention_bits/part", *agreement_field = "offset_agreement/verdict",
                     *predicted_field = "offset_agreement/predicted", *planted_kind_field = "planted/kind",
                     *planted_offset_field = "planted/offset";

void require_count(const char* name, std::size_t expected, std::size_t found) {
  if (found != expected) throw ShapeError(fmt::format("{}: expected {} values, found {}", name, expected, found));
}

/// Reads a value of each head, wherever the Field has it: what weights predict, or was planted, may be of other layers
/// than were measured. What was measured is of the same.
class HeadReader {
 public:
  HeadReader(const Result& result, std::vector<HeadFinding>& findings) : result_(result), findings_(findings) {}

  [[nodiscard]] bool has(const char* name) const { return result_.find(name) != nullptr; }

  /// Calls set(finding, row of the Field) for every head that the Field has.
  /// @param values  how many the Field has
  template <class Set>
  void each(const char* name, std::size_t values, const Set& set) const {
    const FieldHeads heads = field_heads(result_.at(name));
    require_count(name, heads.size(), values);
    if (std::string_view(name).starts_with("measured_offset/")) require_count(name, findings_.size(), values);
    for (HeadFinding& finding : findings_)
      if (const std::size_t row = heads.row_of(finding.name); row < values) set(finding, row);
  }

  void read(const char* name, const auto& member) const {
    if (!has(name)) return;
    const std::vector<double> numbers = head_doubles(result_, name, "all");
    each(name, numbers.size(), [&](HeadFinding& finding, std::size_t row) { member(finding) = numbers[row]; });
  }

  void read_words(const char* name, const auto& member) const {
    if (!has(name)) return;
    const std::vector<std::string> words = head_meanings(result_, name, "all");
    each(name, words.size(), [&](HeadFinding& finding, std::size_t row) { member(finding) = words[row]; });
  }

 private:
  const Result& result_;
  std::vector<HeadFinding>& findings_;
};

void add_clusters(std::vector<HeadFinding>& findings, const Result& result) {
  const auto& shares = doubles_of(result, cluster_share_field, {"layer", "head", "cluster"});
  const auto clusters = whole_coordinates(result.at(cluster_share_field), "cluster");
  require_count(cluster_share_field, findings.size() * clusters.size(), shares.size());
  for (std::size_t i = 0; i < shares.size(); ++i)
    if (HeadFinding& finding = findings[i / clusters.size()];
        shares[i] > 0 && (!finding.cluster || shares[i] > finding.share)) {
      finding.cluster = clusters[i % clusters.size()];
      finding.share = shares[i];
    }
}

/// Which parts of a profile position, self and context give.
void add_parts(std::vector<HeadFinding>& findings, const Result& result) {
  const std::size_t heads = findings.size();
  const auto& parts = doubles_of(result, part_field, {"cause", "layer", "head"});
  require_count(part_field, 3 * heads, parts.size());
  for (std::size_t i = 0; i < heads; ++i) {
    findings[i].by_position = parts[i];
    findings[i].by_self = parts[heads + i];
    findings[i].by_context = parts[2 * heads + i];
  }
}

/// Which parts make up the bits of a head's attention.
void add_bits_parts(std::vector<HeadFinding>& findings, const Result& result) {
  const std::size_t heads = findings.size();
  const auto& parts = doubles_of(result, bits_part_field, {"bits_part", "layer", "head"});
  require_count(bits_part_field, 4 * heads, parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) findings[i % heads].part[i / heads] = parts[i];
}

/// Whether the offset that positions predict is where the head looks.
void add_agreement(std::vector<HeadFinding>& findings, const Result& result) {
  const auto& predictions = labels_of(result.at(agreement_field), "prediction");
  const auto found = std::ranges::find(predictions, "position");
  if (found == predictions.end()) return;
  const auto words = meanings_of(result, agreement_field, {"layer", "head", "prediction"});
  const auto& offsets = doubles_of(result, predicted_field, {"layer", "head", "prediction"});
  require_count(agreement_field, findings.size() * predictions.size(), words.size());
  require_count(predicted_field, words.size(), offsets.size());
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const std::size_t at = i * predictions.size() + static_cast<std::size_t>(found - predictions.begin());
    findings[i].by_account.offset = offsets[at];
    findings[i].agrees = words[at] == "unknown" ? "" : words[at];
  }
}

bool is_found(double planted, const HeadFinding& head) {
  if (std::isnan(planted)) return std::isnan(head.offset);
  if (!std::isnan(head.offset)) return std::abs(planted - head.offset) <= 0.5;
  return planted == 0 && head.status == "self";
}

struct HeadValue {
  const char* name;
  Cell (*of)(const HeadFinding& head);
};

using Head = const HeadFinding&;
constexpr HeadValue head_columns_for_programs[]{
    {"head", [](Head head) -> Cell { return head_name(head.name.layer, head.name.head); }},
    {"layer", [](Head head) -> Cell { return head.name.layer; }},
    {"index", [](Head head) -> Cell { return head.name.head; }},
    {"offset", [](Head head) -> Cell { return head.offset; }},
    {"status", [](Head head) -> Cell { return head.status; }},
    {"weight", [](Head head) -> Cell { return head.weight; }},
    {"threshold", [](Head head) -> Cell { return head.threshold; }},
    {"chance", [](Head head) -> Cell { return head.chance; }},
    {"kind", [](Head head) -> Cell { return head.kind; }},
    {"kind_score", [](Head head) -> Cell { return head.kind_score; }},
    {"kind_chance", [](Head head) -> Cell { return head.kind_chance; }},
    {"bits", [](Head head) -> Cell { return head.bits; }},
    {"sink", [](Head head) -> Cell { return head.part[0]; }},
    {"position", [](Head head) -> Cell { return head.part[1]; }},
    {"word", [](Head head) -> Cell { return head.part[2]; }},
    {"match", [](Head head) -> Cell { return head.part[3]; }},
    {"follows", [](Head head) -> Cell { return head.follow; }},
    {"kept", [](Head head) -> Cell { return head.kept; }},
    {"moved", [](Head head) -> Cell { return head.moved; }},
    {"profile", [](Head head) -> Cell { return head.why; }},
    {"strength", [](Head head) -> Cell { return head.strength; }},
    {"by_position", [](Head head) -> Cell { return head.by_position; }},
    {"by_self", [](Head head) -> Cell { return head.by_self; }},
    {"by_context", [](Head head) -> Cell { return head.by_context; }},
    {"offset_by_position", [](Head head) -> Cell { return head.by_account.offset; }},
    {"agrees", [](Head head) -> Cell { return head.agrees; }},
    {"predicted_offset", [](Head head) -> Cell { return head.by_weights.offset; }},
    {"predicted_status", [](Head head) -> Cell { return head.by_weights.status; }},
    {"predicted_weight", [](Head head) -> Cell { return head.predicted_weight; }},
    {"predicted_chance", [](Head head) -> Cell { return head.predicted_chance; }},
    {"offset_by_words", [](Head head) -> Cell { return head.by_words.offset; }},
    {"status_by_words", [](Head head) -> Cell { return head.by_words.status; }},
    {"offset_by_phases", [](Head head) -> Cell { return head.by_phases.offset; }},
    {"status_by_phases", [](Head head) -> Cell { return head.by_phases.status; }},
    {"toeplitz_r2", [](Head head) -> Cell { return head.toeplitz_r2; }},
    {"other_r2", [](Head head) -> Cell { return head.other_r2; }},
    {"other_null_quantile", [](Head head) -> Cell { return head.other_null; }},
    {"q_value", [](Head head) -> Cell { return head.q_value; }},
    {"cluster", [](Head head) { return head.cluster ? Cell(*head.cluster) : Cell(missing); }},
    {"cluster_share", [](Head head) -> Cell { return head.share; }}};

}  // namespace

const std::vector<KindText>& kind_texts() {
  static const std::vector<KindText> texts{
      {"previous", "previous-token head", "head_types/previous", "head_types/previous_baseline",
       "of attention on the token before"},
      {"next", "next-token head", "head_types/next", "head_types/next_baseline", "of attention on the token after"},
      {"one offset (Voita)", "one-offset head", "head_types/positional_share", "",
       "of queries look most at one offset"},
      {"duplicate", "duplicate-token head", "head_types/duplicate", "head_types/duplicate_baseline",
       "of attention on earlier copies of the token"},
      {"induction", "induction head", "head_types/induction", "head_types/induction_baseline",
       "of attention on what followed earlier copies of the token"},
      {"sink", "sink", "head_types/sink_weight", "head_types/sink_weight_baseline", "of attention on one token"}};
  return texts;
}

std::vector<HeadFinding> head_findings(const Result& result) {
  const Field* field = nullptr;
  for (const char* name : {"measured_offset/offset", "word_atlas/predicted_offset", "position_atlas/predicted_offset"})
    if (field == nullptr) field = result.find(name);
  if (field == nullptr) return {};
  const FieldHeads heads = field_heads(*field);
  if (heads.size() == 0) return {};
  HeadFinding nothing;
  for (const auto& one : number_fields) nothing.*one.member = missing;
  for (const auto& one : prediction_fields) (nothing.*one.member).offset = missing;
  nothing.kind_score = nothing.kind_chance = missing;
  nothing.share = nothing.by_position = nothing.by_self = nothing.by_context = missing;
  nothing.by_account.offset = missing;
  nothing.part.fill(missing);
  std::vector<HeadFinding> findings(heads.size(), nothing);
  for (std::size_t row = 0; row < heads.size(); ++row) findings[row].name = heads[row];

  const HeadReader reader(result, findings);
  for (const auto& one : number_fields)
    reader.read(one.field, [&](HeadFinding& finding) -> double& { return finding.*one.member; });
  for (const auto& one : word_fields)
    reader.read_words(one.field, [&](HeadFinding& finding) -> std::string& { return finding.*one.member; });
  for (const auto& one : prediction_fields) {
    if (one.member == &HeadFinding::by_phases && !std::string_view(one.offset).starts_with(phases_group(result)))
      continue;
    reader.read(one.offset, [&](HeadFinding& finding) -> double& { return (finding.*one.member).offset; });
    reader.read_words(one.status, [&](HeadFinding& finding) -> std::string& { return (finding.*one.member).status; });
  }
  add_kind_scores(findings, result);
  if (reader.has(cluster_share_field)) add_clusters(findings, result);
  if (reader.has(part_field)) add_parts(findings, result);
  if (reader.has(bits_part_field)) add_bits_parts(findings, result);
  if (reader.has(agreement_field)) add_agreement(findings, result);
  if (!reader.has(planted_kind_field) || !reader.has(planted_offset_field)) return findings;
  const auto& kinds = strings_of(result, planted_kind_field, {"layer", "head"});
  const auto& offsets = doubles_of(result, planted_offset_field, {"layer", "head"});
  require_count(planted_offset_field, kinds.size(), offsets.size());
  reader.each(planted_kind_field, kinds.size(), [&](HeadFinding& finding, std::size_t row) {
    finding.planted = PlantedFinding{kinds[row], offsets[row], is_found(offsets[row], finding)};
  });
  return findings;
}

std::vector<std::string> head_value_names() {
  std::vector<std::string> names;
  for (const HeadValue& value : head_columns_for_programs) names.emplace_back(value.name);
  return names;
}

std::vector<const Field*> asked_columns(const Result& result) {
  std::vector<const Field*> asked;
  for (const Field& field : result.fields)
    if (!attribute_text(field.attributes, "column").empty()) asked.push_back(&field);
  return asked;
}

DataTable head_values(const Result& result, const std::vector<HeadFinding>& findings) {
  const bool planted = std::ranges::any_of(findings, [](Head head) { return head.planted.has_value(); });
  std::vector<std::string> names = head_value_names();
  if (planted) names.insert(names.end(), {"planted_kind", "planted_offset", "planted_found"});
  const std::vector<const Field*> asked = asked_columns(result);
  for (const Field* field : asked) names.push_back(field->name);
  DataTable table(names);
  for (const HeadFinding& head : findings) {
    std::vector<Cell> row;
    for (const HeadValue& value : head_columns_for_programs) row.push_back(value.of(head));
    if (planted && head.planted)
      row.insert(row.end(), {head.planted->kind, head.planted->offset, head.planted->found ? "true" : "false"});
    else if (planted)
      row.insert(row.end(), {"", missing, ""});
    for (const Field* field : asked) {
      const std::vector<double>& numbers = doubles_of(result, field->name, {"layer", "head"});
      const std::size_t at = field_heads(*field).row_of(head.name);
      row.emplace_back(at < numbers.size() ? numbers[at] : missing);
    }
    table.add_row(std::move(row));
  }
  return table;
}

std::string phases_group(const Result& result) {
  return result.find("rotary_wave/status") != nullptr ? "rotary_wave/" : "phase_delay/";
}

std::set<std::string> undefined_for_all(const Result& result) {
  if (result.find(predicted_field) == nullptr) return {};
  const auto& offsets = doubles_of(result, predicted_field, {"layer", "head", "prediction"});
  const std::vector<std::string>& labels = labels_of(result.at(predicted_field), "prediction");
  std::set<std::string> undefined(labels.begin(), labels.end());
  for (std::size_t i = 0; i < offsets.size(); ++i)
    if (std::isfinite(offsets[i])) undefined.erase(labels[i % labels.size()]);
  return undefined;
}

const std::vector<std::string>& head_finding_fields() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{
        cluster_share_field, part_field,           bits_part_field,          agreement_field,       predicted_field,
        planted_kind_field,  planted_offset_field, "offset_agreement/heads", "offset_agreement/met"};
    for (const KindText& text : kind_texts())
      for (const char* name : {text.score, text.baseline})
        if (*name != '\0') all.emplace_back(name);
    for (const auto& one : number_fields) all.emplace_back(one.field);
    for (const auto& one : word_fields) all.emplace_back(one.field);
    for (const auto& one : prediction_fields) all.insert(all.end(), {one.offset, one.status});
    return all;
  }();
  return names;
}

}  // namespace headwave
