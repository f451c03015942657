#include "profile_panels.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "../drawing/page.h"
#include "cluster_peaks.h"

namespace headwave {

namespace {

constexpr double weak_ratio = 2.0, full_ratio = 32.0;  // of weight to threshold
constexpr double weak_ink = 0.16, full_ink = 0.8;

double peak_of(const Profiles& profiles, std::size_t row) {
  double peak = 0.0;
  for (std::size_t t = 0; t < profiles.offsets.size(); ++t) {
    const double weight = profiles.weights[row * profiles.offsets.size() + t];
    if (std::isfinite(weight)) peak = std::max(peak, weight);
  }
  return peak;
}

/// How full the ink is below a curve: even in the logarithm of how far it exceeds what chance reaches.
double strength_of(double ratio) {
  const double part = std::log(ratio) / std::log(full_ratio);
  return std::isfinite(part) ? std::lerp(weak_ink, full_ink, std::clamp(part, 0.0, 1.0)) : weak_ink;
}

/// How large letters are and where they stand, in parts of the panel's height.
struct Lettering {
  double points = 5.0;
  double panel = 30.0;  ///< height of the panel in points
  [[nodiscard]] double above_frame() const { return (points * 0.5 + 2.5) / panel; }
  [[nodiscard]] double above_dot() const { return (points * 0.5 + 2.2) / panel; }
  /// End of the y axis, to four digits: room for the number.
  [[nodiscard]] double top() const { return std::round(1e4 / (1 - (points + 4.0) / panel)) / 1e4; }
};

/// The offset's dot and number, or an arrow at the edge where it is out of sight. The dot is hollow where the
/// offset is told from chance but weak.
void mark(Panel& panel, double offset, double height, bool weak, const Lettering& lettering) {
  Letters letters{.points = lettering.points, .bold = true, .ink = ink::mark};
  if (std::abs(offset) > profile_window) {
    letters.anchor = offset < 0 ? Anchor::left : Anchor::right;
    panel.note(pointed_offset(offset, profile_window),
               {share(offset < 0 ? 0.03 : 0.97), share(1 - lettering.above_frame())}, letters);
    return;
  }
  letters.anchor = Anchor::center;
  letters.up_share = lettering.above_dot();
  panel.mark({value(offset), value(height)}, {ink::mark, 0.3, weak ? Shape::ring : Shape::disc}, signed_offset(offset),
             letters);
}

/// Short where panels are narrow.
std::string peak_text(double peak, double panel_width) {
  return panel_width > 0.9 ? fmt::format("peak {:.2g}", peak) : fmt::format("{:.{}g}", peak, panel_width < 0.5 ? 1 : 2);
}

/// One head: its name, its peak, its curve.
void add_panel(Page& page, const HeadPanels& grid, const Profiles& profiles, const ProfileNames& names,
               std::size_t row) {
  const auto l = static_cast<Index>(row / profiles.heads.size()), h = static_cast<Index>(row % profiles.heads.size());
  const Index layer = profiles.layers[static_cast<std::size_t>(l)], head = profiles.heads[static_cast<std::size_t>(h)];
  const double marked = profiles.marked.empty() ? std::nan("") : profiles.marked[row];
  const double peak = peak_of(profiles, row), unit = peak > 0 ? peak : 1.0;
  DataTable table({"layer", "head", "offset", names.weight, names.marked});
  double height = 1.0;
  for (std::size_t t = 0; t < profiles.offsets.size(); ++t) {
    const double weight = profiles.weights[row * profiles.offsets.size() + t];
    table.add_row({layer, head, profiles.offsets[t], weight, marked});
    if (profiles.offsets[t] == marked && std::isfinite(weight)) height = weight / unit;
  }
  const Lettering lettering{grid.points, grid.panel_height * 72};
  Panel& panel = page.panel(grid.row(l, h), grid.column(h));
  panel.frame(Frame::base_line);
  panel.x_axis({-profile_window - 0.5, profile_window + 0.5},
               {.step = 10,
                .numbers = grid.is_lowest(l, h) ? Numbers::plain : Numbers::none,
                .points = grid.points,
                .away = -0.5});
  panel.y_axis({0, lettering.top()});
  panel.without_y_tics();
  panel.vertical(0, {ink::zero_line, 0.7}, value(1));
  add_head_name(panel, grid, grid.column(h), {layer, head});
  panel.above(peak_text(peak, grid.panel_width), Anchor::right,
              {.points = grid.points, .ink = ink::number, .up = 0.35});
  if (!std::isnan(marked))
    mark(panel, marked, height, row < profiles.ratio.size() && profiles.ratio[row] < weak_ratio, lettering);
  const bool told = profiles.marked.empty() || !std::isnan(marked);
  const Ink ink = told ? ink::measured : ink::undefined;
  const std::string file = page.numbers(table), columns = fmt::format("3:($4/{})", unit);
  panel.area(file, columns, 0, ink, told && row < profiles.ratio.size() ? strength_of(profiles.ratio[row]) : weak_ink);
  panel.curve(file, columns, {ink, 1.3});
}

std::vector<std::string> notes_of(const Profiles& profiles, const ProfileNames& names) {
  std::vector<std::string> notes{"upper right: the panel's peak"};
  if (!profiles.marked.empty()) notes.push_back("dot: " + names.mark + " (tokens)");
  if (!profiles.ratio.empty()) {
    notes.emplace_back("hollow: below twice the threshold");
    notes.emplace_back("the fuller the ink, the further above chance");
  }
  return notes;
}

}  // namespace

void add_head_name(Panel& panel, const HeadPanels& grid, Index column, const HeadName& name) {
  const std::string words = grid.layers_left ? fmt::format("H{}", name.head) : head_name(name.layer, name.head);
  panel.above(words, Anchor::left, {.points = grid.points, .bold = true, .up = 0.35});
  if (grid.layers_left && column == 0)
    panel.note(fmt::format("L{}", name.layer), {share(-0.06 / grid.panel_width), share(0.4)},
               {.points = grid.points, .bold = true, .anchor = Anchor::right});
}

GnuplotFigure profile_panels(const Profiles& profiles, const ProfileNames& names, const FigureStyle& style) {
  const auto heads = static_cast<Index>(profiles.heads.size());
  HeadPanels grid = head_panels(static_cast<Index>(profiles.layers.size()), heads, style, heads <= 4 ? 0.6 : 0.66);
  const auto notes = note_lines(notes_of(profiles, names), grid.width());
  const double below = note_line * static_cast<double>(notes.size());
  grid.bottom += below;
  Page page(grid, style);
  for (std::size_t row = 0; row < profiles.layers.size() * profiles.heads.size(); ++row)
    add_panel(page, grid, profiles, names, row);
  page.title_below("offset t = key − query (tokens)", 0.1 + below);
  page.note_below(notes);
  page.title_left(grid.height() > 3 ? names.title + " ÷ the panel's peak" : "weight ÷ peak");
  return page.figure();
}

Profiles profiles_within(const Field& field, const std::vector<double>& all, const std::string& axis,
                         std::size_t first) {
  const auto offsets = coordinates(field, axis);
  Profiles profiles{whole_coordinates(field, "layer"), whole_coordinates(field, "head"), {}, {}, {}, {}};
  const std::size_t rows = profiles.layers.size() * profiles.heads.size();
  if (rows > most_head_panels)
    throw ShapeError(fmt::format("{}: {} heads are too many to draw, {} at most", field.name, rows, most_head_panels));
  for (const double t : offsets)
    if (std::abs(t) <= profile_window) profiles.offsets.push_back(t);
  if (rows == 0 || profiles.offsets.empty()) throw ShapeError(fmt::format("{}: holds no offsets to draw", field.name));
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t t = 0; t < offsets.size(); ++t)
      if (std::abs(offsets[t]) <= profile_window) profiles.weights.push_back(all[(first + row) * offsets.size() + t]);
  return profiles;
}

}  // namespace headwave
