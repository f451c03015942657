#pragma once

#include <string>
#include <utility>
#include <vector>

#include "../../core/fields/field.h"
#include "../../data/models/model_directory.h"

namespace headwave {

/// The step of training that a checkpoint's name ends in, 3000 of "step-3000"; NaN: it ends in no number.
double step_of(const std::string& name);

/// Refuses checkpoints that no CheckpointSweep takes together before any is run: by what describes them.
/// @param models  by the names of the checkpoints, in the order of training
/// @throws ShapeError naming the checkpoint that is of another family than the first, or has other layers or heads;
///         IoError and FormatError as model_map()
void require_one_model(const std::vector<std::pair<std::string, ModelPlace>>& models);

/// What one job found of every checkpoint of a training run, put together along an axis `checkpoint`.
///
/// Numbers of heads are kept: Fields of layer and head, and of few named things beside them (pairs, terms).
/// `measured_offset/offset` of the checkpoints is checkpoints_measured_offset/offset. Curves stay in the results of
/// single checkpoints. Beside them stand, as far as the results have what they are made of:
///
///     checkpoints/step               (checkpoint)           of training, from the name
///     checkpoints/with_offset        (checkpoint)           heads whose measured offset stands out
///     checkpoints/verdicts           (checkpoint, verdict)  heads by what their account says
///     checkpoints/offset_since       (layer, head)          since when the measured offset is that of the last one
///     checkpoints/positional_since   (layer, head)          since when the account says positional
///
/// "Since" is a place on the axis `checkpoint`: at that one and all after it.
class CheckpointSweep {
 public:
  /// @param names  of the checkpoints, in the order of training
  explicit CheckpointSweep(std::vector<std::string> names);

  /// What was found of the next checkpoint. A Field that the first has and this one has not is undefined here, or left
  /// out and named in the provenance (`left_out`) where it cannot be.
  /// @throws ShapeError naming the checkpoint if there are too many, or it is of another family than the first, or has
  ///         other layers or heads
  void add(const Result& result);

  /// Of the provenance what all have in common.
  /// @throws ShapeError unless all checkpoints came
  [[nodiscard]] Result taken();

 private:
  std::vector<std::string> names_;
  std::size_t came_ = 0;
  std::vector<Field> fields_;  // without the axis of checkpoints, their values one after another
  std::vector<std::string> left_out_;
  Attributes common_;
};

}  // namespace headwave
