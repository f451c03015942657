#include "job_memory.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "../../core/attention/tile_walk.h"
#include "../../core/model/layer.h"
#include "../../core/process/process_memory.h"
#include "../../core/process/threads.h"
#include "job_stages.h"

namespace headwave {

namespace {

/// Documents for which a layer is read: more would save little of the time that reading takes beside computing.
constexpr Index enough_for_a_thread = 4;
constexpr Index enough_tokens = 2048;  // ... of all documents side by side

// Of the program itself: parts that it has not come to yet, and the library that writes the result.
constexpr double program_bytes = 6e6, writing_bytes = 1e7;

/// What a document's tokens take at most on their way through a stack, in float: while attention is computed, or the
/// feed-forward network.
double pass_bytes(const Stack& stack, double tokens) {
  const auto heads = static_cast<double>(stack.block.heads), d_model = static_cast<double>(stack.d_model());
  const double projected = heads * static_cast<double>(stack.block.d_head);
  // States before and after the norm; projections, turned ones, and keys and values as they are packed; weights and
  // scores of a tile of query rows.
  const double tile = 2 * heads * static_cast<double>(tile_rows(static_cast<Index>(tokens)));
  const double packed = 2 * static_cast<double>(stack.block.kv_heads * stack.block.d_head);
  const double attention = tokens * (3 * d_model + 6 * projected + packed + tile);
  double inner = 0;
  for (const Block& block : stack.blocks)
    if (const FeedForward& feed = block.feed_forward; !feed.empty())
      inner = std::max(inner, static_cast<double>((feed.gate.empty() ? 1 : 2) * feed.widen.d_out()));
  const double network = 4 * tokens * d_model + inner * std::min<double>(tokens, rows_at_once);
  return sizeof(float) * std::max(attention, network);
}

/// Of the layers of a model that are read one by one: the largest, and all.
std::pair<double, double> bytes_by_layer(const Model& model) {
  double largest = 0, all = 0;
  for (const Stack* const stack : {&model.stack, model.decoder ? &*model.decoder : nullptr}) {
    if (stack == nullptr || stack->store == nullptr) continue;
    const Index different = stack->store->is_one() ? 1 : stack->layers();
    for (Index layer = 0; layer < different; ++layer) {
      const double bytes = stack->store->bytes(layer);
      largest = std::max(largest, bytes);
      all += bytes;
    }
  }
  return {largest, all};
}

/// What the machine has free now, in bytes of resident memory.
std::int64_t usual_limit() {
  constexpr double share = 0.7;  // others may want some of it later
  return static_cast<std::int64_t>(share * static_cast<double>(free_memory())) + resident_bytes();
}

/// As many documents side by side as a limit allows, and no more than are enough.
Index usual_together(const JobMemory& memory, std::int64_t limit, int threads) {
  return std::min(together_within(memory, limit, threads), enough_for_a_thread * threads);
}

/// What a document brings along where it was stored.
double stored_bytes(const Document& document) {
  auto entries = static_cast<double>(document.signal.size());
  for (const StoredLayer& layer : document.stored)
    entries += static_cast<double>(layer.states.size() + layer.query.size() + layer.key.size());
  return sizeof(float) * entries;
}

}  // namespace

std::int64_t JobMemory::bytes(int threads) const {
  const double on_their_way =
      std::min(std::max(static_cast<double>(threads), static_cast<double>(together)), documents);
  const bool by_blocks = block_documents > 0 && together % block_documents == 0;  // the next ones begin with a block
  const double under_way = documents > on_their_way && !by_blocks ? block : 0;
  const bool several = documents > on_their_way && documents > static_cast<double>(block_documents);
  const double later = several ? kept + on_their_way * document : 0;
  const double passed =
      under_way + std::max(passing(on_their_way), later) + std::min(static_cast<double>(threads), documents) * working;
  const double made = prepared + std::max(passed, kept + fields + threads * finishing);
  const double most = there + layer + 1.05 * made;
  return static_cast<std::int64_t>(std::min(most, 9e18));
}

double JobMemory::passing(double count) const {
  double bytes = count * document;
  for (std::size_t i = 0; i < first.size() && static_cast<double>(i) < count; ++i) bytes += first[i] - document;
  return bytes;
}

std::int64_t JobMemory::unfinished_bytes() const {
  return static_cast<std::int64_t>(std::min(kept + block, 1e18));
}

JobMemory job_memory(const Model& model, const Source& source, const JobOptions& options) {
  const DocumentPass pass(model, source, options, 1);
  const std::vector<Index>& lengths = pass.lengths();
  const Index of_block = pass.blocks().first(1);
  const auto longest = static_cast<double>(*std::max_element(lengths.begin(), lengths.end()));
  JobMemory memory;
  memory.there = static_cast<double>(resident_bytes()) + program_bytes;
  memory.documents = static_cast<double>(lengths.size());
  memory.together = pass.together();
  memory.block_documents = of_block;
  memory.tokens = static_cast<Index>(longest);
  std::tie(memory.layer, memory.layers) = bytes_by_layer(model);
  memory.document = stored_bytes(pass.first()) * longest / static_cast<double>(std::max<Index>(1, lengths.front()));
  double states = 0, made = 0, released = 0;
  std::vector<std::pair<const AnalysisKind*, AnalysisSizes>> lookers;
  for (const Site& site : pass.sites()) {
    const Stack& stack = model.stack_of(site.kind);
    const double of_states = sizeof(float) * longest * static_cast<double>(stack.d_model());
    states = std::max(states, of_states);
    double showing = 0;
    const AnalysisSizes sizes = site_sizes(model, site, lengths);
    AnalysisSizes block = sizes;
    block.documents = std::min(block.documents, static_cast<double>(of_block));
    block.alike = std::min(block.alike, static_cast<double>(of_block));
    for (const AnalysisKind* kind : costly_kinds(pass.kinds(), site)) {
      const AnalysisCost cost = kind->cost(sizes, {longest, 0}, options);
      memory.prepared += cost.prepared;
      memory.kept += cost.kept;
      memory.block += kind->cost(block, {longest, 0}, options).kept;
      showing += cost.showing;
      lookers.emplace_back(kind, sizes);
      made += 2 * 8 * cost.entries;  // Fields, and about the same that is kept for others
      memory.fields = std::max(memory.fields, made - released);
      if (cost.entries > 0) released += cost.kept;  // the sums of what has no Fields are what others read
      memory.finishing = std::max(memory.finishing, cost.finishing);
    }
    memory.working = std::max(memory.working, pass_bytes(stack, longest) - of_states + showing);
  }
  const double usual = memory.document + states;  // of the document itself
  const auto with_found = [&](Index number) {
    return std::accumulate(lookers.begin(), lookers.end(), usual, [&](double bytes, const auto& looker) {
      return bytes + looker.first->cost(looker.second, {longest, number}, options).looking;
    });
  };
  memory.document = with_found(std::numeric_limits<Index>::max());
  for (Index i = 0; i < static_cast<Index>(lengths.size()); ++i) {
    const double bytes = with_found(i);
    if (bytes <= memory.document) break;
    memory.first.push_back(bytes);
  }
  memory.fields = std::max(memory.fields, made - released + writing_bytes);
  return memory;
}

Index together_within(const JobMemory& memory, std::int64_t limit, int threads) {
  JobMemory tried = memory;
  Index within = 1, beyond = static_cast<Index>(memory.documents) + 1;
  while (beyond - within > 1) {
    tried.together = std::midpoint(within, beyond);
    (tried.bytes(threads) <= limit ? within : beyond) = tried.together;
  }
  return within;
}

JobOptions with_together(const Model& model, const Source& source, JobOptions options, int threads,
                         std::optional<std::int64_t> limit) {
  if (!model.by_layer() || options.together > 0) return options;
  options.together = usual_together(job_memory(model, source, options), limit.value_or(usual_limit()), threads);
  return options;
}

bool is_better_by_layer(const JobMemory& memory, std::int64_t limit, int threads) {
  JobMemory kept = memory;
  kept.there += memory.layers;
  kept.layer = 0;
  kept.together = 1;
  const auto smaller = static_cast<double>(memory.bytes(threads)), larger = static_cast<double>(kept.bytes(threads));
  const bool shared = memory.documents >= static_cast<double>(enough_for_a_thread * threads) &&
                      memory.together * memory.tokens >= enough_tokens;
  return smaller < larger && (larger > static_cast<double>(limit) || (shared && larger > 1.5 * smaller));
}

bool is_better_by_layer(const Model& model, const Source& source, const JobOptions& options,
                        std::optional<std::int64_t> limit) {
  const int threads = thread_count(options.threads);
  if (!limit) limit = usual_limit();
  JobMemory memory = job_memory(model, source, options);
  if (options.together == 0) memory.together = usual_together(memory, *limit, threads);
  return is_better_by_layer(memory, *limit, threads);
}

int threads_within(const JobMemory& memory, std::int64_t limit, int threads) {
  for (int fewer = threads; fewer > 0; --fewer)
    if (memory.bytes(fewer) <= limit) return fewer;
  return 0;
}

}  // namespace headwave
