#include "figures.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/bytes/append.h"
#include "../../core/errors/error.h"
#include "../../core/errors/nearest_name.h"
#include "../drawing/gnuplot.h"
#include "../drawing/run_mark.h"
#include "../drawing/visible_text.h"
#include "account_profile_figure.h"
#include "attention_map_figure.h"
#include "captions.h"
#include "carried_waves_figure.h"
#include "checkpoint_figures.h"
#include "chosen_heads.h"
#include "cluster_centroids_figure.h"
#include "cluster_shares_figure.h"
#include "cluster_sweep_figure.h"
#include "comparison_figure.h"
#include "cross_covariance_figure.h"
#include "delay_spectrum_figure.h"
#include "grid_offset_figure.h"
#include "head_account_figure.h"
#include "head_types_figure.h"
#include "offset_agreement_figure.h"
#include "offset_by_query_figure.h"
#include "offset_profile_figure.h"
#include "phase_spectrum_figure.h"
#include "position_components_figure.h"
#include "position_correlation_figure.h"
#include "position_kernel_figure.h"
#include "position_split_figure.h"
#include "re_aiming_figure.h"
#include "redefined_figure.h"
#include "rotary_use_figure.h"
#include "rotary_wave_figure.h"
#include "score_sources_figure.h"
#include "spectrum_figure.h"
#include "wave_spectra_figure.h"
#include "weighted_profile_figure.h"
#include "word_profile_figure.h"

namespace headwave {

namespace {

/// Whether a Field holds anything: what a model cannot have at all is a single value that is undefined.
bool is_there(const Result& result, const std::string& name) {
  const Field* field = result.find(name);
  return field != nullptr && !(field->axes.empty() && field->attributes.contains("undefined"));
}

std::string names_of(const std::vector<const FigureKind*>& kinds) {
  std::vector<std::string> names;
  for (const FigureKind* kind : kinds) names.push_back(kind->name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void require_kind(const std::string& name, const std::vector<const FigureKind*>& drawable) {
  if (std::ranges::any_of(drawable, [&](const FigureKind* kind) { return kind->name == name; })) return;
  std::vector<std::string> known;
  for (const FigureKind& kind : figure_kinds()) {
    if (kind.name == name)
      throw ShapeError(fmt::format("the figure {} shows {}, which this result has not; it can be drawn as {}", name,
                                   fmt::join(kind.fields, ", "), names_of(drawable)));
    known.push_back(kind.name);
  }
  const std::string meant = did_you_mean(name, known);
  throw FormatError(fmt::format("there is no figure '{}'{}", visible_text(name),
                                meant.empty() ? "; this result can be drawn as " + names_of(drawable) : meant));
}

}  // namespace

const std::vector<FigureKind>& figure_kinds() {
  static const std::vector<FigureKind> kinds{
      attention_map_figure(),       offset_profile_figure(),
      word_profile_figure(),        position_kernel_figure(),
      cluster_centroids_figure(),   cluster_shares_figure(),
      cluster_sweep_figure(),       position_spectrum_figure(),
      position_components_figure(), position_correlation_figure(),
      redefined_figure(),           wave_spectra_figure(),
      cross_covariance_figure(),    weighted_profile_figure(),
      phase_spectrum_figure(),      delay_spectrum_figure(),
      offset_agreement_figure(),    account_profile_figure(),
      head_account_figure(),        offset_by_query_figure(),
      rotary_wave_figure(),         rotary_use_figure(),
      position_split_figure(),      head_types_figure(),
      carried_waves_figure(),       score_centroids_figure(),
      score_shares_figure(),        re_aiming_figure(),
      comparison_figure(),          grid_offset_figure(),
      checkpoint_counts_figure(),   checkpoint_heads_figure(),
      score_sources_figure(),       source_table_figure(),
  };
  return kinds;
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
    if (std::ranges::all_of(kind.fields, [&](const std::string& name) { return is_there(result, name); }))
      kinds.push_back(&kind);
  for (const std::string& name : only) require_kind(name, kinds);
  if (!only.empty())
    std::erase_if(kinds, [&](const FigureKind* kind) { return std::ranges::count(only, kind->name) == 0; });
  return kinds;
}

std::vector<std::filesystem::path> draw_figures(const Result& result, const std::filesystem::path& folder,
                                                const FigureOptions& options, const FigureCallback& begins) {
  require_heads(result, options.heads);
  const std::vector<const FigureKind*> kinds = kinds_of(result, options.only);
  std::vector<std::filesystem::path> written;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (begins) begins(kinds[i]->name, i + 1, kinds.size());
    const std::string& name = kinds[i]->name;
    std::vector<DrawnFile> files =
        kinds[i]
            ->draw(result, options)
            .drawn(name, formats_together(folder / name, options.formats), options.keep_data);
    if (options.keep_data) append(files, caption_files(name, caption_of(*kinds[i], result, options)));
    append(written, write_drawn(folder, name, files, run_mark(result.provenance)));
  }
  return written;
}

}  // namespace headwave
