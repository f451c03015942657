#include "account_profile_figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "../drawing/page.h"
#include "../tables/head_sentence.h"
#include "chosen_heads.h"
#include "profile_panels.h"

namespace headwave {

namespace {

constexpr const char* measured_profile_name = "head_account/measured_profile";
constexpr const char* dealt_profile_name = "head_account/dealt_profile";
constexpr const char* uniform_profile_name = "head_account/uniform_profile";
constexpr const char* profile_part_name = "head_account/part";
constexpr const char* profile_strength_name = "head_account/strength";
constexpr std::size_t most_account_heads = 6, terms = 3;

/// What lies between a profile and the one before it, from uniform attention on. Terms have inks of verdicts.
const std::array added_inks{categorical(0), categorical(1), categorical(3), ink::rest};
const Line measured_line{ink::text, 1.4}, uniform_line{ink::base_line, 0.8, "2"};

struct AccountProfiles {
  std::vector<double> offsets;
  const std::vector<double>* measured = nullptr;  // (heads, offsets)
  const std::vector<double>* uniform = nullptr;   // (heads, offsets)
  const std::vector<double>* dealt = nullptr;     // (terms, heads, offsets)
  const std::vector<double>* part = nullptr;      // (terms, heads)
  const std::vector<double>* strength = nullptr;  // (heads)
  std::size_t heads = 0;

  /// At an offset: uniform, position, self, order, measured.
  [[nodiscard]] std::vector<double> curves_at(std::size_t row, std::size_t t) const {
    const std::size_t at = row * offsets.size() + t;
    std::vector<double> curves{(*uniform)[at]};
    for (std::size_t term = 0; term < terms; ++term) curves.push_back((*dealt)[term * heads * offsets.size() + at]);
    curves.push_back((*measured)[at]);
    return curves;
  }
};

AccountProfiles account_profiles_of(const Result& result) {
  AccountProfiles profiles;
  profiles.measured = &doubles_of(result, measured_profile_name, {"layer", "head", "account_offset"});
  profiles.uniform = &doubles_of(result, uniform_profile_name, {"layer", "head", "account_offset"});
  profiles.dealt = &doubles_of(result, dealt_profile_name, {"term", "layer", "head", "account_offset"});
  profiles.part = &doubles_of(result, profile_part_name, {"cause", "layer", "head"});
  profiles.strength = &doubles_of(result, profile_strength_name, {"layer", "head"});
  profiles.offsets = coordinates(result.at(measured_profile_name), "account_offset");
  if (profiles.offsets.size() < 3 || profiles.measured->empty())
    throw ShapeError(fmt::format("{}: holds no profile to draw", measured_profile_name));
  profiles.heads = profiles.measured->size() / profiles.offsets.size();
  if (profiles.dealt->size() != terms * profiles.measured->size() || profiles.part->size() != terms * profiles.heads ||
      profiles.uniform->size() != profiles.measured->size() || profiles.strength->size() != profiles.heads)
    throw ShapeError(fmt::format("{}: expected {} terms of {} heads, found {} numbers, {} parts and {} strengths",
                                 dealt_profile_name, terms, profiles.heads, profiles.dealt->size(),
                                 profiles.part->size(), profiles.strength->size()));
  return profiles;
}

/// Whether tokens can meet themselves, as they cannot in cross-attention.
bool has_self(const AccountProfiles& profiles) {
  const auto begin = profiles.dealt->begin() + std::ssize(*profiles.measured);
  return std::any_of(begin, begin + std::ssize(*profiles.measured), [](double weight) { return !std::isnan(weight); });
}

std::vector<LegendEntry> legend(const AccountProfiles& profiles) {
  const auto area = [](std::size_t added) { return Line{added_inks[added], 7.0}; };
  std::vector<LegendEntry> entries{{"measured", measured_line}, {"position", area(0)}};
  if (has_self(profiles)) entries.push_back({"self", area(1)});
  entries.push_back({"order", area(2)});
  entries.push_back({"rest", area(3)});
  entries.push_back({"uniform", uniform_line});
  return entries;
}

PanelGrid account_grid(std::size_t heads, const std::vector<LegendEntry>& entries, const FigureStyle& style) {
  PanelGrid grid;
  grid.panel_width = heads == 1 ? 3.6 : 2.05;
  grid.panel_height = 1.5;
  grid.gap_x = 0.62;
  grid.gap_y = 0.5;
  grid.left = 0.8;
  grid.right = 0.14;
  grid.bottom = 0.5;
  grid.top = 0.5;
  return fitted(with_legend_above(flowing(grid, heads, 3), entries, style), heads, 1.6, style);
}

/// The offsets that are shown: those near the query, or all where attention is largest elsewhere; none that a
/// mask forbids.
ValueRange shown_offsets(const AccountProfiles& profiles, std::size_t row) {
  double reach = 1, peak = 0, at = 0, last = -1;
  for (std::size_t t = 0; t < profiles.offsets.size(); ++t) {
    const double weight = (*profiles.measured)[row * profiles.offsets.size() + t];
    if (!std::isfinite(weight)) continue;
    reach = std::max(reach, std::abs(profiles.offsets[t]));
    last = profiles.offsets[t];
    if (weight > peak) {
      peak = weight;
      at = profiles.offsets[t];
    }
  }
  if (std::abs(at) < profile_window) reach = std::min(reach, profile_window);
  return {-reach, std::min(reach, std::max(last, 0.02 * reach))};
}

void add_head(Page& page, std::size_t k, const AccountProfiles& profiles, const ChosenHead& head) {
  const ValueRange shown = shown_offsets(profiles, head.row);
  DataTable kept({"layer", "head", "offset", "uniform", "position", "self", "order", "measured"});
  DataTable drawn({"offset", "uniform", "position", "self", "order", "measured"});
  double highest = 0;
  for (std::size_t t = 0; t < profiles.offsets.size(); ++t) {
    const double offset = profiles.offsets[t];
    std::vector<double> curves = profiles.curves_at(head.row, t);
    kept.add_row({head.name.layer, head.name.head, offset, curves[0], curves[1], curves[2], curves[3], curves[4]});
    if (offset < shown.low || offset > shown.high) continue;
    if (std::isnan(curves[2])) curves[2] = curves[1];  // where nothing meets itself, self adds nothing
    drawn.add_row({offset, curves[0], curves[1], curves[2], curves[3], curves[4]});
    for (const double weight : curves)
      if (std::isfinite(weight)) highest = std::max(highest, weight);
  }
  page.keep(kept);
  const std::string file = page.data(drawn);
  Panel& panel = page.panel(k);
  panel.x_axis(shown, {.step = std::max(1.0, tic_step(1.2 * (shown.high - shown.low))), .numbers = Numbers::plain});
  panel.y_axis({0, highest > 0 ? 1.06 * highest : 1}, {.step = tic_step(highest > 0 ? highest : 1)});
  for (std::size_t added = 0; added < added_inks.size(); ++added)
    panel.band(file, fmt::format("1:{}:{}", added + 2, added + 3), added_inks[added]);
  panel.curve(file, "1:2", uniform_line);
  panel.curve(file, "1:6", measured_line);
  panel.above(head_name(head.name.layer, head.name.head), Anchor::left, {.points = 8, .bold = true, .up = 0.5});
  std::string parts;
  for (std::size_t term = 0; term < terms; ++term)
    if (const double part = (*profiles.part)[term * profiles.heads + head.row]; std::isfinite(part))
      parts += fmt::format("{}{:.0f}", parts.empty() ? "" : ", ", 100 * part);
  panel.above(fmt::format("{:.2f}: {}", (*profiles.strength)[head.row], parts.empty() ? "–" : parts + " %"),
              Anchor::right, {.points = 7, .ink = ink::number, .up = 0.5});
}

GnuplotFigure draw_account_profile(const Result& result, const FigureOptions& options) {
  const AccountProfiles profiles = account_profiles_of(result);
  const auto heads = chosen_heads(result, measured_profile_name, options, most_account_heads);
  const std::vector<LegendEntry> entries = legend(profiles);
  Page page(account_grid(heads.size(), entries, options.style), options.style);
  page.legend(entries);
  for (std::size_t k = 0; k < heads.size(); ++k) add_head(page, k, profiles, heads[k]);
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
    if (name != profile_part_name && name != profile_strength_name) fields.push_back(name);
  return fields;
}

}  // namespace

FigureKind account_profile_figure() {
  return {
      "account_profile",
      {measured_profile_name, dealt_profile_name, uniform_profile_name, profile_part_name, profile_strength_name},
      account_extras(),
      "What the offset profile of single heads comes from. Line: mean attention weight at each offset, the first "
      "token neither query nor key. Filled: what lies between uniform attention and the profile that is left when "
      "the "
      "contents of a document are dealt to other places (position); between that and the profile in which every "
      "token "
      "still meets itself (self); between that and the profile with how contents vary together on average at each "
      "distance (order); between that and what was measured (rest). A step that takes weight away is filled below "
      "the "
      "one before it. The numbers: the strength of the profile (attention drawn to offsets within reach beyond "
      "uniform attention), and of what can be explained the parts in per cent that these three give; self is missing "
      "in cross-attention. Sixteen offsets on either side are shown, or all where attention is largest "
      "beyond.",
      draw_account_profile,
      account_sentences};
}

}  // namespace headwave
