// Redefined queries and keys as waves: their course, their spectra, and their cross-covariances.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/numbers/offset_peak.h"
#include "chosen_heads.h"

namespace headwave {

namespace {

constexpr const char *redefined_name = "redefined/query", *covariance_name = "cross_covariance/weighted_centred",
                     *correlation_name = "cross_covariance/correlation";

/// A number that another analysis gives for a column; NaN if the result has none. If there is an axis `side`,
/// its first entry, the queries, counts.
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

double frequency_of(const Result& result, std::size_t row, double component) {
  return of_column(result, "periodic_columns/peak_frequency", row, component);
}

std::string column_title(const Result& result, std::size_t row, double component) {
  if (!std::isfinite(component)) return "no further column";
  std::string title = fmt::format("column {:g}", component);
  if (const double gain = of_column(result, "qk_svd/gain", row, component); std::isfinite(gain))
    title += fmt::format(", gain {:.3g}", gain);
  if (const double f = frequency_of(result, row, component); std::isfinite(f))
    title += fmt::format(", f = {:g} cycles/T", f);
  return title;
}

/// The waves of a head to show. First come, in stored order, those whose shift can be seen: the measured
/// offset is a sixteenth to a half of their period. The others follow by how near they come to that.
std::vector<std::size_t> visible_waves(const Result& result, const ChosenHead& head, std::span<const double> components,
                                       std::size_t length) {
  std::vector<std::size_t> waves;
  std::vector<double> farther;  // octaves by which the shift is too small or too large
  for (const double component : components) {
    const double shift =
        std::abs(head.measured) * frequency_of(result, head.row, component) / static_cast<double>(length);
    const double octaves = std::max(std::log2(1.0 / 16 / shift), std::log2(shift / 0.5));
    farther.push_back(std::isfinite(octaves) ? std::max(octaves, 0.0) : HUGE_VAL);
    waves.push_back(waves.size());
  }
  std::ranges::stable_sort(waves, {}, [&](std::size_t wave) { return farther[wave]; });
  return waves;
}

Figure draw_redefined(const Result& result, const FigureOptions& options) {
  constexpr double one_line = 3.05;  // inches that a head's name and its column's title take on one line
  const auto positions = coordinates(result.at(redefined_name), "position");
  const auto& query = doubles_of(result, redefined_name, {"layer", "head", "wave", "position"});
  const auto& key = doubles_of(result, "redefined/key", {"layer", "head", "wave", "position"});
  const auto& component = doubles_of(result, "redefined/component", {"layer", "head", "wave"});
  const auto stored = static_cast<std::size_t>(result.at(redefined_name).axis("wave").size());
  const std::size_t waves = std::min<std::size_t>(stored, 2), length = positions.size();
  const auto shown =
      static_cast<std::size_t>(std::ranges::count_if(positions, [](double position) { return position < 64; }));
  const double first = positions.front(), last = std::min(64.0, positions.back() + 1);
  const Line query_line = categorical_line(0, 1.5), key_line = categorical_line(1, 1.3);
  FigurePanels panels{
      .grid = {.panel = {waves == 1 ? 4.4 : 3.1, 0.85}, .gap = {0.45, 0.34}, .margin = {.right = 0.16, .top = 0.56}},
      .in_row = waves,
      .least = 2.4,
      .each = waves,
      .x = {.range = {first - 0.5, std::max(first + 1, last) - 0.5},
            .common = true,
            .title = fmt::format("position in the first document (T = {} tokens)", length)},
      .left = "value (units of X)",
      .legend = {{"query", query_line}, {"key", key_line}}};
  if (const double page = options.width; page > 0 && page < 2 * one_line + 1.27) {
    panels.grid.gap.y += 0.13;  // the head's name and the column's title take two lines
    panels.grid.margin.top += 0.13;
  }
  const auto heads = chosen_heads(result, redefined_name, options);
  panels.fill = [&](Panel& panel, std::size_t k) {
    const ChosenHead& head = heads[k / waves];
    const auto components = slice_of(component, head.row, stored);
    const std::size_t wave = visible_waves(result, head, components, length)[k % waves];
    const auto queries = slice_of(query, head.row * stored + wave, length).first(shown);
    const auto keys = slice_of(key, head.row * stored + wave, length).first(shown);
    std::vector<double> below;
    for (const auto& course : {queries, keys})
      for (const double one : course) below.push_back(-one);
    const double low = -largest_of(below), high = largest_of(keys, largest_of(queries));
    const double room = high > low ? 0.08 * (high - low) : 1;
    panel.y = {.range = {low - room, high + room},
               .tics = {.step = tic_step(1.4 * (high - low + 2 * room)), .numbers = Numbers::plain}};
    panel.level(0, {ink::zero_line, 0.7});
    panel.name(std::isnan(head.measured) ? head.text() : head.text() + ", offset " + signed_offset(head.measured), 7.5,
               panel.width() < one_line ? 1.5 : 0.5);
    panel.above(column_title(result, head.row, components[wave]), Anchor::right, {.points = 7.5, .up = 0.5});
    panel.curve(positions, queries, query_line);
    panel.curve(positions, keys, key_line);
  };
  return drawn_heads(panels, heads, field_heads(result.at(redefined_name)), options);
}

struct SpectrumLine {
  const char *field, *title;  // in the legend; empty: a null
  Line line;                  // keys broad and pale, queries narrow in front of them: often the two are the same
};

Figure draw_wave_spectra(const Result& result, const FigureOptions& options) {
  // Nulls come first, so that they lie behind.
  const std::array lines{SpectrumLine{"wave_spectra/state_shuffled", "", {categorical(2), 1.2, "."}},
                         SpectrumLine{"wave_spectra/key_shuffled", "", {ink::broad, 2, "."}},
                         SpectrumLine{"wave_spectra/query_shuffled", "", {categorical(0), 1, "."}},
                         SpectrumLine{"wave_spectra/state", "states X", {categorical(2), 1.2, "_"}},
                         SpectrumLine{"wave_spectra/key", "keys K", {ink::broad, 4, ""}},
                         SpectrumLine{"wave_spectra/query", "queries Q", {categorical(0), 1.1, ""}}};
  const auto layers = whole_coordinates(result.at(lines[0].field), "layer");
  const auto frequencies = coordinates(result.at(lines[0].field), "frequency");
  const std::size_t first = frequencies.front() > 0 ? 0 : 1;
  const auto amplitudes = [&](const SpectrumLine& line, std::size_t layer) {
    return slice_of(doubles_of(result, line.field, {"layer", "frequency"}), layer, frequencies.size()).subspan(first);
  };
  // One range for all panels, so that layers compare; logarithmic if small amplitudes would lie on the axis.
  std::vector<double> all;
  for (const SpectrumLine& line : lines)
    for (std::size_t layer = 0; layer < layers.size(); ++layer)
      for (const double one : amplitudes(line, layer)) all.push_back(one);
  auto [low, high] = positive_range(all);
  low = std::max(low, high * 1e-4);
  PanelAxis y{.common = true};
  if (high > 8 * low) {
    y.log = 10;
    y.range = {low / 1.2, high * 1.3};
    for (double power = std::pow(10, std::floor(std::log10(low))); power <= high && high <= 100 * low; power *= 10)
      for (const double digit : {1, 2, 5})
        if (digit * power >= y.range.low && digit * power <= y.range.high)
          y.tics.named.push_back({digit * power, fmt::format("{:g}", digit * power)});
  } else if (high > 0) {
    y.range = {0, 1.07 * high};
  }
  const std::size_t n = layers.size(), columns = n <= 3 ? n : n == 4 ? 2 : n <= 9 ? 3 : 4;
  // Without a stored length, the last bin is taken for that of an even T.
  const double length = attribute_number(result.provenance, "wave_length", 2 * frequencies.back());
  FigurePanels panels{.grid = {.panel = {n == 1         ? 4.4
                                         : columns <= 3 ? 2.3
                                                        : 1.85,
                                         n == 1 ? 2.3 : 1.3},
                               .gap = {0.18, 0.3},
                               .margin = {.right = 0.16, .top = 0.52}},
                      .in_row = columns,
                      .least = 1.2,
                      .x = {.range = {0, std::max(1.0, frequencies.back())},
                            .tics = {.step = std::max(1.0, tic_step(1.6 * frequencies.back()))},
                            .common = true},
                      .y = y,
                      .below = fmt::format("frequency f (cycles/T, T = {:g})", length),
                      .left = "largest amplitude |DFT|"};
  for (std::size_t c = lines.size(); c-- > 3;) panels.legend.push_back({lines[c].title, lines[c].line});
  panels.legend.push_back({"shuffled", {ink::number, 1.2, "."}});
  // If the page does not hold all layers, those shown are spread evenly.
  const std::size_t shown = fitting(panels, n, options.width);
  panels.of = n;
  panels.what = "layers";
  panels.fill = [&](Panel& panel, std::size_t k) {
    const std::size_t layer = shown > 1 ? k * (n - 1) / (shown - 1) : 0;
    panel.name(fmt::format("layer {}", layers[layer]), 7.5);
    for (const SpectrumLine& line : lines)
      panel.curve(std::span(frequencies).subspan(first), amplitudes(line, layer), line.line);
  };
  return drawn_panels(panels, shown, options.width);
}

Figure draw_cross_covariance(const Result& result, const FigureOptions& options) {
  constexpr double farthest = 30;  // largest lag in tokens; beyond it the columns of published heads cancel
  const auto& sums = doubles_of(result, covariance_name, {"layer", "head", "offset"});
  const auto& correlations = doubles_of(result, correlation_name, {"layer", "head", "component", "offset"});
  const auto all = whole_coordinates(result.at(covariance_name), "offset");
  const auto components = coordinates(result.at(correlation_name), "component");
  const double length =
      std::max(1.0, attribute_number(result.at(covariance_name).attributes, "length", 1));  // T, to divide by
  const std::size_t columns = std::min<std::size_t>(components.size(), 4);
  std::vector<double> lags;
  std::size_t begin = 0;
  for (std::size_t t = 0; t < all.size(); ++t)
    if (const auto lag = static_cast<double>(all[t]); std::abs(lag) <= farthest) {
      if (lags.empty()) begin = t;
      lags.push_back(lag);
    }
  const double reach = std::max({1.0, -lags.front(), lags.back()});
  FigurePanels panels{
      .grid = {.panel = {options.heads.size() == 1 ? 3.6 : 2.05, 1.95}, .gap = {0.48, 0.46}, .margin = {.top = 0.58}},
      .below = "lag t = key − query (tokens)"};
  for (std::size_t j = 0; j < columns; ++j)
    panels.legend.push_back({fmt::format("column {:g}", components[j]), categorical_line(static_cast<Index>(j), 1.1)});
  const auto heads = chosen_heads(result, correlation_name, options, 6);
  // The sum stands in the upper part of a panel, the columns with the largest gains in the lower part.
  const auto begun = [&](Panel& panel, const ValueRange& part, const char* title) {
    panel.part(part.low, part.high);
    panel.vertical(0, {ink::zero_line, 0.7});
    panel.level(0, {ink::zero_line, 0.7});
    panel.x = {.range = {-reach, reach},
               .tics = {.step = tic_step((panel.width() < 2 ? 2.8 : 1.4) * reach),
                        .numbers = part.low > 0 ? Numbers::none : Numbers::plain}};
    if (panel.is_leftmost()) panel.y.title = title;
    panel.y.away = 0.52;
  };
  panels.fill = [&](Panel& above, std::size_t k) {
    const std::size_t row = heads[k].row;
    Panel below = above;
    begun(above, {0.46, 1}, length > 1 ? "weighted sum ÷ T" : "weighted sum");
    above.name(heads[k].text());
    std::vector<double> sum;
    for (const double one : slice_of(sums, row, all.size()).subspan(begin, lags.size())) sum.push_back(one / length);
    // From zero, or below the smallest value, to well above the largest, with room for the maximum's number.
    const ValueRange range = range_with_zero(sum);
    const double span = range.high - range.low;
    above.y.range = {range.low, range.high + 0.12 * span};
    above.y.tics = {.step = tic_step(1.4 * span), .numbers = Numbers::plain};
    const auto peak = offset_peak(Eigen::Map<const Vector>(sum.data(), std::ssize(sum)));
    const auto lag = static_cast<double>(peak ? peak->offset : 0);
    // No dot on a flat curve, nor at the end of the lags.
    if (const double most = largest_of(sum, -HUGE_VAL); peak && !peak->at_edge && most > std::ranges::min(sum)) {
      const bool before = lag < 0;
      above.mark({value(lag), value(most)}, 0.4, signed_offset(lag),
                 {.points = 7.5,
                  .bold = true,
                  .ink = ink::mark,
                  .anchor = before ? Anchor::right : Anchor::left,
                  .right = before ? -0.7 : 0.7,
                  .up = 0.35,
                  .front = true});
    }
    above.curve(lags, sum, {ink::text, 1.5});
    begun(below, {0, 0.4}, "correlation");
    below.y.range = {-1.1, 1.1};
    below.y.tics = {.step = 1};
    below.y.common = true;
    for (std::size_t j = 0; j < columns; ++j)
      below.curve(lags, slice_of(correlations, row * components.size() + j, all.size()).subspan(begin),
                  panels.legend[j].line);
    above.others = {below};
  };
  return drawn_heads(panels, heads, field_heads(result.at(correlation_name)), options);
}

}  // namespace

std::vector<FigureKind> wave_figures() {
  return {{.name = "redefined",
           .fields = {redefined_name, "redefined/key", "redefined/component"},
           .caption =
               "Redefined queries Q = X U_Q and keys K = X U_K of single heads, with U_Q S U_K^T the singular value "
               "decomposition of W_Q W_K^T: two periodic columns over the first 64 tokens of the first document, in "
               "the units of the hidden states X, chosen so that the head's offset can be seen. Columns count from 1 "
               "by descending gain (singular value); f is the query column's peak in cycles per T tokens; offsets "
               "are the measured ones, in tokens.",
           .drawing = draw_redefined,
           .silent = no_offsets,
           .single_heads = true,
           .follows_waves = true},
          {.name = "wave_spectra",
           .fields = {"wave_spectra/query", "wave_spectra/key", "wave_spectra/state", "wave_spectra/query_shuffled",
                      "wave_spectra/key_shuffled", "wave_spectra/state_shuffled"},
           .caption =
               "Largest amplitude of redefined queries and keys over a layer's heads and columns, and of the hidden "
               "states that enter the layer over their columns: absolute discrete Fourier transform over positions, "
               "not normalised, mean over documents; all are maxima expected over the same number of columns. Dotted: "
               "the same with the positions in another order. Where queries and keys agree, the thin line of the "
               "queries lies on the broad one of the keys.",
           .drawing = draw_wave_spectra,
           .follows_waves = true},
          {.name = "cross_covariance",
           .fields = {covariance_name, correlation_name},
           .caption =
               "Where the scores of single heads point. Above: cross-covariances of redefined query and key columns, "
               "summed with their gains as weights: the unscaled scores summed along each diagonal, without row "
               "means, divided by T, mean over documents. Dot and number: the maximum in tokens, unless it is where "
               "the lags end. Below: correlations of the columns with the largest gains, minus their mean over lags.",
           .drawing = draw_cross_covariance,
           .single_heads = true,
           .follows_waves = true}};
}

}  // namespace headwave
