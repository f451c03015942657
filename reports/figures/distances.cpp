// How far heads look.
#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "chosen_heads.h"

namespace headwave {

namespace {

constexpr const char *held_name = "attention_distance/held", *last_name = "attention_distance/last_distance",
                     *window_name = "attention_distance/window_95", *error_name = "attention_distance/window_95_error";

/// "2.4" below ten, "13k" from ten thousand on, so that long windows fit.
std::string tokens_text(double tokens) {
  if (tokens < 9.95) return fmt::format("{:.2g}", tokens);
  return tokens < 9999.5 ? fmt::format("{:.0f}", tokens) : fmt::format("{:.0f}k", tokens / 1000);
}

Figure draw_attention_distance(const Result& result, const FigureOptions& options) {
  constexpr double marked_percent = 95;
  std::vector<double> held = doubles_of(result, held_name, {"layer", "head", "distance"});
  std::vector<double> windows = as_doubles(result.at(last_name));
  const auto& window = doubles_of(result, window_name, {"layer", "head"});
  const auto& error = doubles_of(result, error_name, {"layer", "head"});
  if (windows.size() < 2) throw ShapeError(fmt::format("{}: holds no distances to draw", held_name));
  for (double& share : held) share *= 100;
  for (double& last : windows) ++last;
  const double longest = windows.back() >= 2 && std::isfinite(windows.back()) ? windows.back() : 10;
  FigurePanels panels{
      .grid = {.panel = {1.9, 1.25}, .gap = {0.2, 0.42}, .margin = {.left = 0.62, .right = 0.16, .top = 0.28}},
      .least = 1.5,
      .lowest = 0.7,
      .x = {.range = {1, longest * 1.1}, .log = 10, .common = true},
      .y = {.range = {0, 104}, .tics = {.step = 25}, .common = true},
      .below = "window (tokens)",
      .left = "attention held (%)"};
  const auto heads = heads_on_page(result, held_name, options, panels, 6);
  panels.fill = [&](Panel& panel, std::size_t k) {
    const std::size_t row = heads[k].row;
    panel.name(heads[k].text(), 8, 0.4);
    panel.level(marked_percent, {ink::zero_line, 0.7});
    panel.curve(windows, slice_of(held, row, windows.size()), {ink::measured, 1.6});
    if (!std::isfinite(window[row])) return;
    panel.mark({value(std::max(1.0, window[row])), value(marked_percent)}, {ink::mark, 0.4});
    const std::string spread = error[row] < 0.95 ? fmt::format("{:.1g}", error[row]) : tokens_text(error[row]);
    const std::string interval = std::isfinite(error[row]) ? " ± " + spread : "";
    panel.above(fmt::format("95 %: {}{}", tokens_text(window[row]), interval), Anchor::right,
                {.points = 7.5, .ink = ink::mark, .up = 0.4});
  };
  return drawn_panels(panels, heads.size(), options.style);
}

}  // namespace

FigureKind attention_distance_figure() {
  return {.name = "attention_distance",
          .fields = {held_name, last_name, window_name, error_name},
          .extras = strength_fields(),
          .caption =
              "How far heads look: the share of a head's attention that a window of the last tokens holds, beside "
              "special and first tokens, against its length (logarithmic). Dot and number: the window that holds "
              "95 %, with its standard error over documents where these were summed in blocks.",
          .drawing = draw_attention_distance,
          .single_heads = true};
}

}  // namespace headwave
