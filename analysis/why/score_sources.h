#pragma once

#include <array>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/model/source.h"
#include "../pass/analysis.h"
#include "head_account.h"
#include "stream_parts.h"

namespace headwave {

struct ScoreSourcesOptions {
  Index documents = 8;  ///< documents of one length that pass through the model once more in pairs, evenly spread
  Index places = 128;   ///< tokens of each that are followed, in its middle
  std::vector<HeadName> heads;  ///< heads that get earlier attention head by head, which takes memory
  double closure = 1e-4;        ///< largest error of the sum over sources, relative to the true root mean square
  double least_errors = 3;      ///< a content smaller than so many standard errors has no shares
  int threads = 1;              ///< does not change results
};

/// The offsets whose content is decomposed: a token with itself and with its neighbours.
constexpr std::array<Index, 3> content_offsets{-1, 0, 1};

/// Shares of the sources in one side of the scores, the query side or the key side.
struct SourceShares {
  Matrix position;                                     ///< (rows, sources)  of the position kernel; rows add up to 1
  std::array<Matrix, content_offsets.size()> content;  ///< (rows, sources)  of c(t); NaN: c(t) is too small for shares
};

/// The sources of what every head reads: the parts of the network that wrote it.
struct ScoreSources {
  AccountSite site;
  ScoreSourcesOptions options;
  Index documents = 0, first = 0, places = 0, reach = 0;
  std::vector<StreamSource> sources;  ///< of the last layer; a layer reads those written before it
  SourceShares query, key;
  Matrix kernel;                      ///< (rows, 2 reach + 1)  K(t); NaN: the mask forbids it
  Vector kernel_sd;                   ///< (rows)  its standard deviation over offsets
  Matrix content, content_error;      ///< (rows, content_offsets)  c(t), and its standard error over pairs of documents
  Vector closure;                     ///< (layers)  measured; of the root mean square of queries and keys
  std::vector<StreamSource> earlier;  ///< heads of the layers before the chosen ones
  Matrix earlier_query, earlier_key;  ///< (chosen heads, earlier)  shares of the position kernel
};

/// Decomposes the scores of every head by the sources of its queries and keys.
///
/// The state that enters a layer is a sum x = sum_s c_s over sources s (stream_parts.h), and queries and keys
/// are linear in it once norms are held, rotations too, so that
///
///     s_ij = scale sum_ss' (c_s,i W_Q) . (c_s',j W_K)                                          (1)
///
/// exactly. With m^Q and m^K the mean queries and keys of a place over the other documents, the query side of
/// the position kernel is
///
///     F_s(t) = mean over documents and i of scale (c_s,i W_Q) . m^K_(i+t), rows centred        (2)
///     K(t) = sum_s F_s(t),   share of s = cov_t(F_s, K) / var_t(K),   |t| <= reach             (3)
///
/// and its key side the mean of scale m^Q_i . (c_s,i+t W_K). Rows are centred over those of the followed keys
/// that the mask allows, special ones too, since softmax does not see what all keys of a query have in
/// common. The content is
///
///     C_s(t) = 1/2 mean over pairs of documents and i of scale (c_s,i - c'_s,i) W_Q . (k_(i+t) - k'_(i+t))   (4)
///     c(t) = sum_s C_s(t),   share of s = C_s(t) / c(t)                                        (5)
///
/// with c' and k' those of the other document, so that what a place has in all documents cancels. C is how
/// queries and keys vary together. The key side likewise; t = 0 is a token and itself, -1 and +1 its
/// neighbours. Pairs with a special token or the first are left out.
///
/// Scores are those before a cap and without what a position term adds (T5, ALiBi) or compares (DeBERTa);
/// what a rotary term turns is turned.
///
/// Source: this project, after Franco and Crovella 2025, NeurIPS, who take single scores of one prompt apart.
/// @param numbers  (documents of the source) Site::numbers: number among the documents of the site's length, or -1
/// @param halves   mean queries and keys of head_account()
/// @throws NumericError if the sum over sources misses the real queries or keys by more than `closure`;
///         Error as the source and model_pass()
ScoreSources score_sources(const Model& model, const Source& source, const std::vector<Index>& numbers,
                           const AccountHalves& halves, const ScoreSourcesOptions& options = {});

/// Fields score_sources/...
std::vector<Field> describe(const ScoreSources& sources);

}  // namespace headwave
