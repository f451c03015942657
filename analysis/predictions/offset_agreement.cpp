#include "offset_agreement.h"

#include <cmath>
#include <utility>

#include "../../core/fields/fields.h"
#include "../waves/phase_delay.h"
#include "../waves/score_delay.h"

namespace headwave {

namespace {

/// A prediction and the interval around it.
struct Prediction {
  double offset, lower, upper;
};

Prediction prediction_of(const DelaySpectrum& spectrum, Index row) {
  const double offset = spectrum.offset[row];
  const bool interval = !std::isnan(spectrum.lower[row]);
  return {offset, interval ? spectrum.lower[row] : offset, interval ? spectrum.upper[row] : offset};
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
bool was_tested(const DelaySpectrum* spectrum) {
  return spectrum != nullptr && !spectrum->q_value.array().isNaN().all();
}

/// @param there  which of the three sources came
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
    const auto* atlas = finished.find<PositionAtlas>();
    const auto* phases = finished.find<PhaseDelay>();
    const auto* scores = finished.find<ScoreDelay>();
    if (atlas == nullptr && phases == nullptr && scores == nullptr) return {};
    return describe(offset_agreement(finished.get<MeasuredOffsets>(), atlas,
                                     phases == nullptr ? nullptr : &phases->spectrum,
                                     scores == nullptr ? nullptr : &scores->spectrum));
  }
};

}  // namespace

OffsetAgreement offset_agreement(const MeasuredOffsets& measured, const PositionAtlas* atlas,
                                 const DelaySpectrum* phases, const DelaySpectrum* scores,
                                 const OffsetAgreementOptions& options) {
  const Index rows = measured.grid.rows();
  OffsetAgreement result;
  result.grid = measured.grid;
  result.options = options;
  result.measured = measured.offset[static_cast<std::size_t>(Pairs::all)];
  const std::vector<OffsetStatus>& statuses = measured.status[static_cast<std::size_t>(Pairs::all)];
  for (Index row = 0; row < rows; ++row)
    if (statuses[static_cast<std::size_t>(row)] == OffsetStatus::self) result.measured[row] = 0;
  const bool defined_atlas = atlas != nullptr && atlas->undefined.empty() && atlas->grid.rows() == rows;
  for (std::size_t source = 0; source < offset_sources; ++source) {
    result.predicted[source] = Vector::Constant(rows, not_defined);
    result.verdict[source].assign(static_cast<std::size_t>(rows), OffsetVerdict::undefined);
    for (Index row = 0; row < rows; ++row) {
      Prediction prediction{not_defined, not_defined, not_defined};
      if (source == static_cast<std::size_t>(OffsetSource::weights)) {
        if (!defined_atlas) continue;
        prediction = {atlas->offset[row], atlas->offset[row], atlas->offset[row]};
      } else {
        const DelaySpectrum* spectrum = source == static_cast<std::size_t>(OffsetSource::phases) ? phases : scores;
        if (spectrum == nullptr) continue;
        prediction = prediction_of(*spectrum, row);
      }
      result.predicted[source][row] = prediction.offset;
      result.verdict[source][static_cast<std::size_t>(row)] =
          verdict_of(prediction, result.measured[row], options.tolerance,
                     statuses[static_cast<std::size_t>(row)] == OffsetStatus::edge);
    }
  }
  count_met(result, measured.weight[static_cast<std::size_t>(Pairs::all)],
            {defined_atlas, was_tested(phases), was_tested(scores)});
  return result;
}

std::vector<Field> describe(const OffsetAgreement& agreement) {
  const Axis layer = layer_axis(agreement.grid.layers), head = head_axis(agreement.grid.heads);
  const Axis source{"prediction", "1", "from what the offset is predicted",
                    std::vector<std::string>{"weights", "phases", "scores"}};
  const Axis counted{"counted", "1", "which heads are counted", std::vector<std::string>{"measured", "strong"}};
  const Axis route{"route", "1", "what says where a head looks: predictions, and constants beside them",
                   std::vector<std::string>{"weights", "phases", "scores", "always 0", "always -1", "always +1"}};
  // The sources are the last axis: head by head.
  std::vector<double> predicted;
  std::vector<OffsetVerdict> verdict;
  for (Index row = 0; row < agreement.grid.rows(); ++row)
    for (std::size_t from = 0; from < offset_sources; ++from) {
      predicted.push_back(agreement.predicted[from][row]);
      verdict.push_back(agreement.verdict[from][static_cast<std::size_t>(row)]);
    }
  Fields fields("offset_agreement");
  fields.add("measured", {layer, head}, "token", "offset where attention is largest; 0: at itself", agreement.measured)
      .undefined("the maximum does not rise above its null, or lies at the end of the search");
  fields
      .add("predicted", {layer, head, source}, "token", "offset predicted from weights alone, from phases, from scores",
           std::move(predicted))
      .undefined("no offset is predicted (the prediction's own status says why), or none computed");
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
      .reads_one_of = {position_atlas_analysis, phase_rotation_analysis, delay_spectrum_analysis},
      .make = make_of<OffsetAgreementAnalysis>};
  return kind;
}

}  // namespace headwave
