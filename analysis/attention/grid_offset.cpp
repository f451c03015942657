#include "grid_offset.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "../../core/fields/fields.h"
#include "../statistics/quantile.h"
#include "attention_map.h"

namespace headwave {

namespace {

class GridOffsetAnalysis : public AnalysisOf<GridOffsetSum> {
 public:
  explicit GridOffsetAnalysis(const AnalysisInput& input)
      : AnalysisOf(input), pairs_(input.longest, input.site.kind), grid_(input.model.patches) {
    for (Index position = 0; position < grid_.first; ++position) {
      const auto i = static_cast<std::size_t>(position);
      opening_.push_back(i < input.first.tokens.size() ? input.first.tokens[i] : std::to_string(position));
    }
  }
  [[nodiscard]] std::unique_ptr<Look> look(const Document& document, Index i) const override {
    const bool map = i == std::min(options()[map_document_option], input().documents - 1);
    return look_of<GridOffsetProbe>(site().grid, grid_, document, map, &pairs_);
  }

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(GridOffsetSum& sum, Finished& finished) override {
    return describe(finished.keep(grid_offsets(sum, site().grid, grid_, {options().level})), opening_);
  }

 private:
  PlacePairs pairs_;
  PatchGrid grid_;
  std::vector<std::string> opening_;
};

/// An offset that is searched.
struct GridLag {
  Index down = 0, right = 0;
  [[nodiscard]] Index distance() const { return down * down + right * right; }
};

/// The offsets of equation (2), the nearest first; up before down and left before right.
std::vector<GridLag> searched_lags(const PatchGrid& grid) {
  std::vector<GridLag> lags;
  for (Index down = -grid.rows / 2; down <= grid.rows / 2; ++down)
    for (Index right = -grid.columns / 2; right <= grid.columns / 2; ++right)
      if (std::abs(down) < grid.rows && std::abs(right) < grid.columns) lags.push_back({down, right});
  std::ranges::stable_sort(lags, {}, &GridLag::distance);
  return lags;
}

/// Whether an offset lies at the end of the search although the grid goes on.
bool ends_at(Index lag, Index side) {
  return std::abs(lag) == side / 2 && std::abs(lag) < side - 1 && lag != 0;
}

/// Equation (2) of one head, compared with its null.
/// @param z  normal quantile that the maximum of so many offsets stays below
void find_offset(GridOffsets& found, Index row, const std::vector<GridLag>& lags, double z) {
  const GridLags places(found.grid);
  GridLag best;
  for (const GridLag& lag : lags)
    if (found.weight(row, places.place(lag.down, lag.right)) > found.weight(row, places.place(best.down, best.right)))
      best = lag;
  const Index at = places.place(best.down, best.right);
  const OffsetTest test = offset_test(found.weight(row, at), found.null_weight(row, at), found.null_deviation(row, at),
                                      found.null_skewness(row, at), z);
  found.peak[row] = found.weight(row, at);
  found.chance[row] = found.null_weight(row, at);
  found.threshold[row] = test.threshold;
  if (!test.stands_out) return;
  const bool ends = ends_at(best.down, found.grid.rows) || ends_at(best.right, found.grid.columns);
  OffsetStatus& status = found.status[static_cast<std::size_t>(row)];
  status = best.distance() == 0 ? OffsetStatus::self : ends ? OffsetStatus::edge : OffsetStatus::offset;
  if (status != OffsetStatus::offset) return;
  found.down[row] = static_cast<double>(best.down);
  found.right[row] = static_cast<double>(best.right);
}

}  // namespace

GridOffsets grid_offsets(const GridOffsetSum& sum, const HeadGrid& heads, const PatchGrid& grid,
                         const MeasuredOffsetOptions& options) {
  if (!are_finite(sum.weight))
    throw NumericError(
        "grid offsets: an attention weight is not finite; look for NaN or huge values in the model's weights");
  const auto documents = static_cast<double>(sum.documents);
  GridOffsets found;
  found.heads = heads;
  found.grid = grid;
  found.documents = sum.documents;
  found.weight = sum.weight / documents;
  found.null_weight = sum.null_weight / documents;
  found.correlation = sum.correlation.correlation();
  NullMoments::Spread spread = sum.null.of_sum(found.correlation);
  found.null_deviation = spread.deviation / documents;
  found.null_skewness = std::move(spread.skewness);
  found.opening = sum.opening / documents;
  found.received = sum.received / documents;
  found.map = sum.map;
  found.map_document = sum.map_document;
  found.level = options.level;
  const Index rows = found.heads.rows();
  for (Vector* numbers : {&found.down, &found.right, &found.peak, &found.threshold, &found.chance})
    *numbers = Vector::Constant(rows, not_defined);
  found.status.assign(static_cast<std::size_t>(rows), OffsetStatus::flat);
  const std::vector<GridLag> lags = searched_lags(found.grid);
  const double z = normal_quantile(options.level / static_cast<double>(lags.size()));
  for (Index row = 0; row < rows; ++row) find_offset(found, row, lags, z);
  return found;
}

const AnalysisKind& grid_offset_analysis() {
  static const AnalysisKind kind{.name = "grid_offset",
                                 .asks = "Where does each head look on the grid of an image's patches?",
                                 .step = Step::landing,
                                 .needs = {Need::attention, Need::grid},
                                 .one_sequence = true,
                                 .by_default = true,
                                 .make = make_of<GridOffsetAnalysis>};
  return kind;
}

namespace {

/// Sums over rectangles that begin at any corner, from sums over those that begin at the first.
class RectangleSums {
 public:
  RectangleSums(const PatchGrid& grid, Eigen::Ref<const Vector> values)
      : sums_(Matrix::Zero(grid.rows + 1, grid.columns + 1)) {
    for (Index r = 0; r < grid.rows; ++r)
      for (Index c = 0; c < grid.columns; ++c)
        sums_(r + 1, c + 1) = values[r * grid.columns + c] + sums_(r, c + 1) + sums_(r + 1, c) - sums_(r, c);
  }
  /// Over the keys whose query, `down` and `right` before them, is on the grid.
  [[nodiscard]] double keys_at(Index down, Index right) const {
    const Index rows = sums_.rows() - 1, columns = sums_.cols() - 1;
    const Index top = std::max<Index>(0, down), bottom = rows + std::min<Index>(0, down);
    const Index left = std::max<Index>(0, right), end = columns + std::min<Index>(0, right);
    return sums_(bottom, end) - sums_(top, end) - sums_(bottom, left) + sums_(top, left);
  }

 private:
  Matrix sums_;
};

}  // namespace

std::vector<Index> GridOffsetProbe::map_queries(const PatchGrid& grid) {
  std::vector<Index> queries;
  for (Index position = 0; position < grid.first; ++position) queries.push_back(position);
  queries.push_back(grid.first + grid.rows / 2 * grid.columns + grid.columns / 2);
  return queries;
}

GridOffsetProbe::GridOffsetProbe(HeadGrid heads, const PatchGrid& grid, const Document& document, bool map,
                                 const PlacePairs* pairs)
    : heads_(std::move(heads)), grid_(grid), lags_(grid) {
  if (document.length() != grid.positions())
    throw ShapeError(fmt::format("{}: {} tokens, but {} rows of {} patches behind {} tokens are {}", document.name,
                                 document.length(), grid.rows, grid.columns, grid.first, grid.positions()));
  const Index rows = heads_.rows(), patches = grid.patches();
  sums_.documents = 1;
  sums_.weight = Matrix::Zero(rows, lags_.count());
  sums_.opening = Matrix::Zero(rows, grid.first);
  sums_.received = Matrix::Zero(rows, patches);
  if (map) sums_.map_document = document.name;
  if (map) sums_.map = Matrix::Zero(rows * static_cast<Index>(map_queries(grid).size()), patches);
  power_.fill(Matrix::Zero(rows, patches));
  if (pairs != nullptr) compared_.emplace(*pairs, heads_, document, AttentionKind::self);
}

void GridOffsetProbe::add_patch(Index row, Index patch, const Vector& weights) {
  const Index query_row = patch / grid_.columns, query_column = patch % grid_.columns;
  const auto keys = weights.tail(grid_.patches());
  for (Index r = 0; r < grid_.rows; ++r)
    sums_.weight.row(row).segment(lags_.place(r - query_row, -query_column), grid_.columns) +=
        keys.segment(r * grid_.columns, grid_.columns).transpose();
  sums_.opening.row(row) += weights.head(grid_.first).transpose();
  sums_.received.row(row) += keys.transpose();
  power_[0].row(row) += keys.transpose();
  power_[1].row(row) += keys.cwiseAbs2().transpose();
  power_[2].row(row) += keys.array().cube().matrix().transpose();
  const double own = keys[patch];
  power_[0](row, patch) -= own;
  power_[1](row, patch) -= own * own;
  power_[2](row, patch) -= own * own * own;
}

void GridOffsetProbe::see(const Tile& tile) {
  if (tile.heads() != heads_.heads || tile.queries != grid_.positions() || tile.keys != grid_.positions())
    throw ShapeError(fmt::format("grid offsets: a tile of {} heads over {} x {} positions came, expected {} over {}",
                                 tile.heads(), tile.queries, tile.keys, heads_.heads, grid_.positions()));
  if (compared_) compared_->see(tile, heads_.first_row(tile.layer));
  const std::vector<Index> shown = map_queries(grid_);
  const auto maps = static_cast<Index>(shown.size());
  Vector weights(tile.keys);
  for (Index head = 0; head < tile.heads(); ++head) {
    const Index row = heads_.first_row(tile.layer) + head;
    for (Index r = 0; r < tile.rows(); ++r) {
      const Index query = tile.first_row + r;
      weights = tile.weights[static_cast<std::size_t>(head)].row(r).transpose().cast<double>();
      if (query >= grid_.first) add_patch(row, query - grid_.first, weights);
      for (Index m = 0; m < maps && sums_.map.size() > 0; ++m)
        if (shown[static_cast<std::size_t>(m)] == query)
          sums_.map.row(row * maps + m) = weights.tail(grid_.patches()).transpose();
    }
  }
}

/// Equation (1).
void GridOffsetProbe::set_null(GridOffsetSum& found) const {
  Matrix weight = Matrix::Constant(heads_.rows(), lags_.count(), not_defined), variance = weight, third_moment = weight;
  const auto others = static_cast<double>(grid_.patches() - 1);
  for (Index row = 0; others >= 2 && row < heads_.rows(); ++row) {
    const Vector mean = power_[0].row(row).transpose() / others;
    Vector second = power_[1].row(row).transpose() / others, third = power_[2].row(row).transpose() / others;
    third = third.array() - 3 * mean.array() * second.array() + 2 * mean.array().cube();
    second = (second - mean.cwiseAbs2()).cwiseMax(0.0) * (others / (others - 1));
    const RectangleSums means(grid_, mean), variances(grid_, second), thirds(grid_, third);
    for (Index down = 1 - grid_.rows; down < grid_.rows; ++down)
      for (Index right = 1 - grid_.columns; right < grid_.columns; ++right) {
        const Index lag = lags_.place(down, right);
        const double n = lags_.pairs(down, right);
        weight(row, lag) = means.keys_at(down, right) / n;
        variance(row, lag) = std::max(0.0, variances.keys_at(down, right)) / (n * n);
        third_moment(row, lag) = thirds.keys_at(down, right) / (n * n * n);
      }
  }
  found.null_weight = std::move(weight);
  found.null = NullMoments(variance, third_moment);
}

GridOffsetSum GridOffsetProbe::taken() const {
  GridOffsetSum found = sums_;
  for (Index down = 1 - grid_.rows; down < grid_.rows; ++down)
    for (Index right = 1 - grid_.columns; right < grid_.columns; ++right)
      found.weight.col(lags_.place(down, right)) /= lags_.pairs(down, right);
  const auto patches = static_cast<double>(grid_.patches());
  found.opening /= patches;
  found.received /= patches;
  set_null(found);
  found.correlation =
      DocumentCorrelation(heads_.heads, compared_ ? compared_->deviations() : Matrix32(heads_.rows(), 0));
  return found;
}

namespace {

Axis lag_axis(const std::string& name, const std::string& long_name, Index side) {
  return counting_axis(name, "patch", long_name, 1 - side, side - 1);
}

/// Adds offsets, statuses and thresholds.
void add_offsets(Fields& fields, const GridOffsets& found, const std::vector<Axis>& heads) {
  const std::string why =
      "status is self or flat: the maximum cannot be told from shuffled queries; or edge: it lies at the end of the "
      "search, half the grid";
  fields.add("offset_down", heads, "patch",
             "rows from the query patch down to the key patch at which the mean attention weight is largest",
             found.down, why);
  fields.add("offset_right", heads, "patch",
             "columns from the query patch to the right to the key patch at which the mean attention weight is largest",
             found.right, why);
  fields.flags("status", heads, "whether the head singles out an offset on the grid", found.status,
               {"offset", "self", "flat", "edge"});
  fields.add("weight", heads, "1", "largest mean attention weight within half the grid", found.peak);
  fields.add("threshold", heads, "1", "weight that a head without a preference stays below", found.threshold)
      .undefined_if_any("the grid has fewer than three patches");
  fields.add("chance", heads, "1", "weight expected at that offset if the queries are shuffled", found.chance)
      .undefined_if_any("the grid has fewer than three patches");
}

}  // namespace

std::vector<Field> describe(const GridOffsets& found, const std::vector<std::string>& opening) {
  const PatchGrid& grid = found.grid;
  const Axis layer = layer_axis(found.heads.layers), head = head_axis(found.heads.heads);
  const Axis down = lag_axis("down", "row of the key patch minus row of the query patch", grid.rows);
  const Axis right = lag_axis("right", "column of the key patch minus column of the query patch", grid.columns);
  const Axis row = counting_axis("row", "patch", "row of the key patch, from the top", 0, grid.rows - 1);
  const Axis column = counting_axis("column", "patch", "column of the key patch, from the left", 0, grid.columns - 1);
  const std::vector<Axis> by_lag{layer, head, down, right};
  const std::string few = "the grid has fewer than three patches";
  Fields fields("grid_offset");
  fields.add("mean_weight", by_lag, "1",
             "mean attention weight of a patch on the patch so far down and right, over the pairs that there are",
             found.weight);
  std::vector<double> pairs;
  for (Index d = 1 - grid.rows; d < grid.rows; ++d)
    for (Index r = 1 - grid.columns; r < grid.columns; ++r) pairs.push_back(GridLags(grid).pairs(d, r));
  fields.add("count", {down, right}, "1", "pairs of patches at an offset, in one image", pairs);
  fields
      .add("null_weight", by_lag, "1", "mean attention weight expected at an offset if the queries are shuffled",
           found.null_weight)
      .undefined_if_any(few);
  fields.add("null_deviation", by_lag, "1", "standard deviation of null_weight", found.null_deviation)
      .undefined_if_any(few);
  fields.add("null_skewness", by_lag, "1", "skewness of null_weight", found.null_skewness).undefined_if_any(few);
  add_offsets(fields, found, {layer, head});
  if (!opening.empty())
    fields.add("opening_weight", {layer, head, {"opening", "1", "token before the patches", opening}}, "1",
               "mean attention weight of the patches on a token before them", found.opening);
  fields.add("received", {layer, head, row, column}, "1",
             "mean attention weight that the patch at a place gets from all patches", found.received);
  std::vector<std::string> queries = opening;
  const Index middle = GridOffsetProbe::map_queries(grid).back() - grid.first;
  queries.push_back(fmt::format("r{}c{}", middle / grid.columns, middle % grid.columns));
  fields
      .add("map", {layer, head, {"map_query", "1", "token whose attention is shown", queries}, row, column}, "1",
           "attention weights of a token on the patches of one image", found.map)
      .note("document", found.map_document);
  fields.note_all("documents", found.documents).note_all("level", found.level);
  return fields.taken();
}

}  // namespace headwave
