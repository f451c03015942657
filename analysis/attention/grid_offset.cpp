#include "grid_offset.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "../statistics/tails.h"
#include "grid_offset_probe.h"

namespace headwave {

namespace {

class GridOffsetAnalysis : public DocumentAnalysis<DocumentGridOffsets, GridOffsetSum> {
 public:
  explicit GridOffsetAnalysis(const AnalysisInput& input)
      : GridOffsetAnalysis(input, std::make_shared<const PlacePairs>(input.longest, input.site.kind)) {}
  [[nodiscard]] std::unique_ptr<Look> look(const Document& document, Index i) const override {
    const bool map = i == std::min(options().map_document, input().documents - 1);
    return look_of(std::make_unique<GridOffsetProbe>(site().grid, grid_, document, map, pairs_.get()),
                   &GridOffsetProbe::found);
  }
  [[nodiscard]] std::vector<Field> finish(Finished& finished) override {
    return describe(finished.keep(sum_.offsets({options().level})), opening_);
  }

 private:
  GridOffsetAnalysis(const AnalysisInput& input, std::shared_ptr<const PlacePairs> pairs)
      : DocumentAnalysis(input, [site = &input.site, grid = input.model.patches,
                                 count = pairs->count()] { return GridOffsetSum(site->grid, grid, count); }),
        pairs_(std::move(pairs)),
        grid_(input.model.patches) {
    for (Index position = 0; position < grid_.first; ++position) {
      const auto i = static_cast<std::size_t>(position);
      opening_.push_back(i < input.first.tokens.size() ? input.first.tokens[i] : std::to_string(position));
    }
  }
  void add(GridOffsetSum& sum, DocumentGridOffsets&& found) const override { sum.add(std::move(found)); }
  void join(GridOffsetSum& sum, GridOffsetSum&& next) const override { sum.join(std::move(next)); }

  std::shared_ptr<const PlacePairs> pairs_;
  PatchGrid grid_;
  std::vector<std::string> opening_;
};

/// An offset that is searched.
struct GridLag {
  Index down = 0, right = 0;
  [[nodiscard]] Index distance() const { return down * down + right * right; }
};

/// Those of equation (2), the nearest first; up before down and left before right.
std::vector<GridLag> searched_lags(const PatchGrid& grid) {
  std::vector<GridLag> lags;
  for (Index down = -grid.rows / 2; down <= grid.rows / 2; ++down)
    for (Index right = -grid.columns / 2; right <= grid.columns / 2; ++right)
      if (std::abs(down) < grid.rows && std::abs(right) < grid.columns) lags.push_back({down, right});
  std::ranges::stable_sort(lags, {}, &GridLag::distance);
  return lags;
}

/// Whether the search ended there, though the grid goes on.
bool ends_at(Index lag, Index side) {
  return std::abs(lag) == side / 2 && std::abs(lag) < side - 1 && lag != 0;
}

/// What one head's weights say, of equation (2) and its null.
/// @param z  normal quantile that the maximum of so many offsets stays below
void find_offset(GridOffsets& found, Index row, const std::vector<GridLag>& lags, double z) {
  const GridLags places(found.grid);
  GridLag best;
  for (const GridLag& lag : lags)
    if (found.weight(row, places.place(lag.down, lag.right)) > found.weight(row, places.place(best.down, best.right)))
      best = lag;
  const Index at = places.place(best.down, best.right);
  const double mean = found.null_weight(row, at), skewness = std::max(0.0, found.null_skewness(row, at));
  found.peak[row] = found.weight(row, at);
  found.chance[row] = mean;
  found.threshold[row] = mean + found.null_deviation(row, at) * (z + skewness * (z * z - 1) / 6);
  // A head that gives every key the same weight from everywhere has a null without spread: nothing rises but rounding.
  const double rounding = 8 * std::numeric_limits<float>::epsilon() * mean;
  if (!(found.peak[row] > found.threshold[row] + rounding)) return;
  const bool ends = ends_at(best.down, found.grid.rows) || ends_at(best.right, found.grid.columns);
  OffsetStatus& status = found.status[static_cast<std::size_t>(row)];
  status = best.distance() == 0 ? OffsetStatus::self : ends ? OffsetStatus::edge : OffsetStatus::offset;
  if (status != OffsetStatus::offset) return;
  found.down[row] = static_cast<double>(best.down);
  found.right[row] = static_cast<double>(best.right);
}

}  // namespace

GridOffsetSum::GridOffsetSum(HeadGrid heads, const PatchGrid& grid, Index pairs)
    : heads_(std::move(heads)), grid_(grid), correlation_(heads_, pairs) {
  sum_.weight = Matrix::Zero(heads_.rows(), GridLags(grid_).count());
  sum_.null_weight = sum_.weight;
  null_ = NullMoments(sum_.weight.rows(), sum_.weight.cols());
  sum_.opening = Matrix::Zero(heads_.rows(), grid_.first);
  sum_.received = Matrix::Zero(heads_.rows(), grid_.patches());
}

void GridOffsetSum::add(DocumentGridOffsets&& document) {
  null_.add(0, document.null_variance, document.null_third);
  correlation_.add(document.deviations);
  add_up(std::move(document), 1);
}

void GridOffsetSum::join(GridOffsetSum&& next) {
  null_ += next.null_;
  correlation_.join(next.correlation_);
  add_up(std::move(next.sum_), next.documents_);
}

void GridOffsetSum::add_up(DocumentGridOffsets&& more, Index documents) {
  documents_ += documents;
  sum_.weight += more.weight;
  sum_.null_weight += more.null_weight;
  sum_.opening += more.opening;
  sum_.received += more.received;
  if (more.map.size() == 0) return;
  sum_.map = std::move(more.map);
  sum_.name = std::move(more.name);
}

GridOffsets GridOffsetSum::offsets(const MeasuredOffsetOptions& options) const {
  if (!are_finite(sum_.weight))
    throw NumericError(
        "grid offsets: an attention weight is not finite; look for NaN or huge values in the model's weights");
  const auto documents = static_cast<double>(documents_);
  GridOffsets found;
  found.heads = heads_;
  found.grid = grid_;
  found.documents = documents_;
  found.weight = sum_.weight / documents;
  found.null_weight = sum_.null_weight / documents;
  found.correlation = correlation_.correlation();
  NullMoments::Spread spread = null_.of_sum(found.correlation);
  found.null_deviation = spread.deviation / documents;
  found.null_skewness = std::move(spread.skewness);
  found.opening = sum_.opening / documents;
  found.received = sum_.received / documents;
  found.map = sum_.map;
  found.map_document = sum_.name;
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
                                 .finds = "where attention lands on the grid of an image's patches",
                                 .step = Step::landing,
                                 .needs = {Need::attention, Need::grid},
                                 .one_sequence = true,
                                 .make = make_of<GridOffsetAnalysis>};
  return kind;
}

}  // namespace headwave
