#include "finished_attention.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "probe.h"

namespace headwave {

namespace {

using Row = Eigen::Ref<const Eigen::RowVectorXf>;

/// The right side of (1).
double allowed_error(const Row& row) {
  constexpr std::uint32_t beyond_bfloat16 = 0xFFFF, beyond_float16 = 0x1FFF;
  std::uint32_t bits = 0;
  for (const float weight : row) bits |= std::bit_cast<std::uint32_t>(weight);
  const auto keys = static_cast<double>(row.size());
  double unit = 0x1p-24, least = 0;
  if ((bits & beyond_bfloat16) == 0)
    unit = 0x1p-8;
  else if ((bits & beyond_float16) == 0) {
    unit = 0x1p-11;
    least = 0x1p-25;
  }
  return 2 * (unit + keys * least) + (keys + 8) * 0x1p-24;
}

Matrix32 rows_of(const FinishedAttention& attention, Index first, Index count) {
  Matrix32 rows = attention.rows(first, count);
  if (rows.rows() != attention.heads * count || rows.cols() != attention.length)
    throw ShapeError(fmt::format("{}: {} rows of {} heads have the shape {} x {}, expected {} x {}", attention.called,
                                 count, attention.heads, rows.rows(), rows.cols(), attention.heads * count,
                                 attention.length));
  return rows;
}

/// Whether a head's columns sum to 1: then queries and keys are exchanged.
bool is_transposed(const FinishedAttention& attention, Index head) {
  constexpr double tolerance = 0.01;
  Vector sums = Vector::Zero(attention.length);
  const Index most = tile_rows(attention.length);
  for (Index first = 0; first < attention.length; first += most) {
    const Index count = std::min(most, attention.length - first);
    sums += rows_of(attention, first, count).middleRows(head * count, count).cast<double>().colwise().sum().transpose();
  }
  return ((sums.array() - 1).abs() < tolerance).all();
}

/// Checks rows of one layer as they are read.
class RowChecks {
 public:
  RowChecks(const FinishedAttention& attention, Index window, const AttentionSite& site)
      : attention_(attention), site_(site), window_(window) {}

  void require(Index head, Index query, const Row& row) {
    const double sum = row.cast<double>().sum();
    if (!std::isfinite(sum)) {
      const bool missing = row.array().isNaN().any();
      refuse(head, query, missing ? "holds NaN" : "holds infinity",
             missing ? "weights from 0 to 1" : "weights from 0 to 1: are these scores, from before the softmax?");
    }
    if (const float least = row.minCoeff(); least < 0)
      refuse(head, query, fmt::format("holds {:g}", least),
             "weights from 0 to 1: are these scores, from before the softmax?");
    if (sum == 0) return;
    if (const double allowed = allowed_error(row); std::abs(sum - 1) > allowed) refuse_sum(head, query, sum, allowed);
    require_masked(head, query, row);
    any_ = true;
  }

  void require_any() const {
    if (any_ || attention_.length == 0) return;
    throw FormatError(
        fmt::format("{}, layer {}: every weight is 0, expected rows that add up to 1; was the attention ever written?",
                    attention_.called, site_.layer));
  }

 private:
  [[noreturn]] void refuse(Index head, Index query, const std::string& came, const std::string& expected) const {
    throw FormatError(fmt::format("{}, layer {}, head {}, row {} {}, expected {}", attention_.called, site_.layer, head,
                                  query, came, expected));
  }

  [[noreturn]] void refuse_sum(Index head, Index query, double sum, double allowed) const {
    const char* const why = is_transposed(attention_, head)
                                ? "but the columns do: queries and keys are exchanged; name the axes in their order"
                                : "are these scores before the softmax, or weights after dropout?";
    refuse(head, query, fmt::format("adds up to {:g}", sum), fmt::format("1 to within {:.1g}; {}", allowed, why));
  }

  void require_masked(Index head, Index query, const Row& row) const {
    const bool causal = site_.kind == AttentionKind::causal;
    const KeySpan open = allowed_keys(query, row.size(), causal, window_);
    for (Index key = 0; key < row.size(); ++key) {
      if (key == open.first) key = open.end();
      if (key >= row.size() || row[key] == 0) continue;
      refuse(head, query, fmt::format("gives {:g} to token {}", row[key], key),
             key < open.first
                 ? fmt::format("0 further back than the window of {} tokens", window_)
                 : "0 after the query, as in a causal model; if the model looks both ways, store causal = 0 beside the "
                   "attention");
    }
  }

  const FinishedAttention& attention_;
  const AttentionSite& site_;
  Index window_;
  bool any_ = false;
};

}  // namespace

void show_attention(const FinishedAttention& attention, Index window, const AttentionSite& site,
                    std::span<Probe* const> probes) {
  for (const Probe* probe : probes)
    if (probe->wants_scores() || probe->wants_projections())
      throw ShapeError(fmt::format("{}: holds attention weights, but an analysis needs scores, or queries and keys",
                                   attention.called));
  RowChecks checks(attention, window, site);
  Matrix32 weights;
  const auto fill = [&](Tile& tile, Index rows) {
    weights = rows_of(attention, tile.first_row, rows);
    for (Index head = 0; head < attention.heads; ++head) {
      const auto of_head = weights.middleRows(head * rows, rows);
      for (Index i = 0; i < rows; ++i) checks.require(head, tile.first_row + i, of_head.row(i));
      tile.weights.emplace_back(of_head);
    }
  };
  walk_tiles(Tile{site.layer, site.kind, 0, attention.length, attention.length, window, {}, {}}, probes, fill);
  checks.require_any();
}

bool looks_only_back(const FinishedAttention& attention) {
  constexpr Index looked_at = 64;
  const Index count = std::min(looked_at, attention.length);
  if (attention.length < 2) return false;
  const Matrix32 rows = rows_of(attention, 0, count);
  for (Index row = 0; row < rows.rows(); ++row)
    if ((rows.row(row).tail(attention.length - 1 - row % count).array() != 0).any()) return false;
  return true;
}

}  // namespace headwave
