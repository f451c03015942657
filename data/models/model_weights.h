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
  Model model;  ///< views into the checkpoint, which the model keeps alive; complete only if there are no problems
  std::vector<std::string> problems;  ///< one line each: a tensor that is missing or has the wrong shape
  std::vector<std::string> missing;   ///< names of missing tensors; each is a problem too
  std::vector<std::string> unused;    ///< tensors that the map does not read, such as a pooler's
};

struct WeightOptions {
  /// Check every weight for NaN and infinity, which are problems too. Otherwise only names and shapes are
  /// checked and sinusoids are not computed.
  bool check_values = true;
  /// Read the weights of a layer when they are asked for (Stack::store), and check them then.
  bool by_layer = false;
  Index layers = 0;  ///< only the first layers of a stack; 0: all
};

/// Why sinusoids of this size are refused; empty: they are not. A config of a few bytes can ask for any
/// number of positions.
std::string too_many_sinusoids(Index length, Index d_model);

/// Finds every tensor that a map names. Weights are copied only if they are stored (in, out), fused head by
/// head, or not float32. Names and shapes of all layers are checked, however many are kept.
///
/// A tensor of a layer that is neither read nor ignored would change the numbers: it is a problem, and so is
/// a checkpoint with more layers than the map.
MappedWeights mapped_weights(const ModelMap& map, std::shared_ptr<const Checkpoint> checkpoint,
                             const WeightOptions& options = {});

/// Describes a tensor whose floats are not all finite.
std::string not_finite_text(const std::string& tensor);

/// Describes the problems of a checkpoint: the first one, and how many more there are.
/// @param problems  at least one
std::string problems_text(const std::string& called, const std::vector<std::string>& problems);

}  // namespace headwave
