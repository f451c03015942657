#include "account_profile_figure.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "../drawing/page.h"
#include "../tables/head_sentence.h"
#include "chosen_heads.h"

namespace headwave {

namespace {

constexpr const char* measured_profile_name = "head_account/measured_profile";
constexpr const char* dealt_profile_name = "head_account/dealt_profile";
constexpr const char* profile_part_name = "head_account/part";
constexpr std::size_t most_account_heads = 6, terms = 3;

struct AccountProfiles {
  std::vector<double> offsets;
  const std::vector<double>* measured = nullptr;  // (heads, offsets)
  const std::vector<double>* dealt = nullptr;     // (terms, heads, offsets)
  const std::vector<double>* part = nullptr;      // (terms, heads)
  std::size_t heads = 0;

  [[nodiscard]] double measured_at(std::size_t row, std::size_t t) const {
    return (*measured)[row * offsets.size() + t];
  }
  [[nodiscard]] double dealt_at(std::size_t term, std::size_t row, std::size_t t) const {
    return (*dealt)[(term * heads + row) * offsets.size() + t];
  }
};

AccountProfiles account_profiles_of(const Result& result) {
  AccountProfiles profiles;
  profiles.measured = &doubles_of(result, measured_profile_name, {"layer", "head", "account_offset"});
  profiles.dealt = &doubles_of(result, dealt_profile_name, {"term", "layer", "head", "account_offset"});
  profiles.part = &doubles_of(result, profile_part_name, {"cause", "layer", "head"});
  profiles.offsets = coordinates(result.at(measured_profile_name), "account_offset");
  if (profiles.offsets.size() < 3 || profiles.measured->empty())
    throw ShapeError(fmt::format("{}: holds no profile to draw", measured_profile_name));
  profiles.heads = profiles.measured->size() / profiles.offsets.size();
  if (profiles.dealt->size() != terms * profiles.measured->size() || profiles.part->size() != terms * profiles.heads)
    throw ShapeError(fmt::format("{}: expected {} terms of {} heads, found {} numbers and {} parts", dealt_profile_name,
                                 terms, profiles.heads, profiles.dealt->size(), profiles.part->size()));
  return profiles;
}

Line term_line(std::size_t term) {
  return categorical_line(static_cast<Index>(term), 1.3);
}

std::vector<LegendEntry> legend() {
  return {{"measured", {ink::reference, 4.0}},
          {"position", term_line(0)},
          {"and self", term_line(1)},
          {"and order", term_line(2)}};
}

PanelGrid account_grid(std::size_t heads, const FigureStyle& style) {
  PanelGrid grid;
  grid.panel_width = heads == 1 ? 3.6 : 2.05;
  grid.panel_height = 1.5;
  grid.gap_x = 0.68;
  grid.gap_y = 0.5;
  grid.left = 0.8;
  grid.right = 0.14;
  grid.bottom = 0.5;
  grid.top = 0.5;
  return fitted(with_legend_above(flowing(grid, heads, 3), legend(), style), heads, 1.6, style);
}

/// From below the smallest weight to above the largest; one decade at least.
ValueRange range_of(const AccountProfiles& profiles, std::size_t row) {
  double low = 1, high = 0;
  for (std::size_t t = 0; t < profiles.offsets.size(); ++t)
    for (std::size_t curve = 0; curve <= terms; ++curve) {
      const double weight = curve == terms ? profiles.measured_at(row, t) : profiles.dealt_at(curve, row, t);
      if (!(weight > 1e-12) || !std::isfinite(weight)) continue;
      low = std::min(low, weight);
      high = std::max(high, weight);
    }
  if (!(high > 0)) return {0.001, 1};
  return {std::max(high * 1e-6, std::min(low / 1.5, high / 10)), high * 1.5};  // below, nothing is looked at
}

void add_head(Page& page, std::size_t k, std::size_t panels, const AccountProfiles& profiles, const ChosenHead& head) {
  DataTable table({"layer", "head", "offset", "measured", "position", "self", "order"});
  const auto shown = [](double weight) { return weight > 0 ? weight : std::nan(""); };
  for (std::size_t t = 0; t < profiles.offsets.size(); ++t)
    table.add_row({head.name.layer, head.name.head, profiles.offsets[t], shown(profiles.measured_at(head.row, t)),
                   shown(profiles.dealt_at(0, head.row, t)), shown(profiles.dealt_at(1, head.row, t)),
                   shown(profiles.dealt_at(2, head.row, t))});
  const std::string file = page.numbers(table);
  Panel& panel = page.panel(k);
  const double reach = std::max(1.0, std::abs(profiles.offsets.front()));
  bool causal = true;
  for (std::size_t t = 0; t < profiles.offsets.size(); ++t)
    if (profiles.offsets[t] > 0 && std::isfinite(profiles.measured_at(head.row, t))) causal = false;
  panel.x_axis({-reach, causal ? 0.02 * reach : reach},
               {.step = std::max(1.0, tic_step((causal ? 1.0 : 1.6) * reach)),
                .numbers = page.grid().is_lowest(k, panels) ? Numbers::plain : Numbers::none});
  panel.y_axis(range_of(profiles, head.row), {.numbers = Numbers::plain});
  panel.y_logarithmic();
  panel.vertical(0, {ink::zero_line, 0.7});
  panel.above(head_name(head.name.layer, head.name.head), Anchor::left, {.points = 8, .bold = true, .up = 0.5});
  const auto percent = [&](std::size_t term) {
    const double part = (*profiles.part)[term * profiles.heads + head.row];
    return std::isfinite(part) ? fmt::format("{:.0f}", 100 * part) : std::string("–");
  };
  panel.above(fmt::format("{}, {}, {} %", percent(0), percent(1), percent(2)), Anchor::right,
              {.points = 7, .ink = ink::number, .up = 0.5});
  panel.curve(file, "3:4", {ink::reference, 4.0});
  for (std::size_t term = 0; term < terms; ++term) panel.curve(file, fmt::format("3:{}", term + 5), term_line(term));
}

GnuplotFigure draw_account_profile(const Result& result, const FigureOptions& options) {
  const AccountProfiles profiles = account_profiles_of(result);
  const auto heads = chosen_heads(result, measured_profile_name, options, most_account_heads);
  Page page(account_grid(heads.size(), options.style), options.style);
  page.legend(legend());
  for (std::size_t k = 0; k < heads.size(); ++k) add_head(page, k, heads.size(), profiles, heads[k]);
  page.title_below("offset t = key − query (tokens)");
  page.title_left("mean attention weight");
  return page.figure();
}

/// The sentence of every head that is drawn.
std::string account_sentences(const Result& result, const FigureOptions& options) {
  const std::vector<HeadSentence> sentences = head_sentences(result);
  if (sentences.empty()) return {};
  std::string text;
  for (const ChosenHead& head : chosen_heads(result, measured_profile_name, options, most_account_heads))
    if (head.row < sentences.size() && !sentences[head.row].text.empty())
      text += (text.empty() ? "" : " ") + sentences[head.row].text + ".";
  return text;
}

std::vector<std::string> account_extras() {
  std::vector<std::string> fields = clearness_fields();
  for (const std::string& name : head_sentence_fields())
    if (name != profile_part_name) fields.push_back(name);
  return fields;
}

}  // namespace

FigureKind account_profile_figure() {
  return {
      "account_profile",
      {measured_profile_name, dealt_profile_name, profile_part_name},
      account_extras(),
      "What the offset profile of single heads comes from. Grey: mean attention weight at each offset, the first "
      "token neither query nor key. Lines: what is left of it when the contents of a document are dealt to other "
      "places "
      "(position), when every token still meets itself (and self), and with how contents vary together on average at "
      "each distance (and order). The numbers: of what can be explained, the parts in per cent that position, self and "
      "the "
      "order of the text give. Six decades are shown at most.",
      draw_account_profile,
      account_sentences};
}

}  // namespace headwave
