#include "figures.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/bytes/bytes.h"
#include "../../core/errors/error.h"
#include "../../core/errors/nearest_name.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/run_mark.h"
#include "../drawing/visible_text.h"
#include "captions.h"
#include "chosen_heads.h"
#include "kinds.h"

namespace headwave {

namespace {

/// Whether a result holds all that a figure shows. What a model cannot have at all is a single value that is undefined.
bool is_drawable(const FigureKind& kind, const Result& result) {
  return std::ranges::all_of(kind.fields, [&](const std::string& name) {
    const Field* field = result.find(name);
    return field != nullptr && !(field->axes.empty() && field->attributes.contains("undefined"));
  });
}

std::string names_of(const std::vector<const FigureKind*>& kinds) {
  std::vector<std::string> names;
  for (const FigureKind* kind : kinds) names.push_back(kind->name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void require_kind(const std::string& name, const std::vector<const FigureKind*>& drawable) {
  if (std::ranges::find(drawable, name, &FigureKind::name) != drawable.end()) return;
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

}  // namespace

const std::vector<FigureKind>& figure_kinds() {
  static const std::vector<FigureKind> kinds{
      attention_map_figure(),       offset_profile_figure(),       word_profile_figure(),    position_kernel_figure(),
      cluster_centroids_figure(),   cluster_shares_figure(),       cluster_sweep_figure(),   position_spectrum_figure(),
      position_components_figure(), position_correlation_figure(), redefined_figure(),       wave_spectra_figure(),
      cross_covariance_figure(),    phase_spectrum_figure(),       delay_spectrum_figure(),  offset_agreement_figure(),
      account_profile_figure(),     head_account_figure(),         offset_by_query_figure(), rotary_wave_figure(),
      rotary_use_figure(),          position_split_figure(),       head_types_figure(),      carried_waves_figure(),
      re_aiming_figure(),           comparison_figure(),           grid_offset_figure(),     checkpoint_counts_figure(),
      checkpoint_heads_figure(),    score_sources_figure(),        source_table_figure()};
  return kinds;
}

GnuplotFigure FigureKind::draw(const Result& result, const FigureOptions& options) const {
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

std::vector<const FigureKind*> kinds_of(const Result& result, const std::vector<std::string>& only) {
  std::vector<const FigureKind*> kinds;
  for (const FigureKind& kind : figure_kinds())
    if (is_drawable(kind, result)) kinds.push_back(&kind);
  for (const std::string& name : only) require_kind(name, kinds);
  std::erase_if(kinds, [&](const FigureKind* kind) {
    return only.empty() ? kind->follows_waves && leaves_out_position_term(*kind, result)
                        : std::ranges::find(only, kind->name) == only.end();
  });
  return kinds;
}

std::vector<std::filesystem::path> draw_figures(const Result& result, const std::filesystem::path& folder,
                                                const FigureOptions& options, const FigureCallback& begins) {
  require_heads(result, options.heads);
  const std::vector<const FigureKind*> kinds = kinds_of(result, options.only);
  std::vector<std::filesystem::path> written;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const FigureKind& kind = *kinds[i];
    if (begins) begins(kind.name, i + 1, kinds.size());
    std::vector<DrawnFile> files =
        kind.draw(result, options)
            .drawn(kind.name, formats_together(folder / kind.name, options.formats), options.keep_data);
    if (options.keep_data) append(files, caption_files(kind.name, caption_of(kind, result, options)));
    append(written, write_drawn(folder, kind.name, files, run_mark(result.provenance)));
  }
  return written;
}

}  // namespace headwave
