#include "tensor_reader.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "../../core/errors/error.h"

namespace headwave {

std::string not_finite_text(const Checkpoint& checkpoint, const std::string& tensor) {
  const Index count = checkpoint.non_finite(tensor);
  if (count == 0)
    return fmt::format("tensor '{}' holds values beyond {:.2g}; expected what fits into float32", tensor,
                       std::numeric_limits<float>::max());
  return fmt::format("tensor '{}' holds {} NaN or infinite; expected finite weights", tensor,
                     count == 1 ? "a value that is" : fmt::format("{} values that are", count));
}

std::string problems_text(const std::string& called, const std::vector<std::string>& problems) {
  const std::size_t more = problems.size() - 1;
  return fmt::format("{}: {}{}; `headwave inspect` lists what is there", called, problems.front(),
                     more > 0 ? fmt::format(" (and {} more like it)", more) : "");
}

TensorReader::TensorReader(std::shared_ptr<const Checkpoint> checkpoint, const WeightOptions& options)
    : storage_(std::make_shared<ModelStorage>()), options_(options) {
  storage_->checkpoint = std::move(checkpoint);
}

template <class View, class Find>
View TensorReader::read(const std::string& name, const Find& find) {
  const bool first = read_.insert(name).second;
  if (first && !checkpoint().has(name)) missing_.push_back(name);
  try {
    const View view = find();
    if (checks_values() && first && view.data() != nullptr && !are_finite(view))
      add_problem(not_finite_text(checkpoint(), name));
    return view;
  } catch (const FormatError& problem) {
    if (!first) return {};
    const std::string file = checkpoint().path().string() + ": ";
    const std::string line = problem.what();
    add_problem(line.starts_with(file) ? line.substr(file.size()) : line);
    return {};
  }
}

MatrixView32 TensorReader::matrix(const std::string& name, Index rows, Index cols) {
  return read<MatrixView32>(name, [&] { return checkpoint().matrix(name, rows, cols, &storage_->converted); });
}

MatrixView32 TensorReader::shape(const std::string& name, Index rows, Index cols) {
  return read<MatrixView32>(name, [&]() -> MatrixView32 {
    checkpoint().require(name, {rows, cols});
    return {nullptr, rows, cols};
  });
}

MatrixView32 TensorReader::matrix(const std::string& name, const std::vector<Index>& shape) {
  return read<MatrixView32>(name, [&] { return checkpoint().matrix(name, shape, &storage_->converted); });
}

WordTable TensorReader::words(const std::string& name, Index rows, Index cols) {
  const bool first = !was_read(name);
  if (shape(name, rows, cols).empty()) return {};
  WordTable words(rows, cols, checkpoint().row_reader(name));
  constexpr Index at_once = 1024;
  bool finite = true;
  for (Index row = 0; first && checks_values() && finite && row < rows; row += at_once)
    finite = are_finite(words.copied(row, std::min(at_once, rows - row)));
  if (!finite) add_problem(not_finite_text(checkpoint(), name));
  return words;
}

VectorView32 TensorReader::vector(const std::string& name, Index size) {
  return read<VectorView32>(name, [&]() -> VectorView32 {
    const std::vector<Index>& shape = checkpoint().info(name).shape;
    if (shape.size() == 2 && shape.front() == 1)
      return {checkpoint().matrix(name, 1, size, &storage_->converted).data(), size};
    return checkpoint().vector(name, size, &storage_->converted);
  });
}

Linear TensorReader::linear(const TensorNames& names, Index out, Index in, bool in_out) {
  if (names.empty()) return {};
  Linear linear;
  const Index rows = in_out ? in : out, cols = in_out ? out : in;
  linear.weight = reading_ == Reading::whole ? matrix(names.weight, rows, cols) : shape(names.weight, rows, cols);
  if (in_out && linear.weight.data() == nullptr) {
    linear.weight = linear.weight.empty() ? MatrixView32() : MatrixView32(nullptr, out, in);
  } else if (in_out) {
    linear.weight = storage_->matrices.emplace_back(linear.weight.transpose());
    storage_->converted.values.erase(names.weight);
    checkpoint().let_go(names.weight);
  }
  if (!names.bias.empty()) linear.bias = vector(names.bias, out);
  return linear;
}

Norm TensorReader::norm(const TensorNames& names, const StackMap& stack, Index width) {
  if (names.empty()) return {};
  VectorView32 scale = vector(names.weight, width);
  if (stack.norm_offset != 0 && !scale.empty()) {
    storage_->vectors.emplace_back(scale.array() + stack.norm_offset);
    scale = storage_->vectors.back();
  }
  return {scale, names.bias.empty() ? VectorView32() : vector(names.bias, width), stack.norm_eps, stack.norm};
}

}  // namespace headwave
