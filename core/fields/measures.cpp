#include "measures.h"

#include <utility>
#include <variant>

namespace headwave {

namespace {

constexpr bool is_word = true, is_number = false, with_interval = true, with_p = true;

constexpr Measure all[]{
    {"offset", measured_offset_field, "all"},
    {"status", "measured_offset/status", "all", "status", is_word},
    {"weight", "measured_offset/weight", "all"},
    {"threshold", "measured_offset/threshold", "all"},
    {"chance", "measured_offset/chance", "all"},
    {"kind", "head_types/kind", "", "kind", is_word},
    {"kind_score", ""},
    {"kind_chance", ""},
    {"bits", bits_field, "", "bits", is_number, with_interval},
    {"sink", bits_part_field, "sink", "sink", is_number, with_interval},
    {"position", bits_part_field, "position", "position", is_number, with_interval},
    {"word", bits_part_field, "word", "word", is_number, with_interval},
    {"match", bits_part_field, "match", "match", is_number, with_interval},
    {"follows", "attention_bits/follow", "", "follows", is_number, with_interval},
    {"kept", "attention_bits/kept", "", "", is_number, with_interval},
    {"moved", "account_evidence/moved", "", "", is_number, with_interval},
    {"profile", account_verdict_field, "", "", is_word},
    {"strength", "head_account/strength", "", "strength"},
    {"by_position", account_part_field, "position", "by_position", is_number, with_interval, with_p},
    {"by_own_token", account_part_field, "own token", "by_own_token", is_number, with_interval},
    {"by_context", account_part_field, "context", "", is_number, with_interval},
    {"offset_by_position", "offset_agreement/predicted"},
    {"agrees", "offset_agreement/verdict", "", "", is_word},
    {"predicted_offset", weights_offset_field, "", "by_weights"},
    {"predicted_status", "position_atlas/status", "", "", is_word},
    {"predicted_weight", "position_atlas/predicted_weight"},
    {"predicted_chance", "position_atlas/chance"},
    {"offset_by_words", word_offset_field},
    {"status_by_words", "word_atlas/status", "", "", is_word},
    {"offset_by_phases", "phase_delay/predicted_offset", "", "by_phases", is_number, with_interval, with_p},
    {"status_by_phases", "phase_delay/status", "", "", is_word},
    {"offset_by_phases", "rotary_wave/predicted_offset", "", "by_rotary_wave", is_number, with_interval, with_p},
    {"status_by_phases", "rotary_wave/status", "", "", is_word},
    {"toeplitz_r2", "position_atlas/toeplitz_r2"},
    {"other_r2", "position_atlas/other_r2", "", "", is_number, false, with_p},
    {"other_null_quantile", "position_atlas/other_null_quantile"},
    {"other_q_value", "position_atlas/q_value"},
    {"loss_change", "head_effect/loss", "", "loss_change", is_number, with_interval},
    {"loss_change_placebo", "head_effect/loss_placebo"},
    {"state_change", "head_effect/state", "", "state_change", is_number, with_interval},
    {"state_change_placebo", "head_effect/state_placebo"},
    {"matters_q_value", "head_effect/q_value"},
    {"copying", "head_writes/copying", "", "copying"},
    {"copying_q_value", "head_writes/copying_q_value"},
    {"raised", "", "", "", is_word},
    {"cluster", ""},
    {"cluster_share", ""},
    {"", word_weight_field},
    {"", word_chance_field},
    {"", "offset_by_query/share_beyond"},
    {"", "head_types/previous", "", "previous"},
    {"", "head_types/next", "", "next"},
    {"", "head_types/positional_share", "", "one_offset"},
    {"", "head_types/duplicate", "", "duplicate"},
    {"", "head_types/induction", "", "induction"},
    {"", "head_types/sink_weight", "", "sink_weight"},
    {"", "head_types/entropy_share", "", "entropy_share"}};

constexpr KindScore kinds[]{{"previous", "head_types/previous", "head_types/previous_baseline"},
                            {"next", "head_types/next", "head_types/next_baseline"},
                            {"one offset (Voita)", "head_types/positional_share", ""},
                            {"duplicate", "head_types/duplicate", "head_types/duplicate_baseline"},
                            {"induction", "head_types/induction", "head_types/induction_baseline"},
                            {"sink", "head_types/sink_weight", "head_types/sink_weight_baseline"}};

/// @param read  reads the Field's values for the heads of its own grid
template <class Value, class Read>
std::vector<Value> of_heads(const Result& result, std::string_view field, const std::vector<HeadName>& heads,
                            Value otherwise, const Read& read) {
  std::vector<Value> values(heads.size(), std::move(otherwise));
  if (result.find(field) == nullptr) return values;
  const std::vector<Value> found = read();
  const FieldHeads known = field_heads(result.at(field));
  for (std::size_t head = 0; head < heads.size(); ++head)
    if (const std::size_t row = known.row_of(heads[head]); row < found.size()) values[head] = found[row];
  return values;
}

}  // namespace

std::string Measure::end(const char* which) const {
  const std::string quantity(field);
  const std::size_t slash = quantity.find('/');
  return quantity.substr(slash + 1) == "predicted_offset" ? quantity.substr(0, slash + 1) + which
                                                          : quantity + "_" + which;
}

std::vector<HeadName> heads_of(const FieldHeads& heads) {
  std::vector<HeadName> names;
  for (std::size_t row = 0; row < heads.size(); ++row) names.push_back(heads[row]);
  return names;
}

std::vector<double> numbers_of_heads(const Result& result, std::string_view field, std::string_view part,
                                     const std::vector<HeadName>& heads) {
  return of_heads(result, field, heads, not_defined, [&] { return head_doubles(result, field, part); });
}

std::vector<std::string> words_of_heads(const Result& result, std::string_view field, std::string_view part,
                                        const std::vector<HeadName>& heads) {
  return of_heads(result, field, heads, std::string(), [&] {
    return std::holds_alternative<std::vector<std::string>>(result.at(field).values)
               ? strings_of(result, field, {"layer", "head"})
               : head_meanings(result, field, part);
  });
}

std::span<const Measure> measures() {
  return all;
}

std::span<const KindScore> kind_scores() {
  return kinds;
}

}  // namespace headwave
