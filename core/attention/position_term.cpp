#include "position_term.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numbers>
#include <utility>

#include <fmt/format.h>

namespace headwave {

Matrix32 sinusoids(Index length, Index d_model, const SinusoidOptions& options) {
  if (d_model < 2 || d_model % 2 != 0)
    throw ShapeError(fmt::format(
        "sinusoids: expected an even width of at least 2, since each sine has a cosine, found {}", d_model));
  const Index half = d_model / 2;
  const Index steps = options.last_is_base ? std::max<Index>(1, half - 1) : half;
  const bool interleaved = options.layout == SinusoidLayout::interleaved;
  Matrix32 table(length, d_model);
  for (Index i = 0; i < half; ++i) {
    const double frequency = std::pow(options.base, -static_cast<double>(i) / static_cast<double>(steps));
    const Index sine = interleaved ? 2 * i : i;
    const Index cosine = interleaved ? sine + 1 : half + i;
    for (Index n = 0; n < length; ++n) {
      const double angle = static_cast<double>(options.first + n) * frequency;
      table(n, sine) = static_cast<float>(std::sin(angle));
      table(n, cosine) = static_cast<float>(std::cos(angle));
    }
  }
  return table;
}

LinearBias::LinearBias(Index heads) : slope_(heads) {
  const auto power = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  for (Index h = 0; h < heads; ++h) {
    const double exponent = h < power ? -8.0 * static_cast<double>(h + 1) / static_cast<double>(power)
                                      : -4.0 * static_cast<double>(2 * (h - power) + 1) / static_cast<double>(power);
    slope_[h] = std::exp2(exponent);
  }
}

Vector LinearBias::kernel(Index head, Index reach) const {
  return slope_[head] * Vector::LinSpaced(2 * reach + 1, -static_cast<double>(reach), static_cast<double>(reach));
}

OffsetBias::OffsetBias(Matrix bias) : bias_(std::move(bias)) {
  if (bias_.cols() % 2 == 0)
    throw ShapeError(fmt::format("OffsetBias: expected biases at an odd number of offsets, -reach .. reach, found {}",
                                 bias_.cols()));
}

Vector OffsetBias::kernel(Index head, Index reach) const {
  Vector kernel = Vector::Zero(2 * reach + 1);
  const Index known = bias_.cols() / 2, both = std::min(known, reach);
  kernel.segment(reach - both, 2 * both + 1) = bias_.row(head).segment(known - both, 2 * both + 1).transpose();
  return kernel;
}

BucketBias::BucketBias(MatrixView32 bias, const BucketOptions& options)
    : bias_(bias.cast<double>()), options_(options) {
  const Index side = options.bidirectional ? bias.rows() / 2 : bias.rows();
  if (side < 2 || options.farthest <= side / 2)
    throw ShapeError(fmt::format(
        "BucketBias: {} buckets per side for distances up to {}; expected at least 2 buckets, and distances "
        "beyond half their number",
        side, options.farthest));
}

Index BucketBias::bucket(Index offset) const {
  const Index side = options_.bidirectional ? bias_.rows() / 2 : bias_.rows();
  const Index base = options_.bidirectional && offset > 0 ? side : 0;
  const Index distance = options_.bidirectional ? std::abs(offset) : std::max<Index>(0, -offset);
  const Index exact = side / 2;
  if (distance < exact) return base + distance;
  // In float, as the models were trained: a bucket's edge is where float rounding puts it.
  const float steps =
      std::log(static_cast<float>(distance) / static_cast<float>(exact)) /
      static_cast<float>(std::log(static_cast<double>(options_.farthest) / static_cast<double>(exact))) *
      static_cast<float>(side - exact);
  return base + std::min(side - 1, exact + static_cast<Index>(steps));
}

Vector BucketBias::kernel(Index head, Index reach) const {
  Vector kernel(2 * reach + 1);
  for (Index t = -reach; t <= reach; ++t) kernel[t + reach] = bias_(bucket(t), head);
  return kernel;
}

namespace {

/// Equation (1) for every head of every row. Angles are in double, since n f loses digits in float.
template <class Scalar>
void turn_rows(MatrixOf<Scalar>& rows, Index d_head, const Vector& frequency, const RotaryOptions& options) {
  const Index half = frequency.size();
  if (d_head < options.first + 2 * half || rows.cols() % d_head != 0)
    throw ShapeError(
        fmt::format("RotaryTerm: {} channels turn from channel {} on, which needs heads of at least {} channels; found "
                    "heads of {} in rows of {}",
                    2 * half, options.first, options.first + 2 * half, d_head, rows.cols()));
  const bool halves = options.pairing == RotaryPairing::halves;
  const Index step = halves ? 1 : 2;
  const Index apart = halves ? half : 1;
  using Channels = Eigen::Map<Eigen::Array<Scalar, 1, Eigen::Dynamic>, 0, Eigen::InnerStride<>>;
  for (Index n = 0; n < rows.rows(); ++n) {
    const Vector angle = frequency * static_cast<double>(n);
    const Eigen::Array<Scalar, 1, Eigen::Dynamic> cosine =
        (options.attention_factor * angle.array().cos()).template cast<Scalar>().transpose();
    const Eigen::Array<Scalar, 1, Eigen::Dynamic> sine =
        (options.attention_factor * angle.array().sin()).template cast<Scalar>().transpose();
    for (Index at = options.first; at < rows.cols(); at += d_head) {
      Channels first(&rows(n, at), half, Eigen::InnerStride<>(step));
      Channels second(&rows(n, at + apart), half, Eigen::InnerStride<>(step));
      const Eigen::Array<Scalar, 1, Eigen::Dynamic> turned = first * cosine - second * sine;
      second = second * cosine + first * sine;
      first = turned;
    }
  }
}

/// Equation (2).
Vector plain_frequency(Index channels, double base) {
  Vector f(channels / 2);
  for (Index m = 0; m < f.size(); ++m)
    f[m] = std::pow(base, -2.0 * static_cast<double>(m) / static_cast<double>(channels));
  return f;
}

/// Divides slow frequencies by s and keeps fast ones. Between `low` and `high` turns within M tokens, u moves
/// from one to the other.
Vector llama3_frequency(const Vector& f, const RotaryOptions& o) {
  const Vector turns = f * o.trained / (2 * std::numbers::pi);
  if (o.low == o.high) return (turns.array() < o.low).select(f / o.factor, f);  // no transition
  const auto u = ((turns.array() - o.low) / (o.high - o.low)).max(0.0).min(1.0);
  return (1 - u) * f.array() / o.factor + u * f.array();
}

/// Like llama3_frequency(), but u is linear in the channel number, from `fast` to `slow` turns in M tokens.
Vector yarn_frequency(const Vector& f, const RotaryOptions& o) {
  const auto channels = static_cast<double>(o.channels);
  const auto channel_of = [&](double turns) {
    return channels * std::log(o.trained / (turns * 2 * std::numbers::pi)) / (2 * std::log(o.base));
  };
  double first = channel_of(o.fast);
  double last = channel_of(o.slow);
  if (o.whole_channels) {
    first = std::floor(first);
    last = std::ceil(last);
  }
  first = std::max(first, 0.0);
  last = std::min(last, channels - 1);
  if (first == last) last += 0.001;  // no division by zero; the published code's choice
  const Vector m = Vector::LinSpaced(f.size(), 0.0, static_cast<double>(f.size() - 1));
  const auto u = 1.0 - ((m.array() - first) / (last - first)).max(0.0).min(1.0);
  return (1 - u) * f.array() / o.factor + u * f.array();
}

}  // namespace

std::pair<Index, Index> channels_of(const RotaryOptions& options, Index pair) {
  const Index first = options.first;
  if (options.pairing == RotaryPairing::halves) return {first + pair, first + pair + options.channels / 2};
  return {first + 2 * pair, first + 2 * pair + 1};
}

RotaryTerm::RotaryTerm(const RotaryOptions& options) : options_(options) {
  if (options.channels < 2 || options.channels % 2 != 0)
    throw ShapeError(fmt::format("RotaryTerm: {} channels cannot turn in pairs; expected an even number of at least 2",
                                 options.channels));
  for (const auto* factors : {&options.short_factors, &options.long_factors})
    if (options.scaling == RotaryScaling::longrope && std::ssize(*factors) != options.channels / 2)
      throw ShapeError(fmt::format("RotaryTerm: {} factors of longrope, but {} pairs of channels turn", factors->size(),
                                   options.channels / 2));
}

Vector RotaryTerm::frequency(Index length) const {
  const RotaryOptions& o = options_;
  Vector f = plain_frequency(o.channels, o.base);
  switch (o.scaling) {
    case RotaryScaling::none:
      return f;
    case RotaryScaling::linear:
      return f / o.factor;
    case RotaryScaling::llama3:
      return llama3_frequency(f, o);
    case RotaryScaling::yarn:
      return yarn_frequency(f, o);
    case RotaryScaling::longrope: {
      const std::vector<double>& factors = static_cast<double>(length) > o.trained ? o.long_factors : o.short_factors;
      return f.array() / Eigen::Map<const Eigen::ArrayXd>(factors.data(), std::ssize(factors));
    }
    case RotaryScaling::proportional:
      f.tail(f.size() - static_cast<Index>(o.share * static_cast<double>(f.size()))).setZero();
      return f / o.factor;
    case RotaryScaling::dynamic:
      break;
  }
  if (static_cast<double>(length) <= o.trained || o.channels == 2) return f;
  const double stretched = o.factor * static_cast<double>(length) / o.trained - (o.factor - 1);
  const auto channels = static_cast<double>(o.channels);
  return plain_frequency(o.channels, o.base * std::pow(stretched, channels / (channels - 2)));
}

Vector RotaryTerm::kernel(Index reach) const {
  const Vector f = frequency(reach + 1);
  const double gain = options_.attention_factor * options_.attention_factor;
  Vector kernel(2 * reach + 1);
  for (Index t = -reach; t <= reach; ++t) kernel[t + reach] = gain * (f * static_cast<double>(t)).array().cos().mean();
  return kernel;
}

void RotaryTerm::turn(Matrix32& rows, Index d_head) const {
  turn_rows(rows, d_head, frequency(rows.rows()), options_);
}

void RotaryTerm::turn(Matrix& rows, Index d_head) const {
  turn_rows(rows, d_head, frequency(rows.rows()), options_);
}

bool DisentangledTerm::allows(const DisentangledOptions& options) {
  if (options.farthest < 1) return false;
  return options.buckets == 0 || (options.buckets >= 2 && options.buckets / 2 < options.farthest - 1);
}

DisentangledTerm::DisentangledTerm(const DisentangledOptions& options)
    : options_(options), span_(options.buckets > 0 ? options.buckets : options.farthest) {
  if (!allows(options))
    throw ShapeError(fmt::format(
        "DisentangledTerm: {} buckets per side for distances up to {}; expected 0 or at least 2 buckets, and "
        "distances beyond half their number",
        options.buckets, options.farthest));
}

Index DisentangledTerm::row(Index offset) const {
  const Index distance = std::abs(offset), exact = options_.buckets / 2;
  Index bucket = distance;
  if (options_.buckets > 0 && distance > exact) {
    // In float, as the models were trained: a bucket's edge is where float rounding puts it.
    const auto near = static_cast<float>(exact);
    const float whole =
        std::log(static_cast<float>(static_cast<double>(options_.farthest - 1) / static_cast<double>(exact)));
    bucket =
        exact + static_cast<Index>(std::ceil(std::log(static_cast<float>(distance) / near) / whole * (near - 1.0F)));
  }
  return std::clamp<Index>(span_ + (offset < 0 ? bucket : -bucket), 0, 2 * span_ - 1);
}

}  // namespace headwave
