#include "offset_agreement.h"

#include <cmath>
#include <utility>

#include "../../core/fields/fields.h"
#include "../waves/phase_delay.h"

namespace headwave {

namespace {

/// Predictions of one route for the measured heads. NaN: no offset is predicted; a delay has no weight.
struct RoutePredictions {
  bool computed = false;                ///< whether the route was computed
  bool tested = false;                  ///< whether it has a null: without one no prediction counts
  Vector offset, lower, upper, weight;  ///< (rows)
};

/// The row of a measured head among the rows of a prediction; -1: it is not among them.
Index row_among(const HeadGrid& grid, const HeadGrid& measured, Index row) {
  const Index place = grid.place_of(measured.layers[static_cast<std::size_t>(row / measured.heads)]);
  return place < 0 ? place : place * grid.heads + row % measured.heads;
}

/// Predictions with an interval: delays and rotary waves. An undefined interval is the prediction itself.
template <class Predicted>
RoutePredictions with_interval(const Predicted& predicted, const Vector& weight) {
  const auto end_or_offset = [&](const Vector& end) -> Vector {
    return predicted.lower.array().isNaN().select(predicted.offset, end);
  };
  return {true,
          !predicted.q_value.array().isNaN().all(),
          predicted.offset,
          end_or_offset(predicted.lower),
          end_or_offset(predicted.upper),
          weight};
}

/// Predictions without intervals, for heads of another grid.
/// @param counts  whether a row's prediction counts
template <class Counts>
RoutePredictions of_grid(const HeadGrid& grid, const Vector& offset, const Vector& weight, const HeadGrid& measured,
                         const Counts& counts) {
  RoutePredictions found{true, true, Vector::Constant(measured.rows(), not_defined), {}, {}, {}};
  found.weight = found.offset;
  for (Index row = 0; row < measured.rows(); ++row) {
    const Index at = row_among(grid, measured, row);
    if (at < 0 || !counts(at)) continue;
    found.offset[row] = offset[at];
    found.weight[row] = weight[at];
  }
  found.lower = found.upper = found.offset;
  return found;
}

RoutePredictions predictions_of(const OffsetPredictions& from, PredictionRoute route, const HeadGrid& measured) {
  const Vector no_weight = Vector::Constant(measured.rows(), not_defined);
  if (route == PredictionRoute::position && from.account != nullptr) {
    constexpr auto position = static_cast<std::size_t>(AccountTerm::position);
    const HeadAccount& account = *from.account;
    return of_grid(account.site.grid, account.offset[position], account.weight[position], measured, [&](Index row) {
      return account.verdict[static_cast<std::size_t>(row)] != AccountVerdict::no_preference && account.documents >= 2;
    });
  }
  if (route == PredictionRoute::weights && from.weights != nullptr && from.weights->undefined.empty())
    return of_grid(from.weights->grid, from.weights->offset, from.weights->weight, measured,
                   [](Index /*row*/) { return true; });
  if (route == PredictionRoute::phases && from.wave != nullptr) return with_interval(*from.wave, from.wave->weight);
  if (route == PredictionRoute::phases && from.phases != nullptr) return with_interval(*from.phases, no_weight);
  if (route == PredictionRoute::scores && from.scores != nullptr) return with_interval(*from.scores, no_weight);
  return {};
}

/// @param cut_off  attention is largest at the end of the search, so the offset is unknown
OffsetVerdict verdict_of(const RoutePredictions& predicted, Index row, double measured, double tolerance,
                         bool cut_off) {
  if (cut_off) return OffsetVerdict::undefined;
  if (std::isnan(predicted.offset[row]))
    return std::isnan(measured) ? OffsetVerdict::undefined : OffsetVerdict::unpredicted;
  if (std::isnan(measured)) return OffsetVerdict::unrealised;
  const bool meets = measured >= predicted.lower[row] - tolerance && measured <= predicted.upper[row] + tolerance;
  return meets ? OffsetVerdict::agrees : OffsetVerdict::differs;
}

/// @param there  which routes were computed and told from chance
void count_met(OffsetAgreement& result, const Vector& weight, const std::array<bool, prediction_routes>& there) {
  for (std::size_t route = 0; route < compared_routes; ++route)
    for (auto& met : result.met) met[route] = route < prediction_routes && !there[route] ? not_defined : 0.0;
  for (Index row = 0; row < result.grid.rows(); ++row) {
    const double measured = result.measured[row];
    if (std::isnan(measured)) continue;
    for (const std::size_t counted : {0U, 1U}) {
      if (counted == 1 && !(weight[row] > result.options.strong)) continue;
      ++result.heads[counted];
      auto& met = result.met[counted];
      for (std::size_t source = 0; source < prediction_routes; ++source)
        met[source] += result.verdict[source][static_cast<std::size_t>(row)] == OffsetVerdict::agrees ? 1 : 0;
      for (std::size_t b = 0; b < offset_baselines.size(); ++b)
        met[prediction_routes + b] += measured == offset_baselines[b] ? 1 : 0;
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
  std::array<bool, prediction_routes> tested{};
  for (std::size_t route = 0; route < prediction_routes; ++route) {
    const RoutePredictions predicted = predictions_of(predictions, static_cast<PredictionRoute>(route), result.grid);
    result.predicted[route] = result.weight[route] = Vector::Constant(rows, not_defined);
    result.verdict[route].assign(static_cast<std::size_t>(rows), OffsetVerdict::undefined);
    tested[route] = predicted.tested;
    if (!predicted.computed) continue;
    result.predicted[route] = predicted.offset;
    result.weight[route] = predicted.weight;
    for (Index row = 0; row < rows; ++row)
      result.verdict[route][static_cast<std::size_t>(row)] =
          verdict_of(predicted, row, result.measured[row], options.tolerance,
                     statuses[static_cast<std::size_t>(row)] == OffsetStatus::edge);
  }
  count_met(result, measured.weight[all_pairs], tested);
  return result;
}

std::vector<Field> describe(const OffsetAgreement& agreement) {
  const Axis layer = layer_axis(agreement.grid.layers), head = head_axis(agreement.grid.heads);
  const Axis source{"prediction", "1", "from what the offset is predicted",
                    std::vector<std::string>{"position", "weights", "phases", "scores"}};
  const Axis counted{"counted", "1", "which heads are counted", std::vector<std::string>{"measured", "strong"}};
  const Axis route{
      "route", "1", "predictions of where a head looks, and constants for comparison",
      std::vector<std::string>{"position", "weights", "phases", "scores", "always 0", "always -1", "always +1"}};
  // Routes are the last axis.
  std::vector<double> predicted, weight;
  std::vector<OffsetVerdict> verdict;
  for (Index row = 0; row < agreement.grid.rows(); ++row)
    for (std::size_t from = 0; from < prediction_routes; ++from) {
      predicted.push_back(agreement.predicted[from][row]);
      weight.push_back(agreement.weight[from][row]);
      verdict.push_back(agreement.verdict[from][static_cast<std::size_t>(row)]);
    }
  Fields fields("offset_agreement");
  fields.add("measured", {layer, head}, "token", "offset where attention is largest; 0: at itself", agreement.measured,
             "the maximum does not rise above its null, or lies at the end of the search");
  fields.add("predicted", {layer, head, source}, "token",
             "offset predicted by dealt positions, from weights alone, from phases, from scores", std::move(predicted),
             "no offset is predicted (the prediction's own status says why), or none computed");
  fields.add("weight", {layer, head, source}, "1", "mean attention weight predicted there", std::move(weight),
             "no offset is predicted, or the prediction is a delay, which says nothing of weights");
  fields
      .flags("verdict", {layer, head, source}, "whether prediction and measurement meet", verdict,
             {"undefined", "agrees", "differs", "unpredicted", "unrealised"})
      .note("tolerance", agreement.options.tolerance);
  fields
      .add("heads", {counted}, "1", "heads whose maximum stands out from chance, at themselves or at another offset",
           agreement.heads)
      .note("strong", agreement.options.strong);
  fields.add("met", {counted, route}, "1", "heads whose measured offset a route meets", agreement.met, "not computed");
  return fields.taken();
}

const AnalysisKind& offset_agreement_analysis() {
  static const AnalysisKind kind{.name = "offset_agreement",
                                 .asks = "Do predicted offsets meet the measured ones?",
                                 .needs = {Need::attention},
                                 .reads = {measured_offset_analysis},
                                 .reads_one_of = {head_account_analysis, position_atlas_analysis, phase_delay_analysis,
                                                  delay_spectrum_analysis, rotary_wave_analysis},
                                 .of_sums = true,
                                 .make = make_of<OffsetAgreementAnalysis>};
  return kind;
}

}  // namespace headwave
