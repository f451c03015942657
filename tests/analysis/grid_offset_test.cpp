#include "../../analysis/attention/grid_offset.h"

#include <array>
#include <cmath>
#include <map>

#include "../../analysis/statistics/quantile.h"
#include "../../core/model/model_pass.h"
#include "../core/planted_grid.h"
#include "../test_numbers.h"
#include "found_field.h"
#include "test_pass.h"

using namespace headwave;

namespace {

PatchGrid grid_of(Index rows, Index columns, Index first = 1) {
  PatchGrid grid;
  grid.first = first;
  grid.rows = rows;
  grid.columns = columns;
  return grid;
}

Document tokens_on(const PatchGrid& grid) {
  Document document;
  document.name = "an image";
  document.ids.assign(static_cast<std::size_t>(grid.positions()), 0);
  return document;
}

/// What one head's weights give, as one tile.
GridOffsetSum offsets_of(const PatchGrid& grid, const Matrix32& weights) {
  const Document document = tokens_on(grid);
  GridOffsetProbe probe(one_head, grid, document, true);
  show(probe, weights);
  return probe.taken();
}

/// What one head's weights over a single image come to.
GridOffsets found_of(const PatchGrid& grid, const Matrix32& weights, const MeasuredOffsetOptions& options = {}) {
  return grid_offsets(offsets_of(grid, weights), one_head, grid, options);
}

/// Rows that sum to 1.
Matrix32 random_attention(Index tokens, std::uint64_t seed) {
  Matrix32 weights = random_matrix(tokens, tokens, seed).cwiseAbs2().cast<float>();
  for (Index i = 0; i < tokens; ++i) weights.row(i) /= weights.row(i).sum();
  return weights;
}

/// The job's analysis on its own: documents of a planted model, each a block that went through bytes, in order.
std::vector<Field> planted_fields(const PlantedGrid& planted, Index documents) {
  const PlantedGridSource source(planted, documents);
  const Document first = source.document(0);
  Site site{AttentionKind::self, {{0}, planted.model().stack.block.heads}, 0, {}, 0, {}, {}, {}};
  const JobOptions options;
  const AnalysisInput input{planted.model(), first, site, options, documents, planted.grid().positions(), 1};
  const std::unique_ptr<Analysis> analysis = grid_offset_analysis().make(input);
  for (Index i = 0; i < documents; ++i) {
    const Document document = source.document(i);
    const std::unique_ptr<Look> look = analysis->look(document, i);
    const std::array<Probe*, 1> probes{look->probe()};
    model_pass(planted.model(), document, probes);
    std::unique_ptr<DocumentSum> block;
    analysis->add(block, *look->taken());
    ByteWriter bytes;
    block->write(bytes);
    const std::string written = bytes.taken();
    ByteReader reader(written);
    block = analysis->no_documents();
    block->read(reader);
    analysis->join(*block);
    CHECK(reader.at_end());
    // Its sums, too, go on in another process.
    ByteWriter sums;
    analysis->write_sum(sums);
    const std::string kept = sums.taken();
    ByteReader again(kept);
    analysis->read_sum(again);
  }
  Finished finished;
  return analysis->finish(finished);
}

}  // namespace

TEST_CASE("weights by offset on the grid are those of a loop over all pairs, and so is their null") {
  for (const auto& [rows, columns, first] : {std::array<Index, 3>{3, 5, 1}, {4, 2, 2}, {1, 6, 0}, {2, 2, 1}}) {
    CAPTURE(rows, columns, first);
    const PatchGrid grid = grid_of(rows, columns, first);
    const GridLags lags(grid);
    const Matrix32 weights = random_attention(grid.positions(), 11);
    const GridOffsetSum found = offsets_of(grid, weights);
    const Index patches = grid.patches();
    Matrix sums = Matrix::Zero(1, lags.count()), count = sums, mean = sums, variance = sums, third = sums;
    for (Index j = 0; j < patches; ++j) {
      double m = 0, v = 0, w = 0;
      for (Index i = 0; i < patches; ++i)
        if (i != j) m += weights(first + i, first + j) / static_cast<double>(patches - 1);
      for (Index i = 0; i < patches; ++i)
        if (i != j) {
          const double apart = weights(first + i, first + j) - m;
          v += apart * apart / static_cast<double>(patches - 2);
          w += apart * apart * apart / static_cast<double>(patches - 1);
        }
      for (Index i = 0; i < patches; ++i) {
        const Index at = lags.place(j / columns - i / columns, j % columns - i % columns);
        sums(0, at) += weights(first + i, first + j);
        count(0, at) += 1;
        mean(0, at) += m;
        variance(0, at) += v;
        third(0, at) += w;
      }
    }
    for (Index down = 1 - rows; down < rows; ++down)
      for (Index right = 1 - columns; right < columns; ++right)
        CHECK(lags.pairs(down, right) == count(0, lags.place(down, right)));
    check_same(found.weight, sums.cwiseQuotient(count), 1e-12);
    check_same(found.null_weight, mean.cwiseQuotient(count), 1e-12);
    check_same(found.null.variances(), variance.cwiseQuotient(count.cwiseAbs2()), 1e-12);
    check_same(found.null.thirds(), third.cwiseQuotient(count.array().cube().matrix()), 1e-12);
    const Matrix whole = weights.cast<double>();
    check_same(found.opening, whole.block(first, 0, patches, first).colwise().mean(), 1e-12);
    check_same(found.received, whole.block(first, first, patches, patches).colwise().mean(), 1e-12);
    const std::vector<Index> shown = GridOffsetProbe::map_queries(grid);
    REQUIRE(found.map.rows() == first + 1);
    for (std::size_t q = 0; q < shown.size(); ++q)
      check_same(found.map.row(static_cast<Index>(q)), whole.row(shown[q]).tail(patches), 0);
    CHECK(shown.back() == first + rows / 2 * columns + columns / 2);
  }
}

TEST_CASE("a head that looks one patch to the left is found by hand, and half of its attention on the opening token") {
  const PatchGrid grid = grid_of(4, 6);
  Matrix32 weights = Matrix32::Zero(25, 25);
  weights.col(0).setConstant(0.5F);
  for (Index n = 0; n < 24; ++n) weights(1 + n, n % 6 == 0 ? 0 : n) += 0.5F;
  const GridOffsets found = found_of(grid, weights);
  CHECK(found.status[0] == OffsetStatus::offset);
  CHECK(found.down[0] == 0);
  CHECK(found.right[0] == -1);
  CHECK(found.peak[0] == 0.5);
  // 20 patches look to the left, 4 have none there.
  CHECK(found.opening(0, 0) == Approx((20 * 0.5 + 4 * 1.0) / 24));
  CHECK(found.peak[0] > found.threshold[0]);
  CHECK(found.chance[0] == Approx(0.5 / 23));
  // Its neighbour in the row of tokens, which a flattened grid would call the same offset, is another one here.
  const GridLags lags(grid);
  CHECK(found.weight(0, lags.place(-1, 5)) == 0);
}

TEST_CASE("planted heads are found where they look, on grids that are not square") {
  const std::vector<PlantedLook> looks{{0, -1}, {-1, 0}, {0, 2}, {1, 1}, {-1, 2}, {0, 0}, {2, 0}, {0, 0, true}};
  for (const auto& [rows, columns] : {std::pair<Index, Index>{5, 7}, {7, 5}, {6, 11}}) {
    CAPTURE(rows, columns);
    const PlantedGrid planted(rows, columns, looks);
    const std::vector<Field> fields = planted_fields(planted, 3);
    const auto& down = field_of(fields, "grid_offset/offset_down").doubles();
    const auto& right = field_of(fields, "grid_offset/offset_right").doubles();
    const auto& status = std::get<std::vector<std::uint8_t>>(field_of(fields, "grid_offset/status").values);
    const auto& weight = field_of(fields, "grid_offset/weight").doubles();
    const auto& threshold = field_of(fields, "grid_offset/threshold").doubles();
    for (std::size_t head = 0; head < looks.size(); ++head) {
      CAPTURE(head);
      const PlantedLook& look = looks[head];
      const bool edge = std::abs(look.down) == static_cast<double>(rows / 2) ||
                        std::abs(look.right) == static_cast<double>(columns / 2);
      const OffsetStatus expected = look.anywhere                       ? OffsetStatus::flat
                                    : look.down == 0 && look.right == 0 ? OffsetStatus::self
                                    : edge                              ? OffsetStatus::edge
                                                                        : OffsetStatus::offset;
      CHECK(static_cast<OffsetStatus>(status[head]) == expected);
      CHECK(std::isnan(down[head]) == (expected != OffsetStatus::offset));
      if (expected == OffsetStatus::offset) {
        CHECK(down[head] == look.down);
        CHECK(right[head] == look.right);
      }
      if (look.anywhere) continue;
      CHECK(weight[head] > 0.9);
      CHECK(weight[head] > 2 * threshold[head]);
    }
    CHECK(field_of(fields, "grid_offset/mean_weight").axis("down").size() == 2 * rows - 1);
    CHECK(field_of(fields, "grid_offset/mean_weight").axis("right").size() == 2 * columns - 1);
    const Field& map = field_of(fields, "grid_offset/map");
    CHECK(std::get<std::vector<std::string>>(map.axis("map_query").values).front() == "[CLS]");
    CHECK(attribute_text(map.attributes, "document") == "image 0");
  }
}

TEST_CASE("heads without a preference are seldom given an offset on the grid") {
  const PatchGrid grid = grid_of(5, 7);
  int given = 0;
  constexpr int heads = 300;
  for (int seed = 0; seed < heads; ++seed) {
    const Matrix32 weights = random_attention(grid.positions(), 100 + static_cast<std::uint64_t>(seed));
    if (found_of(grid, weights, {0.05}).status[0] != OffsetStatus::flat) ++given;
  }
  // 15 are expected at 0.05; 4 standard deviations more are 30.
  CHECK(given <= 30);
}

TEST_CASE("where a grid is too small to tell, a head is flat, and undefined where there is no null") {
  const PatchGrid pair = grid_of(1, 2);
  const Matrix32 even = Matrix32::Constant(3, 3, 1.0F / 3);
  const GridOffsets found = found_of(pair, even);
  CHECK(found.status[0] == OffsetStatus::flat);
  CHECK(std::isnan(found.threshold[0]));
  const std::vector<Field> fields = describe(found, {"[CLS]"});
  CHECK(attribute_text(field_of(fields, "grid_offset/threshold").attributes, "undefined") ==
        "the grid has fewer than three patches");
  // Equal weights everywhere rise above nothing, whatever rounding makes of them.
  const PatchGrid grid = grid_of(6, 7);
  const Matrix32 uniform = Matrix32::Constant(43, 43, 1.0F / 43);
  CHECK(found_of(grid, uniform).status[0] == OffsetStatus::flat);
}

TEST_CASE("documents that are not the grid's, and weights that are not finite, are refused") {
  const PatchGrid grid = grid_of(2, 3);
  const Document longer = tokens_on(grid_of(2, 4));
  CHECK_THROWS_WITH(GridOffsetProbe(one_head, grid, longer, false),
                    ContainsSubstring("an image: 9 tokens, but 2 rows of 3 patches behind 1 tokens are 7"));
  const Document document = tokens_on(grid);
  GridOffsetProbe probe(one_head, grid, document, false);
  CHECK_THROWS_AS(show(probe, Matrix32::Zero(8, 8)), ShapeError);
  Matrix32 broken = Matrix32::Constant(7, 7, 1.0F / 7);
  broken(3, 4) = std::nanf("");
  CHECK_THROWS_AS(found_of(grid, broken), NumericError);
}

TEST_CASE("the analysis of a grid applies where tokens are patches, and says why not elsewhere") {
  Site site{AttentionKind::self, one_head, 0, {}, 0, {}, {}, {}};
  CHECK(applies(grid_offset_analysis(), site));
  site.no_grid = "the model reads no images";
  CHECK_FALSE(applies(grid_offset_analysis(), site));
  CHECK(text_of(Need::grid) == "patches on a grid");
}
