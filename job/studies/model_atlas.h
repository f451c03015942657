#pragma once

#include <vector>

#include "../../analysis/predictions/paper_phases.h"
#include "../../analysis/predictions/position_atlas.h"
#include "../../data/models/model_directory.h"
#include "../run/job.h"

namespace headwave {

struct ModelAtlasOptions {
  PositionAtlasOptions atlas;
  std::vector<HeadName>
      paper_heads;           ///< whose whole rotation is looked at too, see analysis/predictions/paper_phases.h
  PaperPhasesOptions paper;  ///< length, seed and threads are the atlas'
};

/// The position atlas of a checkpoint as a result of its own: no text, no forward pass. Of a partial checkpoint, the
/// layers that it has; what is missing is noted in the provenance (`missing`).
/// @returns one result, or those of the encoder and of the decoder; cross-attention has no positions in common
/// @throws Error as open_partial_model and position_atlas; ShapeError also if the length is 1, or a head is not there
std::vector<KindResult> model_atlas(const ModelPlace& place, const ModelAtlasOptions& options = {});

}  // namespace headwave
