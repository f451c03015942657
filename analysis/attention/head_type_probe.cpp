#include "head_type_probe.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "../../core/algebra/kernels.h"

namespace headwave {

namespace {

/// Columns of squared weights that are multiplied at once, where queries have fewer keys.
constexpr Index squares_at_once = 4096;

/// The part of an ascending list that lies in first .. end - 1.
std::span<const Index> part_of(const std::vector<Index>& list, Index first, Index end) {
  const auto from = std::lower_bound(list.begin(), list.end(), first);
  return {from, std::max(from, std::lower_bound(list.begin(), list.end(), end))};
}

class HeadTypeAnalysis : public DocumentAnalysis<DocumentHeadTypes, HeadTypeSum> {
 public:
  explicit HeadTypeAnalysis(const AnalysisInput& input)
      : DocumentAnalysis(input, [&site = input.site] { return HeadTypeSum(site.grid, site.kind); }) {}
  [[nodiscard]] std::unique_ptr<Look> look(const Document& document, Index /*i*/) const override {
    return look_of(std::make_unique<HeadTypeProbe>(site().grid, document, site().kind), &HeadTypeProbe::types);
  }
  [[nodiscard]] std::vector<Field> finish(Finished& /*finished*/) override { return describe(sum_.types()); }

 private:
  void add(HeadTypeSum& sum, DocumentHeadTypes&& found) const override { sum.add(found); }
  void join(HeadTypeSum& sum, HeadTypeSum&& next) const override { sum.join(next); }
};

}  // namespace

HeadTypeProbe::HeadTypeProbe(HeadGrid grid, const Document& document, AttentionKind kind,
                             const HeadTypeOptions& options)
    : grid_(std::move(grid)),
      kind_(kind),
      reach_(options.reach),
      queries_(document.queries(kind)),
      keys_(document.keys(kind)),
      knows_special_(!document.key_tokens(kind).special.empty()) {
  const TokenSequence& tokens = document.key_tokens(kind);
  if (reach_ < 0) throw ShapeError(fmt::format("HeadTypeProbe: expected a reach of at least 0, {} came", reach_));
  if (knows_special_ && static_cast<Index>(tokens.special.size()) != keys_)
    throw ShapeError(fmt::format("HeadTypeProbe: document '{}' has {} tokens and marks {} as special or not",
                                 document.name, keys_, tokens.special.size()));
  for (Index j = 0; j < keys_; ++j)
    if (tokens.is_special(j)) special_.push_back(j);
  std::unordered_map<std::int32_t, std::size_t> lists;
  for (std::size_t i = 0; kind_ != AttentionKind::cross && i < tokens.ids.size(); ++i) {
    const std::size_t list = lists.try_emplace(tokens.ids[i], same_token_.size()).first->second;
    if (list == same_token_.size()) same_token_.emplace_back();
    same_token_[list].push_back(static_cast<Index>(i));
    token_of_.push_back(list);
  }
  sum_ = count_ = Matrix::Zero(static_cast<Index>(head_scores), grid_.rows());
  argmax_ = Matrix::Zero(grid_.rows(), 2 * reach_ + 1);
  live_ = Vector::Zero(grid_.rows());
  seen_ = Vector::Zero(static_cast<Index>(grid_.layers.size()));
  columns_ = Matrix::Zero(grid_.rows(), keys_);
  products_.assign(grid_.layers.size(), Matrix::Zero(grid_.heads, grid_.heads));
  wide_.resize(keys_);
  squares_.resize(grid_.heads, std::max(keys_, squares_at_once));
}

HeadTypeProbe::Query HeadTypeProbe::query_at(Index position, KeySpan open) const {
  Query query{position, open, {}, {}, false, false};
  if (token_of_.empty()) return query;
  const std::vector<Index>& same = same_token_[token_of_[static_cast<std::size_t>(position)]];
  query.duplicates = part_of(same, open.first, position);
  query.before = part_of(same, open.first - 1, position - 1);
  query.has_duplicate = same.front() < position;
  query.has_induction = same.front() < position - 1;
  return query;
}

void HeadTypeProbe::add(HeadScore score, Index row, double value) {
  sum_(static_cast<Index>(score), row) += value;
  count_(static_cast<Index>(score), row) += 1.0;
}

/// Equation (1). Not offset_peak(): the largest of all keys is known, and is looked for within reach, the smaller |t|
/// first as there. Offsets beyond reach need not be looked at: within reach all are nearer and win every tie.
void HeadTypeProbe::add_argmax(const Query& query, Index row, const Eigen::Ref<const Eigen::RowVectorXf>& open,
                               float largest) {
  for (Index distance = 0; distance <= reach_; ++distance)
    for (const Index t : {-distance, distance}) {
      const Index key = query.position + t;
      if (key < query.open.first || key >= query.open.end() || open[key - query.open.first] != largest) continue;
      argmax_(row, reach_ + t) += 1.0;
      return;
    }
}

/// @param open  weights of the keys that the query may look at
void HeadTypeProbe::add_scores(const Query& query, Index row, const Eigen::Ref<const Eigen::RowVectorXf>& open) {
  const Index allowed = open.size();
  if (allowed == 0) return;
  const double negative = kernels<float>().sum_x_log_x(open.data(), allowed);
  if (!std::isfinite(negative))
    throw NumericError(
        fmt::format("head types: an attention weight of query {} is not finite; look for NaN or huge values in the "
                    "model's weights",
                    query.position));
  const float largest = open.maxCoeff();
  if (largest == 0.0F) return;
  live_[row] += 1.0;
  const double entropy = std::max(0.0, -negative);
  add(HeadScore::entropy, row, entropy);
  if (allowed > 1) add(HeadScore::entropy_share, row, entropy / std::log(static_cast<double>(allowed)));
  if (kind_ == AttentionKind::cross) return;

  add_argmax(query, row, open, largest);
  const auto weight = [&](Index key) {
    return key >= query.open.first && key < query.open.end() ? static_cast<double>(open[key - query.open.first]) : 0.0;
  };
  if (query.position > 0) add(HeadScore::previous, row, weight(query.position - 1));
  if (kind_ != AttentionKind::causal && query.position + 1 < keys_)
    add(HeadScore::next, row, weight(query.position + 1));
  const auto uniform = [&](std::span<const Index> keys) {
    return static_cast<double>(keys.size()) / static_cast<double>(allowed);
  };
  if (query.has_duplicate) {
    double sum = 0;
    for (const Index key : query.duplicates) sum += static_cast<double>(open[key - query.open.first]);
    add(HeadScore::duplicate, row, sum);
    add(HeadScore::duplicate_baseline, row, uniform(query.duplicates));
  }
  if (query.has_induction) {
    double sum = 0;
    for (const Index key : query.before) sum += static_cast<double>(open[key + 1 - query.open.first]);
    add(HeadScore::induction, row, sum);
    add(HeadScore::induction_baseline, row, uniform(query.before));
  }
}

/// Equation (5) of the queries whose squares are there.
void HeadTypeProbe::add_products(Index layer) {
  if (squared_ == 0) return;
  kernels<double>().add_row_products({squares_.data(), grid_.heads, squared_, squares_.outerStride(), true},
                                     products_[static_cast<std::size_t>(layer)].data());
  squared_ = 0;
}

void HeadTypeProbe::see(const Tile& tile) {
  if (tile.kind != kind_) return;
  if (tile.heads() != grid_.heads || tile.queries != queries_ || tile.keys != keys_)
    throw ShapeError(fmt::format("head types: a tile of {} heads over {} x {} positions came, expected {} over {} x {}",
                                 tile.heads(), tile.queries, tile.keys, grid_.heads, queries_, keys_));
  const Index first_row = grid_.first_row(tile.layer);
  if (tile.rows() == 0) return;
  const Index layer = first_row / grid_.heads;
  seen_[layer] += static_cast<double>(tile.rows());
  for (Index r = 0; r < tile.rows(); ++r) {
    const Query query = query_at(tile.first_row + r, tile.allowed_keys(tile.first_row + r));
    const Index allowed = query.open.count;
    if (squared_ + allowed > squares_.cols()) add_products(layer);
    for (Index head = 0; head < tile.heads(); ++head) {
      const auto open = tile.weights[static_cast<std::size_t>(head)].row(r).segment(query.open.first, allowed);
      add_scores(query, first_row + head, open);
      wide_.head(allowed) = open.transpose().array().cast<double>();
      columns_.row(first_row + head).segment(query.open.first, allowed) += wide_.head(allowed).matrix().transpose();
      squares_.row(head).segment(squared_, allowed) = wide_.head(allowed).square().matrix().transpose();
    }
    squared_ += allowed;
  }
  add_products(layer);
}

/// Equation (3).
void HeadTypeProbe::set_sink(Index row, DocumentHeadTypes& result) const {
  double top = not_defined;
  for (Index k = 0; k < keys_; ++k) {
    const Index queries = kind_ == AttentionKind::causal ? queries_ - k : queries_;
    if (queries < 1 || 4 * queries < queries_) break;
    const double alpha = columns_(row, k) / static_cast<double>(queries);
    if (k == 0) result.scores(static_cast<Index>(HeadScore::sink_first), row) = alpha;
    if (k > 0 && !(alpha > top)) continue;
    top = alpha;
    result.sink_position[static_cast<std::size_t>(row)] = k;
  }
  result.scores(static_cast<Index>(HeadScore::sink_weight), row) = top;
}

DocumentHeadTypes HeadTypeProbe::types() const {
  DocumentHeadTypes result;
  result.scores = sum_.cwiseQuotient(count_);  // 0 / 0 is NaN: undefined
  result.argmax_share = Matrix::Constant(grid_.rows(), 2 * reach_ + 1, not_defined);
  result.position_disagreement = Vector::Constant(seen_.size(), not_defined);
  result.sink_position.assign(static_cast<std::size_t>(grid_.rows()), -1);
  for (Index row = 0; row < grid_.rows(); ++row) {
    if (live_[row] == 0.0) continue;
    if (kind_ != AttentionKind::cross) result.argmax_share.row(row) = argmax_.row(row) / live_[row];
    set_sink(row, result);
    if (!knows_special_) continue;
    double special = 0;
    for (const Index key : special_) special += columns_(row, key);
    result.scores(static_cast<Index>(HeadScore::special_weight), row) = special / live_[row];
  }
  for (Index layer = 0; layer < seen_.size(); ++layer) {
    if (seen_[layer] == 0.0) continue;
    const Matrix norms = products_[static_cast<std::size_t>(layer)].cwiseSqrt();
    const double below = norms.triangularView<Eigen::StrictlyLower>().toDenseMatrix().sum();
    result.position_disagreement[layer] = -(2 * below + norms.trace()) / static_cast<double>(grid_.heads * grid_.heads);
  }
  return result;
}

const AnalysisKind& head_types_analysis() {
  static const AnalysisKind kind{.name = "head_types",
                                 .finds = "what heads do: previous, duplicate, induction, sink, entropy",
                                 .step = Step::landing,
                                 .needs = {Need::attention},
                                 .make = make_of<HeadTypeAnalysis>};
  return kind;
}

}  // namespace headwave
