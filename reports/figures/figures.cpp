#include "figures.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/bytes/bytes.h"
#include "../../core/errors/error.h"
#include "../../core/errors/nearest_name.h"
#include "../../core/fields/field_reader.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/results/result_file.h"
#include "../drawing/visible_text.h"
#include "../tables/run_sentence.h"
#include "chosen_heads.h"

namespace headwave {

namespace {

/// Replaces "strongest:6" in the options by the names of heads.
FigureOptions with_named_heads(const Result& result, FigureOptions options) {
  options.heads = heads_asked_for(result, options.heads);
  return options;
}

bool has_fields(const FigureKind& kind, const Result& result) {
  return std::ranges::all_of(kind.fields, [&](const auto& name) { return result.find(name) != nullptr; });
}

/// Whether a figure's numbers leave out the model's position term, as redefined queries and keys do.
bool leaves_out_position_term(const FigureKind& kind, const Result& result) {
  return std::ranges::any_of(kind.fields, [&](const std::string& name) {
    const Field* field = result.find(name);
    return field != nullptr && field->attributes.contains("position_term");
  });
}

/// Why a figure is undefined: what a model cannot have is stored as one undefined value with the reason.
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
    return "positions act only after queries and keys, whose waves would show noise";
  const auto* numbers = std::get_if<std::vector<double>>(&result.at(kind.fields.front()).values);
  if (numbers != nullptr && !any_finite(*numbers)) return "every number is undefined";
  return kind.silent == nullptr ? "" : kind.silent(result, options);
}

std::string names_of(const std::vector<const FigureKind*>& kinds) {
  std::string names;
  for (const FigureKind* kind : kinds) names += (names.empty() ? "" : ", ") + kind->name;
  return names;
}

void require_kind(const std::string& name, const std::vector<const FigureKind*>& drawable) {
  if (std::ranges::find(drawable, name, &FigureKind::name) != drawable.end()) return;
  std::vector<std::string> known;
  for (const FigureKind& kind : figure_kinds()) {
    if (kind.name == name)
      throw ShapeError(fmt::format("the figure {} needs {}, which the result does not contain; expected one of {}",
                                   name, fmt::join(kind.fields, ", "), names_of(drawable)));
    known.push_back(kind.name);
  }
  const std::string meant = did_you_mean(name, known);
  throw FormatError(fmt::format("there is no figure '{}'{}", visible_text(name),
                                meant.empty() ? "; expected one of " + names_of(drawable) : meant));
}

}  // namespace

const std::vector<FigureKind>& figure_kinds() {
  static const std::vector<FigureKind> kinds = [] {
    std::vector<FigureKind> all;
    for (const auto figures : {map_figures, profile_figures, cluster_figures, position_figures, wave_figures,
                               phase_figures, account_figures, rotary_figures})
      append(all, figures());
    return all;
  }();
  return kinds;
}

Figure FigureKind::draw(const Result& result, const FigureOptions& options) const {
  std::vector<std::string> together = fields;
  together.insert(together.end(), extras.begin(), extras.end());
  require_fitting(result, together);
  return drawing(result, options);
}

Drawable drawable(const Result& result, const FigureOptions& asked) {
  const FigureOptions options = with_named_heads(result, asked);
  Drawable found;
  std::vector<const FigureKind*> defined;
  for (const FigureKind& kind : figure_kinds()) {
    if (!has_fields(kind, result)) continue;
    if (why_undefined(kind, result).empty()) defined.push_back(&kind);
    const std::string why = why_undrawn(kind, result, options);
    const auto line = std::ranges::find_if(found.undrawn, [&](const auto& one) { return one.starts_with(why + ": "); });
    if (why.empty())
      found.kinds.push_back(&kind);
    else if (line != found.undrawn.end())
      *line += ", " + kind.name;
    else
      found.undrawn.push_back(why + ": " + kind.name);
  }
  if (options.only.empty()) return found;
  for (const std::string& name : options.only) require_kind(name, defined);
  std::erase_if(defined, [&](const FigureKind* kind) { return std::ranges::count(options.only, kind->name) == 0; });
  return {defined, {}};
}

std::string caption_of(const FigureKind& kind, const Result& result, const std::string& shown) {
  std::string text = kind.caption;
  if (!shown.empty()) text += " " + shown;
  if (leaves_out_position_term(kind, result)) {
    const std::string term = attribute_text(result.provenance, "position_term");
    text += fmt::format(" Queries and keys are those before the position term{}, which is left out.",
                        term.empty() ? "" : " (" + term + ")");
  }
  if (const std::string run = run_sentence(result.provenance); !run.empty()) text += " Model: " + run;
  return text;
}

std::vector<std::filesystem::path> draw_figures(const Result& result, const std::filesystem::path& folder,
                                                const FigureOptions& asked) {
  const FigureOptions options = with_named_heads(result, asked);
  const std::vector<const FigureKind*> kinds = drawable(result, options).kinds;
  FigureOptions all_heads = options;
  all_heads.heads.clear();
  std::vector<std::filesystem::path> written;
  for (const FigureKind* kind : kinds) {
    const Figure figure = kind->draw(result, kind->single_heads ? options : all_heads);
    append(written, figure.write(folder, kind->name, options.formats, caption_of(*kind, result, figure.shown)));
  }
  return written;
}

std::map<AttentionKind, std::filesystem::path> kind_folders(const std::filesystem::path& folder) {
  std::map<AttentionKind, std::filesystem::path> folders;
  for (const AttentionKind kind : {AttentionKind::self, AttentionKind::causal, AttentionKind::cross})
    if (std::error_code ignored; std::filesystem::exists(folder / name_of(kind) / "results.h5", ignored))
      folders.emplace(kind, folder / name_of(kind));
  return folders;
}

std::vector<std::string> figure_files(const std::string& name, const std::vector<std::string>& formats) {
  std::vector<std::string> names{name + ".txt"};
  for (const std::string& format : formats) names.push_back(fmt::format("{}.{}", name, format));
  return names;
}

std::vector<std::filesystem::path> written_files(const std::filesystem::path& folder) {
  const auto holds_result = [](const std::filesystem::path& place) {
    try {
      (void)read_result(Hdf5File(place / "results.h5"), {});
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  std::vector<std::filesystem::path> places, files;
  if (holds_result(folder))
    places.push_back(folder);
  else if (const auto kinds = kind_folders(folder); kinds.size() > 1)  // a single one may be a result of its own
    for (const auto& [kind, place] : kinds)
      if (holds_result(place)) places.push_back(place);
  for (const std::filesystem::path& place : places) {
    std::vector<std::filesystem::path> names{"results.h5", "report.html"};
    for (const FigureKind& kind : figure_kinds())
      for (const std::string& name : figure_files(kind.name, {"pdf", "svg", "png"}))
        names.push_back(std::filesystem::path("figures") / name);
    std::error_code ignored;
    for (const std::filesystem::path& name : names)
      if (std::filesystem::is_regular_file(std::filesystem::symlink_status(place / name, ignored)))
        files.push_back(place / name);
  }
  return files;
}

}  // namespace headwave
