// Figures of runs in which something was changed.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/page.h"
#include "kinds.h"

namespace headwave {

namespace {

constexpr const char *carried_weight_name = "carried_waves/mean_weight", *carried_sum_name = "carried_waves/weighted";

/// A head on an axis of names: its place, and its name read and written anew, since it comes from a file and
/// goes into a script.
struct NamedHead {
  std::size_t place = 0;
  std::string name;
};

/// The heads on an axis that are asked for; all if none is.
std::vector<NamedHead> named_heads(const Field& field, const char* axis, const FigureOptions& options) {
  std::vector<NamedHead> heads;
  for (const std::string& text : labels_of(field, axis)) {
    const HeadName head = parse_head_name(text);
    heads.push_back({heads.size(), head_name(head.layer, head.head)});
  }
  if (options.heads.empty()) return heads;
  std::vector<NamedHead> asked;
  for (const std::string& head : options.heads) asked.push_back(heads[place_of(field, axis, head)]);
  return asked;
}

/// Why heads asked for are not drawn: the result is of other heads.
std::string other_heads(const Field& field, const char* axis, const FigureOptions& options) {
  const auto& there = labels_of(field, axis);
  for (const std::string& head : options.heads)
    if (std::ranges::find(there, head) == there.end()) return head + " is not among the heads that were changed";
  return "";
}

std::string no_carried_head(const Result& result, const FigureOptions& options) {
  return other_heads(result.at(carried_weight_name), "carried_head", options);
}

/// Our own words for a condition; what a file says reaches no script.
std::string condition_title(const std::string& condition) {
  for (const char* known : {"as it is", "positions only", "words only", "words shuffled"})
    if (condition == known) return known;
  return "another condition";
}

Line condition_line(std::size_t condition) {
  return categorical_line(static_cast<Index>(condition), 1.4);
}

/// What one head shows under all conditions: above the mean weights, below the sums of scores.
struct CarriedWaves {
  const std::vector<double>&weights, &sums;  // (conditions, heads, offsets)
  std::vector<double> offsets;
  const std::vector<std::string>& conditions;
  std::size_t heads = 0;

  [[nodiscard]] std::vector<double> curve(bool above, std::size_t condition, std::size_t head) const {
    const auto found = slice_of(above ? weights : sums, condition * heads + head, offsets.size());
    return {found.begin(), found.end()};
  }
};

void add_carried(Page& page, Panel& panel, bool above, const CarriedWaves& carried, const NamedHead& head) {
  std::vector<std::vector<double>> curves;
  double unit = 0;  // the largest sum, up or down, of the model as it is: other heads' scores have other sizes
  for (std::size_t c = 0; c < carried.conditions.size(); ++c) curves.push_back(carried.curve(above, c, head.place));
  for (const double value : curves.empty() || above ? std::vector<double>{} : curves.front())
    if (std::isfinite(value)) unit = std::max(unit, std::abs(value));
  std::vector<double> all;
  for (auto& curve : curves) {
    for (double& value : curve) value /= unit > 0 ? unit : 1;
    all.insert(all.end(), curve.begin(), curve.end());
  }
  const ValueRange range = range_with_zero(all);
  panel.part(above ? 0.55 : 0, above ? 1 : 0.45);
  panel.x_axis({carried.offsets.front() - 0.5, carried.offsets.back() + 0.5}, {.step = 10});
  panel.y_axis(range, {.step = tic_step(range.high - range.low)});
  panel.vertical(0, {ink::zero_line, 0.8});
  if (panel.is_leftmost()) panel.title_left(above ? "mean attention weight" : "score sum ÷ its peak as it is", 0.5);
  for (std::size_t c = 0; c < curves.size(); ++c)
    panel.curve(page.numbers(table_of({{"head", head.name},
                                       {"condition", carried.conditions[c]},
                                       {"quantity", above ? "mean_weight" : "weighted_share"},
                                       {"offset", carried.offsets},
                                       {"value", curves[c]}})),
                "4:5", condition_line(c));
}

GnuplotFigure draw_carried_waves(const Result& result, const FigureOptions& options) {
  const Field& field = result.at(carried_weight_name);
  const CarriedWaves carried{doubles_of(result, carried_weight_name, {"condition", "carried_head", "offset"}),
                             doubles_of(result, carried_sum_name, {"condition", "carried_head", "offset"}),
                             coordinates(field, "offset"), labels_of(field, "condition"),
                             labels_of(field, "carried_head").size()};
  PanelFlow flow{.grid = {.panel = {2.0, 3.3}, .gap = {0.5, 0.7}, .margin = {.left = 0.7, .right = 0.16, .top = 0.6}},
                 .in_row = carried.heads,
                 .least = 1.7,
                 .below = "offset t = key − query (tokens)"};
  for (std::size_t c = 0; c < carried.conditions.size(); ++c)
    flow.legend.push_back({condition_title(carried.conditions[c]), condition_line(c)});
  const auto heads = named_heads(field, "carried_head", options);
  const std::size_t shown = panels_that_fit(flow, heads.size(), options.style);
  if (shown < heads.size()) flow.cut = fmt::format("the first {} of {} heads", shown, heads.size());
  return drawn_panels(flow, shown, options.style, [&](Page& page, Panel& panel, std::size_t k) {
    panel.above(heads[k].name, Anchor::left, {.points = 8, .bold = true, .up = 0.5});
    add_carried(page, panel, true, carried, heads[k]);
    add_carried(page, page.panel(k), false, carried, heads[k]);
  });
}

}  // namespace

FigureKind carried_waves_figure() {
  return {
      .name = "carried_waves",
      .fields = {carried_weight_name, carried_sum_name},
      .caption =
          "What carries the offsets of single heads. Above: mean attention weight at each offset t = key position "
          "minus query position. Below: scores before mask and softmax, without row means, summed along each diagonal "
          "and divided by the head's largest sum, up or down, of the model as it is. Lines are runs of the model as it "
          "is, with every word the same, with every position the same, and with the words in another order.",
      .drawing = draw_carried_waves,
      .silent = no_carried_head,
      .single_heads = true};
}

}  // namespace headwave
