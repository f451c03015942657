#pragma once

#include <list>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "../../core/attention/block.h"
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

/// Owns a model's weights: the checkpoint, and copies of converted tensors.
struct ModelStorage {
  std::shared_ptr<const Checkpoint> checkpoint;
  ConvertedTensors converted;
  std::list<Matrix32> matrices;
  std::list<Vector32> vectors;
};

/// Describes a tensor whose floats are not all finite: how many values, or that they do not fit into float32.
std::string not_finite_text(const Checkpoint& checkpoint, const std::string& tensor);

/// Describes the problems of a checkpoint: the first one, and how many more there are.
/// @param problems  at least one
std::string problems_text(const std::string& called, const std::vector<std::string>& problems);

/// How linear maps are read: whole, or only their shape, with null data().
enum class Reading { whole, shape };

/// Reads the tensors that a map names, and remembers their names. A tensor that is missing or has the wrong
/// shape is added to the list of problems and read as empty, so that all problems of a checkpoint are
/// reported together.
class TensorReader {
 public:
  TensorReader(std::shared_ptr<const Checkpoint> checkpoint, const WeightOptions& options);

  /// (rows, cols)
  MatrixView32 matrix(const std::string& name, Index rows, Index cols);
  /// (shape[0], the product of the others)
  MatrixView32 matrix(const std::string& name, const std::vector<Index>& shape);
  /// (rows, cols) read row by row, since a document needs few words of many
  WordTable words(const std::string& name, Index rows, Index cols);
  /// (size)  a bias stored as (1, size) is read as (size)
  VectorView32 vector(const std::string& name, Index size);
  /// A tensor of numbers whose shape is checked; nothing is read while look_at(Reading::shape) holds.
  /// @returns (shape[0], the product of the others)
  MatrixView32 stored(const std::string& name, const std::vector<Index>& shape);
  /// The same of NAME_blocks and NAME_scales (data/arrays/mxfp4.h): a copy.
  MatrixView32 dequantised(const std::string& name, const std::vector<Index>& shape);
  /// @param in_out  the weight is stored as (in, out), and copied as (out, in)
  Linear linear(const TensorNames& names, Index out, Index in, bool in_out);
  /// How linear() reads from now on.
  void look_at(Reading reading) { reading_ = reading; }
  /// Values are not checked from now on: another reader has found them finite.
  void trust_values() { trusts_ = true; }
  /// @param width  channels of the norm
  Norm norm(const TensorNames& names, const StackMap& stack, Index width);

  void add_problem(std::string problem) { problems_.push_back(std::move(problem)); }

  [[nodiscard]] const WeightOptions& options() const { return options_; }
  [[nodiscard]] const Checkpoint& checkpoint() const { return *storage_->checkpoint; }
  [[nodiscard]] std::shared_ptr<ModelStorage> storage() const { return storage_; }
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
  [[nodiscard]] const std::vector<std::string>& missing() const { return missing_; }
  [[nodiscard]] bool was_read(const std::string& name) const { return read_.contains(name); }
  /// Names of all tensors that were read or are missing.
  [[nodiscard]] const std::set<std::string>& read() const { return read_; }

 private:
  template <class View, class Find>
  View read(const std::string& name, const Find& find);
  MatrixView32 shape(const std::string& name, Index rows, Index cols);
  [[nodiscard]] bool checks_values() const { return options_.check_values && !trusts_; }

  std::shared_ptr<ModelStorage> storage_;
  WeightOptions options_;
  Reading reading_ = Reading::whole;
  bool trusts_ = false;
  std::vector<std::string> problems_, missing_;
  std::set<std::string> read_;
};

/// Which weights of a layer are read.
enum class LayerParts { all, queries_and_keys };

/// The weights of one layer. Tensors that are missing or have the wrong shape are added to the reader's
/// problems.
Block layer_weights(TensorReader& reader, const StackMap& stack, Index layer, LayerParts parts = LayerParts::all);

/// The layers of a stack, read from a checkpoint when they are asked for. Tensors that need conversion are
/// converted each time, and pages of files are released with the layer.
std::shared_ptr<const LayerStore> layers_on_demand(std::shared_ptr<const Checkpoint> checkpoint, const StackMap& map);

}  // namespace headwave
