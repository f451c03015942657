#include "figures.h"

#include <algorithm>

#include "../drawing/gnuplot.h"
#include "account_profile_figure.h"
#include "attention_map_figure.h"
#include "carried_waves_figure.h"
#include "chosen_heads.h"
#include "cluster_centroids_figure.h"
#include "cluster_shares_figure.h"
#include "cluster_sweep_figure.h"
#include "cross_covariance_figure.h"
#include "delay_spectrum_figure.h"
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

}  // namespace

const std::vector<FigureKind>& figure_kinds() {
  static const std::vector<FigureKind> kinds{
      attention_map_figure(),        offset_profile_figure(),    word_profile_figure(),
      position_kernel_figure(),      cluster_centroids_figure(), cluster_shares_figure(),
      cluster_sweep_figure(),        position_spectrum_figure(), position_components_figure(),
      position_correlation_figure(), redefined_figure(),         wave_spectra_figure(),
      cross_covariance_figure(),     weighted_profile_figure(),  phase_spectrum_figure(),
      delay_spectrum_figure(),       offset_agreement_figure(),  account_profile_figure(),
      head_account_figure(),         offset_by_query_figure(),   rotary_wave_figure(),
      rotary_use_figure(),           position_split_figure(),    head_types_figure(),
      carried_waves_figure(),        re_aiming_figure(),
  };
  return kinds;
}

std::vector<const FigureKind*> drawable_kinds(const std::vector<std::string>& fields) {
  std::vector<const FigureKind*> drawable;
  for (const FigureKind& kind : figure_kinds())
    if (std::all_of(kind.fields.begin(), kind.fields.end(), [&](const std::string& name) {
          return std::find(fields.begin(), fields.end(), name) != fields.end();
        }))
      drawable.push_back(&kind);
  return drawable;
}

std::vector<std::filesystem::path> draw_figures(const Result& result, const std::filesystem::path& folder,
                                                const FigureOptions& options, const FigureCallback& begins) {
  require_heads(result, options.heads);
  std::vector<std::string> present;
  for (const Field& field : result.fields)
    if (is_there(result, field.name)) present.push_back(field.name);
  const std::vector<const FigureKind*> kinds = drawable_kinds(present);
  std::vector<std::filesystem::path> written;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (begins) begins(kinds[i]->name, i + 1, kinds.size());
    const auto files =
        kinds[i]->draw(result, options).write(folder, kinds[i]->name, options.formats, options.keep_data);
    written.insert(written.end(), files.begin(), files.end());
  }
  return written;
}

}  // namespace headwave
