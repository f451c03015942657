#include "measures.h"

#include <string_view>

namespace headwave {

namespace {

constexpr bool is_word = true;

constexpr Measure all[]{{"offset", "measured_offset/offset", "all"},
                        {"status", "measured_offset/status", "all", "status", is_word},
                        {"weight", "measured_offset/weight", "all"},
                        {"threshold", "measured_offset/threshold", "all"},
                        {"chance", "measured_offset/chance", "all"},
                        {"kind", "head_types/kind", "", "kind", is_word},
                        {"kind_score", ""},
                        {"kind_chance", ""},
                        {"bits", "attention_bits/bits", "", "bits"},
                        {"sink", "attention_bits/part", "sink", "sink_bits"},
                        {"position", "attention_bits/part", "position", "position_bits"},
                        {"word", "attention_bits/part", "word", "word_bits"},
                        {"match", "attention_bits/part", "match", "match_bits"},
                        {"follows", "attention_bits/follow", "", "follow"},
                        {"kept", "attention_bits/kept"},
                        {"moved", "account_evidence/moved"},
                        {"profile", "head_account/verdict", "", "", is_word},
                        {"strength", "head_account/strength", "", "strength"},
                        {"by_position", "head_account/part", "position", "position_part"},
                        {"by_self", "head_account/part", "self", "self_part"},
                        {"by_context", "head_account/part", "context"},
                        {"offset_by_position", "offset_agreement/predicted"},
                        {"agrees", "offset_agreement/verdict", "", "", is_word},
                        {"predicted_offset", "position_atlas/predicted_offset", "", "by_weights"},
                        {"predicted_status", "position_atlas/status", "", "", is_word},
                        {"predicted_weight", "position_atlas/predicted_weight"},
                        {"predicted_chance", "position_atlas/chance"},
                        {"offset_by_words", "word_atlas/predicted_offset"},
                        {"status_by_words", "word_atlas/status", "", "", is_word},
                        {"offset_by_phases", "phase_delay/predicted_offset", "", "by_phases"},
                        {"status_by_phases", "phase_delay/status", "", "", is_word},
                        {"offset_by_phases", "rotary_wave/predicted_offset", "", "by_rotary_wave"},
                        {"status_by_phases", "rotary_wave/status", "", "", is_word},
                        {"toeplitz_r2", "position_atlas/toeplitz_r2"},
                        {"other_r2", "position_atlas/other_r2"},
                        {"other_null_quantile", "position_atlas/other_null_quantile"},
                        {"q_value", "position_atlas/q_value"},
                        {"cluster", ""},
                        {"cluster_share", ""},
                        {"", "word_atlas/predicted_weight"},
                        {"", "word_atlas/chance"},
                        {"", "offset_by_query/share_beyond"},
                        {"", "head_types/previous", "", "previous"},
                        {"", "head_types/next", "", "next"},
                        {"", "head_types/positional_share", "", "one_offset"},
                        {"", "head_types/duplicate", "", "duplicate"},
                        {"", "head_types/induction", "", "induction"},
                        {"", "head_types/sink_weight", "", "sink"},
                        {"", "head_types/entropy_share", "", "entropy"}};

constexpr KindScore kinds[]{{"previous", "head_types/previous", "head_types/previous_baseline"},
                            {"next", "head_types/next", "head_types/next_baseline"},
                            {"one offset (Voita)", "head_types/positional_share", ""},
                            {"duplicate", "head_types/duplicate", "head_types/duplicate_baseline"},
                            {"induction", "head_types/induction", "head_types/induction_baseline"},
                            {"sink", "head_types/sink_weight", "head_types/sink_weight_baseline"}};

}  // namespace

std::string Measure::end(const char* which) const {
  const std::string quantity(field);
  const std::size_t slash = quantity.find('/');
  return quantity.substr(slash + 1) == "predicted_offset" ? quantity.substr(0, slash + 1) + which
                                                          : quantity + "_" + which;
}

std::span<const Measure> measures() {
  return all;
}

std::span<const KindScore> kind_scores() {
  return kinds;
}

}  // namespace headwave
