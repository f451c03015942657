#pragma once

#include "../drawing/gnuplot.h"
#include "figures.h"

namespace headwave {

/// The centroid of each cluster of offset traces as a line, with the cluster's mass and the offset where it peaks.
/// @throws ShapeError if the Fields have other axes than described
GnuplotFigure cluster_centroids_figure(const Result& result, const FigureOptions& options);

/// A pie per head, layers down and heads across: which share of the texts put the head into which cluster. Colours are
/// those of cluster_centroids_figure().
///
/// Source: Yamamoto and Matsuzaki 2023, figure 1.
/// @throws ShapeError if the Fields have other axes than described
GnuplotFigure cluster_shares_figure(const Result& result, const FigureOptions& options);

/// Inertia, silhouette and stability against the number of clusters.
/// @throws ShapeError if the Fields have other axes than described
GnuplotFigure cluster_sweep_figure(const Result& result, const FigureOptions& options);

}  // namespace headwave
