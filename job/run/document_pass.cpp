#include "document_pass.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "../../analysis/attention/head_type_probe.h"
#include "../../analysis/attention/offset_trace_probe.h"
#include "../../analysis/attention/value_probe.h"
#include "../../core/model/model_pass.h"
#include "../../core/numbers/threads.h"
#include "stage_report.h"

namespace headwave {

namespace {

/// Why redefined queries and keys cannot be had of a kind of attention; empty: they can.
std::string no_chain(const Stack& stack, const Document& document, const Site& site) {
  if (site.kind == AttentionKind::cross) return "queries and keys of cross-attention stand in different sequences";
  if (!document.stored.empty() && document.stored.front().states.size() == 0)
    return "queries and keys were stored without the states and weights they come from";
  for (const Index layer : site.grid.layers)
    if (layer >= stack.layers() || stack.blocks[static_cast<std::size_t>(layer)].self.query.empty())
      return "no query and key weights";
  return site.length < 2 ? "documents of one token have no waves" : "";
}

/// Length of the sequence that asks, document by document. Only an encoder-decoder's differs from the document's.
std::vector<Index> query_lengths(const Model& model, const Source& source, AttentionKind kind) {
  std::vector<Index> lengths;
  for (Index i = 0; i < source.count(); ++i)
    lengths.push_back(model.decoder ? static_cast<Index>(source.document(i).query_tokens(kind).ids.size())
                                    : source.length(i));
  return lengths;
}

void set_length(Site& site, const std::vector<Index>& lengths) {
  std::map<Index, Index> counts;
  for (const Index length : lengths) ++counts[length];
  for (const auto& [length, count] : counts)
    if (count >= site.documents) {
      site.length = length;
      site.documents = count;
    }
  Index number = 0;
  for (const Index length : lengths) site.numbers.push_back(length == site.length ? number++ : -1);
}

/// Layers that a document passes through, or in which it was stored.
std::vector<Site> sites_of(const Model& model, const Source& source, const Document& first) {
  std::vector<Site> sites;
  for (const AttentionKind kind : model.kinds()) {
    const Stack& stack = model.stack_of(kind);
    std::set<Index> layers;
    for (const StoredLayer& stored : first.stored) layers.insert(stored.layer);
    if (first.stored.empty())
      for (Index layer = 0; layer < stack.layers(); ++layer) layers.insert(layer);
    Site site{kind, {{layers.begin(), layers.end()}, stack.block.heads}, 0, {}, 0, {}};
    set_length(site, query_lengths(model, source, kind));
    site.no_chain = no_chain(stack, first, site);
    sites.push_back(std::move(site));
  }
  return sites;
}

std::vector<HeadName> all_heads(const HeadGrid& grid) {
  std::vector<HeadName> names;
  for (const Index layer : grid.layers)
    for (Index head = 0; head < grid.heads; ++head) names.push_back({layer, head});
  return names;
}

/// Keeps moments of the states that enter each layer.
class MomentsProbe : public Probe {
 public:
  explicit MomentsProbe(const Site& site) : site_(site), found_(site.grid.layers.size()) {}
  void see(const LayerInput& input) override {
    const auto& layers = site_.grid.layers;
    const auto place = std::find(layers.begin(), layers.end(), input.layer);
    if (input.kind != site_.kind || place == layers.end() || input.states.rows() != site_.length) return;
    found_[static_cast<std::size_t>(place - layers.begin())] = document_moments(input.states);
  }
  void see(const Tile& /*tile*/) override {}
  [[nodiscard]] std::vector<DocumentMoments> taken() { return std::move(found_); }

 private:
  const Site& site_;
  std::vector<DocumentMoments> found_;
};

}  // namespace

/// What one document gives at one site.
struct DocumentPass::Parts {
  DocumentTraces traces;
  std::optional<AttentionMaps> maps;
  std::optional<DocumentHeadTypes> types;
  std::optional<DocumentValueUse> values;
  std::optional<DocumentWaves> waves;
  std::vector<DocumentMoments> moments;
};

/// What has been merged so far at one site.
struct DocumentPass::Sums {
  OffsetTraceSum traces;
  AttentionMaps maps;
  std::optional<HeadTypeSum> types;
  std::optional<ValueUseSum> values;
  std::unique_ptr<WaveChainPlan> plan;
  std::unique_ptr<WaveChainSum> chain;
  std::vector<StateMoments> moments;
  bool keep_moments = false;

  void add(Parts&& parts) {
    traces.add(parts.traces);
    if (parts.maps) maps = std::move(*parts.maps);
    if (types) types->add(*parts.types);
    if (values) values->add(*parts.values);
    if (parts.waves) chain->add(std::move(*parts.waves));
    for (std::size_t layer = 0; layer < parts.moments.size(); ++layer) {
      const DocumentMoments& found = parts.moments[layer];
      if (moments.size() <= layer) moments.emplace_back(found.states_by_position.rows(), found.mean.size());
      moments[layer].add(found);
    }
  }
};

DocumentPass::DocumentPass(const Model& model, const Source& source, const JobOptions& options, int threads)
    : model_(model),
      source_(source),
      options_(options),
      threads_(threads),
      first_(source.document(0)),
      sites_(sites_of(model, source, first_)) {
  for (Index i = 0; i < source_.count(); ++i) lengths_.push_back(source_.length(i));
}

std::vector<DocumentPass::Parts> DocumentPass::parts_of(Index i, std::vector<Sums>& sums) const {
  const Document document = i == 0 ? first_ : source_.document(i);
  std::vector<std::unique_ptr<OffsetTraceProbe>> offsets;
  std::vector<std::unique_ptr<AttentionMapProbe>> looks;
  std::vector<std::unique_ptr<HeadTypeProbe>> types;
  std::vector<std::unique_ptr<ValueProbe>> values;
  std::vector<std::unique_ptr<WaveProbe>> waves;
  std::vector<std::unique_ptr<MomentsProbe>> moments;
  std::vector<Probe*> probes;
  const auto look_on = [&](auto& list, auto probe) {
    list.push_back(std::move(probe));
    if (list.back()) probes.push_back(list.back().get());
  };
  for (std::size_t s = 0; s < sites_.size(); ++s) {
    const Site& site = sites_[s];
    look_on(offsets, std::make_unique<OffsetTraceProbe>(site.grid, document, options_.reach, site.kind));
    look_on(looks,
            i == 0 && options_.wants("attention_map")
                ? std::make_unique<AttentionMapProbe>(all_heads(site.grid), options_.map_tokens, document, site.kind)
                : nullptr);
    look_on(types, sums[s].types ? std::make_unique<HeadTypeProbe>(site.grid, document, site.kind) : nullptr);
    look_on(values,
            sums[s].values ? std::make_unique<ValueProbe>(site.grid, document, site.kind, options_.reach) : nullptr);
    const Index number = site.numbers[static_cast<std::size_t>(i)];
    look_on(waves, sums[s].chain && number >= 0 ? std::make_unique<WaveProbe>(*sums[s].plan, number) : nullptr);
    look_on(moments, sums[s].keep_moments && number >= 0 ? std::make_unique<MomentsProbe>(site) : nullptr);
  }
  model_pass(model_, document, probes);
  std::vector<Parts> parts(sites_.size());
  for (std::size_t s = 0; s < parts.size(); ++s) {
    parts[s].traces = offsets[s]->traces();
    if (looks[s]) parts[s].maps = looks[s]->maps();
    if (types[s]) parts[s].types = types[s]->types();
    if (values[s]) parts[s].values = values[s]->use();
    if (waves[s]) parts[s].waves = waves[s]->taken();
    if (moments[s]) parts[s].moments = moments[s]->taken();
  }
  return parts;
}

std::vector<Passed> DocumentPass::run(StageReport& report) const {
  report.begin("preparation");
  const Index count = source_.count(), longest = *std::max_element(lengths_.begin(), lengths_.end());
  std::vector<Sums> sums;
  for (const Site& site : sites_) {
    Sums sum{OffsetTraceSum(site.grid, count, longest, options_.reach), {}, {}, {}, {}, {}, {}, false};
    if (options_.wants("head_types")) sum.types.emplace(site.grid, site.kind);
    if (options_.wants("value_use")) sum.values.emplace(site.grid, site.kind, options_.reach);
    WaveChainOptions chain;
    chain.covariances = options_.wants("cross_covariance") || options_.wants("score_cluster");
    chain.delays = options_.wants("delay_spectrum");
    chain.phases = options_.wants("phase_rotation");
    chain.spectra = options_.wants("wave_spectra");
    chain.reach = options_.reach;
    chain.draws = options_.draws;
    chain.seed = options_.seed;
    chain.threads = threads_;
    if (site.no_chain.empty() && (chain.covariances || chain.delays || chain.phases || chain.spectra)) {
      sum.plan = std::make_unique<WaveChainPlan>(
          wave_chain_plan(model_.stack_of(site.kind), site.grid, site.kind, site.length, chain));
      sum.chain = std::make_unique<WaveChainSum>(*sum.plan);
    }
    sum.keep_moments =
        site.no_chain.empty() && (options_.wants("position_correlation") || options_.wants("position_split"));
    sums.push_back(std::move(sum));
  }

  report.begin("attention", count);
  Index done = 0;
  parallel_in_order(count, threads_, [&](Index i) -> std::function<void()> {
    auto parts = std::make_shared<std::vector<Parts>>(parts_of(i, sums));
    return [&, parts] {
      for (std::size_t s = 0; s < sums.size(); ++s) sums[s].add(std::move((*parts)[s]));
      report.reached(++done);
    };
  });

  std::vector<Passed> passed;
  for (std::size_t s = 0; s < sites_.size(); ++s) {
    Passed one{sites_[s], sums[s].traces.traces(), std::move(sums[s].maps), {}, {}, {}, {}, {}, {}};
    if (sums[s].types) one.types = sums[s].types->types();
    if (sums[s].values) one.values = sums[s].values->use();
    if (sums[s].chain) {
      one.chain = sums[s].chain->chain();
      one.chain_options = sums[s].plan->options;
      one.heads = std::move(sums[s].plan->heads);
    }
    one.moments = std::move(sums[s].moments);
    passed.push_back(std::move(one));
  }
  return passed;
}

}  // namespace headwave
