#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/page.h"
#include "chosen_heads.h"
#include "kinds.h"

namespace headwave {

namespace {

constexpr const char *held_name = "attention_distance/held", *last_name = "attention_distance/last_distance",
                     *window_name = "attention_distance/window_95", *error_name = "attention_distance/window_95_error";
constexpr double marked_percent = 95;

/// "2.4" below ten, "13k" from ten thousand on, so that long windows fit.
std::string tokens_text(double tokens) {
  if (tokens < 9.95) return fmt::format("{:.2g}", tokens);
  return tokens < 9999.5 ? fmt::format("{:.0f}", tokens) : fmt::format("{:.0f}k", tokens / 1000);
}

GnuplotFigure draw_attention_distance(const Result& result, const FigureOptions& options) {
  const auto& held = doubles_of(result, held_name, {"layer", "head", "distance"});
  const std::vector<double> last = as_doubles(result.at(last_name));
  const auto& window = doubles_of(result, window_name, {"layer", "head"});
  const auto& error = doubles_of(result, error_name, {"layer", "head"});
  const std::size_t heads_there = field_heads(result.at(held_name)).size();
  for (const auto& [name, found, expected] :
       {std::tuple{window_name, window.size(), heads_there}, std::tuple{error_name, error.size(), heads_there},
        std::tuple{held_name, held.size(), heads_there * last.size()}})
    if (found != expected)
      throw ShapeError(fmt::format("{}: expected {} numbers, as {} heads and {} have, found {}", name, expected,
                                   heads_there, last_name, found));
  if (last.size() < 2) throw ShapeError(fmt::format("{}: holds no distances to draw", held_name));
  const double longest = last.back() >= 1 && std::isfinite(last.back()) ? last.back() + 1 : 10;
  PanelFlow flow{.grid = {.panel = {1.9, 1.25},
                          .gap = {0.2, 0.42},
                          .margin = {.left = 0.62, .right = 0.16, .top = 0.28, .bottom = 0.5}},
                 .least = 1.5,
                 .below = "window (tokens)",
                 .left = "attention held (%)",
                 .lowest = 0.7};
  const auto heads = heads_on_page(result, held_name, options, flow, 6);
  return drawn_panels(flow, heads.size(), options.style, [&](Page& page, Panel& panel, std::size_t k) {
    const std::size_t row = heads[k].row;
    DataTable table({"layer", "head", "window", "held_percent", "window_95", "window_95_error"});
    for (std::size_t bin = 0; bin < last.size(); ++bin)
      table.add_row({heads[k].name.layer, heads[k].name.head, last[bin] + 1, 100 * held[row * last.size() + bin],
                     window[row], error[row]});
    panel.common_x_axis({1, longest * 1.1}, {.numbers = Numbers::plain});
    panel.x_logarithmic(10);
    panel.common_y_axis({0, 104}, {.step = 25, .numbers = Numbers::plain});
    panel.above(heads[k].text(), Anchor::left, {.points = 8, .bold = true, .up = 0.4});
    panel.level(marked_percent, {ink::zero_line, 0.7});
    panel.curve(page.numbers(table), "3:4", {ink::measured, 1.6});
    if (!std::isfinite(window[row])) return;
    panel.mark({value(std::max(1.0, window[row])), value(marked_percent)}, {ink::mark, 0.4});
    const std::string spread = error[row] < 0.95 ? fmt::format("{:.1g}", error[row]) : tokens_text(error[row]);
    const std::string interval = std::isfinite(error[row]) ? " ± " + spread : "";
    panel.above(fmt::format("95 %: {}{}", tokens_text(window[row]), interval), Anchor::right,
                {.points = 7.5, .ink = ink::mark, .up = 0.4});
  });
}

}  // namespace

FigureKind attention_distance_figure() {
  std::vector<std::string> extras = strength_fields();
  return {.name = "attention_distance",
          .fields = {held_name, last_name, window_name, error_name},
          .extras = std::move(extras),
          .caption =
              "How far heads look: the share of a head's attention that a window of the last tokens holds, beside "
              "special and first tokens, against its length (logarithmic). Dot and number: the window that holds "
              "95 %, with its standard error over documents where these were summed in blocks.",
          .drawing = draw_attention_distance,
          .single_heads = true};
}

}  // namespace headwave
