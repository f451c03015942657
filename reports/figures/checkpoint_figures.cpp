#include "checkpoint_figures.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "../../core/fields/head_name.h"
#include "../drawing/field_values.h"
#include "../drawing/page.h"
#include "../drawing/pixels.h"
#include "../drawing/visible_text.h"

namespace headwave {

namespace {

constexpr const char* step_name = "checkpoints/step";
constexpr const char* with_offset_name = "checkpoints/with_offset";
constexpr const char* verdicts_name = "checkpoints/verdicts";
constexpr const char* head_verdict_name = "checkpoints_head_account/verdict";
constexpr const char* checkpoint_part_name = "checkpoints_head_account/part";
constexpr const char* since_name = "checkpoints/positional_since";
constexpr std::size_t longest_checkpoint_name = 16;  // letters of a checkpoint's name

/// Names of checkpoints where there is room for them, as a file for Panel::x_tic_names().
DataTable checkpoint_names(const std::vector<std::string>& names, double width) {
  const std::size_t room = std::max<std::size_t>(1, static_cast<std::size_t>(width / 0.14));
  const std::size_t every = (names.size() + room - 1) / room;
  DataTable table({"place", "name"});
  for (std::size_t i = 0; i < names.size(); i += every)
    table.add_row({static_cast<Index>(i), shortened(visible_text(names[i]), longest_checkpoint_name)});
  return table;
}

/// Inches that the names take below a panel.
double room_for_names(const std::vector<std::string>& names) {
  std::size_t longest = 1;
  for (const std::string& name : names)
    longest = std::max(longest, shortened(visible_text(name), longest_checkpoint_name).size());
  return 0.2 + 0.068 * static_cast<double>(longest);
}

/// Checkpoints across a panel; one alone has room at both sides.
void add_checkpoints(Page& page, Panel& panel, const std::vector<std::string>& names) {
  panel.x_axis({-0.5, static_cast<double>(names.size()) - 0.5},
               {.numbers = Numbers::none, .points = 6, .upward = true});
  panel.x_tic_names(page.data(checkpoint_names(names, page.grid().panel_width)), 1, 2);
}

/// How many heads are what, in the order of the legend.
struct HeadCounts {
  std::vector<std::string> names;
  std::vector<std::vector<double>> of;  ///< by name, then by checkpoint
};

HeadCounts counts_of_heads(const Result& result, std::size_t checkpoints) {
  if (checkpoints == 0) throw ShapeError(fmt::format("{}: holds no checkpoints", step_name));
  const auto& with_offset = counts_of(result, with_offset_name, {"checkpoint"});
  HeadCounts counts{{"with an offset"}, {{with_offset.begin(), with_offset.end()}}};
  if (const Field* field = result.find(verdicts_name)) {
    const auto& verdicts = labels_of(*field, "verdict");
    const auto& all = counts_of(result, verdicts_name, {"checkpoint", "verdict"});
    for (std::size_t v = 0; v < verdicts.size(); ++v) {
      counts.names.push_back(visible_text(verdicts[v]));
      counts.of.emplace_back();
      for (std::size_t i = v; i < all.size(); i += verdicts.size())
        counts.of.back().push_back(static_cast<double>(all[i]));
    }
  }
  for (const auto& line : counts.of)
    if (line.size() != checkpoints)
      throw ShapeError(fmt::format("{}: expected {} checkpoints, found {}", verdicts_name, checkpoints, line.size()));
  return counts;
}

/// A row for every checkpoint: what stands first, then the counts.
DataTable counts_table(const HeadCounts& counts, std::vector<std::string> columns,
                       const std::vector<std::vector<Cell>>& first) {
  columns.insert(columns.end(), counts.names.begin(), counts.names.end());
  DataTable table(columns);
  for (std::size_t c = 0; c < first.size(); ++c) {
    std::vector<Cell> row = first[c];
    for (const auto& line : counts.of) row.emplace_back(line[c]);
    table.add_row(row);
  }
  return table;
}

GnuplotFigure draw_counts(const Result& result, const FigureOptions& options) {
  const auto& names = labels_of(result.at(step_name), "checkpoint");
  const auto& steps = doubles_of(result, step_name, {"checkpoint"});
  const HeadCounts counts = counts_of_heads(result, names.size());
  PanelGrid grid;
  grid.panel_width = std::clamp(0.3 * static_cast<double>(names.size()), 2.4, 6.0);
  grid.panel_height = 2.0;
  grid.left = 0.62;
  grid.right = 1.8;
  grid.top = 0.12;
  grid.bottom = room_for_names(names);
  grid = fitted(with_legend_beside(grid, counts.names.size(), options.style), 1, 1.6, options.style);
  Page page(grid, options.style);
  Panel& panel = page.panel(0);
  std::vector<std::vector<Cell>> said, places;
  for (std::size_t c = 0; c < names.size(); ++c) {
    said.push_back({names[c], steps[c]});
    places.push_back({static_cast<Index>(c)});
  }
  page.keep(counts_table(counts, {"checkpoint", "step"}, said));
  const std::string file = page.data(counts_table(counts, {"place"}, places));
  add_checkpoints(page, panel, names);
  double most = 1;
  for (const auto& line : counts.of) most = std::max(most, std::ranges::max(line));
  const ValueRange range = range_with_zero({0, most});
  panel.y_axis(range, {.step = std::max(1.0, tic_step(range.high - range.low))});
  panel.title_left("heads", 0.42);
  for (std::size_t i = 0; i < counts.names.size(); ++i)
    panel.curve(file, fmt::format("1:{}", i + 2), categorical_line(static_cast<Index>(i), 1.8, 0.5), counts.names[i]);
  panel.legend_beside("");
  return page.figure();
}

/// Heads in the order in which they become positional for good, the others behind them.
std::vector<std::size_t> by_arrival(const std::vector<double>& since) {
  std::vector<std::size_t> order(since.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t head) {
    return std::isnan(since[head]) ? std::numeric_limits<double>::infinity() : since[head];
  });
  return order;
}

/// Whether the account says that a head prefers an offset, checkpoint by checkpoint; all do where no verdict is there.
std::vector<bool> preferring(const Result& result, std::size_t count) {
  std::vector<bool> prefers(count, true);
  const Field* field = result.find(head_verdict_name);
  if (field == nullptr) return prefers;
  const auto& flags = flags_of(result, head_verdict_name, {"checkpoint", "layer", "head"});
  if (flags.size() != count)
    throw ShapeError(fmt::format("{}: expected {} verdicts, found {}", head_verdict_name, count, flags.size()));
  for (std::size_t i = 0; i < count; ++i) {
    const std::string said = flags[i] < field->flag_meanings.size() ? field->flag_meanings[flags[i]] : "";
    prefers[i] = said != "no preference" && said != "undefined";
  }
  return prefers;
}

GnuplotFigure draw_heads(const Result& result, const FigureOptions& options) {
  const auto& parts = doubles_of(result, checkpoint_part_name, {"checkpoint", "cause", "layer", "head"});
  const auto& since = doubles_of(result, since_name, {"layer", "head"});
  const auto& steps = doubles_of(result, step_name, {"checkpoint"});
  const Field& field = result.at(checkpoint_part_name);
  const auto& names = labels_of(field, "checkpoint");
  const auto layers = whole_coordinates(field, "layer"), heads = whole_coordinates(field, "head");
  const std::size_t rows = layers.size() * heads.size(), terms = static_cast<std::size_t>(field.axis("cause").size());
  if (rows == 0 || names.empty() || terms == 0 || since.size() != rows || steps.size() != names.size())
    throw ShapeError(fmt::format("{}: expected a share for each of {} heads at {} checkpoints", checkpoint_part_name,
                                 since.size(), steps.size()));
  const std::vector<std::size_t> order = by_arrival(since);
  const std::vector<bool> prefers = preferring(result, names.size() * rows);
  const auto share = [&](std::size_t checkpoint, std::size_t head) {
    if (!prefers[checkpoint * rows + head]) return std::nan("");
    const double part = parts[checkpoint * terms * rows + head];
    return part;
  };
  DataTable table({"checkpoint", "step", "layer", "head", "position_share", "positional_since"});
  for (std::size_t c = 0; c < names.size(); ++c)
    for (std::size_t head = 0; head < rows; ++head)
      table.add_row({names[c], steps[c], layers[head / heads.size()], heads[head % heads.size()],
                     parts[c * terms * rows + head], since[head]});
  PanelGrid grid;
  const double tall = std::clamp(0.11 * static_cast<double>(rows), 1.2, 7.0);
  grid.panel_width = std::clamp(0.3 * static_cast<double>(names.size()), 2.0, 6.0);
  grid.panel_height = tall;
  grid.left = 0.75;
  grid.right = 0.95;
  grid.top = 0.12;
  grid.bottom = room_for_names(names);
  grid = fitted(grid, 1, 1.5, options.style);
  grid.panel_height = tall;
  Page page(grid, options.style);
  Panel& panel = page.panel(0);
  page.keep(table);
  add_checkpoints(page, panel, names);
  const auto down = [&](double row) { return static_cast<double>(rows) - 1 - row; };
  panel.y_axis({-0.5, static_cast<double>(rows) - 0.5}, {.numbers = Numbers::none, .points = 5});
  const auto block = [](std::size_t cells) { return std::clamp<std::size_t>(512 / cells, 2, 16); };
  panel.heat_map(
      page.data(pixels({names.size(), rows, [&](std::size_t c, std::size_t row) { return share(c, order[row]); },
                        [](double column) { return column; }, down},
                       block(names.size()), block(rows))));
  panel.color_range({0, 1});
  panel.color_bar({.x = grid.left + grid.panel_width + 0.1,
                   .y = grid.bottom + grid.panel_height - std::min(1.6, grid.panel_height),
                   .height = std::min(1.6, grid.panel_height),
                   .tics = {.step = 0.5, .first = 0, .points = 6, .away = 0.6},
                   .title = "part by position",
                   .title_right = -1.2});
  const std::size_t every =
      std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(static_cast<double>(rows) * 0.09 / tall)));
  DataTable labels({"place", "name"});
  DataTable arrivals({"x", "y", "across", "up"});
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t head = order[row];
    if (row % every == 0)
      labels.add_row(
          {down(static_cast<double>(row)), head_name(layers[head / heads.size()], heads[head % heads.size()])});
    if (std::isfinite(since[head]))
      arrivals.add_row({since[head] - 0.5, down(static_cast<double>(row)) - 0.5, 0.0, 1.0});
  }
  panel.y_tic_names(page.data(labels), 1, 2);
  if (!arrivals.rows().empty()) panel.strokes(page.data(arrivals), "1:2:3:4", {ink::mark, 2.0});
  return page.figure();
}

}  // namespace

FigureKind checkpoint_counts_figure() {
  return {
      "checkpoint_counts",
      {step_name, with_offset_name},
      {verdicts_name},
      "How many heads look where, checkpoint by checkpoint of a training run: those whose measured offset stands out "
      "from shuffled positions, and those of which the account says positional, self, and so on.",
      draw_counts};
}

FigureKind checkpoint_heads_figure() {
  return {
      "checkpoint_heads",
      {step_name, checkpoint_part_name, since_name},
      {head_verdict_name},
      "When heads become positional: of what can be explained of each head's offset profile, the part that positions "
      "give, checkpoint by checkpoint (nothing where it is undefined or the head has no preference). Heads are in the "
      "order in "
      "which they become positional for good, which the stroke marks; those that are not at the end stand below.",
      draw_heads};
}

}  // namespace headwave
