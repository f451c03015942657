#include "stream_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "../../core/algebra/product.h"
#include "../../core/model/embedding.h"
#include "../../core/model/layer.h"

namespace headwave {

std::string StreamSource::name() const {
  if (head >= 0) return head_name(layer, head);
  constexpr std::array names{"words",           "positions", "constants", "attention {}", "cross-attention {}",
                             "feed-forward {}", "others"};
  return fmt::format(fmt::runtime(names[static_cast<std::size_t>(kind)]), layer);
}

void hold_norm(const Norm& norm, Index count, Index constant, Matrix32& parts) {
  if (norm.empty()) return;
  const Index number = parts.rows() / count, width = parts.cols();
  const bool centred = norm.kind == NormKind::layer;
  Eigen::RowVectorXd sum(width);
  for (Index place = 0; place < count; ++place) {
    sum.setZero();
    for (Index part = 0; part < number; ++part) sum += parts.row(part * count + place).cast<double>();
    if (centred) sum.array() -= sum.mean();
    const auto over = static_cast<float>(
        1 / std::sqrt(sum.squaredNorm() / static_cast<double>(width) + static_cast<double>(norm.eps)));
    for (Index part = 0; part < number; ++part) {
      auto row = parts.row(part * count + place);
      if (centred) row.array() -= static_cast<float>(row.cast<double>().mean());
      row.array() *= norm.scale.transpose().array() * over;
    }
    if (!norm.shift.empty()) parts.row(constant * count + place) += norm.shift.transpose();
  }
}

namespace {

/// Applies a linear map, and a norm after it, to the parts of a state.
Matrix32 project_parts(const Matrix32& parts, const Linear& weights, const Norm& norm, Index count) {
  Linear alone = weights;
  alone.bias = {};
  Matrix32 made = linear(parts, alone);
  if (!weights.bias.empty()) made.middleRows(constants_source * count, count).rowwise() += weights.bias.transpose();
  if (norm.empty()) return made;
  if (norm.d_head > 0) {
    for (Index head = 0; head < made.cols() / norm.d_head; ++head) {
      Matrix32 channels = made.middleCols(head * norm.d_head, norm.d_head);
      hold_norm(norm.of_head(head), count, constants_source, channels);
      made.middleCols(head * norm.d_head, norm.d_head) = channels;
    }
    return made;
  }
  const Index rows = made.rows(), width = made.cols(), own = norm.scale.size(), runs = width / own;
  made.resize(rows * runs, own);  // row-major: each run of channels that the norm covers becomes a row
  hold_norm(norm, count * runs, constants_source, made);
  made.resize(rows, width);
  return made;
}

/// The same for one head; below 0: all heads.
Matrix32 project_parts(const Matrix32& parts, const Linear& weights, const Norm& norm, Index count, Index head,
                       Index d_head) {
  if (head < 0) return project_parts(parts, weights, norm, count);
  if (!norm.empty() && norm.d_head == 0 && norm.scale.size() != d_head)
    return project_parts(parts, weights, norm, count).middleCols(head * d_head, d_head);
  Linear part = weights;
  part.weight = MatrixView32(weights.weight.middleRows(head * d_head, d_head));
  if (!weights.bias.empty()) part.bias = VectorView32(weights.bias.data() + head * d_head, d_head);
  return project_parts(parts, part, norm.of_head(head), count);
}

}  // namespace

Matrix32 query_parts(const Matrix32& parts, const AttentionWeights& weights, Index count, const BlockSpec& block,
                     Index head) {
  const Latent& latent = weights.query_latent;
  if (latent.empty()) return project_parts(parts, weights.query, weights.query_norm, count, head, block.d_head);
  Matrix32 all =
      project_parts(project_parts(parts, latent.down, latent.norm, count), weights.query, weights.query_norm, count);
  return head < 0 ? all : Matrix32(all.middleCols(head * block.d_head, block.d_head));
}

Matrix32 key_parts(const Matrix32& parts, const AttentionWeights& weights, Index count, const BlockSpec& block,
                   Index head) {
  const Latent& latent = weights.key_latent;
  if (latent.empty()) return project_parts(parts, weights.key, weights.key_norm, count, head, block.d_head);
  Matrix32 all =
      project_parts(project_parts(parts, latent.down, latent.norm, count), weights.key, weights.key_norm, count);
  if (!weights.shared_key.empty())
    all = with_shared_channels(all, project_parts(parts, weights.shared_key, {}, count), block.kv_heads);
  return head < 0 ? all : Matrix32(all.middleCols(head * block.d_head, block.d_head));
}

StreamParts::StreamParts(const Stack& stack, const TokenSequence& tokens, Index first, Index count, bool by_head,
                         std::vector<StreamSource> apart)
    : stack_(stack), first_(first), count_(count), by_head_(by_head), apart_(std::move(apart)) {
  const Embedding& embedding = stack.embedding;
  using Kind = StreamSource::Kind;
  sources_ = {{Kind::words}, {Kind::positions}, {Kind::constants}};
  const Matrix32 words = word_rows(embedding, tokens, {});
  parts_ = Matrix32::Zero(3 * count, words.cols());
  parts_.topRows(count) = words.middleRows(first, count) * embedding.word_scale;
  if (!embedding.positions.empty()) parts_.middleRows(count, count) = embedding.positions.middleRows(first, count);
  if (!embedding.token_types.empty())
    parts_.middleRows(constants_source * count, count).rowwise() = embedding.token_types.row(0);
  hold_norm(embedding.norm, count, constants_source, parts_);
  if (!embedding.projection.empty()) {
    Linear projection = embedding.projection;
    projection.bias = {};
    parts_ = linear(parts_, projection);
    if (!embedding.projection.bias.empty())
      parts_.middleRows(constants_source * count, count).rowwise() += embedding.projection.bias.transpose();
  }
  if (!apart_.empty()) append(Matrix32::Zero(count, parts_.cols()), {{Kind::others}});
}

void StreamParts::append(const Matrix32& parts, const std::vector<StreamSource>& sources) {
  constexpr Index others_source = constants_source + 1;
  if (!apart_.empty() && std::ssize(sources_) > others_source && std::ranges::count(apart_, sources.front()) == 0) {
    parts_.middleRows(others_source * count_, count_) += parts;
    return;
  }
  const Index before = parts_.rows();
  parts_.conservativeResize(before + parts.rows(), Eigen::NoChange);
  parts_.bottomRows(parts.rows()) = parts;
  sources_.insert(sources_.end(), sources.begin(), sources.end());
}

void StreamParts::add_heads(const LayerHeads& heads, const Linear& output) {
  const Index width = heads.outputs.cols() / heads.heads;
  heads_.resize(heads.heads * count_, output.d_out());
  for (Index head = 0; head < heads.heads; ++head) {
    const auto made = heads.outputs.block(first_, head * width, count_, width);
    auto rows = heads_.middleRows(head * count_, count_);
    multiply(rows, made, output.weight.middleCols(head * width, width).transpose());
  }
}

void StreamParts::add(const StreamAddition& addition) {
  using Kind = StreamSource::Kind;
  const Block& block = stack_.blocks[static_cast<std::size_t>(addition.layer)];
  const Norm none;
  const auto [kind, of_added, of_sum] =
      addition.sublayer == Sublayer::attention ? std::tuple(Kind::attention, &block.self_added_norm, &block.self_norm)
      : addition.sublayer == Sublayer::cross_attention
          ? std::tuple(Kind::cross_attention, &none, &block.cross_norm)
          : std::tuple(Kind::feed_forward, &block.feed_forward_added_norm, &block.feed_forward_norm);
  const bool split = by_head_ && kind == Kind::attention;
  std::vector<StreamSource> added;
  for (Index head = 0; head < (split ? stack_.block.heads : 1); ++head)
    added.push_back({kind, addition.layer, split ? head : -1});
  // The parts that are written; the last one is constant.
  const auto number = static_cast<Index>(added.size());
  Matrix32 parts((number + 1) * count_, addition.added.cols());
  auto constants = parts.bottomRows(count_);
  constants.setZero();
  if (!addition.bias.empty()) constants.rowwise() += addition.bias.transpose();
  if (split)
    parts.topRows(number * count_) = heads_;
  else
    parts.topRows(count_) = addition.added.middleRows(first_, count_) - constants;
  const bool pre = stack_.block.norm_place == NormPlace::pre;
  if (pre) hold_norm(*of_added, count_, number, parts);
  if (stack_.block.residual_scale != 1.0F) parts *= stack_.block.residual_scale;
  parts_.middleRows(constants_source * count_, count_) += constants;
  append(parts.topRows(number * count_), added);
  if (!pre) hold_norm(*of_sum, count_, constants_source, parts_);
}

Matrix32 StreamParts::entering(Index layer) const {
  Matrix32 parts = parts_;
  if (stack_.block.norm_place == NormPlace::pre)
    hold_norm(stack_.blocks[static_cast<std::size_t>(layer)].self_norm, count_, constants_source, parts);
  return parts;
}

}  // namespace headwave
