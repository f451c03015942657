#include "agreement_dots.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../drawing/field_values.h"
#include "../tables/head_findings.h"

namespace headwave {

namespace {

constexpr const char* measured_offset_name = "offset_agreement/measured";
constexpr const char* predicted_offset_name = "offset_agreement/predicted";
constexpr const char* agreement_verdict_name = "offset_agreement/verdict";
constexpr double unseen = 0.03;  // inches by which dots may differ and still be drawn as one
constexpr double lane = 0.035;   // inches by which dots are moved aside, a few times at most
constexpr int most_lanes = 4;    // on either side

/// Room for the number of heads where there are several.
double size_of(std::size_t heads) {
  return heads == 1 ? 0.06 : heads < 10 ? 0.105 : heads < 100 ? 0.14 : 0.18;
}

/// The ends of a prediction's interval, NaN where the result has none.
std::vector<double> interval(const Result& result, const std::string& prediction, const char* end, std::size_t heads) {
  const std::string group = prediction == "phases"   ? phases_group(result)
                            : prediction == "scores" ? "delay_spectrum/"
                                                     : "";
  const std::string name = group + end;
  if (group.empty() || result.find(name) == nullptr) return std::vector<double>(heads, std::nan(""));
  const auto& values = doubles_of(result, name, {"layer", "head"});
  if (values.size() != heads)
    throw ShapeError(
        fmt::format("{}: expected {} heads as in {}, found {}", name, heads, measured_offset_name, values.size()));
  return values;
}

/// Moves a dot aside until it covers none of those before it, if a few steps are enough.
void move_aside(AgreementDot& dot, const std::vector<AgreementDot>& before) {
  const double x = dot.x;
  for (int step = 0; step <= 2 * most_lanes; ++step) {
    dot.x = x + lane * ((step + 1) / 2) * (step % 2 == 1 ? 1 : -1);
    const bool free = std::none_of(before.begin(), before.end(), [&](const AgreementDot& other) {
      return std::hypot(dot.x - other.x, dot.y - other.y) < 0.48 * (dot.size + other.size);
    });
    if (free) return;
  }
  dot.x = x;
}

}  // namespace

std::vector<std::string> agreement_predictions(const Result& result) {
  const auto& labels = labels_of(result.at(predicted_offset_name), "prediction");
  const std::set<std::string> undefined = silent_predictions(result);
  std::vector<std::string> there, silent;
  for (const char* known : {"position", "account", "weights", "phases", "scores"})
    if (std::ranges::find(labels, known) != labels.end())
      (undefined.contains(known) ? silent : there).emplace_back(known);
  if (there.empty()) there = silent;
  if (there.empty()) throw ShapeError("offset_agreement/predicted: holds none of position, weights, phases and scores");
  return there;
}

bool AgreementHead::has_both() const {
  return std::isfinite(measured) && std::isfinite(predicted);
}

double offset_place(double offset) {
  return std::copysign(std::log2(1 + std::abs(offset)), offset);
}

std::vector<AgreementHead> agreement_heads(const Result& result, const std::string& prediction) {
  const auto& measured = doubles_of(result, measured_offset_name, {"layer", "head"});
  const auto& predicted = doubles_of(result, predicted_offset_name, {"layer", "head", "prediction"});
  const auto& verdicts = flags_of(result, agreement_verdict_name, {"layer", "head", "prediction"});
  const Field& field = result.at(predicted_offset_name);
  const auto layers = whole_coordinates(field, "layer");
  const auto heads = whole_coordinates(field, "head");
  const std::size_t kinds = labels_of(field, "prediction").size();
  const std::size_t kind = place_of(field, "prediction", prediction);
  if (measured.empty() || measured.size() * kinds != predicted.size() || predicted.size() != verdicts.size())
    throw ShapeError(fmt::format("{}: expected heads, and {} predictions and verdicts for each, found {}, {} and {}",
                                 measured_offset_name, kinds, measured.size(), predicted.size(), verdicts.size()));
  const auto lower = interval(result, prediction, "lower", measured.size());
  const auto upper = interval(result, prediction, "upper", measured.size());
  const auto& meanings = result.at(agreement_verdict_name).flag_meanings;
  std::vector<AgreementHead> found;
  for (std::size_t row = 0; row < measured.size(); ++row) {
    const std::size_t at = row * kinds + kind;
    found.push_back({{layers[row / heads.size()], heads[row % heads.size()]},
                     measured[row],
                     predicted[at],
                     lower[row],
                     upper[row],
                     verdicts[at] < meanings.size() ? meanings[verdicts[at]] : "undefined"});
  }
  return found;
}

std::vector<AgreementDot> agreement_dots(const std::vector<AgreementHead>& heads, double inch) {
  std::vector<AgreementHead> sorted;
  std::copy_if(heads.begin(), heads.end(), std::back_inserter(sorted),
               [](const auto& head) { return head.has_both(); });
  std::stable_sort(sorted.begin(), sorted.end(), [](const AgreementHead& a, const AgreementHead& b) {
    if (a.measured != b.measured) return a.measured < b.measured;
    if (a.verdict != b.verdict) return a.verdict < b.verdict;
    return a.predicted < b.predicted;
  });
  std::vector<AgreementDot> dots;
  double first = 0.0;  // y of the dot's first head
  for (const AgreementHead& head : sorted) {
    const bool agrees = head.verdict == "agrees";
    const double x = inch * offset_place(head.measured), y = inch * offset_place(head.predicted);
    if (dots.empty() || dots.back().measured != head.measured || dots.back().agrees != agrees || y - first > unseen) {
      dots.push_back({{}, head.measured, head.predicted, head.lower, head.upper, x, 0, 0, agrees});
      first = y;
    }
    AgreementDot& dot = dots.back();
    dot.lower = std::fmin(dot.lower, head.lower);
    dot.upper = std::fmax(dot.upper, head.upper);
    const auto before = static_cast<double>(dot.heads.size());
    dot.y = (dot.y * before + y) / (before + 1);
    dot.heads.push_back(head.name);
    dot.size = size_of(dot.heads.size());
  }
  // The large ones stay where they are.
  std::stable_sort(dots.begin(), dots.end(),
                   [](const auto& a, const auto& b) { return a.heads.size() > b.heads.size(); });
  std::vector<AgreementDot> placed;
  for (AgreementDot& dot : dots) {
    move_aside(dot, placed);
    placed.push_back(dot);
  }
  return placed;
}

}  // namespace headwave
