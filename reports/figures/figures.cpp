#include "figures.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/bytes/bytes.h"
#include "../../core/errors/error.h"
#include "../../core/errors/nearest_name.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/visible_text.h"
#include "../tables/run_sentence.h"
#include "chosen_heads.h"

namespace headwave {

namespace {

/// The options with a name for each head: "strongest:6" is spelled out.
FigureOptions with_named_heads(const Result& result, FigureOptions options) {
  options.heads = heads_asked_for(result, options.heads);
  return options;
}

bool has_fields(const FigureKind& kind, const Result& result) {
  return std::ranges::all_of(kind.fields, [&](const auto& name) { return result.find(name) != nullptr; });
}

/// Whether the numbers that a figure draws leave out the model's position term, as redefined queries and keys do.
bool leaves_out_position_term(const FigureKind& kind, const Result& result) {
  return std::ranges::any_of(kind.fields, [&](const std::string& name) {
    const Field* field = result.find(name);
    return field != nullptr && field->attributes.contains("position_term");
  });
}

/// What a model cannot have at all is a single value that is undefined, with the reason beside it.
std::string why_undefined(const FigureKind& kind, const Result& result) {
  for (const std::string& name : kind.fields)
    if (const Field& field = result.at(name); field.axes.empty() && field.attributes.contains("undefined")) {
      const std::string why = attribute_text(field.attributes, "undefined");
      return why.empty() ? name + " is undefined" : shortened(visible_text(why), 80);
    }
  return "";
}

/// Why a figure is not drawn unless it is asked for by name; empty: it is drawn.
std::string why_undrawn(const FigureKind& kind, const Result& result, const FigureOptions& options) {
  if (std::string why = why_undefined(kind, result); !why.empty()) return why;
  if (kind.follows_waves && leaves_out_position_term(kind, result))
    return "a position term acts after queries and keys, whose waves would show noise";
  const auto* numbers = std::get_if<std::vector<double>>(&result.at(kind.fields.front()).values);
  if (numbers != nullptr && !any_finite(*numbers)) return "no number is defined";
  return kind.silent == nullptr ? "" : kind.silent(result, options);
}

std::string names_of(const std::vector<const FigureKind*>& kinds) {
  std::string names;
  for (const FigureKind* kind : kinds) names += (names.empty() ? "" : ", ") + kind->name;
  return names;
}

/// Whether a name asks for a figure: its own name, or that of a group of Fields whose figures are called otherwise.
bool asks_for(const std::string& name, const FigureKind& kind) {
  if (std::ranges::find(figure_kinds(), name, &FigureKind::name) != figure_kinds().end()) return name == kind.name;
  return std::ranges::any_of(kind.fields, [&](const std::string& field) { return field.starts_with(name + "/"); });
}

bool asks_for(const std::vector<std::string>& names, const FigureKind& kind) {
  return std::ranges::any_of(names, [&](const std::string& name) { return asks_for(name, kind); });
}

void require_kind(const std::string& name, const std::vector<const FigureKind*>& drawable) {
  if (std::ranges::any_of(drawable, [&](const FigureKind* kind) { return asks_for(name, *kind); })) return;
  std::vector<std::string> known;
  for (const FigureKind& kind : figure_kinds()) {
    if (kind.name == name)
      throw ShapeError(fmt::format("the figure {} needs {}, which the result does not contain; it can be drawn as {}",
                                   name, fmt::join(kind.fields, ", "), names_of(drawable)));
    known.push_back(kind.name);
  }
  const std::string meant = did_you_mean(name, known);
  throw FormatError(fmt::format("there is no figure '{}'{}", visible_text(name),
                                meant.empty() ? "; this result can be drawn as " + names_of(drawable) : meant));
}

void require_single_heads(const FigureKind& kind, const FigureOptions& options) {
  if (!options.heads.empty() && !kind.single_heads)
    throw FormatError(
        fmt::format("the figure {} shows all heads at once, found heads {}", kind.name, fmt::join(options.heads, ", ")),
        {omit("heads")});
}

}  // namespace

const std::vector<FigureKind>& figure_kinds() {
  static const std::vector<FigureKind> kinds = [] {
    std::vector<FigureKind> all;
    for (const auto figures : {map_figures, profile_figures, cluster_figures, position_figures, wave_figures,
                               phase_figures, account_figures, rotary_figures, comparison_figures})
      append(all, figures());
    return all;
  }();
  return kinds;
}

Figure FigureKind::draw(const Result& result, const FigureOptions& options) const {
  require_single_heads(*this, options);
  const auto group = [](const std::string& field) { return field.substr(0, field.find('/')); };
  std::vector<std::string> together = fields;
  for (const std::string& extra : extras)  // those of other analyses may be of other heads
    if (std::ranges::find(fields, group(extra), group) != fields.end()) together.push_back(extra);
  require_fitting(result, together);
  return drawing(result, options);
}

std::vector<std::string> formats_together(const std::filesystem::path& stem, std::vector<std::string> asked) {
  for (const char* const format : figure_formats)
    if (std::ranges::find(asked, format) == asked.end() && std::filesystem::exists(stem.string() + "." + format))
      asked.emplace_back(format);
  return asked;
}

std::vector<const FigureKind*> kinds_of(const Result& result, const FigureOptions& asked) {
  const FigureOptions options = with_named_heads(result, asked);
  std::vector<const FigureKind*> kinds;
  for (const FigureKind& kind : figure_kinds())
    if (has_fields(kind, result) && why_undefined(kind, result).empty()) kinds.push_back(&kind);
  for (const std::string& name : options.only) require_kind(name, kinds);
  std::erase_if(kinds, [&](const FigureKind* kind) {
    return options.only.empty() ? !why_undrawn(*kind, result, options).empty() : !asks_for(options.only, *kind);
  });
  return kinds;
}

std::vector<UndrawnFigure> undrawn_figures(const Result& result, const FigureOptions& asked) {
  const FigureOptions options = with_named_heads(result, asked);
  std::vector<UndrawnFigure> undrawn;
  for (const FigureKind& kind : figure_kinds())
    if (options.only.empty() && has_fields(kind, result))
      if (const std::string why = why_undrawn(kind, result, options); !why.empty()) undrawn.push_back({kind.name, why});
  return undrawn;
}

std::vector<std::string> undrawn_lines(const std::vector<UndrawnFigure>& undrawn) {
  std::vector<std::string> reasons, lines;
  for (const UndrawnFigure& figure : undrawn) {
    const auto place = static_cast<std::size_t>(std::ranges::find(reasons, figure.why) - reasons.begin());
    if (place == reasons.size()) {
      reasons.push_back(figure.why);
      lines.push_back(figure.why + ": " + figure.name);
    } else {
      lines[place] += ", " + figure.name;
    }
  }
  return lines;
}

std::string caption_of(const FigureKind& kind, const Result& result, const FigureOptions& options,
                       const std::string& shown) {
  std::string text = kind.caption;
  if (!shown.empty()) text += " " + shown;
  if (leaves_out_position_term(kind, result)) {
    const std::string term = attribute_text(result.provenance, "position_term");
    text += fmt::format(" Queries and keys are those before the position term{}, which is left out.",
                        term.empty() ? "" : " (" + term + ")");
  }
  if (kind.says != nullptr)
    if (const std::string said = kind.says(result, options); !said.empty()) text += " " + said;
  const bool counts_pairs = std::ranges::find(kind.fields, "offset_trace/mean_weight") != kind.fields.end();
  if (counts_pairs && options.pairs != "all") {
    const bool known = !attribute_text(result.provenance, "special_tokens").starts_with("not known");
    if (options.pairs == "without_sink") text += " Pairs with the sink are left out.";
    if (options.pairs == "without_special" && known) text += " Pairs with special tokens are left out.";
    if (!known) text += " No token is known to be special.";
  }
  if (const std::string run = run_sentence(result.provenance); !run.empty()) text += " Model: " + run;
  return text;
}

DrawnFile caption_file(const std::string& caption) {
  return {"txt", visible_text(caption) + '\n'};
}

std::vector<std::filesystem::path> draw_figures(const Result& result, const std::filesystem::path& folder,
                                                const FigureOptions& asked, const FigureCallback& begins) {
  const FigureOptions options = with_named_heads(result, asked);
  const std::vector<const FigureKind*> kinds = kinds_of(result, options);
  if (!options.only.empty())
    for (const FigureKind* kind : kinds) require_single_heads(*kind, options);
  FigureOptions all_heads = options;
  all_heads.heads.clear();
  std::vector<std::filesystem::path> written;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const FigureKind& kind = *kinds[i];
    const FigureOptions& those = kind.single_heads ? options : all_heads;
    if (begins) begins(kind.name, i + 1, kinds.size());
    const Figure figure = kind.draw(result, those);
    std::vector<DrawnFile> files = figure.drawn(
        kind.name, options.formats_there ? formats_together(folder / kind.name, options.formats) : options.formats);
    files.push_back(caption_file(caption_of(kind, result, those, figure.shown)));
    append(written, write_drawn(folder, kind.name, files));
  }
  return written;
}

}  // namespace headwave
