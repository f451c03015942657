#include "site_fields.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "../../analysis/attention/head_clusters.h"
#include "../../analysis/attention/measured_offset.h"
#include "../../analysis/positions/position_components.h"
#include "../../analysis/positions/position_correlation.h"
#include "../../analysis/positions/position_spectrum.h"
#include "../../analysis/positions/position_split.h"
#include "../../analysis/predictions/offset_agreement.h"
#include "../../analysis/predictions/position_atlas.h"
#include "../../core/model/head_weights.h"
#include "../../core/model/model_pass.h"
#include "stage_report.h"

namespace headwave {

namespace {

HeadClusters clusters_of(const OffsetTraces& traces, const JobOptions& options, int threads) {
  const Index window = std::min(options.window, traces.reach);
  const ComparableTraces vectors = comparable_traces(traces, window);
  HeadClusterOptions cluster_options;
  cluster_options.clusters = options.clusters;
  cluster_options.sweep_last = options.sweep_last;
  cluster_options.seed = options.seed;
  cluster_options.threads = threads;
  return head_clusters({vectors.values, traces.grid.layers, traces.grid.heads, vectors.normalisation}, cluster_options);
}

/// Kinds of heads by their scores before mask and softmax, without row means and as scaled: what the softmax sees.
HeadClusters score_clusters_of(const CrossCovariances& covariances, const JobOptions& options, int threads) {
  const Index window = std::min(options.score_window, covariances.reach);
  const Index rows = covariances.grid.rows();
  Matrix vectors(static_cast<Index>(covariances.weighted_by_document.size()) * rows, 2 * window + 1);
  Index first = 0;
  for (const Matrix& weighted : covariances.weighted_by_document) {
    vectors.middleRows(first, rows) =
        covariances.score_scale * weighted.middleCols(covariances.reach - window, 2 * window + 1);
    first += rows;
  }
  vectors = vectors.unaryExpr([](double value) { return std::isnan(value) ? 0.0 : value; });
  HeadClusterOptions cluster_options;
  cluster_options.clusters = options.score_clusters;
  cluster_options.sweep_last = options.sweep_last;
  cluster_options.seed = options.seed;
  cluster_options.threads = threads;
  return head_clusters({vectors, covariances.grid.layers, covariances.grid.heads,
                        "none: scaled scores without row means, summed along a diagonal"},
                       cluster_options);
}

/// What positions alone predict over as many tokens as the longest document has.
PositionAtlas atlas_of(const Stack& stack, Index length, const JobOptions& options, int threads) {
  PositionAtlasOptions atlas;
  atlas.length = std::min(length, stack.embedding.positions.rows());
  atlas.reach = options.reach;
  atlas.null.draws = options.atlas_draws;
  atlas.null.level = options.false_share;
  atlas.null.seed = options.seed;
  atlas.threads = threads;
  return position_atlas(stack, atlas);
}

/// Rows of the position table that tokens 0 .. length - 1 read; no rows where there is no table.
Matrix positions_of(const Stack& stack, Index length) {
  const MatrixView32& table = stack.embedding.positions;
  return table.topRows(std::min(length, table.rows())).cast<double>();
}

PositionSplit split_of(const Stack& stack, const Passed& passed, int threads) {
  SplitHeads heads;
  heads.heads = stack.block.heads;
  heads.score_scale = stack.block.score_scale;
  heads.weights = [&](Index layer, Index head) {
    return head_weights(stack.blocks[static_cast<std::size_t>(layer)].self, stack.block, head);
  };
  PositionSplitOptions options;
  options.threads = threads;
  return position_split(passed.moments, passed.site.grid.layers, heads, options);
}

/// Of the rows that the documents' tokens read, beside the first document's words; of the whole table where there are
/// none.
PositionSpectrum spectrum_of(const Model& model, const Document& document, AttentionKind kind) {
  const Matrix positions = model.stack_of(kind).embedding.positions.cast<double>();
  if (document.ids.empty() || positions.size() == 0) return position_spectrum(positions);
  const Matrix words = word_sequence(model, document, kind).cast<double>();
  return position_spectrum(positions.topRows(words.rows()), words);
}

template <class Described>
void append(std::vector<Field>& fields, const Described& described) {
  for (Field& field : describe(described)) fields.push_back(std::move(field));
}

/// Everything found of one kind of attention, as Fields, one analysis after the other.
class SiteFindings {
 public:
  SiteFindings(const Model& model, const Document& first, const Passed& passed, const JobOptions& options, int threads,
               StageReport& report)
      : stack_(model.stack_of(passed.site.kind)),
        model_(model),
        first_(first),
        passed_(passed),
        options_(options),
        threads_(threads),
        report_(report) {}

  [[nodiscard]] std::vector<Field> fields() {
    begin("measured_offset");
    append(fields_, passed_.traces);
    measured_ = measured_offsets(passed_.traces, {options_.level});
    append(fields_, *measured_);
    if (begins("head_cluster")) append(fields_, clusters_of(passed_.traces, options_, threads_));
    if (options_.wants("attention_map")) append(fields_, passed_.maps);
    if (passed_.types) append(fields_, *passed_.types);
    if (passed_.values) append(fields_, *passed_.values);
    if (passed_.site.kind != AttentionKind::cross) add_positions();
    add_states();
    add_chain();
    if (options_.wants("offset_agreement") && (atlas_ || phases_ || scores_))
      append(fields_, offset_agreement(*measured_, atlas_ ? &*atlas_ : nullptr, phases_ ? &*phases_ : nullptr,
                                       scores_ ? &*scores_ : nullptr));
    return std::move(fields_);
  }

 private:
  void add_positions() {
    if (begins("position_spectrum")) append(fields_, spectrum_of(model_, first_, passed_.site.kind));
    if (!first_.stored.empty() && stack_.embedding.positions.rows() == 0) return;
    if (begins("position_components"))
      append(fields_, position_components(positions_of(stack_, passed_.traces.length)));
    if (!options_.wants("position_atlas") || !first_.stored.empty()) return;
    begin("position_atlas");
    atlas_ = atlas_of(stack_, passed_.traces.length, options_, threads_);
    append(fields_, *atlas_);
    for (Field& field : position_term_fields(stack_, options_.reach)) fields_.push_back(std::move(field));
  }

  void add_states() {
    if (passed_.moments.empty()) return;
    const std::vector<Index>& layers = passed_.site.grid.layers;
    if (begins("position_correlation")) {
      PositionCorrelationOptions correlation;
      correlation.seed = options_.seed;
      append(fields_,
             position_correlation(passed_.moments, layers, positions_of(stack_, passed_.site.length), correlation));
    }
    if (begins("position_split")) append(fields_, split_of(stack_, passed_, threads_));
  }

  void add_chain() {
    if (!passed_.chain) return;
    const WaveChain& chain = *passed_.chain;
    begin("cross_covariance");
    std::vector<Field> found = describe(passed_.heads, passed_.site.grid);
    if (passed_.chain_options.covariances) append(found, chain.covariances);
    if (begins("score_cluster"))
      for (Field& field : describe(score_clusters_of(chain.covariances, options_, threads_), "score_cluster"))
        found.push_back(std::move(field));
    if (passed_.chain_options.spectra) {
      begin("wave_spectra");
      append(found, chain.spectra);
      for (Field& field : describe(chain.shown, passed_.site.grid)) found.push_back(std::move(field));
    }
    if (passed_.chain_options.phases) {
      begin("phase_rotation");
      append(found, chain.phase_spectra);
      phases_ = delay_of(chain.phases, "phase_delay", "the rotation's phases on the queries");
      append(found, *phases_);
    }
    if (passed_.chain_options.delays) {
      begin("delay_spectrum");
      scores_ = delay_of(chain.scores, "delay_spectrum", "queries and keys");
      append(found, *scores_);
    }
    // What a rotary or additive term does to queries, keys and scores comes after the chain.
    if (stack_.position_term != nullptr)
      for (Field& field : found)
        field.attributes["position_term"] =
            fmt::format("left out: queries and keys before {}", stack_.position_term->name());
    for (Field& field : found) fields_.push_back(std::move(field));
  }

  [[nodiscard]] DelaySpectrum delay_of(const CrossSpectra& spectra, const char* name, const char* about) const {
    DelaySpectrumOptions delay;
    delay.delay.reach = options_.reach;
    delay.resamples = options_.resamples;
    delay.level = options_.false_share;
    delay.seed = options_.seed;
    delay.threads = threads_;
    return delay_spectrum(spectra, name, about, delay);
  }

  void begin(const char* analysis) { report_.begin(analysis); }
  /// Whether an analysis is asked for; its stage begins then.
  bool begins(const char* analysis) {
    if (!options_.wants(analysis)) return false;
    begin(analysis);
    return true;
  }

  const Stack& stack_;
  const Model& model_;
  const Document& first_;
  const Passed& passed_;
  const JobOptions& options_;
  int threads_;
  StageReport& report_;
  std::vector<Field> fields_;
  std::optional<MeasuredOffsets> measured_;
  std::optional<PositionAtlas> atlas_;
  std::optional<DelaySpectrum> phases_, scores_;
};

}  // namespace

std::vector<Field> site_fields(const Model& model, const Document& first, const Passed& passed,
                               const JobOptions& options, int threads, StageReport& report) {
  return SiteFindings(model, first, passed, options, threads, report).fields();
}

}  // namespace headwave
