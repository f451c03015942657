#include "sample_phases.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "sample_axes.h"

namespace headwave::sample {

namespace {

constexpr double pi = std::numbers::pi;

constexpr Index bins = 16;

Axis frequencies(const Size& size) {
  return counting_axis("frequency", "cycles/T", "frequency", 0, size.length / 2);
}

/// A wave at a fifteenth of a cycle per token and its neighbours.
double wave_at(Index frequency, const Size& size) {
  const double away = static_cast<double>(frequency) - static_cast<double>(size.length) / 15;
  return 100 * std::exp(-0.05 * away * away) + 0.2;
}

/// In (-pi, pi].
double wrapped(double phase) {
  return phase - 2 * pi * std::ceil((phase - pi) / (2 * pi));
}

double turn_of(double offset, Index frequency, const Size& size) {
  return wrapped(-2 * pi * static_cast<double>(frequency) * offset / static_cast<double>(size.length));
}

template <class Function>
void for_heads(const Size& size, Function function) {
  for (Index layer = 0; layer < size.layers; ++layer)
    for (Index head = 0; head < size.heads; ++head) function(layer, head);
}

/// Flat heads have the same in every direction.
void add_spectra(Result& result, const Size& size) {
  std::vector<double> query, centres;
  for (Index bin = 0; bin < bins; ++bin)
    centres.push_back(pi * (2 * (static_cast<double>(bin) + 0.5) / static_cast<double>(bins) - 1));
  for_heads(size, [&](Index layer, Index head) {
    const double offset = planted_offset(layer, head);
    for (Index f = 0; f <= size.length / 2; ++f)
      for (const double centre : centres) {
        const double away = wrapped(turn_of(offset, f, size) - centre);
        query.push_back(std::isnan(offset) ? 3.0 : std::abs(away) <= pi / bins ? wave_at(f, size) : 0.0);
      }
  });
  std::vector<double> key = query;
  for (double& value : key) value *= 0.9;
  const Axis phase{"phase", "rad", "phase", centres};
  for (Field field : {make_field("phase_spectrum/query", with(grid(size), {frequencies(size), phase}), "1", "g", query),
                      make_field("phase_spectrum/key", with(grid(size), {frequencies(size), phase}), "1", "g", key)}) {
    field.attributes["length"] = static_cast<std::int64_t>(size.length);
    result.fields.push_back(std::move(field));
  }
}

void add_delays(Result& result, const Size& size) {
  std::vector<double> estimate, offset, lower, upper, coherence, by_frequency, real, imaginary;
  for_heads(size, [&](Index layer, Index head) {
    const double planted = planted_offset(layer, head);
    const double fitted = std::isnan(planted) ? 20 : planted + 0.01;
    estimate.push_back(fitted);
    offset.push_back(std::isnan(planted) ? not_defined : fitted);
    lower.push_back(fitted - 0.2);
    upper.push_back(fitted + 0.2);
    coherence.push_back(std::isnan(planted) ? 0.2 : 0.97);
    for (Index f = 0; f <= size.length / 2; ++f) {
      const double phase = turn_of(fitted, f, size);
      const auto per_turn = static_cast<double>(size.length) / static_cast<double>(f);
      by_frequency.push_back(f == 0 ? not_defined : -per_turn * phase / (2 * pi));
      real.push_back(wave_at(f, size) * std::cos(phase));
      imaginary.push_back(wave_at(f, size) * std::sin(phase));
    }
  });
  const auto add = [&](const char* name, const std::vector<Axis>& axes, const std::vector<double>& values) {
    Field field = make_field(name, axes, "token", name, values);
    field.attributes["length"] = static_cast<std::int64_t>(size.length);
    field.attributes["coverage"] = 0.9;
    result.fields.push_back(std::move(field));
  };
  add("phase_delay/estimate", grid(size), estimate);
  add("phase_delay/predicted_offset", grid(size), offset);
  add("phase_delay/lower", grid(size), lower);
  add("phase_delay/upper", grid(size), upper);
  add("phase_delay/coherence", grid(size), coherence);
  const auto lines = with(grid(size), {frequencies(size)});
  add("phase_delay/by_frequency", lines, by_frequency);
  add("phase_delay/cross_real", lines, real);
  add("phase_delay/cross_imaginary", lines, imaginary);
}

/// Weights miss every fifth head, phases have no prediction for the second of a layer.
void add_split(Result& result, const Size& size) {
  std::vector<double> shares, noise, spectrum;
  for (Index layer = 0; layer < size.layers; ++layer) {
    const double position = 0.6 / static_cast<double>(1 + layer);
    shares.insert(shares.end(), {position, 0.1, 0.9 - position});
    noise.push_back(0.05);
    for (Index f = 0; f <= size.length / 2; ++f)
      spectrum.push_back(2 + wave_at(f, size) / static_cast<double>((1 + layer) * (1 + layer)));
  }
  const Axis part{"part", "1", "part", std::vector<std::string>{"position", "context", "residual"}};
  for (Field field :
       {make_field("position_split/variance_share", {layer_axis(size.layers), part}, "1", "share", shares),
        make_field("position_split/noise_share", {layer_axis(size.layers)}, "1", "noise", noise),
        make_field("position_split/spectrum", {layer_axis(size.layers), frequencies(size)}, "1", "spectrum",
                   spectrum)}) {
    field.attributes["T"] = static_cast<std::int64_t>(size.length);
    result.fields.push_back(std::move(field));
  }
}

/// All seven kinds by turns.
void add_types(Result& result, const Size& size) {
  std::vector<std::uint8_t> kinds;
  for_heads(size, [&](Index layer, Index head) {
    kinds.push_back(static_cast<std::uint8_t>((layer * size.heads + head) % 7));
  });
  result.fields.push_back({"head_types/kind",
                           grid(size),
                           "1",
                           "what a head is called",
                           kinds,
                           {"other", "previous", "next", "one offset (Voita)", "duplicate", "induction", "sink"},
                           {}});
  double score = 0.91;
  for (const char* name : {"previous", "next", "positional_share", "duplicate", "induction", "sink_weight"})
    result.fields.push_back(make_field(std::string("head_types/") + name, grid(size), "1", name,
                                       std::vector<double>(kinds.size(), score -= 0.01)));
  result.fields.push_back(make_field("head_types/positional_offset", grid(size), "token", "offset",
                                     std::vector<double>(kinds.size(), -3.0)));
}

}  // namespace

void add_phases(Result& result, const Size& size) {
  add_spectra(result, size);
  add_delays(result, size);
  add_split(result, size);
  add_types(result, size);
}

}  // namespace headwave::sample
