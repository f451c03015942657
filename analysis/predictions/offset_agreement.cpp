// Predicted offsets beside measured offsets, for every head.

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "../../core/fields/fields.h"
#include "../attention/measured_offset.h"
#include "../waves/phase_delay.h"
#include "head_account.h"
#include "position_atlas.h"
#include "rotary_wave.h"

namespace headwave {

namespace {

constexpr double tolerance =
    0.5;                         // tokens by which a prediction may miss beyond its interval; measured are whole tokens
constexpr double strong = 0.05;  // mean weight at the measured offset from which a head counts as strong

/// Whether a prediction and the measured offset agree.
enum class OffsetVerdict : std::uint8_t {
  undefined,  ///< neither can be told from chance, one of the two is not there, or attention is largest where the search
              ///< ends
  agrees,     ///< both are told from chance and meet
  differs,    ///< both are told from chance and do not meet
  unpredicted,  ///< attention prefers an offset, nothing predicts it
  unrealised,   ///< an offset is predicted, attention prefers none
};

/// What one route predicts of the measured heads.
struct Prediction {
  std::string route;
  bool computed = false;                ///< otherwise nothing is said of it
  bool tested = false;                  ///< whether it has a null: without one no prediction counts
  Vector offset, lower, upper, weight;  ///< (rows)  NaN: no offset is predicted; a delay has no weight
};

Prediction nothing_by(const char* route, Index rows) {
  const Vector none = Vector::Constant(rows, not_defined);
  return {route, false, false, none, none, none, none};
}

/// Predictions with an interval: delays and rotary waves. An undefined interval is the prediction itself.
template <class Predicted>
Prediction with_interval(const char* route, const Predicted& predicted, const Vector& weight) {
  const auto end_or_offset = [&](const Vector& end) -> Vector {
    return predicted.lower.array().isNaN().select(predicted.offset, end);
  };
  return {route,
          true,
          !predicted.q_value.array().isNaN().all(),
          predicted.offset,
          end_or_offset(predicted.lower),
          end_or_offset(predicted.upper),
          weight};
}

/// Predictions without intervals, for heads of another grid.
/// @param counts  whether a row's prediction counts
template <class Counts>
Prediction of_grid(const char* route, const HeadGrid& grid, const Vector& offset, const Vector& weight,
                   const HeadGrid& measured, const Counts& counts) {
  Prediction found = nothing_by(route, measured.rows());
  found.computed = found.tested = true;
  for (Index row = 0; row < measured.rows(); ++row) {
    const Index place = grid.place_of(measured.layers[static_cast<std::size_t>(row / measured.heads)]);
    const Index at = place * grid.heads + row % measured.heads;
    if (place < 0 || !counts(at)) continue;
    found.offset[row] = offset[at];
    found.weight[row] = weight[at];
  }
  found.lower = found.upper = found.offset;
  return found;
}

/// position: the profile that positions give, contents dealt, where a head has a preference at all; weights: positions
/// through the head's weights, no text; phases: those of the rotation on the queries of the text, or of rotary positions.
/// @returns none if nothing predicts
std::vector<Prediction> predictions_of(const Finished& finished, const HeadGrid& measured) {
  const auto* account = finished.find<HeadAccount>();
  const auto* atlas = finished.find<PositionAtlas>();
  const auto* delay = finished.find<PhaseDelay>();
  const auto* wave = finished.find<RotaryWave>();
  std::vector<Prediction> found;
  if (account == nullptr && atlas == nullptr && delay == nullptr && wave == nullptr) return found;
  for (const char* route : {"position", "weights", "phases"}) found.push_back(nothing_by(route, measured.rows()));
  if (account != nullptr) {
    constexpr auto position = static_cast<std::size_t>(AccountTerm::position);
    found[0] = of_grid("position", account->site.grid, account->offset[position], account->weight[position], measured,
                       [&](Index row) {
                         const AccountVerdict verdict = account->verdict[static_cast<std::size_t>(row)];
                         return verdict != AccountVerdict::no_preference && account->documents >= 2;
                       });
  }
  if (atlas != nullptr && atlas->undefined.empty())
    found[1] = of_grid("weights", atlas->grid, atlas->offset, atlas->weight, measured, [](Index) { return true; });
  if (wave != nullptr)
    found[2] = with_interval("phases", *wave, wave->weight);
  else if (delay != nullptr)
    found[2] = with_interval("phases", *delay, Vector::Constant(measured.rows(), not_defined));
  return found;
}

/// A prediction meets the measured offset m if lower - tolerance <= m <= upper + tolerance. Attention may differ from a
/// correct prediction: content, a sink or a mask draw it elsewhere.
/// @param cut_off  attention is largest at the end of the search, so the offset is unknown
OffsetVerdict verdict_of(const Prediction& predicted, Index row, double measured, bool cut_off) {
  if (cut_off || !predicted.computed) return OffsetVerdict::undefined;
  if (std::isnan(predicted.offset[row]))
    return std::isnan(measured) ? OffsetVerdict::undefined : OffsetVerdict::unpredicted;
  if (std::isnan(measured)) return OffsetVerdict::unrealised;
  const bool meets = measured >= predicted.lower[row] - tolerance && measured <= predicted.upper[row] + tolerance;
  return meets ? OffsetVerdict::agrees : OffsetVerdict::differs;
}

/// A count of agreements says little by itself: many heads look at themselves or at a neighbour. So beside every count are
/// the counts for always naming 0, -1 or +1, and all counts again over the strong heads.
class OffsetAgreementAnalysis : public Analysis {
 public:
  using Analysis::Analysis;
  [[nodiscard]] std::vector<Field> finish(Finished& finished) override {
    const auto& offsets = finished.get<MeasuredOffsets>();
    const Index rows = offsets.grid.rows();
    const std::vector<Prediction> routes = predictions_of(finished, offsets.grid);
    if (routes.empty()) return {};
    constexpr std::array<int, 3> baselines{0, -1, 1};
    const std::size_t compared = routes.size() + baselines.size();
    Vector measured = offsets.offset[all_pairs];
    std::vector<double> predicted, weight;  // routes are the last axis
    std::vector<OffsetVerdict> verdict;
    std::array<Index, 2> heads{};  // with a measured offset: all, and the strong ones
    std::array<std::vector<double>, 2> met{std::vector<double>(compared, 0.0), std::vector<double>(compared, 0.0)};
    for (auto& counts : met)
      for (std::size_t route = 0; route < routes.size(); ++route)
        if (!routes[route].tested) counts[route] = not_defined;
    for (Index row = 0; row < rows; ++row) {
      const OffsetStatus status = offsets.status[all_pairs][static_cast<std::size_t>(row)];
      if (status == OffsetStatus::self) measured[row] = 0;
      for (const Prediction& route : routes) {
        predicted.push_back(route.offset[row]);
        weight.push_back(route.weight[row]);
        verdict.push_back(verdict_of(route, row, measured[row], status == OffsetStatus::edge));
      }
      if (std::isnan(measured[row])) continue;
      for (const std::size_t counted : {0U, 1U}) {
        if (counted == 1 && !(offsets.weight[all_pairs][row] > strong)) continue;
        ++heads[counted];
        for (std::size_t route = 0; route < routes.size(); ++route)
          met[counted][route] += verdict[verdict.size() - routes.size() + route] == OffsetVerdict::agrees ? 1 : 0;
        for (std::size_t b = 0; b < baselines.size(); ++b)
          met[counted][routes.size() + b] += measured[row] == baselines[b] ? 1 : 0;
      }
    }

    std::vector<std::string> names;
    for (const Prediction& route : routes) names.push_back(route.route);
    const Axis layer = layer_axis(offsets.grid.layers), head = head_axis(offsets.grid.heads),
               source{"prediction", "1", "from what the offset is predicted", names},
               counted{"counted", "1", "which heads are counted", std::vector<std::string>{"measured", "strong"}};
    for (const char* constant : {"always 0", "always -1", "always +1"}) names.emplace_back(constant);
    const Axis route{"route", "1", "predictions of where a head looks, and constants for comparison", names};
    Fields fields("offset_agreement");
    fields.add("measured", {layer, head}, "token", "offset where attention is largest; 0: at itself", measured,
               "the maximum does not rise above its null, or lies at the end of the search");
    fields.add("predicted", {layer, head, source}, "token",
               "offset predicted by dealt positions, from weights alone, from phases", std::move(predicted),
               "no offset is predicted (the prediction's own status says why), or none computed");
    fields.add("weight", {layer, head, source}, "1", "mean attention weight predicted there", std::move(weight),
               "no offset is predicted, or the prediction is a delay, which says nothing of weights");
    fields
        .flags("verdict", {layer, head, source}, "whether prediction and measurement meet", verdict,
               {"undefined", "agrees", "differs", "unpredicted", "unrealised"})
        .note("tolerance", tolerance);
    fields
        .add("heads", {counted}, "1", "heads whose maximum stands out from chance, at themselves or at another offset",
             heads)
        .note("strong", strong);
    fields.add("met", {counted, route}, "1", "heads whose measured offset a route meets", met, "not computed");
    return fields.taken();
  }
};

}  // namespace

const AnalysisKind& offset_agreement_analysis() {
  static const AnalysisKind kind{
      .name = "offset_agreement",
      .asks = "Do predicted offsets meet the measured ones?",
      .needs = {Need::attention},
      .reads = {measured_offset_analysis},
      .reads_one_of = {head_account_analysis, position_atlas_analysis, phase_delay_analysis, rotary_wave_analysis},
      .of_sums = true,
      .make = make_of<OffsetAgreementAnalysis>};
  return kind;
}

}  // namespace headwave
