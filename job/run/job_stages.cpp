#include "job_stages.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "../../analysis/predictions/head_account.h"
#include "../../analysis/waves/wave_chain.h"
#include "account_evidence.h"

namespace headwave {

namespace {

bool reads_waves(const AnalysisKind* kind) {
  return std::find(kind->reads.begin(), kind->reads.end(), &qk_svd_analysis) != kind->reads.end();
}

/// The model itself, its traces, and the redefined queries and keys that analyses of the chain share.
/// @param kinds  that work at the site
double pass_cost(const std::vector<const AnalysisKind*>& kinds, const AnalysisSizes& sizes,
                 const DocumentSizes& document) {
  const double tokens = document.tokens;
  double seconds = 9e-12 * 24 * tokens * sizes.d_model * sizes.d_model * sizes.layers;
  seconds += 1.8e-9 * tokens * tokens * sizes.rows;
  if (document.number >= 0 && std::any_of(kinds.begin(), kinds.end(), reads_waves))
    seconds += 2.8e-8 * sizes.length * sizes.rows * sizes.d_head;
  return seconds;
}

/// A pass of a few documents, and attention of a few layers five times.
double evidence_cost(const AnalysisSizes& sizes, const JobOptions& options) {
  const double documents = std::min<double>(static_cast<double>(AccountEvidenceOptions().documents), sizes.alike);
  const double layers = std::min(static_cast<double>(options.evidence), sizes.layers),
               pairs = sizes.length * sizes.length;
  if (layers == 0) return 0;
  return documents * (pass_cost({}, sizes, {sizes.length, -1}) + 5 * 4e-9 * pairs * sizes.rows / sizes.layers * layers);
}

}  // namespace

AnalysisSizes site_sizes(const Model& model, const Site& site, const std::vector<Index>& lengths) {
  AnalysisSizes sizes = analysis_sizes(model.stack_of(site.kind), site.grid, lengths);
  sizes.alike = static_cast<double>(site.documents);
  sizes.length = static_cast<double>(site.longer());
  return sizes;
}

std::vector<const AnalysisKind*> costly_kinds(const std::vector<const AnalysisKind*>& kinds, const Site& site) {
  std::vector<const AnalysisKind*> there;
  for (const AnalysisKind* kind : kinds)
    if (kind->cost != nullptr && applies(*kind, site)) there.push_back(kind);
  return there;
}

std::vector<double> document_costs(const Model& model, const DocumentPass& pass, const JobOptions& options) {
  std::vector<double> costs(pass.lengths().size(), 0.0);
  for (const Site& site : pass.sites()) {
    const AnalysisSizes sizes = site_sizes(model, site, pass.lengths());
    const auto kinds = costly_kinds(pass.kinds(), site);
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const DocumentSizes document{static_cast<double>(pass.lengths()[i]), site.numbers[i]};
      costs[i] += pass_cost(kinds, sizes, document);
      for (const AnalysisKind* kind : kinds) costs[i] += kind->cost(sizes, document, options).document;
    }
  }
  return costs;
}

std::vector<StageCost> job_stages(const Model& model, const DocumentPass& pass, const JobOptions& options,
                                  int threads) {
  double preparation = 0, evidence = 0;
  std::vector<StageCost> after;
  for (const Site& site : pass.sites()) {
    const AnalysisSizes sizes = site_sizes(model, site, pass.lengths());
    for (const AnalysisKind* kind : costly_kinds(pass.kinds(), site)) {
      const AnalysisCost cost = kind->cost(sizes, {}, options);
      preparation += cost.before;
      after.push_back({std::string(kind->name), cost.after / (cost.parallel ? threads : 1)});
      if (kind == &head_account_analysis()) evidence += evidence_cost(sizes, options);
    }
  }
  const std::vector<double> documents = document_costs(model, pass, options);
  std::vector<StageCost> stages{{"preparation", preparation / threads},
                                {"attention", std::accumulate(documents.begin(), documents.end(), 0.0) / threads}};
  stages.insert(stages.end(), after.begin(), after.end());
  if (evidence > 0) stages.push_back({"evidence", evidence / threads});
  return stages;
}

}  // namespace headwave
