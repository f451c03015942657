// Heads over the checkpoints of a training run.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../../core/fields/field_reader.h"
#include "../drawing/page.h"
#include "../drawing/visible_text.h"
#include "chosen_heads.h"
#include "kinds.h"

namespace headwave {

namespace {

constexpr const char *step_name = "checkpoints/step", *with_offset_name = "checkpoints/with_offset",
                     *verdicts_name = "checkpoints/verdicts", *since_name = "checkpoints/positional_since",
                     *head_verdict_name = "checkpoints_head_account/verdict",
                     *head_part_name = "checkpoints_head_account/part";

std::string checkpoint_label(const std::string& name) {
  return shortened(visible_text(name), 16);
}

/// Inches that the names take below a panel.
double room_for_names(const std::vector<std::string>& names) {
  std::size_t longest = 1;
  for (const std::string& name : names) longest = std::max(longest, checkpoint_label(name).size());
  return 0.4 + 0.068 * static_cast<double>(longest);
}

/// Checkpoints across a panel, named where there is room; one alone has room at both sides.
void add_checkpoints(Page& page, Panel& panel, const std::vector<std::string>& names) {
  const auto room = std::max<std::size_t>(1, static_cast<std::size_t>(panel.width() / 0.14));
  DataTable labels({"place", "name"});
  for (std::size_t i = 0; i < names.size(); i += (names.size() + room - 1) / room)
    labels.add_row({i, checkpoint_label(names[i])});
  panel.x_cells(names.size(), {.numbers = Numbers::none, .points = 6, .upward = true});
  panel.x_tic_names(page.data(labels), 1, 2);
  panel.title_below("checkpoint", room_for_names(names) - 0.1);
}

/// How many heads are what, in the order of the legend.
struct HeadCounts {
  std::vector<std::string> names;
  std::vector<std::vector<double>> of;  // by name, then by checkpoint
};

HeadCounts counts_of_heads(const Result& result) {
  const auto& with_offset = counts_of(result, with_offset_name, {"checkpoint"});
  HeadCounts counts{{"with an offset"}, {{with_offset.begin(), with_offset.end()}}};
  const Field* field = result.find(verdicts_name);
  if (field == nullptr) return counts;
  const auto& verdicts = labels_of(*field, "verdict");
  const auto& all = counts_of(result, verdicts_name, {"checkpoint", "verdict"});
  for (std::size_t v = 0; v < verdicts.size(); ++v) {
    counts.names.push_back(visible_text(verdicts[v]));
    counts.of.emplace_back();
    for (std::size_t i = v; i < all.size(); i += verdicts.size())
      counts.of.back().push_back(static_cast<double>(all[i]));
  }
  return counts;
}

GnuplotFigure draw_checkpoint_counts(const Result& result, const FigureOptions& options) {
  const auto& names = labels_of(result.at(step_name), "checkpoint");
  const auto& steps = doubles_of(result, step_name, {"checkpoint"});
  const HeadCounts counts = counts_of_heads(result);
  PanelGrid grid{.panel = {std::clamp(0.3 * static_cast<double>(names.size()), 2.4, 6.0), 2.0},
                 .margin = {.left = 0.62, .right = 1.8, .top = 0.12, .bottom = room_for_names(names)}};
  grid = fitted(with_legend_beside(grid, counts.names.size(), options.style), 1, 1.6, options.style);
  Page page(grid, options.style);
  Panel& panel = page.panel(0);
  std::vector<std::string> kept_columns{"checkpoint", "step"}, drawn_columns{"place"};
  kept_columns.insert(kept_columns.end(), counts.names.begin(), counts.names.end());
  drawn_columns.insert(drawn_columns.end(), counts.names.begin(), counts.names.end());
  DataTable kept(kept_columns), drawn(drawn_columns);
  double most = 1;
  for (std::size_t c = 0; c < names.size(); ++c) {
    std::vector<Cell> cells{names[c], steps[c]}, places{c};
    for (const auto& line : counts.of) {
      cells.emplace_back(line[c]);
      places.emplace_back(line[c]);
      most = std::max(most, line[c]);
    }
    kept.add_row(cells);
    drawn.add_row(places);
  }
  page.keep(kept);
  const std::string data = page.data(drawn);
  add_checkpoints(page, panel, names);
  const ValueRange range = range_with_zero({0, most});
  panel.y_axis(range, {.step = std::max(1.0, tic_step(range.high - range.low))});
  panel.title_left("heads", 0.42);
  for (std::size_t i = 0; i < counts.names.size(); ++i)
    panel.curve(data, fmt::format("1:{}", i + 2), categorical_line(static_cast<Index>(i), 1.8, 0.5), counts.names[i]);
  panel.legend_beside("");
  return page.figure();
}

/// Heads in the order in which they become positional for good, the others after them.
std::vector<std::size_t> by_arrival(const std::vector<double>& since) {
  std::vector<double> earlier;
  for (const double checkpoint : since) earlier.push_back(-checkpoint);
  return descending(earlier);
}

GnuplotFigure draw_checkpoint_heads(const Result& result, const FigureOptions& options) {
  const auto& parts = doubles_of(result, head_part_name, {"checkpoint", "cause", "layer", "head"});
  const auto& since = doubles_of(result, since_name, {"layer", "head"});
  const auto& steps = doubles_of(result, step_name, {"checkpoint"});
  const Field& field = result.at(head_part_name);
  const auto& names = labels_of(field, "checkpoint");
  const FieldHeads heads = field_heads(field);
  const std::size_t rows = heads.size(), causes = static_cast<std::size_t>(field.axis("cause").size());
  std::vector<std::string> verdicts;
  if (result.find(head_verdict_name) != nullptr)
    verdicts = meanings_of(result, head_verdict_name, {"checkpoint", "layer", "head"});
  const std::vector<std::size_t> order = by_arrival(since);
  // Positions come first among the causes; nothing if the head prefers no offset.
  const auto share = [&](std::size_t checkpoint, std::size_t row) {
    const std::size_t head = order[row];
    const std::string said = verdicts.empty() ? "" : verdicts[checkpoint * rows + head];
    return said == "no preference" || said == "undefined" || said == "unknown"
               ? std::nan("")
               : parts[checkpoint * causes * rows + head];
  };
  DataTable table({"checkpoint", "step", "layer", "head", "position_share", "positional_since"});
  for (std::size_t c = 0; c < names.size(); ++c)
    for (std::size_t head = 0; head < rows; ++head)
      table.add_row(
          {names[c], steps[c], heads[head].layer, heads[head].head, parts[c * causes * rows + head], since[head]});
  const double tall =
      std::clamp(0.11 * static_cast<double>(rows), 1.2, std::min(7.0, layout_height(options.style) - 1.5));
  PanelGrid grid{.panel = {std::clamp(0.3 * static_cast<double>(names.size()), 2.0, 6.0), tall},
                 .margin = {.left = 0.75, .right = 0.95, .top = 0.12, .bottom = room_for_names(names)}};
  grid = fitted(grid, 1, 1.5, options.style);
  grid.panel.height = tall;
  grid = with_room_below(grid, note_line);
  Page page(grid, options.style);
  Panel& panel = page.panel(0);
  page.keep(table);
  page.note_below({"white: no preferred offset"});
  add_checkpoints(page, panel, names);
  const auto down = [&](double row) { return static_cast<double>(rows) - 1 - row; };
  panel.y_axis({-0.5, static_cast<double>(rows) - 0.5}, {.numbers = Numbers::none, .points = 5});
  const auto block = [](std::size_t cells) { return std::clamp<std::size_t>(512 / cells, 2, 16); };
  panel.heat_map(page.data(
      pixels({.columns = names.size(), .rows = rows, .amount = share, .y = down}, block(names.size()), block(rows))));
  panel.color_range({0, 1});
  panel.color_bar({.away = 0.1,
                   .height = std::min(1.6, grid.panel.height),
                   .tics = {.step = 0.5, .first = 0, .points = 6, .away = 0.6},
                   .title = "part by position",
                   .title_right = -1.2});
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(static_cast<double>(rows) * 0.09 / tall)));
  DataTable labels({"place", "name"}), arrivals({"x", "y", "across", "up"});
  for (std::size_t row = 0; row < rows; ++row) {
    const double place = down(static_cast<double>(row));
    const HeadName name = heads[order[row]];
    if (row % every == 0) labels.add_row({place, head_name(name.layer, name.head)});
    if (const double arrival = since[order[row]]; std::isfinite(arrival))
      arrivals.add_row({arrival - 0.5, place - 0.5, 0.0, 1.0});
  }
  panel.y_tic_names(page.data(labels), 1, 2);
  if (!arrivals.rows().empty()) panel.strokes(page.data(arrivals), "1:2:3:4", {ink::mark, 2.0});
  return page.figure();
}

}  // namespace

FigureKind checkpoint_counts_figure() {
  return {
      .name = "checkpoint_counts",
      .fields = {step_name, with_offset_name},
      .extras = {verdicts_name},
      .caption =
          "How many heads look where, checkpoint by checkpoint of a training run: those whose measured offset stands "
          "out from shuffled positions, and those of which the account says positional, self, and so on.",
      .drawing = draw_checkpoint_counts};
}

FigureKind checkpoint_heads_figure() {
  return {
      .name = "checkpoint_heads",
      .fields = {step_name, head_part_name, since_name},
      .extras = {head_verdict_name},
      .caption =
          "When heads become positional: of what can be explained of each head's offset profile, the part that "
          "positions give, checkpoint by checkpoint (nothing if it is undefined or the head has no preference). Heads "
          "are in the order in which they become positional for good, which the stroke marks; those that are not at "
          "the end stand below.",
      .drawing = draw_checkpoint_heads};
}

}  // namespace headwave
