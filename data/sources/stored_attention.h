#pragma once

#include "../../core/model/model.h"
#include "../../core/model/source.h"
#include "stated_attention.h"
#include "stored_documents.h"

namespace headwave {

/// What is known of the model that computed finished attention: how many layers and heads it has, and which way it looks.
/// Where nobody says that, the first rows of the first document of two tokens or more do (looks_only_back).
/// @param documents  of the place
/// @param heads      as they were asked for; 0: as the file says
/// @throws FormatError if layers have different numbers of heads; ShapeError if another number was said; Error as the source
Model attention_model(const StoredPlace& place, const Source& documents, const StatedAttention& stated, Index heads);

/// Finished attention must be what a model can have computed.
/// @throws ShapeError if the model has other heads, not as many layers, or reads two sequences
void require_attention_of(const Model& model, const StoredPlace& place);

}  // namespace headwave
