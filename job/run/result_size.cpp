#include "result_size.h"

#include <algorithm>

#include "../../analysis/waves/wave_chain.h"

namespace headwave {

namespace {

constexpr double entry = 8.0;           // bytes
constexpr double small_fields = 200.0;  // entries by head of all small Fields together
constexpr double around = 1 << 20;      // bytes: names, attributes, axes, provenance, the library's own tables
constexpr double around_packed = 1.01;  // what packing and checksums add to noise

/// Sizes of one kind of attention, in double: products of what a user may ask for overflow whole numbers.
struct Sizes {
  double layers = 0, rows = 0, documents = 0, longest = 0, near = 0, frequencies = 0, d_head = 0, d_model = 0;
  double table = 0;  ///< rows of the position table
};

Sizes sizes_of(const Stack& stack, const Source& source, const JobOptions& options) {
  Sizes sizes;
  Index longest = 0;
  for (Index i = 0; i < source.count(); ++i) longest = std::max(longest, source.length(i));
  sizes.layers = static_cast<double>(stack.layers());
  sizes.rows = sizes.layers * static_cast<double>(stack.block.heads);
  sizes.documents = static_cast<double>(source.count());
  sizes.longest = static_cast<double>(longest);
  sizes.near = 2.0 * static_cast<double>(options.reach) + 1;
  sizes.frequencies = sizes.longest / 2 + 1;
  sizes.d_head = static_cast<double>(stack.block.d_head);
  sizes.d_model = static_cast<double>(stack.d_model());
  sizes.table = static_cast<double>(stack.embedding.positions.rows());
  return sizes;
}

double chain_entries(const Sizes& n, const JobOptions& options) {
  double entries = 0;
  if (options.wants("cross_covariance") || options.wants("score_cluster"))
    entries += (3 * n.d_head + 2 + n.documents) * n.rows * n.near;
  const auto phase_bins = static_cast<double>(WaveChainOptions().bins);
  if (options.wants("phase_rotation")) entries += 2 * phase_bins * n.rows * n.frequencies + 4 * n.rows * n.frequencies;
  if (options.wants("delay_spectrum")) entries += 4 * n.rows * n.frequencies;
  if (options.wants("wave_spectra"))
    entries += 8 * n.rows * n.longest + 6 * n.layers * n.frequencies + 4 * n.rows * n.d_head;
  return entries + 4 * n.rows * n.d_head;
}

double entries_of(const Sizes& n, const JobOptions& options) {
  double entries = 6 * n.rows * (2 * n.longest - 1) + (9 + n.documents) * n.rows * n.near + 8 * n.longest + 8 * n.near;
  entries += n.rows * small_fields;
  for (const char* clusters : {"head_cluster", "score_cluster"})
    if (options.wants(clusters))
      entries += (n.documents + static_cast<double>(options.clusters + options.score_clusters)) * n.rows +
                 static_cast<double>(options.clusters * (2 * options.window + 1) +
                                     options.score_clusters * (2 * options.score_window + 1));
  if (options.wants("attention_map")) {
    const double shown = std::min(static_cast<double>(options.map_tokens), n.longest);
    entries += n.rows * shown * shown;
  }
  if (options.wants("value_use")) entries += 2 * n.rows * n.near;
  if (options.wants("position_spectrum"))
    entries += (std::max(n.table, n.longest) / 2 + 1) * (n.d_model + 8) + 2 * n.d_model;
  if (options.wants("position_atlas")) entries += 3 * n.rows * n.near;
  if (options.wants("position_split")) entries += n.layers * n.frequencies;
  if (options.wants("position_correlation")) entries += 200 * n.layers;
  return entries + chain_entries(n, options);
}

}  // namespace

std::int64_t result_bytes(const Model& model, const Source& source, const JobOptions& options) {
  double bytes = 0;
  for (const AttentionKind kind : model.kinds())
    bytes += around + around_packed * entry * entries_of(sizes_of(model.stack_of(kind), source, options), options);
  return static_cast<std::int64_t>(std::min(bytes, 9e18));
}

}  // namespace headwave
