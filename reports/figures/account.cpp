// Why heads look where they look: the causes of their profiles, and the parts of all their attention.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../drawing/visible_text.h"
#include "../tables/head_sentence.h"
#include "chosen_heads.h"

namespace headwave {

namespace {

constexpr const char *strength_name = "head_account/strength", *profile_name = "head_account/measured_profile",
                     *dealt_name = "head_account/dealt_profile", *uniform_name = "head_account/uniform_profile";
constexpr std::size_t terms = 3;

/// The offsets to show: those near the query, or all if attention is largest farther away, but none masked.
ValueRange account_offsets(const std::vector<double>& offsets, std::span<const double> measured) {
  constexpr double near_query = 16;  // tokens
  double reach = 1, peak = 0, at = 0, last = -1;
  for (std::size_t t = 0; t < offsets.size(); ++t) {
    if (!std::isfinite(measured[t])) continue;
    reach = std::max(reach, std::abs(offsets[t]));
    last = offsets[t];
    if (measured[t] > peak) {
      peak = measured[t];
      at = offsets[t];
    }
  }
  if (std::abs(at) < near_query) reach = std::min(reach, near_query);
  return {-reach, std::min(reach, std::max(last, 0.02 * reach))};
}

Figure draw_account_profile(const Result& result, const FigureOptions& options) {
  const auto offsets = coordinates(result.at(profile_name), "offset");
  const auto& measured = doubles_of(result, profile_name, {"layer", "head", "offset"});
  const auto& uniform = doubles_of(result, uniform_name, {"layer", "head", "offset"});
  const auto& dealt = doubles_of(result, dealt_name, {"term", "layer", "head", "offset"});
  const auto& part = doubles_of(result, account_part_field, {"cause", "layer", "head"});
  const auto& strength = doubles_of(result, strength_name, {"layer", "head"});
  if (dealt.size() != terms * measured.size() || part.size() != terms * strength.size())
    throw ShapeError(fmt::format("{}: expected {} terms, found {} numbers", dealt_name, terms, dealt.size()));
  // What each term adds to the profile before it, from uniform attention on, in the inks of verdicts.
  const std::array added{LegendEntry{"position", {categorical(0), 7.0}},
                         LegendEntry{"own token", {categorical(1), 7.0}}, LegendEntry{"context", {categorical(3), 7.0}},
                         LegendEntry{"rest", {ink::rest, 7.0}}};
  const Line measured_line{ink::text, 1.4}, uniform_line{ink::base_line, 0.8, "2"};
  const bool alone = options.heads.size() == 1;
  // On a narrow page panels stand in pairs, and are as flat as broader ones.
  const bool pairs = !alone && options.width > 0 && options.width < 5;
  FigurePanels panels{.grid = {.panel = {alone ? 3.6 : 2.05, pairs ? 0.95 : 1.5},
                               .gap = {0.46, 0.46},
                               .margin = {.right = 0.12, .top = 0.5}},
                      .least = 1.05,
                      .below = "offset t = key − query (tokens)",
                      .left = "mean attention weight",
                      .points = pairs ? 7.0 : 0,
                      .legend = {{"measured", measured_line}}};
  for (std::size_t term = 0; term < added.size(); ++term)  // in cross-attention no token meets itself
    if (term != 1 || any_finite(slice_of(dealt, 1, measured.size()))) panels.legend.push_back(added[term]);
  panels.legend.push_back({"uniform", uniform_line});
  const auto heads = chosen_heads(result, profile_name, options, 6);
  panels.fill = [&](Panel& panel, std::size_t k) {
    const std::size_t row = heads[k].row, all = offsets.size();
    const ValueRange shown = account_offsets(offsets, slice_of(measured, row, all));
    const auto first = static_cast<std::size_t>(std::ranges::lower_bound(offsets, shown.low) - offsets.begin());
    const auto past =
        std::max(first, static_cast<std::size_t>(std::ranges::upper_bound(offsets, shown.high) - offsets.begin()));
    std::array<std::vector<double>, terms + 2> curves;
    double highest = 0;
    for (std::size_t c = 0; c < curves.size(); ++c) {
      const auto curve = slice_of(c == 0      ? uniform
                                  : c > terms ? measured
                                              : dealt,
                                  c == 0 || c > terms ? row : (c - 1) * strength.size() + row, all);
      for (std::size_t t = first; t < past; ++t) {  // where no token meets itself, that term adds nothing
        curves[c].push_back(c == 2 && std::isnan(curve[t]) ? curves[1][t - first] : curve[t]);
        if (std::isfinite(curves[c].back())) highest = std::max(highest, curves[c].back());
      }
    }
    const auto shown_offsets = std::span(offsets).subspan(first, past - first);
    const bool narrow = panel.width() < 1.5;
    const double letters = narrow ? 7 : 0, few = panel.height() < 0.8 ? 2 : 1;
    if (!(highest > 0)) highest = 1 / 1.06;
    const double step = std::max(1.0, tic_step(1.2 * (shown.high - shown.low)));
    panel.x = {.range = shown, .tics = {.step = step, .numbers = Numbers::plain, .points = letters}};
    panel.y = {.range = {0, 1.06 * highest}, .tics = {.step = tic_step(few * highest), .points = letters}};
    for (std::size_t term = 0; term < added.size(); ++term)
      panel.band(shown_offsets, curves[term], curves[term + 1], added[term].line.ink);
    panel.curve(shown_offsets, curves[0], uniform_line);
    panel.curve(shown_offsets, curves[terms + 1], measured_line);
    panel.name(heads[k].text(), narrow ? 7 : 8);
    std::string parts;
    for (std::size_t term = 0; term < terms; ++term)
      if (const double one = part[term * strength.size() + row]; std::isfinite(one))
        parts += fmt::format("{}{:.0f}", parts.empty() ? "" : ", ", 100 * one);
    panel.above(fmt::format("{:.2f}: {}", strength[row], parts.empty() ? "–" : parts + " %"), Anchor::right,
                {.points = narrow ? 6.0 : 7.0, .ink = ink::number, .up = 0.5});
  };
  return drawn_heads(panels, heads, field_heads(result.at(profile_name)), options);
}

/// Draws every head as a bar: its width is divided into the parts of the bits, its height is their root.
Figure draw_attention_bits(const Result& result, const FigureOptions& options) {
  const std::array inks{ink::rest, categorical(0), categorical(1), categorical(3)};  // sink, position, word, match
  const FieldHeads heads = field_heads(result.at(bits_field));
  const auto& bits = doubles_of(result, bits_field, {"layer", "head"});
  const auto& parts = doubles_of(result, bits_part_field, {"bits_part", "layer", "head"});
  const double most = largest_of(bits);
  const auto across = static_cast<double>(heads.heads.size()), down = static_cast<double>(heads.layers.size());
  const double width = across * std::clamp(5.6 / across, 0.12, 0.46);
  FigurePanels panels{.grid = {.panel = {width}, .margin = {.left = 0.5, .top = 0.3, .bottom = 0.42}},
                      .flatness = down * std::clamp(5.6 / std::max(across, down), 0.1, 0.34) / width,
                      .grows = false,
                      .notes = {"width: part of a head's bits", fmt::format("height: √bits, full {:.1f}", most)}};
  for (std::size_t part = 0; part < inks.size(); ++part) panels.legend.push_back({part_names[part], {inks[part], 7.0}});
  panels.fill = [&](Panel& panel, std::size_t) {
    panel.frame = Frame::none;
    add_head_axes(panel, heads);
    std::array<Rows, part_names.size()> boxes;  // x, y, half width, half height
    for (std::size_t row = 0; row < bits.size(); ++row) {
      const auto part = [&](std::size_t p) { return std::max(0.0, parts[p * bits.size() + row]); };
      double sum = 0;
      for (std::size_t p = 0; p < boxes.size(); ++p) sum += part(p);
      if (!(sum > 0)) continue;
      constexpr double room = 0.94;  // of a cell
      double left = static_cast<double>(heads.column(row)) - room / 2;
      for (std::size_t p = 0; p < boxes.size(); ++p) {
        const double share = room * part(p) / sum;
        if (share > 0)
          boxes[p].push_back({left + share / 2, heads.line(row), share / 2, room / 2 * std::sqrt(bits[row] / most)});
        left += share;
      }
    }
    for (std::size_t p = 0; p < boxes.size(); ++p) panel.boxes(boxes[p], inks[p]);
  };
  return drawn_panels(panels, 1, options.width);
}

}  // namespace

std::vector<FigureKind> account_figures() {
  return {
      {.name = "account_profile",
       .fields = {account_part_field, profile_name, dealt_name, uniform_name, strength_name},
       .caption =
           "Mean attention weight at each offset (line), without the first token. Filled, from uniform attention up: "
           "what remains with contents dealt to other places (position), then what tokens add by meeting themselves "
           "(own token), what neighbouring contents add (context), and the rest. Above: the profile's strength, and "
           "these parts in per cent.",
       .drawing = draw_account_profile,
       .single_heads = true},
      {.name = "attention_bits",
       .fields = {bits_field, bits_part_field},
       .caption =
           "What each head's attention is made of. Width: parts of the bits by which a query's attention "
           "differs from uniform attention. Sink: the choice between special keys and text, and among special keys; "
           "position: where query and key stand; word: words that draw attention from every query; match: what a query "
           "finds "
           "in its keys. Height: the square root of the bits, relative to the head with most.",
       .drawing = draw_attention_bits}};
}

}  // namespace headwave
