// Compares the offset that positions predict for each head with the measured offset.

#include <cmath>
#include <cstdint>
#include <vector>

#include "../../core/fields/fields.h"
#include "../attention/measured_offset.h"
#include "head_account.h"

namespace headwave {

namespace {

constexpr double tolerance = 0.5;  // tokens; measured offsets are whole tokens

/// Whether a prediction and the measured offset agree.
enum class OffsetVerdict : std::uint8_t {
  undefined,    ///< neither offset exists, or attention is largest at the end of the search
  agrees,       ///< both exist and are equal up to the tolerance
  differs,      ///< both exist and differ
  unpredicted,  ///< only the measured offset exists
  unrealised,   ///< only the predicted offset exists
};

OffsetVerdict verdict_of(double predicted, double measured, OffsetStatus status) {
  if (status == OffsetStatus::edge) return OffsetVerdict::undefined;
  if (std::isnan(predicted)) return std::isnan(measured) ? OffsetVerdict::undefined : OffsetVerdict::unpredicted;
  if (std::isnan(measured)) return OffsetVerdict::unrealised;
  return std::abs(measured - predicted) <= tolerance ? OffsetVerdict::agrees : OffsetVerdict::differs;
}

/// The prediction is the maximum of head_account()'s position profile, for heads with a preference. Attention
/// may differ from a correct prediction if content, a sink or a mask draws it elsewhere.
class OffsetAgreementAnalysis : public Analysis {
 public:
  using Analysis::Analysis;
  [[nodiscard]] std::vector<Field> finish(Finished& finished) override {
    const auto& offsets = finished.get<MeasuredOffsets>();
    const auto* account = finished.find<HeadAccount>();
    if (account == nullptr) return {};
    constexpr auto position = static_cast<std::size_t>(AccountTerm::position);
    Vector predicted = account->offset[position];
    std::vector<OffsetVerdict> verdict;
    for (Index row = 0; row < predicted.size(); ++row) {
      const auto at = static_cast<std::size_t>(row);
      if (account->verdict[at] == AccountVerdict::no_preference || account->documents < 2) predicted[row] = not_defined;
      const OffsetStatus status = offsets.status[all_pairs][at];
      const double measured = status == OffsetStatus::own_token ? 0 : offsets.offset[all_pairs][row];
      verdict.push_back(verdict_of(predicted[row], measured, status));
    }
    const std::vector<Axis> heads{layer_axis(offsets.grid.layers), head_axis(offsets.grid.heads)};
    Fields fields("offset_agreement");
    fields.add("predicted", heads, "token", "offset predicted by dealt positions", predicted,
               "the head has no preference, or its position profile is largest at the end of the search");
    fields
        .flags("verdict", heads, "whether the predicted and the measured offset agree", verdict,
               {"undefined", "agrees", "differs", "unpredicted", "unrealised"})
        .note("tolerance", tolerance);
    return fields.taken();
  }
};

}  // namespace

extern const AnalysisKind offset_agreement_analysis{
    .name = "offset_agreement",
    .asks = "Do the offsets that positions predict meet the measured ones?",
    .reads = {&measured_offset_analysis, &head_account_analysis},
    .of_sums = true,
    .make = make_of<OffsetAgreementAnalysis>};

}  // namespace headwave
