#include "head_findings.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../drawing/field_values.h"
#include "grid_findings.h"

namespace headwave {

namespace {

constexpr double silent = std::numeric_limits<double>::quiet_NaN();
constexpr const char* offset_name = "measured_offset/offset";
constexpr const char* status_name = "measured_offset/status";
constexpr const char* weight_name = "measured_offset/weight";
constexpr const char* threshold_name = "measured_offset/threshold";
constexpr const char* share_name = "head_cluster/share";
constexpr const char* atlas_offset_name = "position_atlas/offset";
constexpr const char* toeplitz_name = "position_atlas/toeplitz_r2";
constexpr const char* chance_name = "measured_offset/chance";
constexpr const char* atlas_status_name = "position_atlas/status";
constexpr const char* atlas_weight_name = "position_atlas/weight";
constexpr const char* atlas_chance_name = "position_atlas/chance";
constexpr const char* other_name = "position_atlas/other_r2";
constexpr const char* other_null_name = "position_atlas/other_null_quantile";
constexpr const char* q_name = "position_atlas/q_value";
constexpr const char* words_name = "word_atlas/offset";
constexpr const char* words_status_name = "word_atlas/status";
constexpr const char* words_weight_name = "word_atlas/weight";
constexpr const char* words_chance_name = "word_atlas/chance";
constexpr const char* phases_name = "phase_delay/offset";
constexpr const char* phases_status_name = "phase_delay/status";
constexpr const char* wave_name = "rotary_wave/predicted_offset";
constexpr const char* wave_status_name = "rotary_wave/status";
constexpr const char* scores_name = "delay_spectrum/offset";
constexpr const char* scores_status_name = "delay_spectrum/status";
constexpr const char* account_verdict_name = "head_account/verdict";
constexpr const char* account_part_name = "head_account/part";
constexpr const char* account_strength_name = "head_account/strength";
constexpr const char* agreement_name = "offset_agreement/verdict";
constexpr const char* agreement_offset_name = "offset_agreement/predicted";
constexpr const char* heads_name = "offset_agreement/heads";
constexpr const char* met_name = "offset_agreement/met";
constexpr const char* planted_kind_name = "planted/kind";
constexpr const char* planted_offset_name = "planted/offset";

void require_heads(const char* name, std::size_t heads, std::size_t came) {
  if (came != heads) throw ShapeError(fmt::format("{}: expected {} heads, found {}", name, heads, came));
}

constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

/// Where the heads of findings are among those of a Field, by their layer and number; nowhere: it has none. What
/// weights predict, or was planted, may be of other layers than were measured; what was measured is of the same.
/// @param values  how many the Field has, of one kind of pairs
std::vector<std::size_t> places_of(const std::vector<HeadFinding>& findings, const Field& field, std::size_t values) {
  std::map<HeadName, std::size_t> places;
  for (const Index layer : whole_coordinates(field, "layer"))
    for (const Index head : whole_coordinates(field, "head")) places.emplace(HeadName{layer, head}, places.size());
  require_heads(field.name.c_str(), places.size(), values);
  if (field.name.starts_with("measured_offset/")) require_heads(field.name.c_str(), findings.size(), values);
  std::vector<std::size_t> found;
  for (const HeadFinding& finding : findings) {
    const auto place = places.find(finding.name);
    found.push_back(place == places.end() ? nowhere : place->second);
  }
  return found;
}

std::vector<double> numbers_or_silent(const Result& result, const char* name, const std::string& pairs,
                                      const std::vector<HeadFinding>& findings) {
  std::vector<double> numbers(findings.size(), silent);
  const Field* field = result.find(name);
  if (field == nullptr) return numbers;
  const std::vector<double> all = head_doubles(result, name, pairs);
  const std::vector<std::size_t> places = places_of(findings, *field, all.size());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (places[i] != nowhere) numbers[i] = all[places[i]];
  return numbers;
}

/// What a Field of flags says of each head; texts stay empty where the result is silent.
std::vector<std::string> statuses_of(const Result& result, const char* name, const std::string& pairs,
                                     const std::vector<HeadFinding>& findings) {
  std::vector<std::string> statuses(findings.size());
  const Field* field = result.find(name);
  if (field == nullptr) return statuses;
  const std::vector<std::uint8_t> flags = head_flags(result, name, pairs);
  const std::vector<std::size_t> places = places_of(findings, *field, flags.size());
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    if (places[i] == nowhere) continue;
    const std::uint8_t flag = flags[places[i]];
    statuses[i] = flag < field->flag_meanings.size() ? field->flag_meanings[flag] : fmt::format("status {}", flag);
  }
  return statuses;
}

void add_clusters(std::vector<HeadFinding>& findings, const Result& result) {
  if (result.find(share_name) == nullptr) return;
  const auto& shares = doubles_of(result, share_name, {"layer", "head", "cluster"});
  const auto clusters = whole_coordinates(result.at(share_name), "cluster");
  if (clusters.empty() || shares.size() != findings.size() * clusters.size())
    throw ShapeError(fmt::format("{}: expected {} heads, found {} shares of {} clusters", share_name, findings.size(),
                                 shares.size(), clusters.size()));
  for (std::size_t i = 0; i < findings.size(); ++i)
    for (std::size_t c = 0; c < clusters.size(); ++c)
      if (const double share = shares[i * clusters.size() + c];
          share > 0 && (!findings[i].cluster || share > findings[i].share)) {
        findings[i].cluster = clusters[c];
        findings[i].share = share;
      }
}

/// Why a head looks where it looks, and whether the offset that its positions predict is met.
void add_account(std::vector<HeadFinding>& findings, const Result& result) {
  const std::size_t heads = findings.size();
  const std::vector<std::string> why = statuses_of(result, account_verdict_name, "all", findings);
  const std::vector<double> strength = numbers_or_silent(result, account_strength_name, "all", findings);
  for (std::size_t i = 0; i < heads; ++i) {
    findings[i].why = why[i];
    findings[i].strength = strength[i];
    findings[i].by_position = findings[i].by_self = findings[i].by_order = silent;
    findings[i].by_account.offset = silent;
  }
  if (result.find(account_part_name) != nullptr) {
    const auto& parts = doubles_of(result, account_part_name, {"cause", "layer", "head"});
    require_heads(account_part_name, 3 * heads, parts.size());
    for (std::size_t i = 0; i < heads; ++i) {
      findings[i].by_position = parts[i];
      findings[i].by_self = parts[heads + i];
      findings[i].by_order = parts[2 * heads + i];
    }
  }
  const Field* verdicts = result.find(agreement_name);
  if (verdicts == nullptr) return;
  const auto& predictions = labels_of(*verdicts, "prediction");
  auto found = std::ranges::find(predictions, "position");
  if (found == predictions.end()) found = std::ranges::find(predictions, "account");  // older results
  const auto place = found - predictions.begin();
  if (place == std::ssize(predictions)) return;
  const auto& flags = flags_of(result, agreement_name, {"layer", "head", "prediction"});
  const auto& offsets = doubles_of(result, agreement_offset_name, {"layer", "head", "prediction"});
  require_heads(agreement_name, heads * predictions.size(), flags.size());
  require_heads(agreement_offset_name, heads * predictions.size(), offsets.size());
  for (std::size_t i = 0; i < heads; ++i) {
    const std::size_t at = i * predictions.size() + static_cast<std::size_t>(place);
    findings[i].by_account.offset = offsets[at];
    if (flags[at] < verdicts->flag_meanings.size()) findings[i].agrees = verdicts->flag_meanings[flags[at]];
  }
}

bool found(double planted, const HeadFinding& head) {
  if (std::isnan(planted)) return std::isnan(head.offset);
  if (!std::isnan(head.offset)) return std::abs(planted - head.offset) <= 0.5;
  return planted == 0 && head.status == "self";
}

void add_predicted(std::vector<HeadFinding>& findings, const Result& result) {
  const auto add = [&](const char* name, const char* name_of_status, PredictedFinding HeadFinding::*member) {
    const auto numbers = numbers_or_silent(result, name, "all", findings);
    const auto statuses = statuses_of(result, name_of_status, "all", findings);
    for (std::size_t i = 0; i < findings.size(); ++i) findings[i].*member = {numbers[i], statuses[i]};
  };
  add(atlas_offset_name, atlas_status_name, &HeadFinding::by_weights);
  add(words_name, words_status_name, &HeadFinding::by_words);
  const bool rotary = phases_group(result) == "rotary_wave/";
  add(rotary ? wave_name : phases_name, rotary ? wave_status_name : phases_status_name, &HeadFinding::by_phases);
  add(scores_name, scores_status_name, &HeadFinding::by_scores);
}

void add_planted(std::vector<HeadFinding>& findings, const Result& result) {
  if (result.find(planted_kind_name) == nullptr || result.find(planted_offset_name) == nullptr) return;
  const auto& kinds = strings_of(result, planted_kind_name, {"layer", "head"});
  const auto& offsets = doubles_of(result, planted_offset_name, {"layer", "head"});
  const std::vector<std::size_t> places = places_of(findings, result.at(planted_kind_name), kinds.size());
  require_heads(planted_offset_name, kinds.size(), offsets.size());
  for (std::size_t i = 0; i < findings.size(); ++i)
    if (const std::size_t at = places[i]; at != nowhere)
      findings[i].planted = PlantedFinding{kinds[at], offsets[at], found(offsets[at], findings[i])};
}

}  // namespace

std::vector<HeadFinding> head_findings(const Result& result, const std::string& pairs) {
  const Field* field = nullptr;
  for (const char* name : {offset_name, words_name, atlas_offset_name})
    if (field == nullptr) field = result.find(name);
  if (field == nullptr) return {};
  const auto heads = static_cast<std::size_t>(field->axis("layer").size() * field->axis("head").size());
  std::vector<HeadFinding> findings(heads);
  std::size_t at = 0;
  for (const Index layer : whole_coordinates(*field, "layer"))
    for (const Index head : whole_coordinates(*field, "head")) findings[at++].name = {layer, head};
  const auto add = [&](const char* name, double HeadFinding::*member) {
    const std::vector<double> numbers = numbers_or_silent(result, name, pairs, findings);
    for (std::size_t i = 0; i < heads; ++i) findings[i].*member = numbers[i];
  };
  add(offset_name, &HeadFinding::offset);
  add(weight_name, &HeadFinding::weight);
  add(threshold_name, &HeadFinding::threshold);
  add(chance_name, &HeadFinding::chance);
  add(atlas_weight_name, &HeadFinding::predicted_weight);
  add(atlas_chance_name, &HeadFinding::predicted_chance);
  add(words_weight_name, &HeadFinding::words_weight);
  add(words_chance_name, &HeadFinding::words_chance);
  add(toeplitz_name, &HeadFinding::toeplitz_r2);
  add(other_name, &HeadFinding::other_r2);
  add(other_null_name, &HeadFinding::other_null);
  add(q_name, &HeadFinding::q_value);
  const auto statuses = statuses_of(result, status_name, pairs, findings);
  for (std::size_t i = 0; i < heads; ++i) {
    findings[i].status = statuses[i];
    findings[i].share = silent;
  }
  add_clusters(findings, result);
  const std::vector<FarFinding> far = far_findings(result, heads);
  const std::vector<std::string> on_grid = grid_findings(result, heads);
  for (std::size_t i = 0; i < heads; ++i) {
    findings[i].far = far[i];
    findings[i].on_grid = on_grid[i];
  }
  add_account(findings, result);
  add_predicted(findings, result);
  add_planted(findings, result);
  return findings;
}

std::string phases_group(const Result& result) {
  return result.find(wave_status_name) != nullptr ? "rotary_wave/" : "phase_delay/";
}

std::set<std::string> silent_predictions(const Result& result) {
  if (result.find(agreement_offset_name) == nullptr) return {};
  const auto& offsets = doubles_of(result, agreement_offset_name, {"layer", "head", "prediction"});
  const std::vector<std::string>& labels = labels_of(result.at(agreement_offset_name), "prediction");
  std::set<std::string> silent(labels.begin(), labels.end());
  for (std::size_t i = 0; i < offsets.size(); ++i)
    if (std::isfinite(offsets[i])) silent.erase(labels[i % labels.size()]);
  return silent;
}

const std::vector<std::string>& head_finding_fields() {
  static const std::vector<std::string> names{offset_name,
                                              status_name,
                                              weight_name,
                                              threshold_name,
                                              chance_name,
                                              share_name,
                                              atlas_offset_name,
                                              atlas_status_name,
                                              atlas_weight_name,
                                              atlas_chance_name,
                                              toeplitz_name,
                                              other_name,
                                              other_null_name,
                                              q_name,
                                              words_name,
                                              words_status_name,
                                              words_weight_name,
                                              words_chance_name,
                                              phases_name,
                                              phases_status_name,
                                              wave_name,
                                              wave_status_name,
                                              scores_name,
                                              scores_status_name,
                                              account_verdict_name,
                                              account_part_name,
                                              account_strength_name,
                                              agreement_name,
                                              agreement_offset_name,
                                              heads_name,
                                              met_name,
                                              far_names[0],
                                              far_names[1],
                                              far_names[2],
                                              far_names[3],
                                              grid_names[0],
                                              grid_names[1],
                                              grid_names[2],
                                              grid_names[3],
                                              planted_kind_name,
                                              planted_offset_name};
  return names;
}

}  // namespace headwave
