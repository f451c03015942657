// Why heads look where they look: what their profiles come from, the verdicts, and the scores by which heads
// are named.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/page.h"
#include "../drawing/visible_text.h"
#include "../tables/head_sentence.h"
#include "chosen_heads.h"
#include "kinds.h"

namespace headwave {

namespace {

constexpr const char *verdict_name = "head_account/verdict", *part_name = "head_account/part",
                     *strength_name = "head_account/strength", *profile_name = "head_account/measured_profile",
                     *dealt_name = "head_account/dealt_profile", *uniform_name = "head_account/uniform_profile";
constexpr std::size_t most_account_heads = 6, terms = 3;
constexpr double near_query = 16;                           // tokens
constexpr double narrow_account = 1.5, narrow_letters = 7;  // inches of a panel; points in it

/// What lies between a profile and the one before it, from uniform attention on. Terms have inks of verdicts.
const std::array added_inks{categorical(0), categorical(1), categorical(3), ink::rest};
const Line measured_line{ink::text, 1.4}, uniform_line{ink::base_line, 0.8, "2"};

struct AccountProfiles {
  std::vector<double> offsets;
  const std::vector<double>&measured, &uniform;  // (heads, offsets)
  const std::vector<double>& dealt;              // (terms, heads, offsets)
  const std::vector<double>& part;               // (terms, heads)
  const std::vector<double>& strength;           // (heads)

  /// At an offset: uniform, position, self, context, measured.
  [[nodiscard]] std::array<double, terms + 2> curves_at(std::size_t row, std::size_t t) const {
    const std::size_t at = row * offsets.size() + t;
    return {uniform[at], dealt[at], dealt[measured.size() + at], dealt[2 * measured.size() + at], measured[at]};
  }
};

AccountProfiles account_profiles_of(const Result& result) {
  AccountProfiles profiles{coordinates(result.at(profile_name), "offset"),
                           doubles_of(result, profile_name, {"layer", "head", "offset"}),
                           doubles_of(result, uniform_name, {"layer", "head", "offset"}),
                           doubles_of(result, dealt_name, {"term", "layer", "head", "offset"}),
                           doubles_of(result, part_name, {"cause", "layer", "head"}),
                           doubles_of(result, strength_name, {"layer", "head"})};
  if (profiles.offsets.size() < 3 || profiles.dealt.size() != terms * profiles.measured.size() ||
      profiles.part.size() != terms * profiles.strength.size())
    throw ShapeError(fmt::format("{}: expected {} terms, and 3 offsets at least, found {} numbers at {} offsets",
                                 dealt_name, terms, profiles.dealt.size(), profiles.offsets.size()));
  return profiles;
}

/// Whether tokens can meet themselves, as they cannot in cross-attention.
bool has_self(const AccountProfiles& profiles) {
  return std::ranges::any_of(slice_of(profiles.dealt, 1, profiles.measured.size()),
                             [](double weight) { return !std::isnan(weight); });
}

/// The offsets that are shown: those near the query, or all if attention is largest elsewhere; none that a
/// mask forbids.
ValueRange account_offsets(const AccountProfiles& profiles, std::size_t row) {
  double reach = 1, peak = 0, at = 0, last = -1;
  for (std::size_t t = 0; t < profiles.offsets.size(); ++t) {
    const double weight = profiles.measured[row * profiles.offsets.size() + t];
    if (!std::isfinite(weight)) continue;
    reach = std::max(reach, std::abs(profiles.offsets[t]));
    last = profiles.offsets[t];
    if (weight > peak) {
      peak = weight;
      at = profiles.offsets[t];
    }
  }
  if (std::abs(at) < near_query) reach = std::min(reach, near_query);
  return {-reach, std::min(reach, std::max(last, 0.02 * reach))};
}

void add_account(Page& page, Panel& panel, const AccountProfiles& profiles, const ChosenHead& head) {
  const ValueRange shown = account_offsets(profiles, head.row);
  DataTable kept({"layer", "head", "offset", "uniform", "position", "self", "context", "measured"});
  DataTable drawn({"offset", "uniform", "position", "self", "context", "measured"});
  double highest = 0;
  for (std::size_t t = 0; t < profiles.offsets.size(); ++t) {
    const double offset = profiles.offsets[t];
    auto curves = profiles.curves_at(head.row, t);
    kept.add_row({head.name.layer, head.name.head, offset, curves[0], curves[1], curves[2], curves[3], curves[4]});
    if (offset < shown.low || offset > shown.high) continue;
    if (std::isnan(curves[2])) curves[2] = curves[1];  // where nothing meets itself, self adds nothing
    drawn.add_row({offset, curves[0], curves[1], curves[2], curves[3], curves[4]});
    for (const double weight : curves)
      if (std::isfinite(weight)) highest = std::max(highest, weight);
  }
  page.keep(kept);
  const std::string data = page.data(drawn);
  const bool narrow = panel.width() < narrow_account;
  const double letters = narrow ? narrow_letters : 0, few = panel.height() < 0.8 ? 2 : 1;
  panel.x_axis(
      shown,
      {.step = std::max(1.0, tic_step(1.2 * (shown.high - shown.low))), .numbers = Numbers::plain, .points = letters});
  panel.y_axis({0, highest > 0 ? 1.06 * highest : 1},
               {.step = tic_step(few * (highest > 0 ? highest : 1)), .points = letters});
  for (std::size_t added = 0; added < added_inks.size(); ++added)
    panel.band(data, fmt::format("1:{}:{}", added + 2, added + 3), added_inks[added]);
  panel.curve(data, "1:2", uniform_line);
  panel.curve(data, "1:6", measured_line);
  panel.above(head.text(), Anchor::left, {.points = narrow ? narrow_letters : 8, .bold = true, .up = 0.5});
  std::string parts;
  for (std::size_t term = 0; term < terms; ++term)
    if (const double part = profiles.part[term * profiles.strength.size() + head.row]; std::isfinite(part))
      parts += fmt::format("{}{:.0f}", parts.empty() ? "" : ", ", 100 * part);
  panel.above(fmt::format("{:.2f}: {}", profiles.strength[head.row], parts.empty() ? "–" : parts + " %"), Anchor::right,
              {.points = narrow ? 6.0 : 7.0, .ink = ink::number, .up = 0.5});
}

PanelFlow account_flow(const AccountProfiles& profiles, const FigureOptions& options) {
  constexpr double narrow_page = 5;  // inches: panels stand in pairs, and are as flat as broader ones
  const bool alone = options.heads.size() == 1;
  const bool pairs = !alone && options.style.width > 0 && layout_width(options.style) < narrow_page;
  PanelFlow flow{.grid = {.panel = {alone ? 3.6 : 2.05, pairs ? 0.95 : 1.5},
                          .gap = {0.46, 0.46},
                          .margin = {.left = 0.66, .right = 0.12, .top = 0.5, .bottom = 0.5}},
                 .least = 1.05,
                 .below = "offset t = key − query (tokens)",
                 .left = "mean attention weight",
                 .legend = {{"measured", measured_line}, {"position", {added_inks[0], 7.0}}},
                 .lowest = 0.6,
                 .tallest = 1.73,
                 .points = pairs ? narrow_letters : 0};
  if (has_self(profiles)) flow.legend.push_back({"self", {added_inks[1], 7.0}});
  flow.legend.insert(flow.legend.end(),
                     {{"context", {added_inks[2], 7.0}}, {"rest", {added_inks[3], 7.0}}, {"uniform", uniform_line}});
  return flow;
}

GnuplotFigure draw_account_profile(const Result& result, const FigureOptions& options) {
  const AccountProfiles profiles = account_profiles_of(result);
  PanelFlow flow = account_flow(profiles, options);
  const auto heads = heads_on_page(result, profile_name, options, flow, most_account_heads);
  return drawn_panels(flow, heads.size(), options.style,
                      [&](Page& page, Panel& panel, std::size_t k) { add_account(page, panel, profiles, heads[k]); });
}

/// Why the figure would show a profile and nothing that explains it.
std::string no_parts(const Result& result, const FigureOptions& /*options*/) {
  const std::vector<double>& parts = doubles_of(result, part_name, {"cause", "layer", "head"});
  return std::ranges::any_of(parts, [](double part) { return std::isfinite(part); }) ? ""
                                                                                     : "the account explains no head";
}

/// The sentence of a head that is drawn alone.
std::string account_answers(const Result& result, const FigureOptions& options) {
  const std::vector<HeadSentence> sentences = head_sentences(result);
  if (sentences.empty() || options.heads.size() != 1) return {};
  const std::string& text = sentences[chosen_heads(result, profile_name, options, 1).front().row].text;
  return text.empty() ? text : text + ".";
}

std::vector<std::string> account_fields() {
  return {profile_name, dealt_name, uniform_name, part_name, strength_name};
}

std::vector<std::string> account_extras() {
  std::vector<std::string> fields;
  const std::vector<std::string> needed = account_fields();
  for (const std::vector<std::string>& names : {strength_fields(), head_sentence_fields()})
    for (const std::string& name : names)
      if (std::ranges::count(needed, name) == 0) fields.push_back(name);
  return fields;
}

/// The place among names that are known here of each meaning of a Field of flags, and by it of each value.
/// @param known  @returns the place of a meaning; nothing: it is not known
std::vector<std::size_t> known_meanings(const Result& result, const char* name, const char* what,
                                        std::optional<std::size_t> (*known)(const std::string& meaning)) {
  const Field& field = result.at(name);
  std::vector<std::size_t> by_flag, places;
  for (const std::string& meaning : field.flag_meanings) {
    const auto place = known(meaning);
    if (!place) throw ShapeError(fmt::format("{}: unknown {} '{}'", name, what, shortened(visible_text(meaning), 40)));
    by_flag.push_back(*place);
  }
  for (const std::uint8_t flag : flags_of(result, name, {"layer", "head"})) {
    if (flag >= by_flag.size())
      throw ShapeError(fmt::format("{}: expected a value below {}, found {}", name, by_flag.size(), flag));
    places.push_back(by_flag[flag]);
  }
  return places;
}

constexpr const char *bits_name = "attention_bits/bits", *bits_part_name = "attention_bits/part";
const std::array part_inks{ink::rest, categorical(0), categorical(1), categorical(3)};  // sink, position, word, match

DotLegend parts_legend(double most) {
  DotLegend legend{.title = "part of its bits", .entries = {}, .away = 0.2, .text_right = 0.12};
  for (std::size_t part = 0; part < part_names.size(); ++part)
    legend.entries.push_back({{part_inks[part], 1.1, Shape::square}, part_names[part]});
  legend.entries.push_back({{ink::paper, 1.1, Shape::square}, fmt::format("height: √bits, full {:.1f}", most)});
  return legend;
}

/// Every head a cell as wide as all of its bits, divided into their parts, and as high as they are many.
GnuplotFigure draw_attention_bits(const Result& result, const FigureOptions& options) {
  const FieldHeads heads = field_heads(result.at(bits_name));
  const auto& bits = doubles_of(result, bits_name, {"layer", "head"});
  const auto& parts = doubles_of(result, bits_part_name, {"bits_part", "layer", "head"});
  double most = 0;
  for (const double one : bits)
    if (std::isfinite(one)) most = std::max(most, one);
  const auto across = static_cast<double>(heads.heads.size()), down = static_cast<double>(heads.layers.size());
  const DotLegend legend = parts_legend(most);
  const PanelGrid around{.margin = {.left = 0.5, .right = 1.75, .top = 0.1, .bottom = 0.42}};
  const PanelGrid grid =
      with_cells(around, heads.heads.size(), heads.layers.size(), std::clamp(5.6 / across, 0.12, 0.46),
                 std::clamp(5.6 / std::max(across, down), 0.1, 0.34), legend.entries.size(), options.style);
  Page page(grid, options.style);
  Panel& panel = page.panel(0);
  panel.frame(Frame::none);
  add_head_axes(panel, heads);
  panel.legend_beside(legend);
  DataTable kept({"layer", "head", "bits", "sink", "position", "word", "match"});
  std::vector<DataTable> boxes(part_names.size(), DataTable({"column", "row", "half_width", "half_height"}));
  for (std::size_t row = 0; row < bits.size(); ++row) {
    std::array<double, part_names.size()> part{};
    double sum = 0;
    for (std::size_t p = 0; p < part.size(); ++p) {
      part[p] = parts[p * bits.size() + row];
      sum += std::max(0.0, part[p]);
    }
    kept.add_row({heads[row].layer, heads[row].head, bits[row], part[0], part[1], part[2], part[3]});
    boxes[0].add_row({heads.column(row), heads.line(row), 0.0, 0.0});  // so that an empty grid is drawn, too
    if (!(sum > 0)) continue;
    constexpr double room = 0.94;  // of a cell
    double left = static_cast<double>(heads.column(row)) - room / 2;
    const double height = room / 2 * std::sqrt(bits[row] / most);
    for (std::size_t p = 0; p < part.size(); ++p) {
      const double width = room * std::max(0.0, part[p]) / sum;
      if (width > 0) boxes[p].add_row({left + width / 2, static_cast<double>(heads.line(row)), width / 2, height});
      left += width;
    }
  }
  page.keep(kept);
  for (std::size_t p = 0; p < part_names.size(); ++p)
    if (!boxes[p].rows().empty()) panel.boxes(page.data(boxes[p]), "1:2:3:4", part_inks[p]);
  return page.figure();
}

/// Why the figure would be empty.
std::string no_bits(const Result& result, const FigureOptions& /*options*/) {
  const auto& bits = doubles_of(result, bits_name, {"layer", "head"});
  return std::ranges::any_of(bits, [](double one) { return one > 0; }) ? "" : "no head differs from uniform attention";
}

constexpr const char *kind_name = "head_types/kind", *kind_offset_name = "head_types/positional_offset";
constexpr const char* one_offset_kind = "one offset (Voita)";

/// A name that a head can have, and the score that earns it.
struct ScoredKind {
  const char* name;
  const char* score;
};

constexpr std::array scored_kinds{ScoredKind{"previous", "head_types/previous"},
                                  ScoredKind{"next", "head_types/next"},
                                  ScoredKind{one_offset_kind, "head_types/positional_share"},
                                  ScoredKind{"duplicate", "head_types/duplicate"},
                                  ScoredKind{"induction", "head_types/induction"},
                                  ScoredKind{"sink", "head_types/sink_weight"}};

/// "other" and "undefined" are after the last; older results say positional.
std::optional<std::size_t> place_of_kind(const std::string& meaning) {
  const std::string_view name = meaning == "positional" ? std::string_view(one_offset_kind) : meaning;
  const auto found = std::ranges::find(scored_kinds, name, &ScoredKind::name);
  if (found == scored_kinds.end() && meaning != "other" && meaning != "undefined") return std::nullopt;
  return static_cast<std::size_t>(found - scored_kinds.begin());
}

struct HeadScores {
  FieldHeads heads;
  std::vector<std::size_t> called;                                      // (heads) kind; their number: none
  std::array<const std::vector<double>*, scored_kinds.size()> score{};  // (heads) each
  std::vector<double> offset;                                           // (heads) tokens, of positional_share
  double largest = 0;                                                   // of all scores; 1 if none is above 0
  bool few_documents = false;                                           // so that no head has a kind
};

HeadScores scores_of(const Result& result) {
  HeadScores scores;
  scores.called = known_meanings(result, kind_name, "kind of head", place_of_kind);
  scores.heads = field_heads(result.at(kind_name));
  scores.few_documents = std::ranges::count(meanings_of(result, kind_name, {"layer", "head"}), "undefined") > 0;
  for (std::size_t kind = 0; kind < scored_kinds.size(); ++kind) {
    scores.score[kind] = &doubles_of(result, scored_kinds[kind].score, {"layer", "head"});
    for (const double score : *scores.score[kind])
      if (std::isfinite(score)) scores.largest = std::max(scores.largest, score);
  }
  if (!(scores.largest > 0)) scores.largest = 1;
  scores.offset = result.find(kind_offset_name) != nullptr ? doubles_of(result, kind_offset_name, {"layer", "head"})
                                                           : std::vector<double>(scores.called.size(), std::nan(""));
  return scores;
}

/// ".78", and "1.0" as broad: a score is at most 1.
std::string score_text(double score) {
  if (!std::isfinite(score)) return "";
  const std::string text = fmt::format("{:.2f}", score);
  return text.starts_with("0.") ? text.substr(1) : text.substr(0, 3);
}

/// The heads of one kind stand out: by their number, or by a dot where numbers could not be read.
/// @param points  of numbers; 0: none
void add_marks(Page& page, Panel& panel, const HeadScores& scores, std::size_t kind, double points) {
  for (const bool called : {false, true})
    for (const bool dark : {false, true}) {  // on dark colours, on bright ones
      DataTable table({"column", "row", "score"});
      for (std::size_t row = 0; row < scores.called.size(); ++row) {
        const double score = (*scores.score[kind])[row];
        if ((scores.called[row] == kind) == called && (score < 0.6 * scores.largest) == dark)
          table.add_row({scores.heads.column(row), scores.heads.line(row), score_text(score)});
      }
      if (table.rows().empty()) continue;
      const std::string data = page.data(table);
      if (points > 0 && called) panel.frames(data, "1:2:(0.48):(0.46)", {ink::mark, 1.6});
      if (points > 0)
        panel.texts(data, "1:2:3",
                    {.points = points, .bold = called, .ink = dark ? ink::paper : ink::text, .anchor = Anchor::center});
      else if (called)
        panel.dots(data, "1:2:(0.5)", {.ink = ink::mark});
    }
}

void add_kind(Page& page, const HeadScores& scores, std::size_t kind, double points) {
  const FieldHeads& heads = scores.heads;
  const auto& values = *scores.score[kind];
  Panel& panel = page.panel(kind);
  panel.tic_length(0);
  add_head_axes(panel, heads, 7);
  const std::string name = scored_kinds[kind].name;  // the caption says whose it is
  panel.above(name.substr(0, name.find(" (")), Anchor::left, {.points = 8, .bold = true, .up = 0.5});
  const std::string count =
      scores.few_documents ? "too few documents" : fmt::format("{} so called", std::ranges::count(scores.called, kind));
  panel.above(count, Anchor::right, {.points = 6.5, .ink = ink::number, .up = 0.5});
  panel.rectangle({share(0), share(0)}, {share(1), share(1)}, ink::shade_on_paper);
  if (std::ranges::none_of(values, [](double score) { return std::isfinite(score); }))
    panel.note("undefined", {share(0.5), share(0.5)}, {.points = 7, .ink = ink::note, .anchor = Anchor::center});
  panel.color_range({0, scores.largest});
  if (kind == 0)
    panel.common_color_bar({.tics = {.step = tic_step(scores.largest * std::max(1.0, 0.8 / panel.height())),
                                     .first = 0,
                                     .points = 6.5,
                                     .away = 0.6},
                            .title = "score",
                            .title_right = -0.8});
  DataTable kept({"layer", "head", "kind", "score", "called", "offset"});
  const bool with_offset = std::string_view(scored_kinds[kind].name) == one_offset_kind;
  for (std::size_t row = 0; row < values.size(); ++row)
    kept.add_row({heads[row].layer, heads[row].head, scored_kinds[kind].name, values[row],
                  Index{scores.called[row] == kind}, with_offset ? scores.offset[row] : std::nan("")});
  page.keep(kept);
  const auto score = [&](std::size_t head, std::size_t layer) { return values[layer * heads.heads.size() + head]; };
  panel.heat_map(page.data(pixels({heads.heads.size(), heads.layers.size(), score}, 4, 4)));
  add_marks(page, panel, scores, kind, points);
}

GnuplotFigure draw_head_types(const Result& result, const FigureOptions& options) {
  constexpr double usual_cell = 0.2, widest_panel = 2.4, tallest_cell = 0.15;  // inches
  constexpr double two_titles = 1.3;     // inches that a panel's name and its count take
  constexpr double number_needs = 1.75;  // letters of a score's width
  const HeadScores scores = scores_of(result);
  const auto across = static_cast<double>(scores.heads.heads.size()),
             down = static_cast<double>(scores.heads.layers.size());
  PanelGrid grid{.panel = {.width = std::clamp(usual_cell * across, two_titles, widest_panel)},
                 .gap = {0.16, 0.4},
                 .margin = {.left = 0.5, .right = 0.66, .top = 0.28, .bottom = 0.42}};
  grid = fitted(flowing(grid, scored_kinds.size(), 3), scored_kinds.size(), two_titles, options.style);
  const double rows = static_cast<double>(grid.rows), around = grid.margin.top + grid.margin.bottom;
  const double room = (layout_height(options.style) - around - (rows - 1) * grid.gap.y) / rows;
  grid.panel.height = std::max(0.4, std::min(room, down * std::min(tallest_cell, grid.panel.width / across)));
  Page page(grid, options.style);
  const double fits = std::min(72 * grid.panel.width / across / number_needs, 72 * grid.panel.height / down / 1.4);
  const double least = legible(0, options.style),
               points = fits >= least ? std::max(least, std::min(0.85 * fits, 7.0)) : 0;
  for (std::size_t kind = 0; kind < scored_kinds.size(); ++kind) add_kind(page, scores, kind, points);
  return page.figure();
}

}  // namespace

FigureKind account_profile_figure() {
  return {.name = "account_profile",
          .fields = account_fields(),
          .extras = account_extras(),
          .caption =
              "Mean attention weight at each offset (line), without the first token. Filled, from uniform attention "
              "up: contents dealt to other places (position), tokens meeting themselves (self), contents together "
              "(context), the rest. Above: the profile's strength, and these parts in per cent.",
          .drawing = draw_account_profile,
          .says = account_answers,
          .silent = no_parts,
          .single_heads = true};
}

FigureKind attention_bits_figure() {
  return {
      .name = "attention_bits",
      .fields = {bits_name, bits_part_name},
      .caption =
          "What all of every head's attention is made of. Width: parts of the bits by which a query's attention "
          "differs from uniform attention. Sink: the choice between special keys and text, and among special keys; "
          "position: where query and key stand; word: what draws attention, whoever asks; match: what a query finds "
          "in its keys. Height: the square root of the bits, beside that of the head with most.",
      .drawing = draw_attention_bits,
      .silent = no_bits};
}

FigureKind head_types_figure() {
  return {.name = "head_types",
          .fields = {kind_name, "head_types/previous", "head_types/next", "head_types/positional_share",
                     "head_types/duplicate", "head_types/induction", "head_types/sink_weight"},
          .extras = {kind_offset_name},
          .caption =
              "Scores by which heads are named, every head a cell: mean weight on the previous and on the next "
              "token, largest share of queries whose largest weight lies at one offset (which Voita et al. 2019 "
              "call positional), mean weight on earlier occurrences of the query's token and on what followed them, "
              "largest mean weight that one key gets. Framed, or with a dot where cells are small: heads called so, "
              "by the first kind of which they pass the threshold. Grey: undefined.",
          .drawing = draw_head_types};
}

}  // namespace headwave
