#include "reproduction.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "../../core/fields/fields.h"
#include "../../core/fields/head_name.h"
#include "../../core/numbers/offset_peak.h"
#include "../inputs/intervention_text.h"
#include "../run/jobs_progress.h"
#include "carried_waves.h"
#include "published.h"

namespace headwave {

namespace {

constexpr double not_defined = std::numeric_limits<double>::quiet_NaN();

/// A Field's numbers by (row of the leading axes, column of the last one).
struct Rows {
  Matrix values;
  const Field* field = nullptr;
};

/// @param leading  how many axes the rows run over; missing Fields have no rows
Rows rows_of(const Result& result, const std::string& name, std::size_t leading) {
  const Field* field = result.find(name);
  if (field == nullptr || field->axes.size() < leading) return {};
  Index rows = 1;
  for (std::size_t axis = 0; axis < leading; ++axis) rows *= field->axes[axis].size();
  const std::vector<double>& values = field->doubles();
  return {Eigen::Map<const Matrix>(values.data(), rows, rows > 0 ? static_cast<Index>(values.size()) / rows : 0),
          field};
}

double share_where(const Vector& values, const std::function<bool(double)>& holds) {
  double count = 0;
  for (const double value : values) count += holds(value) ? 1 : 0;
  return values.size() > 0 ? count / static_cast<double>(values.size()) : not_defined;
}

double median(Vector values) {
  if (values.size() == 0) return not_defined;
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

/// Largest amplitude about the published band, 40 to 60 cycles per 512 tokens, over the median of all at f >= 1.
double contrast(const Vector& amplitude) {
  const Index last = amplitude.size() - 1;
  const Index first = std::max<Index>(1, last * 40 / 256), end = std::min(last, last * 60 / 256);
  if (end < first) return not_defined;
  return amplitude.segment(first, end - first + 1).maxCoeff() / median(amplitude.tail(last));
}

/// What is read off one run's result, head by head.
class Run {
 public:
  explicit Run(const Result& result) : result_(result) {
    offset_ = rows_of(result, "measured_offset/offset", 1);
    weight_ = rows_of(result, "measured_offset/weight", 1);
    heads_ = result.at("measured_offset/offset").axis("head").size();
  }

  [[nodiscard]] Index row(const HeadName& head) const { return head.layer * heads_ + head.head; }
  [[nodiscard]] double offset(const HeadName& head) const { return offset_.values(0, row(head)); }

  /// The heads with the largest weights at an offset of their own, the largest first.
  [[nodiscard]] std::vector<HeadName> clearest(std::size_t most) const {
    std::vector<Index> rows;
    for (Index row = 0; row < offset_.values.cols(); ++row)
      if (!std::isnan(offset_.values(0, row))) rows.push_back(row);
    std::stable_sort(rows.begin(), rows.end(),
                     [&](Index a, Index b) { return weight_.values(0, a) > weight_.values(0, b); });
    rows.resize(std::min(rows.size(), most));
    std::vector<HeadName> names;
    for (const Index row : rows) names.push_back({row / heads_, row % heads_});
    return names;
  }

  /// Mean attention weight of a head at an offset, over all pairs.
  [[nodiscard]] double weight_at(const HeadName& head, double offset) const {
    const Field& weight = result_.at("offset_trace/mean_weight");
    const Rows rows = rows_of(result_, "offset_trace/mean_weight", 3);
    const Index middle = weight.axis("offset").size() / 2;
    return std::isnan(offset) ? not_defined : rows.values(row(head), middle + std::lround(offset));
  }

  /// Lag of the largest value of one row of a Field whose last axis is `lag`, less than `reach` away.
  [[nodiscard]] double peak_lag(const std::string& name, std::size_t leading, Index at, Index reach) const {
    const Rows rows = rows_of(result_, name, leading);
    if (at < 0 || at >= rows.values.rows()) return not_defined;
    const Index middle = rows.values.cols() / 2, near = std::min(reach, middle);
    const Vector window = rows.values.row(at).segment(middle - near, 2 * near + 1).transpose();
    if (!window.allFinite()) return not_defined;
    const auto peak = offset_peak(window);
    return peak && !peak->at_edge ? static_cast<double>(peak->offset) : not_defined;
  }

  [[nodiscard]] double number(const std::string& name, Index row, Index column = 0) const {
    const Rows rows = rows_of(result_, name, 2);
    if (row < 0 || row >= rows.values.rows() || column >= rows.values.cols()) return not_defined;
    return rows.values(row, column);
  }

  [[nodiscard]] const Result& result() const { return result_; }
  [[nodiscard]] Index heads() const { return heads_; }
  [[nodiscard]] Vector offsets() const { return offset_.values.row(0).transpose(); }

 private:
  const Result& result_;
  Rows offset_, weight_;
  Index heads_ = 0;
};

/// Adds quantities in the order of the paper's argument.
class Table {
 public:
  explicit Table(const std::string& model) {
    for (const Published& one : published_of(model)) published_[one.quantity] = one;
  }
  void add(const std::string& name, const std::string& unit, double measured) {
    ReproducedQuantity quantity{name, unit, measured, "", "", not_defined, not_defined};
    if (const auto found = published_.find(name); found != published_.end()) {
      quantity.published = found->second.text;
      quantity.source = found->second.source;
      quantity.low = found->second.low;
      quantity.high = found->second.high;
    }
    quantities_.push_back(std::move(quantity));
  }
  [[nodiscard]] std::vector<ReproducedQuantity> taken() { return std::move(quantities_); }

 private:
  std::map<std::string, Published> published_;
  std::vector<ReproducedQuantity> quantities_;
};

double in_few_clusters(const Run& run) {
  const Rows shares = rows_of(run.result(), "head_cluster/share", 2);
  Vector clusters(shares.values.rows());
  for (Index row = 0; row < clusters.size(); ++row)
    clusters[row] = static_cast<double>((shares.values.row(row).array() > 0).count());
  return share_where(clusters, [](double count) { return count <= 2; });
}

void add_positions(Table& table, const Run& run) {
  const Rows peaks = rows_of(run.result(), "position_spectrum/peak_frequency", 0);
  const bool any = peaks.values.size() > 0;
  table.add("strongest frequency of the positions", "cycles/T", any ? peaks.values(0, 0) : not_defined);
  table.add("highest peak of the positions", "cycles/T", any ? peaks.values.maxCoeff() : not_defined);
  const Rows energy = rows_of(run.result(), "position_spectrum/cumulative_energy", 0);
  table.add("energy of the positions below 10 cycles", "ratio",
            energy.values.cols() > 9 ? energy.values(0, 9) : not_defined);
  const Rows words = rows_of(run.result(), "position_spectrum/word_mean", 0);
  table.add("contrast of the word sequence", "ratio",
            words.values.size() > 0 ? contrast(words.values.row(0).transpose()) : not_defined);
  const Rows shares = rows_of(run.result(), "position_components/cumulative_share", 0);
  for (const Index components : {4, 12})
    table.add(fmt::format("variance of the positions in {} components", components), "ratio",
              shares.values.cols() >= components ? shares.values(0, components - 1) : not_defined);
}

void add_states(Table& table, const Run& run) {
  // Rows (layer), columns (truncation, component); the last truncation is the largest.
  const Rows correlation = rows_of(run.result(), "position_correlation/correlation", 1);
  double high = not_defined, fall = not_defined;
  if (correlation.field != nullptr && correlation.field->axes.size() == 3) {
    const Index components = correlation.field->axes[2].size();
    const Matrix last = correlation.values.rightCols(components);
    high = static_cast<double>((last.row(0).array() > 0.9).count());
    fall = last.row(0).mean() - last.row(last.rows() - 1).mean();
  }
  table.add("highly correlated components", "count", high);
  table.add("fall of the correlation with depth", "ratio", fall);
  const Rows periodic = rows_of(run.result(), "periodic_columns/query", 2);
  double sum = 0, count = 0;
  const Vector offsets = run.offsets();
  for (Index row = 0; row < periodic.values.rows(); ++row)
    if (!std::isnan(offsets[row])) {
      sum += periodic.values(row, 0);
      count += 1;
    }
  table.add("periodic columns of positional heads", "count", count > 0 ? sum / count : not_defined);
  const auto amplitude = [&](const char* name, Index layer) {
    const Rows rows = rows_of(run.result(), name, 1);
    if (rows.values.rows() == 0) return not_defined;
    return contrast(rows.values.row(layer < 0 ? rows.values.rows() - 1 : layer).transpose());
  };
  table.add("contrast of queries in layer 0", "ratio", amplitude("wave_spectra/query", 0));
  table.add("contrast of keys in layer 0", "ratio", amplitude("wave_spectra/key", 0));
  table.add("contrast of states in layer 0", "ratio", amplitude("wave_spectra/state", 0));
  table.add("decay of the contrast of queries", "ratio",
            amplitude("wave_spectra/query", 0) - amplitude("wave_spectra/query", -1));
}

void add_named_heads(Table& table, const Run& run) {
  const HeadName weak{0, 0}, right{1, 2}, left{7, 8};
  table.add("offset of L7H8", "token", run.offset(left));
  table.add("offset of L1H2", "token", run.offset(right));
  const Rows frequency = rows_of(run.result(), "periodic_columns/peak_frequency", 3);
  const Index components = frequency.field == nullptr ? 0 : frequency.field->axes[2].size();
  const Index fifth = run.row(weak) * components + 4;
  table.add("frequencies of columns 5 and 6 of L0H0", "cycles/T",
            components < 6 ? not_defined : std::abs(frequency.values(fifth, 0) - frequency.values(fifth + 1, 0)));
  for (const Index column : {5, 6})
    table.add(fmt::format("lag of column {} of L0H0", column), "token",
              run.peak_lag("cross_covariance/correlation", 3, fifth + column - 5, 30));
  table.add("weighted sum of L0H0", "token", run.peak_lag("cross_covariance/weighted", 2, run.row(weak), 30));
  table.add("weighted sum of L7H8", "token", run.peak_lag("cross_covariance/weighted", 2, run.row(left), 30));
  table.add("phases of L0H0", "token", run.number("phase_delay/estimate", run.row(weak)));
  table.add("phases of L1H2", "token", run.number("phase_delay/estimate", run.row(right)));
}

double mean_layer_of_positional(const Run& run) {
  const Rows offsets = rows_of(run.result(), "position_atlas/offset", 2);
  double sum = 0, count = 0;
  for (Index row = 0; row < offsets.values.rows(); ++row)
    if (!std::isnan(offsets.values(row, 0))) {
      sum += static_cast<double>(row / run.heads());
      count += 1;
    }
  return count > 0 ? sum / count : not_defined;
}

constexpr std::array<const char*, 2> changed_analyses{"measured_offset", "cross_covariance"};

JobsProgress jobs_progress(const JobInput& input, JobOptions options, const ProgressCallback& progress) {
  if (!progress) return {{}, 0, 0, 0};
  const double whole = job_cost(input.model, *input.source, options);
  options.only = {changed_analyses.begin(), changed_analyses.end()};
  return {progress, whole, job_cost(input.model, *input.source, options), 3};
}

Result run_with(const std::function<JobInput()>& open, const std::string& intervention, JobOptions options,
                const ProgressCallback& progress) {
  JobInput input = open();
  if (!intervention.empty()) {
    intervene(input, {intervention}, {options.seed, 1});
    options.only = {changed_analyses.begin(), changed_analyses.end()};
  }
  Result result = run_job(input.model, *input.source, options, progress);
  result.provenance.insert(input.provenance.begin(), input.provenance.end());
  return result;
}

}  // namespace

Reproduction reproduction(const std::function<JobInput()>& open, const JobOptions& options,
                          const ProgressCallback& progress) {
  Reproduction found;
  std::optional<JobsProgress> jobs;
  bool positions = false;
  {
    const JobInput input = open();
    if (input.model.decoder)
      throw ShapeError(
          fmt::format("a {} is an encoder-decoder, with three kinds of attention; the paper's list is "
                      "about one",
                      input.model.family));
    found.model = published_model(input.model);
    jobs.emplace(jobs_progress(input, options, progress));
    positions = !input.model.stack.embedding.positions.empty() || input.model.stack.position_term != nullptr;
  }
  found.result = run_with(open, "", options, jobs->of(""));
  const Run run(found.result);
  Table table(found.model);
  table.add("heads in one or two clusters", "ratio", in_few_clusters(run));
  add_positions(table, run);
  add_states(table, run);
  const bool named = found.model == "roberta-base";
  if (named) add_named_heads(table, run);
  table.add("mean layer of positional heads", "layer", mean_layer_of_positional(run));

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
    jobs->next();
    if (!heads.empty() && (positions || intervention != "positions-only")) {
      const Result changed = run_with(open, intervention, options, jobs->of(words));
      carried.add(words, changed);
      share = Run(changed).weight_at(heads[0], offset) / run.weight_at(heads[0], offset);
    }
    table.add(fmt::format("weight of {} at its offset, {}", name, words), "ratio", share);
  }
  for (Field& field : carried.fields()) found.result.fields.push_back(std::move(field));
  found.quantities = table.taken();
  for (Field& field : describe(found)) found.result.fields.push_back(std::move(field));
  found.result.provenance["published_model"] = found.model;
  return found;
}

std::vector<Field> describe(const Reproduction& reproduction) {
  using One = ReproducedQuantity;
  const auto all = [&](auto member) { return reproduction.quantities | std::views::transform(member); };
  std::vector<std::string> names;
  for (const One& one : reproduction.quantities) names.push_back(one.name);
  const Axis quantity{"quantity", "1", "what the paper reports", names};
  Fields fields("reproduction");
  fields.add("measured", {quantity}, "1", "measured, in the unit of reproduction/unit", all(&One::measured))
      .undefined("the model or the documents do not give it");
  fields.add("low", {quantity}, "1", "least value that agrees with what is published", all(&One::low))
      .undefined("nothing is published of this model");
  fields.add("high", {quantity}, "1", "largest value that agrees", all(&One::high))
      .undefined("nothing is published of this model");
  fields.add("published", {quantity}, "1", "what is published", all(&One::published));
  fields.add("unit", {quantity}, "1", "unit of measured, low and high", all(&One::unit));
  fields.add("source", {quantity}, "1", "where it is published", all(&One::source));
  return fields.taken();
}

}  // namespace headwave
