#include "reproduction.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "../../analysis/attention/measured_offset.h"
#include "../../analysis/statistics/published_measures.h"
#include "../../analysis/waves/cross_covariance.h"
#include "../../core/fields/fields.h"
#include "../../core/numbers/offset_peak.h"
#include "../inputs/intervention_text.h"

namespace headwave {

QuantityTable::QuantityTable(const std::string& model) {
  for (const Published& one : published_of(model)) published_[one.quantity] = one;
}

void QuantityTable::add(const std::string& name, const std::string& unit, double measured) {
  constexpr double nothing = not_defined;
  ReproducedQuantity quantity{name, unit, measured, "", "", nothing, nothing};
  if (const auto found = published_.find(name); found != published_.end()) {
    quantity.published = found->second.text;
    quantity.source = found->second.source;
    quantity.low = found->second.low;
    quantity.high = found->second.high;
  }
  quantities_.push_back(std::move(quantity));
}

std::vector<ReproducedQuantity> QuantityTable::taken() {
  return std::exchange(quantities_, {});
}

namespace {

constexpr double any = std::numeric_limits<double>::infinity();

bool has_sizes(const Model& model, Index layers, Index heads, Index d_model) {
  return model.stack.layers() == layers && model.stack.block.heads == heads && model.stack.d_model() == d_model;
}

}  // namespace

std::string published_model(const Model& model) {
  if (!has_sizes(model, 12, 12, 768)) return "";
  if (model.family == "roberta") return "roberta-base";
  return model.family == "gpt2" ? "gpt2" : "";
}

const std::vector<Published>& published_of(std::string_view model) {
  static const std::vector<Published> roberta{
      {"heads in one or two clusters", "almost every head's texts", 0.9, 1, "JP 3.1, figure 1"},
      {"offset of L7H8", "-1: sharp on the left neighbour", -1, -1, "JP figures 2 and 7"},
      {"offset of L1H2", "+1: sharp on the right neighbour", 1, 1, "JP 3.1, 3.4, figure 2"},
      {"strongest frequency of the positions", "peaks about 50 cycles per 512", 40, 63, "JP 3.2, figure 3"},
      {"highest peak of the positions", "periods of about 8 tokens or more: below 64", 1, 63, "EN 4.2"},
      {"contrast of the word sequence", "no peak", 0, 2, "JP 3.2, figure 3"},
      {"variance of the positions in 4 components", "50.51 %", 0.4951, 0.5151, "JP appendix B"},
      {"variance of the positions in 12 components", "92.23 %", 0.9173, 0.9273, "JP appendix B"},
      {"highly correlated components", "5 to 20", 5, 20, "EN, correlation by layer"},
      {"fall of the correlation with depth", "falls", 0, any, "EN, correlation by layer"},
      {"periodic columns of heads with an offset", "about 4 to 12", 4, 12, "JP 3.3, appendix B"},
      {"frequencies of columns 5 and 6 of L0H0", "one frequency: difference 0", 0, 1, "JP 3.3, figure 4"},
      {"contrast of queries in layer 0", "a peak about f = 50", 2, any, "JP 3.3, figure 5"},
      {"contrast of keys in layer 0", "a peak about f = 50", 2, any, "JP 3.3, figure 5"},
      {"contrast of states in layer 0", "no peak", 0, 2, "JP 3.3, figure 5"},
      {"decay of the contrast of queries", "decays with depth", 0, any, "JP 3.3, figure 5"},
      {"lag of column 5 of L0H0", "-2 or -3", -3, -2, "JP 3.5, figure 7"},
      {"lag of column 6 of L0H0", "-2 or -3", -3, -2, "JP 3.5, figure 7"},
      {"weighted sum of L0H0", "about -2", -3, -1, "JP 3.5, figure 7"},
      {"weighted sum of L7H8", "-1", -1, -1, "JP 3.5, figure 7"},
      {"phases of L0H0", "Delta from 1 to 3: t* from -3 to -1", -3, -1, "JP 3.4, figure 6"},
      {"phases of L1H2", "Delta = -1: t* = +1", 0.5, 1.5, "JP 3.4, figure 6"},
      {"weight of L7H8 at its offset, positions only", "no spike", 0, 0.5, "EN, what carries it"},
      {"weight of L7H8 at its offset, words only", "mostly flat", 0, 0.5, "EN, what carries it"},
      {"weight of L7H8 at its offset, words shuffled", "the spike stays", 0.5, any, "EN, what carries it"}};
  static const std::vector<Published> gpt2{
      {"energy of the positions below 10 cycles", "low frequencies only", 0.9, 1, "JP appendix A, figure 8"},
      {"mean layer of heads with an offset", "in low layers", 0, 5.5, "EN, GPT-2"}};
  static const std::vector<Published> none;
  if (model == "roberta-base") return roberta;
  return model == "gpt2" ? gpt2 : none;
}

namespace {

constexpr Index lags = 30;

}  // namespace

RunReadings::RunReadings(const Result& result) : result_(result) {
  for (const char* name : {"measured_offset/offset", "measured_offset/weight", "offset_trace/mean_weight"})
    (void)result.at(name);
  heads_ = result.at("measured_offset/offset").axis("head").size();
  // The first of the kinds of pairs: all.
  offset_ = rows_of("measured_offset/offset", 1).values.row(0).transpose();
  weight_ = rows_of("measured_offset/weight", 1).values.row(0).transpose();
}

FieldRows RunReadings::rows_of(const std::string& name, std::size_t leading) const {
  const Field* field = result_.find(name);
  if (field == nullptr || field->axes.size() < leading) return {};
  Index rows = 1;
  for (std::size_t axis = 0; axis < leading; ++axis) rows *= field->axes[axis].size();
  const std::vector<double>& values = field->doubles();
  return {Eigen::Map<const Matrix>(values.data(), rows, rows > 0 ? static_cast<Index>(values.size()) / rows : 0),
          field};
}

std::vector<HeadName> RunReadings::clearest(Index most) const {
  std::vector<HeadName> names;
  for (const Index row : clearest_heads(offset_, weight_, most)) names.push_back({row / heads_, row % heads_});
  return names;
}

double RunReadings::weight_at(const HeadName& head, double offset) const {
  const Index middle = result_.at("offset_trace/mean_weight").axis("offset").size() / 2;
  const FieldRows rows = rows_of("offset_trace/mean_weight", 3);
  return std::isnan(offset) ? not_defined : rows.values(row(head), middle + std::lround(offset));
}

double RunReadings::peak_lag(const std::string& name, std::size_t leading, Index row) const {
  const FieldRows rows = rows_of(name, leading);
  if (row < 0 || row >= rows.values.rows()) return not_defined;
  return peak_offset(rows.values.row(row).transpose(), lags);
}

double RunReadings::number(const std::string& name, Index row) const {
  const FieldRows rows = rows_of(name, 2);
  return row < 0 || row >= rows.values.rows() || rows.values.cols() == 0 ? not_defined : rows.values(row, 0);
}

namespace {

/// The middle of one head's row, |t| <= reach, of a Field whose last three axes are layer, head and offset;
/// of the first entry of any axis before them.
std::vector<double> row_of(const Field* field, const HeadName& head, Index reach) {
  std::vector<double> row(static_cast<std::size_t>(2 * reach + 1), not_defined);
  if (field == nullptr) return row;
  const std::size_t axes = field->axes.size();
  const Index heads = field->axes[axes - 2].size(), width = field->axes[axes - 1].size();
  if (head.layer >= field->axes[axes - 3].size() || head.head >= heads) return row;
  const Index first = (head.layer * heads + head.head) * width, middle = width / 2;
  for (Index t = -std::min(reach, middle); t <= std::min(reach, middle); ++t)
    row[static_cast<std::size_t>(t + reach)] = field->doubles()[static_cast<std::size_t>(first + middle + t)];
  return row;
}

}  // namespace

CarriedWaves::CarriedWaves(std::vector<HeadName> heads, Index reach) : heads_(std::move(heads)), reach_(reach) {}

void CarriedWaves::add(const std::string& condition, const Result& result) {
  conditions_.push_back(condition);
  for (const HeadName& head : heads_) {
    const std::vector<double> weight = row_of(result.find("offset_trace/mean_weight"), head, reach_);
    const std::vector<double> weighted = row_of(result.find("cross_covariance/weighted_centred"), head, reach_);
    weight_.insert(weight_.end(), weight.begin(), weight.end());
    weighted_.insert(weighted_.end(), weighted.begin(), weighted.end());
  }
}

std::vector<Field> CarriedWaves::fields() const {
  if (heads_.empty() || conditions_.empty()) return {};
  const std::vector<Axis> axes{{"condition", "1", "what the model was given", conditions_},
                               head_name_axis("carried_head", "head", heads_),
                               offset_axis("offset", -reach_, reach_)};
  Fields fields("carried_waves");
  fields.add("mean_weight", axes, "1", "mean attention weight at an offset", weight_);
  fields.add("weighted", axes, "1", "unscaled scores without their row means, summed along a diagonal", weighted_);
  fields.note_all("undefined", "no pair at that offset, or no redefined queries and keys");
  return fields.taken();
}

namespace {

/// What a spectrum of positions comes to.
struct PositionBand {
  double strongest = not_defined, highest = not_defined;  // cycles/T
  double slow = not_defined;                              // share below 10 cycles/T
};

PositionBand band_of_table(const RunReadings& run) {
  PositionBand band;
  const FieldRows peaks = run.rows_of("position_spectrum/peak_frequency", 0);
  if (peaks.values.size() > 0) {
    band.strongest = peaks.values(0, 0);
    band.highest = peaks.values.maxCoeff();
  }
  const FieldRows energy = run.rows_of("position_spectrum/cumulative_energy", 0);
  if (energy.values.cols() > 9) band.slow = energy.values(0, 9);
  return band;
}

/// Of rotary positions: their frequencies, as much as layers use them.
PositionBand band_of_rotation(const RunReadings& run) {
  const Vector cycles = run.rows_of("rotary_wave/cycles", 1).values.col(0);
  const Vector use = run.rows_of("rotary_wave/layer_use", 1).values.colwise().mean();
  PositionBand band;
  if (use.size() == 0 || !are_finite(use)) return band;
  Index most = 0;
  use.maxCoeff(&most);
  band.strongest = cycles[most];
  band.slow = (cycles.array() < 10).select(use, 0.0).sum();
  return band;
}

void add_positions(QuantityTable& table, const RunReadings& run) {
  const PositionBand band =
      run.rows_of("rotary_wave/cycles", 1).field != nullptr ? band_of_rotation(run) : band_of_table(run);
  table.add("strongest frequency of the positions", "cycles/T", band.strongest);
  table.add("highest peak of the positions", "cycles/T", band.highest);
  table.add("energy of the positions below 10 cycles", "ratio", band.slow);
  const FieldRows words = run.rows_of("position_spectrum/word_mean", 0);
  table.add("contrast of the word sequence", "ratio",
            words.values.size() > 0 ? band_contrast(words.values.row(0).transpose()) : not_defined);
  const FieldRows shares = run.rows_of("position_components/cumulative_share", 0);
  for (const Index components : {4, 12})
    table.add(fmt::format("variance of the positions in {} components", components), "ratio",
              shares.values.cols() >= components ? shares.values(0, components - 1) : not_defined);
}

void add_correlation(QuantityTable& table, const RunReadings& run) {
  // Rows (layer), columns (truncation, component); the last truncation is the largest.
  const FieldRows correlation = run.rows_of("position_correlation/correlation", 1);
  double high = not_defined, fall = not_defined;
  if (correlation.field != nullptr && correlation.field->axes.size() == 3) {
    const Index components = correlation.field->axes[2].size();
    const CorrelationByDepth depth = correlation_by_depth(correlation.values.rightCols(components));
    high = static_cast<double>(depth.high);
    fall = depth.fall;
  }
  table.add("highly correlated components", "count", high);
  table.add("fall of the correlation with depth", "ratio", fall);
}

/// Contrast of one layer of wave_spectra/...
double contrast_of(const RunReadings& run, const char* name, bool last_layer) {
  const FieldRows rows = run.rows_of(name, 1);
  if (rows.values.rows() == 0) return not_defined;
  return band_contrast(rows.values.row(last_layer ? rows.values.rows() - 1 : 0).transpose());
}

void add_states(QuantityTable& table, const RunReadings& run) {
  add_correlation(table, run);
  const FieldRows periodic = run.rows_of("periodic_columns/query", 2);
  table.add("periodic columns of heads with an offset", "count",
            periodic.values.rows() > 0 ? mean_with_offset(run.offsets(), periodic.values.col(0)) : not_defined);
  table.add("contrast of queries in layer 0", "ratio", contrast_of(run, "wave_spectra/query", false));
  table.add("contrast of keys in layer 0", "ratio", contrast_of(run, "wave_spectra/key", false));
  table.add("contrast of states in layer 0", "ratio", contrast_of(run, "wave_spectra/state", false));
  table.add("decay of the contrast of queries", "ratio",
            contrast_of(run, "wave_spectra/query", false) - contrast_of(run, "wave_spectra/query", true));
}

void add_named_heads(QuantityTable& table, const RunReadings& run) {
  const HeadName weak{0, 0}, right{1, 2}, left{7, 8};
  table.add("offset of L7H8", "token", run.offset(left));
  table.add("offset of L1H2", "token", run.offset(right));
  const FieldRows frequency = run.rows_of("periodic_columns/peak_frequency", 3);
  const Index components = frequency.field == nullptr ? 0 : frequency.field->axes[2].size();
  const Index fifth = run.row(weak) * components + 4;
  table.add("frequencies of columns 5 and 6 of L0H0", "cycles/T",
            components < 6 ? not_defined : std::abs(frequency.values(fifth, 0) - frequency.values(fifth + 1, 0)));
  for (const Index column : {5, 6})
    table.add(fmt::format("lag of column {} of L0H0", column), "token",
              run.peak_lag("cross_covariance/correlation", 3, fifth + column - 5));
  table.add("weighted sum of L0H0", "token", run.peak_lag("cross_covariance/weighted", 2, run.row(weak)));
  table.add("weighted sum of L7H8", "token", run.peak_lag("cross_covariance/weighted", 2, run.row(left)));
  table.add("phases of L0H0", "token", run.number("phase_delay/estimate", run.row(weak)));
  table.add("phases of L1H2", "token", run.number("phase_delay/estimate", run.row(right)));
}

/// Of heads with an offset that positions predict: the atlas', or the rotary wave's.
double mean_layer_with_offset(const RunReadings& run) {
  const FieldRows wave = run.rows_of("rotary_wave/predicted_offset", 2);
  const FieldRows offsets = wave.field != nullptr ? wave : run.rows_of("position_atlas/predicted_offset", 2);
  if (offsets.values.rows() == 0) return not_defined;
  Vector layer(offsets.values.rows());
  for (Index row = 0; row < layer.size(); ++row) layer[row] = static_cast<double>(row / run.heads());
  return mean_with_offset(offsets.values.col(0), layer);
}

}  // namespace

void add_paper_quantities(QuantityTable& table, const RunReadings& run, bool named) {
  table.add("heads in one or two clusters", "ratio", concentrated_heads(run.rows_of("head_cluster/share", 2).values));
  add_positions(table, run);
  add_states(table, run);
  if (named) add_named_heads(table, run);
  table.add("mean layer of heads with an offset", "layer", mean_layer_with_offset(run));
}

namespace {

Result run_with(const std::function<JobInput()>& open, const std::string& intervention, JobOptions options,
                const ProgressCallback& progress) {
  JobInput input = open();
  options.only.clear();
  options.everything = intervention.empty();
  if (!intervention.empty()) {
    intervene(input, {intervention}, {options.seed, 1});
    for (const auto& kind : {measured_offset_analysis, cross_covariance_analysis})
      options.only.emplace_back(kind().name);
  }
  Result result = run_job(input.model, *input.source, options, progress);
  result.provenance.insert(input.provenance.begin(), input.provenance.end());
  return result;
}

}  // namespace

Reproduction reproduction(const std::function<JobInput()>& open, const JobOptions& options,
                          const ProgressCallback& progress) {
  Reproduction found;
  bool positions = false;
  {
    const JobInput input = open();
    if (input.model.decoder)
      throw ShapeError(
          fmt::format("a {} is an encoder-decoder, with three kinds of attention; the paper's list is "
                      "about one",
                      input.model.family));
    found.model = published_model(input.model);
    positions = !input.model.stack.embedding.positions.empty();
  }
  found.result = run_with(open, "", options, progress);
  const RunReadings run(found.result);
  QuantityTable table(found.model);
  const bool named = found.model == "roberta-base";
  add_paper_quantities(table, run, named);

  const std::vector<HeadName> heads = named ? std::vector<HeadName>{{7, 8}, {1, 2}, {0, 0}, {6, 4}} : run.clearest(4);
  const std::string name = heads.empty() ? "the clearest head" : head_name(heads[0].layer, heads[0].head);
  const double offset = heads.empty() ? not_defined : run.offset(heads[0]);
  if (!heads.empty() && !named) table.add("offset of " + name + ", the clearest head", "token", offset);
  CarriedWaves carried(heads, 30);
  carried.add("as it is", found.result);
  const std::vector<std::pair<std::string, std::string>> conditions{
      {"positions-only", "positions only"}, {"words-only", "words only"}, {"shuffled-words", "words shuffled"}};
  for (const auto& [intervention, words] : conditions) {
    double share = not_defined;
    if (!heads.empty() && (positions || intervention != "positions-only")) {
      const Result changed = run_with(open, intervention, options, with_prefix(progress, words));
      carried.add(words, changed);
      share = RunReadings(changed).weight_at(heads[0], offset) / run.weight_at(heads[0], offset);
    }
    table.add(fmt::format("weight of {} at its offset, {}", name, words), "ratio", share);
  }
  append(found.result.fields, carried.fields());
  found.quantities = table.taken();
  append(found.result.fields, describe(found));
  found.result.provenance["published_model"] = found.model;
  return found;
}

std::vector<Field> describe(const Reproduction& reproduction) {
  using One = ReproducedQuantity;
  const auto every = [&](auto member) { return reproduction.quantities | std::views::transform(member); };
  std::vector<std::string> names;
  for (const One& one : reproduction.quantities) names.push_back(one.name);
  const Axis quantity{"quantity", "1", "what the paper reports", names};
  Fields fields("reproduction");
  fields.add("measured", {quantity}, "1", "measured, in the unit of reproduction/unit", every(&One::measured))
      .undefined("the model or the documents do not give it");
  fields.add("low", {quantity}, "1", "least value that agrees with what is published", every(&One::low))
      .undefined("nothing is published of this model");
  fields.add("high", {quantity}, "1", "largest value that agrees", every(&One::high))
      .undefined("nothing is published of this model");
  fields.add("published", {quantity}, "1", "what is published", every(&One::published));
  fields.add("unit", {quantity}, "1", "unit of measured, low and high", every(&One::unit));
  fields.add("source", {quantity}, "1", "where it is published", every(&One::source));
  return fields.taken();
}

}  // namespace headwave
