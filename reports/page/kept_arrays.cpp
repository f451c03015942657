#include "page_arrays.h"

namespace headwave {

const std::vector<KeptArray>& kept_arrays() {
  static const std::vector<KeptArray> kept{
      {.field = "head_account/measured_profile"},
      {.field = "head_account/dealt_profile"},
      {.field = "comparison/first_profile"},
      {.field = "comparison/second_profile"},
      {.field = "checkpoints_measured_offset/weight"},
      {.field = "checkpoints_measured_offset/chance"},
      {.field = "checkpoints_measured_offset/offset"},
      {.field = "checkpoints_head_account/part"},
      {.field = "offset_trace/mean_weight", .narrow = "offset", .narrow_to = 128},
      {.field = "offset_trace/null_weight", .store = Store::even},
      {.field = "offset_by_query/profile", .store = Store::even},
      {.field = "offset_by_query/bin_first"},
      {.field = "offset_by_query/bin_last"},
      {.field = "offset_by_query/band_last"},
      {.field = "offset_by_query/band_share"},
      {.field = "offset_by_query/peak_offset"},
      {.field = "offset_by_query/peak_source"},
      {.field = "word_atlas/profile"},
      {.field = "position_atlas/kernel", .store = Store::even},
      {.field = "rotary_wave/kernel", .store = Store::even},
      {.field = "attention_map/weight"},
      {.field = "attention_map/largest", .store = Store::root, .slice = 2},
      {.field = "attention_map/mean", .store = Store::root, .slice = 2},
      {.field = "cross_covariance/weighted_centred", .store = Store::even},
      {.field = "phase_delay/by_frequency", .store = Store::even},
      {.field = "phase_delay/cross_real", .store = Store::even},
      {.field = "phase_delay/cross_imaginary", .store = Store::even},
      {.field = "delay_spectrum/by_frequency", .store = Store::even},
      {.field = "delay_spectrum/cross_real", .store = Store::even},
      {.field = "delay_spectrum/cross_imaginary", .store = Store::even},
      {.field = "phase_rotation/phase", .store = Store::even},
      {.field = "phase_rotation/retention", .store = Store::even},
      {.field = "rotary_wave/pair_offset", .store = Store::even},
      {.field = "rotary_wave/use", .store = Store::even},
      {.field = "redefined/query", .store = Store::even, .crop = "wave", .crop_to = 2},
      {.field = "redefined/key", .store = Store::even, .crop = "wave", .crop_to = 2},
      {.field = "phase_spectrum/query", .store = Store::root, .slice = 2, .crop = "frequency", .crop_to = 33},
      {.field = "phase_spectrum/key", .store = Store::root, .slice = 2, .crop = "frequency", .crop_to = 33},
  };
  return kept;
}

}  // namespace headwave
