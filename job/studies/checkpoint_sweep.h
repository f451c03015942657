#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/fields/field.h"
#include "../../data/models/model_directory.h"

namespace headwave {

/// The number that ends a checkpoint's name, 3000 in "step-3000"; NaN if there is none.
double step_of(const std::string& name);

/// A checkpoint of a training run.
struct TrainingCheckpoint {
  std::string name;  ///< of its folder
  std::filesystem::path model;
};

/// Orders checkpoints by the steps that their names end in, or as they are given where a name ends in none.
/// @throws ShapeError if two have one name, or one has none
std::vector<TrainingCheckpoint> training_checkpoints(const std::vector<std::filesystem::path>& models);

/// The analyses of a sweep that asks for none.
inline constexpr auto swept_analyses =
    std::to_array<std::string_view>({"head_account", "head_types", "offset_agreement", "position_atlas"});

/// Checks from their descriptions that checkpoints are of one model, before any is run.
/// @param models  with the names of the checkpoints, in the order of training
/// @throws ShapeError naming a checkpoint that is of another family than the first, or has other layers or
///         heads; IoError and FormatError as model_map()
void require_one_model(const std::vector<std::pair<std::string, ModelPlace>>& models);

/// Joins the results of one job for every checkpoint of a training run along an axis `checkpoint`.
///
/// Numbers of heads are joined: Fields of layer and head, with at most a few named entries beside them
/// (pairs, terms). `measured_offset/offset` of the checkpoints becomes checkpoints_measured_offset/offset.
/// Curves stay in the results of the single checkpoints. These Fields are added, if the results hold what
/// they are made from:
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

  /// Adds the result of the next checkpoint. A Field that the first one has and this one lacks is undefined
  /// here; if it cannot be, it is omitted and named in the provenance (`left_out`).
  /// @throws ShapeError naming the checkpoint if there are too many, or it is of another family than the
  ///         first, or has other layers or heads
  void add(const Result& result);

  /// The joined result, with the provenance that all checkpoints have in common.
  /// @throws ShapeError unless all checkpoints were added
  [[nodiscard]] Result taken();

 private:
  std::vector<std::string> names_;
  std::size_t came_ = 0;
  std::vector<Field> fields_;  // without the axis of checkpoints, their values one after another
  std::vector<std::string> left_out_;
  Attributes common_;
};

}  // namespace headwave
