#include "result_size.h"

#include <algorithm>

#include "../../analysis/registry/registry.h"

namespace headwave {

namespace {

constexpr double entry = 8.0;           // bytes
constexpr double small_fields = 200.0;  // entries by head of all small Fields together
constexpr double around = 1 << 20;      // bytes: names, attributes, axes, provenance, the library's own tables
constexpr double around_packed = 1.01;  // what packing and checksums add to noise

AnalysisSizes sizes_of(const Stack& stack, const Source& source) {
  AnalysisSizes sizes;
  Index longest = 0;
  for (Index i = 0; i < source.count(); ++i) longest = std::max(longest, source.length(i));
  sizes.layers = static_cast<double>(stack.layers());
  sizes.rows = sizes.layers * static_cast<double>(stack.block.heads);
  sizes.d_model = static_cast<double>(stack.d_model());
  sizes.d_head = static_cast<double>(stack.block.d_head);
  sizes.documents = sizes.alike = static_cast<double>(source.count());
  sizes.longest = sizes.length = static_cast<double>(longest);
  sizes.table = static_cast<double>(stack.embedding.positions.rows());
  return sizes;
}

double entries_of(const AnalysisSizes& sizes, const JobOptions& options) {
  double entries = sizes.rows * small_fields;
  for (const AnalysisKind* kind : chosen_analyses(options.only))
    if (kind->cost != nullptr) entries += kind->cost(sizes, {}, options).entries;
  return entries;
}

}  // namespace

std::int64_t result_bytes(const Model& model, const Source& source, const JobOptions& options) {
  double bytes = 0;
  for (const AttentionKind kind : model.kinds())
    bytes += around + around_packed * entry * entries_of(sizes_of(model.stack_of(kind), source), options);
  return static_cast<std::int64_t>(std::min(bytes, 9e18));
}

}  // namespace headwave
