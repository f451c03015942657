#include "layer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "../algebra/product.h"

namespace headwave {

Matrix32 linear(MatrixView32 x, const Linear& weights) {
  if (x.cols() != weights.d_in())
    throw ShapeError(fmt::format("linear: states have width {}, but the weights expect {}", x.cols(), weights.d_in()));
  Matrix32 y(x.rows(), weights.d_out());
  if (weights.bias.empty())
    y.setZero();
  else
    y.rowwise() = weights.bias.transpose();
  multiply_add(y, x, weights.weight.transpose());
  return y;
}

namespace {

void require_width(const Norm& norm, Index width) {
  for (const Index size : {norm.scale.size(), norm.shift.empty() ? width : norm.shift.size()})
    if (size != width)
      throw ShapeError(fmt::format("normalise: states have width {}, but the norm has width {}", width, size));
}

/// Equation (1) of GateClip; overwrites `gate`.
void clip_gate(Matrix32& gate, const Matrix32& widened, const GateClip& clip) {
  const auto g = gate.array().min(clip.limit);
  const auto up = widened.array().max(-clip.limit).min(clip.limit);
  gate = ((up + 1.0F) * g / (1.0F + (-clip.slope * g).exp())).matrix().eval();
}

/// Indices of the `count` largest values among the `allowed` indices, largest first.
std::vector<Index> largest_of(const Eigen::ArrayXd& values, std::vector<Index> allowed, Index count) {
  const auto kept = static_cast<std::ptrdiff_t>(std::min(count, static_cast<Index>(allowed.size())));
  std::partial_sort(allowed.begin(), allowed.begin() + kept, allowed.end(),
                    [&](Index a, Index b) { return values[a] != values[b] ? values[a] > values[b] : a < b; });
  allowed.resize(static_cast<std::size_t>(kept));
  return allowed;
}

std::vector<Index> counted_to(Index count) {
  std::vector<Index> indices(static_cast<std::size_t>(count));
  std::iota(indices.begin(), indices.end(), Index{0});
  return indices;
}

Eigen::ArrayXd softmax_of(const Eigen::ArrayXd& r) {
  const Eigen::ArrayXd powers = (r - r.maxCoeff()).exp();
  return powers / powers.sum();
}

/// The experts that a token may choose: all members of the groups of the largest worth.
std::vector<Index> open_experts(const Eigen::ArrayXd& worth, const RouterSpec& router) {
  if (router.groups <= router.chosen_groups) return counted_to(worth.size());
  const Index size = worth.size() / router.groups;
  Eigen::ArrayXd of_group(router.groups);
  for (Index group = 0; group < router.groups; ++group) {
    Eigen::ArrayXd members = worth.segment(group * size, size);
    std::sort(members.begin(), members.end(), std::greater<>());
    of_group[group] = members.head(router.worth == GroupWorth::best_two ? std::min<Index>(2, size) : 1).sum();
  }
  std::vector<Index> open;
  for (const Index group : largest_of(of_group, counted_to(router.groups), router.chosen_groups))
    for (Index member = 0; member < size; ++member) open.push_back(group * size + member);
  return open;
}

/// Adds the outputs of the chosen experts to y.
void add_experts(MatrixView32 x, const Mixture& mixture, const BlockSpec& spec, Matrix32& y) {
  const Chosen chosen = chosen_experts(linear(x, mixture.router), mixture.correction, spec.router);
  const auto each = static_cast<Index>(chosen.expert.size()) / std::max<Index>(x.rows(), 1);
  std::vector<std::vector<Index>> places(mixture.experts.size());  // by expert: indices into `chosen`
  for (std::size_t at = 0; at < chosen.expert.size(); ++at)
    places[static_cast<std::size_t>(chosen.expert[at])].push_back(static_cast<Index>(at));
  const bool before = spec.router.weighs_input;
  for (std::size_t expert = 0; expert < places.size(); ++expert) {
    const std::vector<Index>& here = places[expert];
    if (here.empty()) continue;
    Vector32 weight(static_cast<Index>(here.size()));
    Matrix32 rows(weight.size(), x.cols());
    for (Index i = 0; i < weight.size(); ++i) {
      const Index at = here[static_cast<std::size_t>(i)];
      weight[i] = chosen.weight[static_cast<std::size_t>(at)];
      rows.row(i) = x.row(at / each);
      if (before) rows.row(i) *= weight[i];
    }
    const Matrix32 given = feed_forward(rows, mixture.experts[expert], spec.activation, spec.gate_clip);
    for (Index i = 0; i < weight.size(); ++i)
      y.row(here[static_cast<std::size_t>(i)] / each) += (before ? 1.0F : weight[i]) * given.row(i);
  }
}

}  // namespace

void normalise(Matrix32& x, const Norm& norm) {
  if (norm.empty()) return;
  require_width(norm, x.cols());
  const Kernels<float>& kernel = kernels<float>();
  for (Index i = 0; i < x.rows(); ++i)
    kernel.normalise(x.row(i).data(), x.cols(), norm.kind == NormKind::layer, static_cast<double>(norm.eps),
                     norm.scale.data(), norm.shift.empty() ? nullptr : norm.shift.data());
}

void normalise_heads(Matrix32& x, const Norm& norm) {
  if (norm.empty()) return;
  const bool own_scales = norm.d_head > 0;
  const Index width = x.cols(), channels = own_scales ? norm.d_head : norm.scale.size();
  if (width % channels != 0 || (own_scales && norm.scale.size() != width) ||
      (!norm.shift.empty() && norm.shift.size() != norm.scale.size()))
    throw ShapeError(fmt::format("normalise_heads: a norm of {} channels does not fit rows of {} channels",
                                 norm.scale.size(), width));
  const Kernels<float>& kernel = kernels<float>();
  for (Index i = 0; i < x.rows(); ++i)
    for (Index at = 0; at < width; at += channels) {
      const Index first = own_scales ? at : 0;
      kernel.normalise(&x(i, at), channels, norm.kind == NormKind::layer, static_cast<double>(norm.eps),
                       norm.scale.data() + first, norm.shift.empty() ? nullptr : norm.shift.data() + first);
    }
}

double share_from_norm(MatrixView32 x, const Norm& norm) {
  constexpr double tolerance = 0.1;
  if (norm.empty() || x.rows() == 0) return 1;
  require_width(norm, x.cols());
  if ((norm.scale.array() == 0).any()) return 1;
  const Eigen::ArrayXd scale = norm.scale.cast<double>().array();
  const Eigen::ArrayXd shift =
      norm.shift.empty() ? Eigen::ArrayXd::Zero(x.cols()).eval() : norm.shift.cast<double>().array().eval();
  Index fitting = 0;
  for (Index i = 0; i < x.rows(); ++i) {
    const Eigen::ArrayXd z = (x.row(i).transpose().cast<double>().array() - shift) / scale;
    const double mean = norm.kind == NormKind::layer ? z.mean() : 0.0;
    if (std::abs(mean) <= tolerance && std::abs((z - mean).square().mean() - 1) <= tolerance) ++fitting;
  }
  return static_cast<double>(fitting) / static_cast<double>(x.rows());
}

void activate(Matrix32& x, Activation activation) {
  auto a = x.array();
  switch (activation) {
    case Activation::gelu:
      kernels<float>().gelu(x.data(), x.size());
      break;
    case Activation::gelu_tanh:
      a = 0.5F * a *
          (1.0F + (static_cast<float>(std::sqrt(2.0 / std::numbers::pi)) * (a + 0.044715F * a.cube())).tanh());
      break;
    case Activation::relu:
      a = a.max(0.0F);
      break;
    case Activation::silu:
      a = a / (1.0F + (-a).exp());
      break;
  }
}

Matrix32 feed_forward(MatrixView32 x, const FeedForward& weights, Activation activation, const GateClip& clip) {
  Matrix32 y(x.rows(), weights.narrow.d_out());
  for (Index first = 0; first < x.rows(); first += rows_at_once) {
    const Index count = std::min(rows_at_once, x.rows() - first);
    const MatrixView32 rows = x.middleRows(first, count);
    Matrix32 wide = linear(rows, weights.gate.empty() ? weights.widen : weights.gate);
    if (!weights.gate.empty() && clip.limit > 0) {
      clip_gate(wide, linear(rows, weights.widen), clip);
    } else {
      activate(wide, activation);
      if (!weights.gate.empty()) wide.array() *= linear(rows, weights.widen).array();
    }
    y.middleRows(first, count) = linear(wide, weights.narrow);
  }
  return y;
}

Chosen chosen_experts(MatrixView32 r, VectorView32 correction, const RouterSpec& router) {
  Chosen chosen;
  for (Index token = 0; token < r.rows(); ++token) {
    Eigen::ArrayXd score = r.row(token).transpose().cast<double>().array();
    if (router.score == RouterScore::softmax) score = softmax_of(score);
    if (router.score == RouterScore::sigmoid) score = 1 / (1 + (-score).exp());
    Eigen::ArrayXd worth = score;
    if (!correction.empty()) worth += correction.cast<double>().array();
    const std::vector<Index> experts = largest_of(worth, open_experts(worth, router), router.chosen);
    Eigen::ArrayXd weight = score(experts);
    if (router.score == RouterScore::softmax_of_chosen) weight = softmax_of(weight);
    if (router.normalised) weight /= weight.sum();
    weight *= static_cast<double>(router.scale);
    chosen.expert.insert(chosen.expert.end(), experts.begin(), experts.end());
    for (const double one : weight) chosen.weight.push_back(static_cast<float>(one));
  }
  return chosen;
}

Matrix32 feed_forward(MatrixView32 x, const Block& block, const BlockSpec& spec) {
  const FeedForward& own = block.feed_forward;
  if (block.mixture.empty()) return feed_forward(x, own, spec.activation, spec.gate_clip);
  Matrix32 y = own.empty() ? Matrix32::Zero(x.rows(), x.cols()) : feed_forward(x, own, spec.activation, spec.gate_clip);
  if (!block.mixture.shared_weight.empty()) {
    const Matrix32 share = linear(x, block.mixture.shared_weight);
    y.array().colwise() *= 1.0F / (1.0F + (-share.col(0).array()).exp());
  }
  add_experts(x, block.mixture, spec, y);
  return y;
}

MatrixView32 latent_of(MatrixView32 x, const Latent& latent, Matrix32& kept) {
  if (latent.empty()) return x;
  kept = linear(x, latent.down);
  normalise(kept, latent.norm);
  return kept;
}

Matrix32 projected_queries(MatrixView32 x, const AttentionWeights& weights) {
  Matrix32 latent;
  Matrix32 queries = linear(latent_of(x, weights.query_latent, latent), weights.query);
  normalise_heads(queries, weights.query_norm);
  return queries;
}

void warm(Matrix32& queries, const QueryTemperature& temperature, Index first) {
  if (temperature.strength == 0) return;
  for (Index i = 0; i < queries.rows(); ++i) queries.row(i) *= static_cast<float>(temperature.at(first + i));
}

Matrix32 projected_keys(MatrixView32 x, MatrixView32 latent, const AttentionWeights& weights, Index kv_heads) {
  Matrix32 keys = linear(latent, weights.key);
  if (!weights.shared_key.empty()) keys = with_shared_channels(keys, linear(x, weights.shared_key), kv_heads);
  normalise_heads(keys, weights.key_norm);
  return keys;
}

Matrix32 with_shared_channels(const Matrix32& own, const Matrix32& shared, Index kv_heads) {
  const Index width = own.cols() / kv_heads, d_head = width + shared.cols();
  Matrix32 keys(own.rows(), kv_heads * d_head);
  for (Index head = 0; head < kv_heads; ++head) {
    keys.middleCols(head * d_head, width) = own.middleCols(head * width, width);
    keys.middleCols(head * d_head + width, shared.cols()) = shared;
  }
  return keys;
}

}  // namespace headwave
