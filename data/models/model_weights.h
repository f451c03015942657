#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../../core/model/model.h"
#include "../arrays/safetensors.h"
#include "model_map.h"

namespace headwave {

/// A model built from a map and a checkpoint.
struct MappedWeights {
  Model model;  ///< its views keep the checkpoint alive; complete only if there are no problems
  std::vector<std::string>
      problems;                      ///< one line each: a tensor is missing, unexpected, not finite or of another shape
  std::vector<std::string> missing;  ///< names of missing tensors; each is a problem too
  std::vector<std::string> unused;   ///< tensors that the map does not read, such as a pooler's
};

struct WeightOptions {
  /// Whether to check every weight for NaN and infinity, which are problems too. Otherwise only names and
  /// shapes are checked, and sinusoids are not computed.
  bool check_values = true;
  /// Whether to read and check the weights of a layer when they are needed (Stack::store).
  bool by_layer = false;
  Index layers = 0;  ///< keep only the first layers of a stack; 0: all
};

/// Why sinusoids of this size are refused; empty if they are accepted. Without a limit, a small config could
/// ask for any number of positions.
std::string too_many_sinusoids(Index length, Index d_model);

/// Reads the tensors that a map names. Weights are used in place unless they are stored as (in, out), fused
/// head by head, not float32 or not aligned. Names and shapes of all layers are checked, even of those that
/// are not kept.
///
/// A tensor of a layer that is neither read nor ignored might change results, so it is a problem. A
/// checkpoint with more layers than the map is also a problem.
MappedWeights mapped_weights(const ModelMap& map, std::shared_ptr<const Checkpoint> checkpoint,
                             const WeightOptions& options = {});

/// The problem of a tensor whose floats are not all finite.
std::string not_finite_text(const std::string& tensor);

/// The problems of a checkpoint in one message: the first one, and how many more there are.
/// @param problems  not empty
std::string problems_text(const std::string& called, const std::vector<std::string>& problems);

}  // namespace headwave
