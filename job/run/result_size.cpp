#include "result_size.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "../../analysis/registry/registry.h"

namespace headwave {

namespace {

constexpr double entry = 8.0;           // bytes
constexpr double small_fields = 200.0;  // entries by head of all small Fields together
constexpr double around = 1 << 20;      // bytes: names, attributes, axes, provenance, the library's own tables
constexpr double around_packed = 1.01;  // what packing and checksums add to noise

double entries_of(const AnalysisSizes& sizes, const JobOptions& options, bool grid) {
  double entries = sizes.rows * small_fields;
  for (const AnalysisKind* kind : chosen_analyses(options.only))
    if (kind->cost != nullptr && (grid || std::ranges::count(kind->needs, Need::grid) == 0))
      entries += kind->cost(sizes, {}, options).entries;
  return entries;
}

}  // namespace

std::int64_t result_bytes(const Model& model, const Source& source, const JobOptions& options) {
  std::vector<Index> lengths;
  for (Index i = 0; i < source.count(); ++i) lengths.push_back(source.length(i));
  double bytes = 0;
  for (const AttentionKind kind : model.kinds()) {
    const Stack& stack = model.stack_of(kind);
    HeadGrid grid{std::vector<Index>(static_cast<std::size_t>(stack.layers())), stack.block.heads};
    std::iota(grid.layers.begin(), grid.layers.end(), Index{0});
    bytes += around +
             around_packed * entry * entries_of(analysis_sizes(stack, grid, lengths), options, !model.patches.empty());
  }
  return static_cast<std::int64_t>(std::min(bytes, 9e18));
}

}  // namespace headwave
