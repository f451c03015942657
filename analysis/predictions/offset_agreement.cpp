#include "offset_agreement.h"

#include <cmath>
#include <utility>

#include "../../core/fields/fields.h"
#include "../waves/delay_spectrum.h"
#include "../waves/phase_delay.h"

namespace headwave {

namespace {

/// A prediction, the interval around it, and the weight predicted there.
struct Prediction {
  double offset, lower, upper, weight;
};

bool is_there(const OffsetPredictions& predictions, OffsetSource source) {
  switch (source) {
    case OffsetSource::position:
      return predictions.account != nullptr;
    case OffsetSource::weights:
      return predictions.weights != nullptr && predictions.weights->undefined.empty();
    case OffsetSource::phases:
      return predictions.phases != nullptr || predictions.wave != nullptr;
    default:
      return predictions.scores != nullptr;
  }
}

/// Within its interval, where it has one.
Prediction prediction_within(double offset, double lower, double upper, double weight) {
  const bool interval = !std::isnan(lower);
  return {offset, interval ? lower : offset, interval ? upper : offset, weight};
}

Prediction prediction_of(const DelaySpectrum& spectrum, Index row) {
  return prediction_within(spectrum.offset[row], spectrum.lower[row], spectrum.upper[row], not_defined);
}

Prediction prediction_of(const RotaryWave& wave, Index row) {
  return prediction_within(wave.offset[row], wave.lower[row], wave.upper[row], wave.weight[row]);
}

constexpr Prediction no_prediction{not_defined, not_defined, not_defined, not_defined};

/// The same head's row among those of a prediction; -1: it has none.
Index row_among(const HeadGrid& grid, const HeadGrid& measured, Index row) {
  const Index place = grid.place_of(measured.layers[static_cast<std::size_t>(row / measured.heads)]);
  return place < 0 ? place : place * grid.heads + row % measured.heads;
}

Prediction prediction_of(const PositionAtlas& atlas, const HeadGrid& measured, Index measured_row) {
  const Index row = row_among(atlas.grid, measured, measured_row);
  return row < 0 ? no_prediction
                 : Prediction{atlas.offset[row], atlas.offset[row], atlas.offset[row], atlas.weight[row]};
}

Prediction prediction_of(const HeadAccount& account, const HeadGrid& measured, Index measured_row) {
  constexpr auto position = static_cast<std::size_t>(AccountTerm::position);
  const Index row = row_among(account.site.grid, measured, measured_row);
  if (row < 0) return no_prediction;
  const AccountVerdict verdict = account.verdict[static_cast<std::size_t>(row)];
  if (verdict == AccountVerdict::no_preference || account.documents < 2) return no_prediction;
  const double offset = account.offset[position][row];
  return {offset, offset, offset, account.weight[position][row]};
}

/// Of a source that is there.
Prediction prediction_of(const OffsetPredictions& predictions, OffsetSource source, const HeadGrid& measured,
                         Index row) {
  switch (source) {
    case OffsetSource::position:
      return prediction_of(*predictions.account, measured, row);
    case OffsetSource::weights:
      return prediction_of(*predictions.weights, measured, row);
    case OffsetSource::phases:
      return predictions.wave != nullptr ? prediction_of(*predictions.wave, row)
                                         : prediction_of(*predictions.phases, row);
    default:
      return prediction_of(*predictions.scores, row);
  }
}

/// @param cut_off  attention is largest at the end of the search: it looks somewhere, nobody knows where
OffsetVerdict verdict_of(const Prediction& prediction, double measured, double tolerance, bool cut_off) {
  if (cut_off) return OffsetVerdict::undefined;
  if (std::isnan(prediction.offset))
    return std::isnan(measured) ? OffsetVerdict::undefined : OffsetVerdict::unpredicted;
  if (std::isnan(measured)) return OffsetVerdict::unrealised;
  const bool meets = measured >= prediction.lower - tolerance && measured <= prediction.upper + tolerance;
  return meets ? OffsetVerdict::agrees : OffsetVerdict::differs;
}

/// Without a null no delay can be told from chance, and none is called.
template <class Prediction>
bool was_tested(const Prediction* prediction) {
  return prediction != nullptr && !prediction->q_value.array().isNaN().all();
}

/// @param there  which of the sources came
void count_met(OffsetAgreement& result, const Vector& weight, const std::array<bool, offset_sources>& there) {
  for (std::size_t route = 0; route < offset_routes; ++route)
    for (auto& met : result.met) met[route] = route < offset_sources && !there[route] ? not_defined : 0.0;
  for (Index row = 0; row < result.grid.rows(); ++row) {
    const double measured = result.measured[row];
    if (std::isnan(measured)) continue;
    for (const std::size_t counted : {0U, 1U}) {
      if (counted == 1 && !(weight[row] > result.options.strong)) continue;
      ++result.heads[counted];
      auto& met = result.met[counted];
      for (std::size_t source = 0; source < offset_sources; ++source)
        met[source] += result.verdict[source][static_cast<std::size_t>(row)] == OffsetVerdict::agrees ? 1 : 0;
      for (std::size_t b = 0; b < offset_baselines.size(); ++b)
        met[offset_sources + b] += measured == offset_baselines[b] ? 1 : 0;
    }
  }
}

class OffsetAgreementAnalysis : public Analysis {
 public:
  using Analysis::Analysis;
  [[nodiscard]] std::vector<Field> finish(Finished& finished) override {
    const auto* phases = finished.find<PhaseDelay>();
    const auto* scores = finished.find<ScoreDelay>();
    const OffsetPredictions predictions{finished.find<HeadAccount>(), finished.find<PositionAtlas>(),
                                        phases == nullptr ? nullptr : &phases->spectrum,
                                        scores == nullptr ? nullptr : &scores->spectrum, finished.find<RotaryWave>()};
    if (predictions.account == nullptr && predictions.weights == nullptr && phases == nullptr && scores == nullptr &&
        predictions.wave == nullptr)
      return {};
    return describe(offset_agreement(finished.get<MeasuredOffsets>(), predictions));
  }
};

}  // namespace

OffsetAgreement offset_agreement(const MeasuredOffsets& measured, const OffsetPredictions& predictions,
                                 const OffsetAgreementOptions& options) {
  const Index rows = measured.grid.rows();
  OffsetAgreement result;
  result.grid = measured.grid;
  result.options = options;
  result.measured = measured.offset[all_pairs];
  const std::vector<OffsetStatus>& statuses = measured.status[all_pairs];
  for (Index row = 0; row < rows; ++row)
    if (statuses[static_cast<std::size_t>(row)] == OffsetStatus::self) result.measured[row] = 0;
  std::array<bool, offset_sources> there{};
  for (std::size_t source = 0; source < offset_sources; ++source) {
    result.predicted[source] = result.weight[source] = Vector::Constant(rows, not_defined);
    result.verdict[source].assign(static_cast<std::size_t>(rows), OffsetVerdict::undefined);
    there[source] = is_there(predictions, static_cast<OffsetSource>(source));
    for (Index row = 0; there[source] && row < rows; ++row) {
      const Prediction prediction = prediction_of(predictions, static_cast<OffsetSource>(source), result.grid, row);
      result.predicted[source][row] = prediction.offset;
      result.weight[source][row] = prediction.weight;
      result.verdict[source][static_cast<std::size_t>(row)] =
          verdict_of(prediction, result.measured[row], options.tolerance,
                     statuses[static_cast<std::size_t>(row)] == OffsetStatus::edge);
    }
  }
  there[static_cast<std::size_t>(OffsetSource::phases)] =
      predictions.wave != nullptr ? was_tested(predictions.wave) : was_tested(predictions.phases);
  there[static_cast<std::size_t>(OffsetSource::scores)] = was_tested(predictions.scores);
  count_met(result, measured.weight[all_pairs], there);
  return result;
}

std::vector<Field> describe(const OffsetAgreement& agreement) {
  const Axis layer = layer_axis(agreement.grid.layers), head = head_axis(agreement.grid.heads);
  const Axis source{"prediction", "1", "from what the offset is predicted",
                    std::vector<std::string>{"position", "weights", "phases", "scores"}};
  const Axis counted{"counted", "1", "which heads are counted", std::vector<std::string>{"measured", "strong"}};
  const Axis route{
      "route", "1", "what says where a head looks: predictions, and constants beside them",
      std::vector<std::string>{"position", "weights", "phases", "scores", "always 0", "always -1", "always +1"}};
  // The sources are the last axis: head by head.
  std::vector<double> predicted, weight;
  std::vector<OffsetVerdict> verdict;
  for (Index row = 0; row < agreement.grid.rows(); ++row)
    for (std::size_t from = 0; from < offset_sources; ++from) {
      predicted.push_back(agreement.predicted[from][row]);
      weight.push_back(agreement.weight[from][row]);
      verdict.push_back(agreement.verdict[from][static_cast<std::size_t>(row)]);
    }
  Fields fields("offset_agreement");
  fields.add("measured", {layer, head}, "token", "offset where attention is largest; 0: at itself", agreement.measured)
      .undefined("the maximum does not rise above its null, or lies at the end of the search");
  fields
      .add("predicted", {layer, head, source}, "token",
           "offset predicted by dealt positions, from weights alone, from phases, from scores", std::move(predicted))
      .undefined("no offset is predicted (the prediction's own status says why), or none computed");
  fields.add("weight", {layer, head, source}, "1", "mean attention weight predicted there", std::move(weight))
      .undefined("no offset is predicted, or the prediction is a delay, which says nothing of weights");
  fields
      .flags("verdict", {layer, head, source}, "whether prediction and measurement meet", verdict,
             {"undefined", "agrees", "differs", "unpredicted", "unrealised"})
      .note("tolerance", agreement.options.tolerance);
  fields
      .add("heads", {counted}, "1", "heads whose maximum stands out from chance, at themselves or at another offset",
           agreement.heads)
      .note("strong", agreement.options.strong);
  fields.add("met", {counted, route}, "1", "how many of them it meets", agreement.met).undefined("not computed");
  return fields.taken();
}

const AnalysisKind& offset_agreement_analysis() {
  static const AnalysisKind kind{
      .name = "offset_agreement",
      .finds = "predicted beside measured offsets",
      .step = Step::prediction,
      .needs = {Need::attention},
      .reads = {measured_offset_analysis},
      .reads_one_of = {head_account_analysis, position_atlas_analysis, phase_rotation_analysis, delay_spectrum_analysis,
                       rotary_wave_analysis},
      .make = make_of<OffsetAgreementAnalysis>};
  return kind;
}

}  // namespace headwave
