#include "figures.h"

#include <algorithm>

#include "../drawing/gnuplot.h"
#include "attention_map_figure.h"
#include "carried_waves_figure.h"
#include "chosen_heads.h"
#include "cluster_figures.h"
#include "cross_covariance_figure.h"
#include "delay_spectrum_figure.h"
#include "head_types_figure.h"
#include "offset_agreement_figure.h"
#include "offset_profile_figure.h"
#include "phase_spectrum_figure.h"
#include "position_components_figure.h"
#include "position_correlation_figure.h"
#include "position_kernel_figure.h"
#include "position_split_figure.h"
#include "re_aiming_figure.h"
#include "redefined_figure.h"
#include "spectrum_figure.h"
#include "wave_spectra_figure.h"
#include "weighted_profile_figure.h"

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
      {"attention_map",
       {"attention_map/weight", "attention_map/token", "attention_map/key_token"},
       {"measured_offset/weight", "measured_offset/offset"},
       "Attention weights of single heads over the first tokens of one text. Rows are queries and sum to 1 over all "
       "keys of the text, not only the ones shown. Each panel has its own colour scale from 0 to its largest weight; "
       "the dashed line marks offset 0.",
       attention_map_figure},
      {"offset_profile",
       {"offset_trace/mean_weight"},
       {"measured_offset/offset", "measured_offset/weight", "measured_offset/threshold"},
       "Mean attention weight at each offset t = key position minus query position, for every head, averaged over all "
       "query-key pairs at that offset. Each panel is scaled to its own largest value, written above it. The dot and "
       "its number mark the measured offset in tokens, an arrow one beyond the panel; a hollow dot stands where the "
       "weight is less than twice what chance would reach. Panels in grey have no offset that rises above the head's "
       "own null, or one at the end of the search alone.",
       offset_profile_figure},
      {"position_kernel",
       {"position_atlas/kernel", "position_atlas/offset"},
       {"position_atlas/weight"},
       "What every head would do by position alone, from the weights: mean score between positions at each offset t = "
       "key position minus query position, row means removed, each panel on its own scale. The line and its bold "
       "number "
       "mark the offset this predicts, the number right of it the share of attention that the softmax of the whole "
       "kernel gives to its maximum. Panels in grey predict none: they do not rise above their null, are largest at "
       "the end of the search, or hardly draw attention anywhere. Layers above 0 are a proxy: the blocks between "
       "change the positions.",
       position_kernel_figure},
      {"cluster_centroids",
       {"head_cluster/centroid", "head_cluster/mass"},
       {},
       "Centroids of the clusters of offset traces: attention weight summed over a text's query-key pairs at each "
       "offset t = key position minus query position. The legend gives each cluster's share of all traces and the "
       "offset where its centroid peaks, none where that is the end of the window.",
       cluster_centroids_figure},
      {"cluster_shares",
       {"head_cluster/share"},
       {"head_cluster/centroid"},
       "To which cluster the texts assign each head: one pie per head, one slice per cluster, as shares of all texts. "
       "Colours are those of the centroids.",
       cluster_shares_figure},
      {"cluster_sweep",
       {"head_cluster/sweep_inertia", "head_cluster/sweep_silhouette", "head_cluster/sweep_stability"},
       {"head_cluster/centroid"},
       "How much to believe the number of clusters: inertia (sum of squared distances to the centroids), mean "
       "silhouette, and stability (adjusted Rand index between bootstrap runs) against the number of clusters. The "
       "dashed line marks the number used.",
       cluster_sweep_figure},
      {"position_spectrum",
       {"position_spectrum/mean", "position_spectrum/lower_quartile", "position_spectrum/upper_quartile"},
       {"position_spectrum/word_mean", "position_spectrum/word_lower_quartile",
        "position_spectrum/word_upper_quartile"},
       "Amplitude spectrum of the position embedding: absolute discrete Fourier transform of each column over "
       "positions, mean over columns and band between the quartiles. Words, where shown, are the embeddings of a "
       "text's tokens in the same transform. Frequency 0 is left out.",
       position_spectrum_figure},
      {"position_components",
       {"position_components/cumulative_share"},
       {},
       "How many principal components the position table needs: share of its variance, column means taken away, along "
       "the largest components together, against their number (logarithmic). Dots mark the 4 and 12 components that "
       "the paper names.",
       position_components_figure},
      {"position_correlation",
       {"position_correlation/correlation", "position_correlation/chance_mean", "position_correlation/chance_largest"},
       {},
       "Canonical correlations (1) of the hidden states that enter each layer with the positions, over all tokens of "
       "all documents; a panel for each number of the positions' principal components kept. Grey: what shuffled "
       "positions reach, the largest of all draws and layers, and dashed their mean.",
       position_correlation_figure},
      {"redefined",
       {"redefined/query", "redefined/key", "redefined/component"},
       {"qk_svd/gain", "periodic_columns/peak_frequency", "measured_offset/offset"},
       "Redefined queries Q = X U_Q and keys K = X U_K of single heads, with U_Q S U_K^T the singular value "
       "decomposition of W_Q W_K^T: the two most periodic columns over the first tokens of the first document, in the "
       "units of the hidden states X, each panel on its own scale. Columns count from 1 by descending gain (singular "
       "value); f is the query column's peak in cycles per T tokens; offsets are the measured ones, in tokens.",
       redefined_figure},
      {"wave_spectra",
       {"wave_spectra/query", "wave_spectra/key", "wave_spectra/state", "wave_spectra/query_shuffled",
        "wave_spectra/key_shuffled", "wave_spectra/state_shuffled"},
       {},
       "Largest amplitude of redefined queries and keys over a layer's heads and columns, and of the hidden states "
       "that enter the layer over their columns: absolute discrete Fourier transform over positions, not normalised, "
       "mean over documents; all are expected maxima over one number of columns. Dashed: the same with the positions "
       "in another order. All panels have one scale. Frequency 0 is left out.",
       wave_spectra_figure},
      {"cross_covariance",
       {"cross_covariance/weighted_centred", "cross_covariance/correlation"},
       {"measured_offset/offset", "measured_offset/weight", "measured_offset/threshold"},
       "Where the scores of single heads point. Above: cross-covariances of redefined query and key columns, summed "
       "with their gains as weights, which is the sum of the unscaled scores along a diagonal; row means of the "
       "scores taken away, divided by T, mean over documents. The dot and its number mark the maximum in tokens, "
       "unless it is where the lags end. "
       "Below: correlations of the columns with the largest gains, less their mean over lags. Sums have their own "
       "scales.",
       cross_covariance_figure},
      {"weighted_profile",
       {"cross_covariance/weighted_centred"},
       {"measured_offset/offset"},
       "Where the scores of every head point: gain-weighted sum of the cross-covariances of redefined queries and "
       "keys at each lag t = key position minus query position, which is the sum of the unscaled scores along a "
       "diagonal; row means of the scores taken away, each panel on its own scale. The dot and its number mark the "
       "maximum in tokens, unless it is where the lags end. Panels in grey have no measured offset.",
       weighted_profile_figure},
      {"phase_spectrum",
       {"phase_spectrum/query", "phase_spectrum/key"},
       {"measured_offset/offset", "measured_offset/weight", "measured_offset/threshold"},
       "Energy of single heads in frequency and phase: absolute discrete Fourier transform of redefined queries and "
       "keys along the directions p whose phase θ (rad) lies in a bin, not normalised, mean over documents. On the "
       "ridge θ = 2πfΔ/T all waves are shifted by Δ tokens, so that the head attends to t* = −Δ; the solid one is the "
       "measured offset's. Each head has one colour scale, whose end 0.1 % of the cells exceed. Frequency 0 is left "
       "out.",
       phase_spectrum_figure},
      {"delay_spectrum",
       {"delay_spectrum/by_frequency", "delay_spectrum/cross_real", "delay_spectrum/cross_imaginary",
        "delay_spectrum/estimate", "delay_spectrum/offset", "delay_spectrum/lower", "delay_spectrum/upper",
        "delay_spectrum/coherence"},
       {"measured_offset/offset", "measured_offset/weight", "measured_offset/threshold"},
       "The delay in tokens that each frequency of single heads' queries and keys points to: the area of a dot is its "
       "share of the head's largest |C(f)|, the cross-spectrum's modulus. Line and band: the delay that all "
       "frequencies agree on best, grey where it cannot be told from chance, and its bootstrap interval over "
       "documents. A frequency knows its delay up to T/f: none lies in the grey area, and hollow dots show the "
       "multiple nearest to the line. Dots beyond a panel are left out.",
       delay_spectrum_figure},
      {"offset_agreement",
       {"offset_agreement/measured", "offset_agreement/predicted", "offset_agreement/verdict"},
       {"phase_delay/lower", "phase_delay/upper", "delay_spectrum/lower", "delay_spectrum/upper"},
       "Offsets predicted from weights alone, from phases and from scores against the measured ones, in tokens, on "
       "axes even about 0 and logarithmic further out; a measured 0 is a head that looks at its own token. Bars are "
       "bootstrap intervals, grey is what counts as meeting. A number stands for so many heads in one place; dots "
       "that would cover each other are moved aside. Heads far from the diagonal are named. "
       "The line below says what would be met by always naming one and the same offset.",
       offset_agreement_figure},
      {"position_split",
       {"position_split/variance_share", "position_split/spectrum"},
       {"position_split/noise_share"},
       "What hidden states are made of. Left: shares of their variance that depend on position alone, on the text "
       "alone, and on neither alone; the mark is what noise alone would put into the position part. Right: amplitude "
       "spectrum of the position part, absolute discrete Fourier transform over positions, not normalised, mean over "
       "columns, colours logarithmic. Frequency 0 is left out.",
       position_split_figure},
      {"head_types",
       {"head_types/kind", "head_types/previous", "head_types/next", "head_types/positional_share",
        "head_types/duplicate", "head_types/induction", "head_types/sink_weight"},
       {"head_types/positional_offset"},
       "What every head is called, the first kind of the legend that holds, and the score behind it: mean weight on "
       "the previous or next token, share of queries whose largest weight lies at one offset t (tokens), mean weight "
       "on earlier occurrences of the query's token or on what followed them, largest mean weight that one key gets.",
       head_types_figure},
      {"carried_waves",
       {"carried_waves/mean_weight", "carried_waves/weighted"},
       {},
       "What carries the offsets of single heads. Above: mean attention weight at each offset t = key position minus "
       "query position. Below: scores before mask and softmax, without row means, summed along each diagonal. Lines "
       "are "
       "runs of the model as it is, with every word the same, with every position the same, and with the words in "
       "another order.",
       carried_waves_figure},
      {"re_aiming",
       {"re_aiming/offset", "re_aiming/slope"},
       {},
       "How far attention moves when a head's keys are re-aimed by u tokens in the running model: measured offset "
       "less that of the model as it is. Where position is all that a head reads it moves by -u, the dashed line. "
       "Heads stand a little beside each other; where no offset can be told from chance a point is missing.",
       re_aiming_figure},
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
