#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../../core/model/model.h"
#include "../arrays/safetensors.h"
#include "model_map.h"

namespace headwave {

/// A map laid over a checkpoint.
struct MappedWeights {
  Model model;                        ///< views into the checkpoint, which it keeps alive; whole only without problems
  std::vector<std::string> problems;  ///< one line each: a tensor that is missing, or has which wrong shape
  std::vector<std::string> missing;   ///< names of the tensors that are not there; each is a problem too
  std::vector<std::string> unused;    ///< tensors that the map does not read, such as a pooler's
};

struct WeightOptions {
  /// Look for NaN and infinity, which reads every weight once; they are problems too. Without it names and
  /// shapes are looked at and no more: sinusoids are not made.
  bool check_values = true;
  /// Read the weights of a layer when they are asked for (Stack::store), and look for NaN and infinity then.
  bool by_layer = false;
  Index layers = 0;  ///< the first so many of a stack, and what they need; 0: all, and what predicts tokens
};

/// Why sinusoids of this size are not made; empty: they are. A text of a few bytes can ask for any number of
/// positions.
std::string too_many_sinusoids(Index length, Index d_model);

/// Finds every tensor that a map names. Nothing is copied, except where query, key and value lie fused head
/// by head. Names and shapes of every layer are looked at, however many are kept.
///
/// A tensor that belongs to a layer but is not read, other than what the map ignores, would change the
/// numbers if it were: it is a problem, and so is a checkpoint with more layers than the map.
MappedWeights mapped_weights(const ModelMap& map, std::shared_ptr<const Checkpoint> checkpoint,
                             const WeightOptions& options = {});

}  // namespace headwave
