#include "job_stages.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headwave {

namespace {

/// Sizes of one kind of attention, as numbers to reckon with.
struct Sizes {
  Sizes(const Model& model, const Site& site)
      : layers(static_cast<double>(site.grid.layers.size())),
        rows(static_cast<double>(site.grid.rows())),
        d_model(static_cast<double>(model.stack_of(site.kind).d_model())),
        d_head(static_cast<double>(model.stack_of(site.kind).block.d_head)),
        length(static_cast<double>(site.length)),
        documents(static_cast<double>(site.documents)) {}
  double layers, rows, d_model, d_head;
  double length, documents;  // of the wave chain
};

bool wants_chain(const JobOptions& options) {
  for (const char* name : {"cross_covariance", "score_cluster", "delay_spectrum", "phase_rotation", "wave_spectra"})
    if (options.wants(name)) return true;
  return false;
}

bool wants_moments(const JobOptions& options) {
  return options.wants("position_correlation") || options.wants("position_split");
}

/// The model itself, and what looks at weights: seconds for a document of so many tokens.
double pass_cost(const Sizes& size, double tokens, const JobOptions& options) {
  const double weights = tokens * tokens * size.rows;
  double seconds = 9e-12 * 24 * tokens * size.d_model * size.d_model * size.layers + 1.8e-9 * weights;
  if (options.wants("head_types")) seconds += 1.8e-9 * weights;
  if (options.wants("value_use")) seconds += 0.9e-9 * weights;
  return seconds;
}

/// What looks at hidden states.
double chain_cost(const Sizes& size, const JobOptions& options, Index number) {
  double seconds = 0;
  if (wants_moments(options)) seconds += 2.9e-11 * size.length * size.d_model * size.d_model * size.layers;
  if (!wants_chain(options)) return seconds;
  const auto draws = static_cast<double>(options.draws);
  double each = 2.8e-8;
  if (options.wants("cross_covariance") || options.wants("score_cluster")) each += 4.2e-8;
  if (options.wants("delay_spectrum")) each += 0.5e-8 + 0.33e-8 * draws;
  if (options.wants("phase_rotation")) each += 4.5e-8;
  if (options.wants("wave_spectra")) each += 9.5e-8;
  // The null of the phases is drawn over the first documents alone.
  if (options.wants("phase_rotation") && number < WaveChainOptions().phase_documents) each += 1.3e-8 * draws;
  return seconds + each * size.length * size.rows * size.d_head;
}

double preparation_cost(const Sizes& size, const JobOptions& options) {
  if (!wants_chain(options)) return 0;
  double seconds = size.rows * (3e-4 + 2e-9 * size.d_model * size.d_head * size.d_head);
  if (options.wants("phase_rotation") && options.draws > 0)
    seconds +=
        2.7e-8 * static_cast<double>(std::max(options.draws, WaveChainOptions().rotations)) * std::pow(size.d_head, 3);
  return seconds;
}

/// k-means for every number of clusters; of more vectors it takes more rounds to come to rest.
double cluster_cost(double vectors, Index window, const JobOptions& options) {
  const auto last = static_cast<double>(std::max(options.sweep_last, options.clusters));
  return 6e-8 * static_cast<double>(2 * window + 1) * 0.5 * last * last * std::pow(vectors, 1.15);
}

/// Every reading of a delay costs about the same; below so many documents there are no resamples.
double delay_cost(const Sizes& size, const JobOptions& options) {
  const bool few = size.documents < static_cast<double>(DelaySpectrumOptions().least_documents);
  const double resamples = few ? 0.0 : static_cast<double>(options.resamples);
  const double entries = size.rows * (0.5 * size.length + 1);
  return entries *
         (2.2e-7 * (6 + static_cast<double>(options.draws) + resamples) + 0.9e-9 * 0.63 * resamples * size.documents);
}

class Plan {
 public:
  Plan(const JobOptions& options, int threads) : options_(options), threads_(threads) {}
  void add(const char* stage, double seconds, bool parallel = true) {
    plan_.push_back({stage, seconds / (parallel ? threads_ : 1)});
  }
  void add_wanted(const char* stage, double seconds, bool parallel = true) {
    if (options_.wants(stage)) add(stage, seconds, parallel);
  }
  [[nodiscard]] std::vector<StageCost> taken() { return std::move(plan_); }

 private:
  const JobOptions& options_;
  int threads_;
  std::vector<StageCost> plan_;
};

/// What comes after the documents, of one kind of attention.
void add_analyses(Plan& plan, const Sizes& size, const Site& site, const JobOptions& options, double longest,
                  double all_documents) {
  const double squares = longest * size.d_model * size.d_model, waves = size.length * size.rows * size.d_head;
  plan.add_wanted("head_cluster", cluster_cost(size.rows * all_documents, options.window, options));
  if (site.kind != AttentionKind::cross) {
    plan.add_wanted("position_spectrum", 5e-8 * longest * size.d_model, false);
    plan.add_wanted("position_components", 6.5e-10 * squares, false);
    const auto draws = static_cast<double>(options.atlas_draws);
    plan.add_wanted("position_atlas",
                    size.rows * size.d_head * draws * (1.4e-8 * longest + 3.2e-9 * size.d_head * size.d_head));
  }
  if (!site.no_chain.empty()) return;
  plan.add_wanted("position_correlation", 2.5e-10 * squares * size.layers, false);
  plan.add_wanted("position_split", 8.4e-10 * squares * size.layers);
  if (!wants_chain(options)) return;
  plan.add("cross_covariance", 1e-9 * waves, false);
  plan.add_wanted("score_cluster", cluster_cost(size.rows * size.documents, options.score_window, options));
  plan.add_wanted("wave_spectra", 1e-9 * waves, false);
  plan.add_wanted("phase_rotation", delay_cost(size, options));
  plan.add_wanted("delay_spectrum", delay_cost(size, options));
}

}  // namespace

std::vector<double> document_costs(const Model& model, const DocumentPass& pass, const JobOptions& options) {
  std::vector<double> costs(pass.lengths().size(), 0.0);
  for (const Site& site : pass.sites()) {
    const Sizes size(model, site);
    for (std::size_t i = 0; i < costs.size(); ++i) {
      costs[i] += pass_cost(size, static_cast<double>(pass.lengths()[i]), options);
      if (site.no_chain.empty() && site.numbers[i] >= 0) costs[i] += chain_cost(size, options, site.numbers[i]);
    }
  }
  return costs;
}

std::vector<StageCost> job_stages(const Model& model, const DocumentPass& pass, const JobOptions& options,
                                  int threads) {
  Plan plan(options, threads);
  double preparation = 0;
  for (const Site& site : pass.sites())
    if (site.no_chain.empty()) preparation += preparation_cost(Sizes(model, site), options);
  plan.add("preparation", preparation);
  const std::vector<double> documents = document_costs(model, pass, options);
  plan.add("attention", std::accumulate(documents.begin(), documents.end(), 0.0));
  const auto longest = static_cast<double>(*std::max_element(pass.lengths().begin(), pass.lengths().end()));
  for (const Site& site : pass.sites())
    add_analyses(plan, Sizes(model, site), site, options, longest, static_cast<double>(documents.size()));
  return plan.taken();
}

}  // namespace headwave
