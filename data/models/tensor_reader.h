#pragma once

#include <list>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "../../core/model/model.h"
#include "../arrays/safetensors.h"
#include "model_weights.h"

namespace headwave {

/// What stands behind a model: the checkpoint, and what had to be made of it.
struct ModelStorage {
  std::shared_ptr<const Checkpoint> checkpoint;
  std::list<Matrix32> matrices;
  std::list<Vector32> vectors;
};

/// Reads the tensors that a map names, and remembers which. What is missing or has the wrong shape is a problem on the
/// list and comes out empty: all that is wrong with a checkpoint is told at once.
class TensorReader {
 public:
  TensorReader(std::shared_ptr<const Checkpoint> checkpoint, const WeightOptions& options);

  /// (rows, cols)
  MatrixView32 matrix(const std::string& name, Index rows, Index cols);
  /// (shape[0], the product of the others)
  MatrixView32 matrix(const std::string& name, const std::vector<Index>& shape);
  /// (size)  a bias stored as (1, size) is read as (size)
  VectorView32 vector(const std::string& name, Index size);
  /// @param in_out  the weight is stored as (in, out); else as (out, in)
  Linear linear(const TensorNames& names, Index out, Index in, bool in_out);
  /// @param width  channels of the norm
  Norm norm(const TensorNames& names, const StackMap& stack, Index width);

  void add_problem(std::string problem) { problems_.push_back(std::move(problem)); }

  [[nodiscard]] const WeightOptions& options() const { return options_; }
  [[nodiscard]] const Checkpoint& checkpoint() const { return *storage_->checkpoint; }
  [[nodiscard]] std::shared_ptr<ModelStorage> storage() const { return storage_; }
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
  [[nodiscard]] const std::vector<std::string>& missing() const { return missing_; }
  [[nodiscard]] bool was_read(const std::string& name) const { return read_.contains(name); }

 private:
  template <class View, class Look>
  View read(const std::string& name, const Look& look);

  std::shared_ptr<ModelStorage> storage_;
  WeightOptions options_;
  std::vector<std::string> problems_, missing_;
  std::set<std::string> read_;
};

}  // namespace headwave
