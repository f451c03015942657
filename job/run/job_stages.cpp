#include "job_stages.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "../../analysis/waves/wave_head.h"

namespace headwave {

namespace {

AnalysisSizes sizes_of(const Model& model, const Site& site, const std::vector<Index>& lengths) {
  const Stack& stack = model.stack_of(site.kind);
  AnalysisSizes sizes;
  sizes.layers = static_cast<double>(site.grid.layers.size());
  sizes.rows = static_cast<double>(site.grid.rows());
  sizes.d_model = static_cast<double>(stack.d_model());
  sizes.d_head = static_cast<double>(stack.block.d_head);
  sizes.documents = static_cast<double>(lengths.size());
  sizes.longest = static_cast<double>(*std::max_element(lengths.begin(), lengths.end()));
  sizes.alike = static_cast<double>(site.documents);
  sizes.length = static_cast<double>(site.length);
  sizes.table = static_cast<double>(stack.embedding.positions.rows());
  sizes.chain = site.no_chain.empty();
  sizes.cross = site.kind == AttentionKind::cross;
  return sizes;
}

/// Whether an analysis has something to do at a site, and says what it takes.
bool works(const AnalysisKind& kind, const AnalysisSizes& sizes) {
  return kind.cost != nullptr && (sizes.chain || !kind.chain);
}

bool reads_waves(const AnalysisKind* kind) {
  return std::find(kind->reads.begin(), kind->reads.end(), &qk_svd_analysis) != kind->reads.end();
}

/// The model itself, its traces, and the redefined queries and keys that analyses of the chain share.
double pass_cost(const std::vector<const AnalysisKind*>& kinds, const AnalysisSizes& sizes,
                 const DocumentSizes& document) {
  const double tokens = document.tokens;
  double seconds = 9e-12 * 24 * tokens * sizes.d_model * sizes.d_model * sizes.layers;
  seconds += 1.8e-9 * tokens * tokens * sizes.rows;
  const bool follows = sizes.chain && std::any_of(kinds.begin(), kinds.end(), reads_waves);
  if (follows && document.number >= 0) seconds += 2.8e-8 * sizes.length * sizes.rows * sizes.d_head;
  return seconds;
}

}  // namespace

std::vector<double> document_costs(const Model& model, const DocumentPass& pass, const JobOptions& options) {
  std::vector<double> costs(pass.lengths().size(), 0.0);
  for (const Site& site : pass.sites()) {
    const AnalysisSizes sizes = sizes_of(model, site, pass.lengths());
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const DocumentSizes document{static_cast<double>(pass.lengths()[i]), site.numbers[i]};
      costs[i] += pass_cost(pass.kinds(), sizes, document);
      for (const AnalysisKind* kind : pass.kinds())
        if (works(*kind, sizes)) costs[i] += kind->cost(sizes, document, options).document;
    }
  }
  return costs;
}

std::vector<StageCost> job_stages(const Model& model, const DocumentPass& pass, const JobOptions& options,
                                  int threads) {
  double preparation = 0;
  std::vector<StageCost> after;
  for (const Site& site : pass.sites()) {
    const AnalysisSizes sizes = sizes_of(model, site, pass.lengths());
    for (const AnalysisKind* kind : pass.kinds()) {
      if (!works(*kind, sizes)) continue;
      const AnalysisCost cost = kind->cost(sizes, {}, options);
      preparation += cost.before;
      after.push_back({std::string(kind->name), cost.after / (cost.parallel ? threads : 1)});
    }
  }
  const std::vector<double> documents = document_costs(model, pass, options);
  std::vector<StageCost> stages{{"preparation", preparation / threads},
                                {"attention", std::accumulate(documents.begin(), documents.end(), 0.0) / threads}};
  stages.insert(stages.end(), after.begin(), after.end());
  return stages;
}

}  // namespace headwave
