// Redefined queries and keys as waves: their courses, their spectra, and where their cross-covariances point.
#include "waves.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../../core/numbers/offset_peak.h"
#include "../drawing/page.h"
#include "chosen_heads.h"
#include "kinds.h"

namespace headwave {

namespace {

constexpr const char *redefined_name = "redefined/query", *covariance_name = "cross_covariance/weighted_centred",
                     *correlation_name = "cross_covariance/correlation";
constexpr std::size_t most_waves = 2, most_covariance_heads = 6, most_components = 4;
constexpr double positions_shown = 64;  // of a course
constexpr double least_shift = 1.0 / 16,
                 most_shift = 0.5;  // of a period: what can be seen, and told from the other side
constexpr double one_line = 3.05;   // inches that a head's name and what is said of the column take beside each other
const Line query_line = categorical_line(0, 1.5), key_line = categorical_line(1, 1.3);

/// Courses of periodic columns of every head.
struct Courses {
  std::vector<double> positions;
  std::size_t stored = 0, shown = 0;                  // per head
  const std::vector<double>&query, &key, &component;  // (heads, waves (, positions))
};

/// A number that another analysis gives for a column; NaN if the result has none. The first of several sides
/// is the queries'.
double of_column(const Result& result, const char* name, std::size_t row, double component) {
  const Field* field = result.find(name);
  if (field == nullptr) return std::nan("");
  const bool sided = field->axes.size() == 4;
  const auto& values = sided ? doubles_of(result, name, {"layer", "head", "component", "side"})
                             : doubles_of(result, name, {"layer", "head", "component"});
  const auto components = coordinates(*field, "component");
  const auto found = std::ranges::find(components, component);
  const std::size_t sides = sided ? static_cast<std::size_t>(std::max<Index>(field->axis("side").size(), 1)) : 1;
  const std::size_t at = (row * components.size() + static_cast<std::size_t>(found - components.begin())) * sides;
  return found == components.end() || at >= values.size() ? std::nan("") : values[at];
}

std::string title_of(const Result& result, std::size_t row, double component) {
  if (!std::isfinite(component)) return "no further column";
  std::string title = fmt::format("column {:g}", component);
  if (const double gain = of_column(result, "qk_svd/gain", row, component); std::isfinite(gain))
    title += fmt::format(", gain {:.3g}", gain);
  if (const double f = of_column(result, "periodic_columns/peak_frequency", row, component); std::isfinite(f))
    title += fmt::format(", f = {:g} cycles/T", f);
  return title;
}

/// Which waves to show: first those of which the measured offset is a visible part of a period, in the order
/// in which they are stored, then those in which it comes nearest to that.
std::vector<std::size_t> waves_shown(const Result& result, const Courses& courses, const ChosenHead& head) {
  std::vector<double> farther;  // (waves) by how many octaves the shift is too small or too large
  for (std::size_t wave = 0; wave < courses.stored; ++wave) {
    const double component = courses.component[head.row * courses.stored + wave];
    const double f = of_column(result, "periodic_columns/peak_frequency", head.row, component);
    const double shift = std::abs(head.measured) * f / static_cast<double>(courses.positions.size());
    const double octaves = std::max(std::log2(least_shift / shift), std::log2(shift / most_shift));
    farther.push_back(std::isfinite(octaves) ? -std::max(octaves, 0.0) : std::nan(""));
  }
  std::vector<std::size_t> order = descending(farther);
  order.resize(courses.shown);
  return order;
}

/// One wave of a head: its query course solid, its key course dashed.
void add_course(Page& page, Panel& panel, const Result& result, const Courses& courses, const ChosenHead& head,
                std::size_t wave) {
  const std::size_t row = head.row * courses.stored + wave, count = courses.positions.size();
  const double component = courses.component[row], first = courses.positions.front();
  const auto shown = static_cast<std::size_t>(
      std::ranges::count_if(courses.positions, [](double position) { return position < positions_shown; }));
  const auto query = slice_of(courses.query, row, count).first(shown);
  const auto key = slice_of(courses.key, row, count).first(shown);
  panel.common_x_axis(
      {first - 0.5, std::max(first + 1, std::min(positions_shown, courses.positions.back() + 1)) - 0.5});
  std::vector<double> both(query.begin(), query.end());
  both.insert(both.end(), key.begin(), key.end());
  both.push_back(0);
  const ValueRange range = range_around(both, 0.08);
  panel.y_axis(range, {.step = tic_step(1.4 * (range.high - range.low)), .numbers = Numbers::plain});
  panel.level(0, {ink::zero_line, 0.7});
  if (panel.is_lowest()) panel.title_below(fmt::format("position in the first document (T = {} tokens)", count));
  panel.above(std::isnan(head.measured) ? head.text() : head.text() + ", offset " + signed_offset(head.measured),
              Anchor::left, {.points = 7.5, .bold = true, .up = panel.width() < one_line ? 1.5 : 0.5});
  panel.above(title_of(result, head.row, component), Anchor::right, {.points = 7.5, .up = 0.5});
  const std::string data = page.numbers(table_of({{"layer", head.name.layer},
                                                  {"head", head.name.head},
                                                  {"component", component},
                                                  {"position", std::span(courses.positions).first(shown)},
                                                  {"query", query},
                                                  {"key", key}}));
  panel.curve(data, "4:5", query_line);
  panel.curve(data, "4:6", key_line);
}

GnuplotFigure draw_redefined(const Result& result, const FigureOptions& options) {
  const Field& field = result.at(redefined_name);
  const auto stored = static_cast<std::size_t>(field.axis("wave").size());
  const Courses courses{coordinates(field, "position"),
                        stored,
                        std::min(stored, most_waves),
                        doubles_of(result, redefined_name, {"layer", "head", "wave", "position"}),
                        doubles_of(result, "redefined/key", {"layer", "head", "wave", "position"}),
                        doubles_of(result, "redefined/component", {"layer", "head", "wave"})};
  PanelFlow flow{.grid = {.panel = {courses.shown == 1 ? 4.4 : 3.1, 0.85},
                          .gap = {0.45, 0.34},
                          .margin = {.left = 0.66, .right = 0.16, .top = 0.56, .bottom = 0.5}},
                 .in_row = courses.shown,
                 .least = 2.4,
                 .left = "value (units of X)",
                 .legend = {{"query", query_line}, {"key", key_line}},
                 .each = courses.shown,
                 .lowest = 0.5};
  if (const double page = layout_width(options.style); page > 0 && page < 2 * one_line + 1.27) {
    flow.grid.gap.y += 0.13;  // the head's name and what is said of the column stand in two lines
    flow.grid.margin.top += 0.13;
  }
  const auto heads = heads_on_page(result, redefined_name, options, flow);
  return drawn_panels(flow, heads.size() * flow.each, options.style, [&](Page& page, Panel& panel, std::size_t k) {
    const ChosenHead& head = heads[k / flow.each];
    add_course(page, panel, result, courses, head, waves_shown(result, courses, head)[k % flow.each]);
  });
}

struct SpectrumLine {
  const char* field;
  const char* title;  ///< in the legend; empty: a null
  Line line;          ///< keys broad and pale, queries narrow before them: often the two are the same
};

/// The nulls first: they lie behind.
const std::array spectrum_lines{SpectrumLine{"wave_spectra/state_shuffled", "", {categorical(2), 1.2, "."}},
                                SpectrumLine{"wave_spectra/key_shuffled", "", {ink::broad, 2, "."}},
                                SpectrumLine{"wave_spectra/query_shuffled", "", {categorical(0), 1, "."}},
                                SpectrumLine{"wave_spectra/state", "states X", {categorical(2), 1.2, "_"}},
                                SpectrumLine{"wave_spectra/key", "keys K", {ink::broad, 4, ""}},
                                SpectrumLine{"wave_spectra/query", "queries Q", {categorical(0), 1.1, ""}}};

struct WaveSpectra {
  std::vector<Index> layers;
  std::vector<double> frequencies;
  std::array<const std::vector<double>*, spectrum_lines.size()> amplitudes{};  // (layers, frequencies)
  double length = 0;

  // One range for all panels, so that layers compare.
  ValueRange range;
  bool logarithmic = false;
  Tics tics;
};

void set_range(WaveSpectra& spectra) {
  constexpr double log_from = 8;  // largest over smallest amplitude; beyond, small ones would lie on the axis
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const auto* amplitudes : spectra.amplitudes)
    for (std::size_t i = 0; i < amplitudes->size(); ++i)
      if (const double a = (*amplitudes)[i];
          std::isfinite(a) && a > 0 && spectra.frequencies[i % spectra.frequencies.size()] > 0) {
        low = std::min(low, a);
        high = std::max(high, a);
      }
  if (!(high > 0)) return;
  low = std::max(low, high * 1e-4);
  spectra.logarithmic = high > log_from * low;
  spectra.range = spectra.logarithmic ? ValueRange{low / 1.2, high * 1.3} : ValueRange{0, 1.07 * high};
  if (spectra.logarithmic && high <= 100 * low) spectra.tics.named = round_tics(spectra.range);
}

WaveSpectra wave_spectra_of(const Result& result) {
  WaveSpectra spectra;
  for (std::size_t c = 0; c < spectrum_lines.size(); ++c)
    spectra.amplitudes[c] = &doubles_of(result, spectrum_lines[c].field, {"layer", "frequency"});
  const Field& field = result.at(spectrum_lines[0].field);
  spectra.layers = whole_coordinates(field, "layer");
  spectra.frequencies = coordinates(field, "frequency");
  // Without a length it is the last bin of an even T.
  spectra.length = attribute_number(result.provenance, "wave_length", 2 * spectra.frequencies.back());
  set_range(spectra);
  return spectra;
}

void add_layer(Page& page, Panel& panel, const WaveSpectra& spectra, std::size_t layer) {
  panel.common_x_axis({0, std::max(1.0, spectra.frequencies.back())},
                      {.step = std::max(1.0, tic_step(1.6 * spectra.frequencies.back()))});
  panel.common_y_axis(spectra.range, spectra.tics);
  if (spectra.logarithmic) panel.y_logarithmic();
  panel.above(fmt::format("layer {}", spectra.layers[layer]), Anchor::left, {.points = 7.5, .bold = true, .up = 0.5});
  const std::size_t first = spectra.frequencies.front() > 0 ? 0 : 1, count = spectra.frequencies.size();
  std::vector<Column> columns{{"layer", spectra.layers[layer]},
                              {"frequency", std::span(spectra.frequencies).subspan(first)}};
  for (std::size_t c = 0; c < spectrum_lines.size(); ++c)
    columns.emplace_back(spectrum_lines[c].field + std::string_view("wave_spectra/").size(),
                         slice_of(*spectra.amplitudes[c], layer, count).subspan(first));
  const std::string data = page.numbers(table_of(columns));
  for (std::size_t c = 0; c < spectrum_lines.size(); ++c)
    panel.curve(data, fmt::format("2:{}", c + 3), spectrum_lines[c].line);
}

GnuplotFigure draw_wave_spectra(const Result& result, const FigureOptions& options) {
  const WaveSpectra spectra = wave_spectra_of(result);
  const std::size_t n = spectra.layers.size(), columns = n <= 3 ? n : n == 4 ? 2 : n <= 9 ? 3 : 4;
  PanelFlow flow{.grid = {.panel = {n == 1         ? 4.4
                                    : columns <= 3 ? 2.3
                                                   : 1.85,
                                    n == 1 ? 2.3 : 1.3},
                          .gap = {0.18, 0.3},
                          .margin = {.left = 0.66, .right = 0.16, .top = 0.52}},
                 .in_row = columns,
                 .least = 1.2,
                 .below = fmt::format("frequency f (cycles/T, T = {:g})", spectra.length),
                 .left = "largest amplitude |DFT|",
                 .lowest = 0.7};
  for (std::size_t c = spectrum_lines.size(); c-- > 0;)
    if (*spectrum_lines[c].title != '\0') flow.legend.push_back({spectrum_lines[c].title, spectrum_lines[c].line});
  flow.legend.push_back({"shuffled", {ink::number, 1.2, "."}});
  // Where a page does not hold all layers, layers as far apart as possible.
  flow = lowered(flow, n, options.style);
  const std::size_t shown = panels_that_fit(flow, n, options.style);
  if (shown < n) flow.cut = fmt::format("{} of {} layers: the page holds no more", shown, n);
  return drawn_panels(flow, shown, options.style, [&](Page& page, Panel& panel, std::size_t k) {
    add_layer(page, panel, spectra, shown > 1 ? k * (n - 1) / (shown - 1) : 0);
  });
}

/// Correlations of the columns with the largest gains.
struct LoudColumns {
  const std::vector<double>& correlations;  // (heads, components, lags)
  std::vector<double> components;
  std::size_t shown = 0;
};

Line component_line(std::size_t column) {
  return categorical_line(static_cast<Index>(column), 1.1);
}

/// What both parts of a head's panel draw: the sum, and the columns of the largest gains.
DataTable covariance_table(const WeightedSums& sums, const LoudColumns& columns, const ChosenHead& head) {
  std::vector<std::string> names{"layer", "head", "offset", "weighted_centred", "weighted_centred_by_T"};
  for (std::size_t j = 0; j < columns.shown; ++j)
    names.push_back(fmt::format("correlation_{:g}", columns.components[j]));
  DataTable table(names);
  for (std::size_t t = 0; t < sums.lags.size(); ++t) {
    if (!sums.shown(t)) continue;
    std::vector<Cell> cells{head.name.layer, head.name.head, sums.lags[t], sums.value(head.row, t),
                            sums.value(head.row, t) / sums.length};
    for (std::size_t j = 0; j < columns.shown; ++j)
      cells.emplace_back(columns.correlations[(head.row * columns.components.size() + j) * sums.lags.size() + t]);
    table.add_row(std::move(cells));
  }
  return table;
}

/// One of the two parts of a head's panel, with what they share.
void add_covariance_part(Panel& panel, const ValueRange& part, const WeightedSums& sums, const char* title) {
  panel.part(part.low, part.high);
  panel.vertical(0, {ink::zero_line, 0.7});
  panel.level(0, {ink::zero_line, 0.7});
  panel.x_axis({-sums.reach(), sums.reach()}, {.step = tic_step((panel.width() < 2 ? 2.8 : 1.4) * sums.reach()),
                                               .numbers = part.low > 0 ? Numbers::none : Numbers::plain});
  if (panel.is_leftmost()) panel.title_left(title, 0.52);
}

/// One head: the sum above, with its maximum's dot and number, its columns below.
void add_covariances(Page& page, Panel& above, Panel& below, const WeightedSums& sums, const LoudColumns& columns,
                     const ChosenHead& head) {
  const DataTable table = covariance_table(sums, columns, head);
  const std::string data = page.numbers(table);
  add_covariance_part(above, {0.46, 1}, sums, sums.length > 1 ? "weighted sum ÷ T" : "weighted sum");
  above.above(head.text(), Anchor::left, {.points = 8, .bold = true, .up = 0.5});
  std::vector<double> plotted;
  for (const auto& cells : table.rows()) plotted.push_back(std::get<double>(cells[4]));
  // From below zero or the smallest value to well above the largest, where the maximum's number stands.
  const ValueRange range = range_with_zero(plotted);
  const double span = range.high - range.low;
  above.y_axis({range.low, range.high + 0.12 * span}, {.step = tic_step(1.4 * span), .numbers = Numbers::plain});
  if (const std::size_t peak = sums.peak(head.row); peak < sums.lags.size()) {
    const bool before = sums.lags[peak] < 0;
    above.mark({value(sums.lags[peak]), value(sums.value(head.row, peak) / sums.length)}, {ink::mark, 0.4},
               signed_offset(sums.lags[peak]),
               {.points = 7.5,
                .bold = true,
                .ink = ink::mark,
                .anchor = before ? Anchor::right : Anchor::left,
                .right = before ? -0.7 : 0.7,
                .up = 0.35,
                .front = true});
  }
  above.curve(data, "3:5", {ink::text, 1.5});

  add_covariance_part(below, {0, 0.4}, sums, "correlation");
  below.common_y_axis({-1.1, 1.1}, {.step = 1});
  for (std::size_t j = 0; j < columns.shown; ++j) below.curve(data, fmt::format("3:{}", j + 6), component_line(j));
}

GnuplotFigure draw_cross_covariance(const Result& result, const FigureOptions& options) {
  const WeightedSums sums = weighted_sums(result);
  LoudColumns columns{doubles_of(result, correlation_name, {"layer", "head", "component", "offset"}),
                      coordinates(result.at(correlation_name), "component")};
  columns.shown = std::min(columns.components.size(), most_components);
  PanelFlow flow{.grid = {.panel = {options.heads.size() == 1 ? 3.6 : 2.05, 1.95},
                          .gap = {0.48, 0.46},
                          .margin = {.left = 0.66, .right = 0.14, .top = 0.58, .bottom = 0.5}},
                 .below = "lag t = key − query (tokens)"};
  for (std::size_t j = 0; j < columns.shown; ++j)
    flow.legend.push_back({fmt::format("column {:g}", columns.components[j]), component_line(j)});
  const auto heads = heads_on_page(result, correlation_name, options, flow, most_covariance_heads);
  return drawn_panels(flow, heads.size(), options.style, [&](Page& page, Panel& panel, std::size_t k) {
    add_covariances(page, panel, page.panel(k), sums, columns, heads[k]);
  });
}

}  // namespace

double WeightedSums::reach() const {
  double largest = 1;
  for (std::size_t t = 0; t < lags.size(); ++t)
    if (shown(t)) largest = std::max(largest, std::abs(lags[t]));
  return largest;
}

std::size_t WeightedSums::peak(std::size_t row) const {
  const auto far = static_cast<Index>(reach());
  Vector curve = Vector::Constant(2 * far + 1, std::nan(""));
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t t = 0; t < lags.size(); ++t) {
    if (!shown(t) || !std::isfinite(value(row, t))) continue;
    curve[static_cast<Index>(lags[t]) + far] = value(row, t);
    least = std::min(least, value(row, t));
  }
  const auto peak = offset_peak(curve);
  if (!peak || peak->at_edge || !(curve[peak->offset + far] > least)) return lags.size();
  return static_cast<std::size_t>(std::ranges::find(lags, static_cast<double>(peak->offset)) - lags.begin());
}

WeightedSums weighted_sums(const Result& result) {
  const auto& values = doubles_of(result, covariance_name, {"layer", "head", "offset"});
  const Field& field = result.at(covariance_name);
  return {field_heads(field).size(), coordinates(field, "offset"), &values,
          std::max(1.0, attribute_number(field.attributes, "length", 1))};
}

FigureKind redefined_figure() {
  return {.name = "redefined",
          .fields = {redefined_name, "redefined/key", "redefined/component"},
          .extras = {"qk_svd/gain", "periodic_columns/peak_frequency", "measured_offset/offset"},
          .caption =
              "Redefined queries Q = X U_Q and keys K = X U_K of single heads, with U_Q S U_K^T the singular value "
              "decomposition of W_Q W_K^T: two periodic columns over the first 64 tokens of the first document, in "
              "the units of the hidden states X, chosen so that the head's offset can be seen. Columns count from 1 "
              "by descending gain (singular value); f is the query column's peak in cycles per T tokens; offsets "
              "are the measured ones, in tokens.",
          .drawing = draw_redefined,
          .silent = no_offsets,
          .single_heads = true,
          .follows_waves = true};
}

FigureKind wave_spectra_figure() {
  return {.name = "wave_spectra",
          .fields = {"wave_spectra/query", "wave_spectra/key", "wave_spectra/state", "wave_spectra/query_shuffled",
                     "wave_spectra/key_shuffled", "wave_spectra/state_shuffled"},
          .caption =
              "Largest amplitude of redefined queries and keys over a layer's heads and columns, and of the hidden "
              "states that enter the layer over their columns: absolute discrete Fourier transform over positions, "
              "not normalised, mean over documents, expected maxima over one number of columns. Dotted: the same "
              "with the positions in another order. Where queries and keys agree, the thin line of the queries lies "
              "on the broad one of the keys.",
          .drawing = draw_wave_spectra,
          .follows_waves = true};
}

FigureKind cross_covariance_figure() {
  return {.name = "cross_covariance",
          .fields = {covariance_name, correlation_name},
          .extras = strength_fields(),
          .caption =
              "Where the scores of single heads point. Above: cross-covariances of redefined query and key columns, "
              "summed with their gains as weights: the unscaled scores summed along each diagonal, row means taken "
              "away, divided by T, mean over documents. Dot and number: the maximum in tokens, unless it is where "
              "the lags end. Below: correlations of the columns with the largest gains, less their mean over lags.",
          .drawing = draw_cross_covariance,
          .single_heads = true,
          .follows_waves = true};
}

}  // namespace headwave
