#include "rotary_term.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace headwave {

namespace {

/// Equation (1) for every head of every row; the angles in double, since n f loses digits in float.
template <class Scalar>
void turn_rows(MatrixOf<Scalar>& rows, Index d_head, const Vector& frequency, const RotaryOptions& options) {
  const Index half = frequency.size();
  if (d_head < 2 * half || rows.cols() % d_head != 0)
    throw ShapeError(fmt::format("RotaryTerm: {} channels to turn in heads of width {}, rows of width {}", 2 * half,
                                 d_head, rows.cols()));
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
    for (Index at = 0; at < rows.cols(); at += d_head) {
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

/// Slow frequencies f / s, fast ones f, and u of the way from one to the other where turns within the trained
/// length lie between low and high.
Vector llama3_frequency(const Vector& f, const RotaryOptions& o) {
  const Vector turns = f * o.trained / (2 * std::numbers::pi);
  const auto u = ((turns.array() - o.low) / (o.high - o.low)).max(0.0).min(1.0);
  return (1 - u) * f.array() / o.factor + u * f.array();
}

/// The same with the fade linear in the channel number, between the channels that turn `fast` and `slow`
/// times.
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
  if (first == last) last += 0.001;  // a fade of no width would divide by zero; the published code's choice
  const Vector m = Vector::LinSpaced(f.size(), 0.0, static_cast<double>(f.size() - 1));
  const auto u = 1.0 - ((m.array() - first) / (last - first)).max(0.0).min(1.0);
  return (1 - u) * f.array() / o.factor + u * f.array();
}

}  // namespace

std::pair<Index, Index> channels_of(const RotaryOptions& options, Index pair) {
  if (options.pairing == RotaryPairing::halves) return {pair, pair + options.channels / 2};
  return {2 * pair, 2 * pair + 1};
}

RotaryTerm::RotaryTerm(const RotaryOptions& options) : options_(options) {
  if (options.channels < 2 || options.channels % 2 != 0)
    throw ShapeError(
        fmt::format("RotaryTerm: {} channels cannot turn in pairs; expected an even number", options.channels));
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

}  // namespace headwave
