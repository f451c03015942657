#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "../../core/fields/field.h"
#include "../attention/measured_offset.h"
#include "../pass/analysis_kind.h"
#include "../waves/delay_spectrum.h"
#include "head_account.h"
#include "position_atlas.h"
#include "rotary_wave.h"

namespace headwave {

/// Ways to predict an offset.
enum class PredictionRoute : std::uint8_t {
  position,  ///< head_account: the profile that positions give, contents dealt; also at the token itself
  weights,   ///< position_atlas: positions through the head's weights, no text
  phases,    ///< phase_delay: the phases of the rotation on the queries of the text; of rotary positions rotary_wave
  scores,    ///< delay_spectrum: queries and keys of the text, before mask and softmax
};
constexpr std::size_t prediction_routes = 4;

/// Whether a prediction and the measured offset agree.
enum class OffsetVerdict : std::uint8_t {
  undefined,  ///< neither can be told from chance, one of the two is not there, or attention is largest where the search
              ///< ends
  agrees,     ///< both are told from chance and meet
  differs,    ///< both are told from chance and do not meet
  unpredicted,  ///< attention prefers an offset, nothing predicts it
  unrealised,   ///< an offset is predicted, attention prefers none
};

struct OffsetAgreementOptions {
  double tolerance = 0.5;  ///< tokens by which a prediction may miss beyond its interval; measured are whole tokens
  double strong = 0.05;    ///< mean weight at the measured offset from which a head counts as strong
};

/// Constant predictions, as baselines of the counts.
constexpr std::array<int, 3> offset_baselines{0, -1, 1};
constexpr std::size_t compared_routes = prediction_routes + offset_baselines.size();

/// The predictions to compare; null: not computed.
struct OffsetPredictions {
  const HeadAccount* account = nullptr;
  const PositionAtlas* weights = nullptr;
  const DelaySpectrum* phases = nullptr;
  const DelaySpectrum* scores = nullptr;
  const RotaryWave* wave = nullptr;  ///< takes the place of phases
};

/// Predicted offsets beside measured offsets, for every head.
struct OffsetAgreement {
  HeadGrid grid;
  OffsetAgreementOptions options;
  Vector measured;                                  ///< (rows)  tokens; 0 for a head whose maximum is at itself
  std::array<Vector, prediction_routes> predicted;  ///< (rows)  tokens; NaN: not told from chance
  std::array<Vector, prediction_routes> weight;     ///< (rows)  predicted weight there; NaN: delays predict none
  std::array<std::vector<OffsetVerdict>, prediction_routes> verdict;  ///< (rows)
  std::array<Index, 2> heads{};  ///< with a measured offset: all, and the strong ones
  /// How many of these each source meets, then each baseline; NaN: the source was not there.
  std::array<std::array<double, compared_routes>, 2> met{};
};

/// A prediction meets the measured offset m if lower - tolerance <= m <= upper + tolerance, its interval
/// where it has one, else the prediction itself. A head that is measured as `self` counts as m = 0.
///
/// Attention may differ from a correct prediction: content, a sink or a mask draw it elsewhere, or the causal
/// mask forbids the predicted offset. If predictions that share only the weights agree, they explain why a
/// head looks there.
///
/// The account predicts where its position profile is largest, for heads that have a preference at all: also
/// where positions give only a part of the profile, which its verdict says.
///
/// A count of agreements says little by itself: many heads look at themselves or at a neighbour. So beside
/// every count are the counts for always naming 0, -1 or +1, and all counts again over the strong heads.
OffsetAgreement offset_agreement(const MeasuredOffsets& measured, const OffsetPredictions& predictions,
                                 const OffsetAgreementOptions& options = {});

/// Fields offset_agreement/measured, /predicted (layer, head, source), /weight, /verdict (layer, head,
/// source), /heads (counted) and /met (counted, route).
std::vector<Field> describe(const OffsetAgreement& agreement);

/// In a job: offset_agreement/...
const AnalysisKind& offset_agreement_analysis();

}  // namespace headwave
