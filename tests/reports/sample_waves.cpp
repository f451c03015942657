#include "sample_waves.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sample_axes.h"

namespace headwave::sample {

namespace {

constexpr Index components = 6, waves = 4, wave_reach = 40;

/// In cycles per token: the first ones are the strongest.
double frequency_of(Index component) {
  return 0.08 + 0.013 * static_cast<double>(component);
}

void add_components(Result& result) {
  constexpr Index count = 48;
  std::vector<double> cumulative;
  for (Index i = 1; i <= count; ++i)
    cumulative.push_back((1 - std::exp(-0.17 * static_cast<double>(i))) / (1 - std::exp(-0.17 * count)));
  result.fields.push_back(make_field("position_components/cumulative_share",
                                     {counting_axis("component", "1", "principal component", 1, count)}, "1",
                                     "share of variance", cumulative));
}

void add_correlations(Result& result, const Size& size) {
  constexpr Index most = 8;
  const std::vector<std::int64_t> truncations{4, 8};
  std::vector<double> found, mean, largest;
  for (Index layer = 0; layer < size.layers; ++layer)
    for (const auto r : truncations)
      for (Index c = 1; c <= most; ++c) {
        const double x = static_cast<double>(c), depth = static_cast<double>(layer);
        found.push_back(c > r ? not_defined : std::exp(-0.05 * x * (1 + depth)));
        mean.push_back(c > r ? not_defined : 0.2 - 0.02 * x);
        largest.push_back(c > r ? not_defined : 0.25 - 0.02 * x + 0.005 * depth);
      }
  const std::vector<Axis> axes{layer_axis(size.layers),
                               {"truncation", "1", "principal components kept", truncations},
                               counting_axis("component", "1", "canonical component", 1, most)};
  const auto add = [&](const char* name, const std::vector<double>& values) {
    result.fields.push_back(make_field(name, axes, "1", name, values));
  };
  add("position_correlation/correlation", found);
  add("position_correlation/chance_mean", mean);
  add("position_correlation/chance_largest", largest);
}

void add_wave_spectra(Result& result, const Size& size) {
  const Index last = size.length / 2;
  std::vector<double> frequencies;
  for (Index f = 0; f <= last; ++f) frequencies.push_back(static_cast<double>(f));
  const std::vector<Axis> axes{layer_axis(size.layers), {"frequency", "cycles/T", "frequency", frequencies}};
  for (const char* of : {"query", "key", "state"})
    for (const char* shuffled : {"", "_shuffled"}) {
      std::vector<double> values;
      for (Index layer = 0; layer < size.layers; ++layer)
        for (Index f = 0; f <= last; ++f) {
          const double place = (static_cast<double>(f) / static_cast<double>(size.length) - 0.1) / 0.03;
          const double peak = *shuffled != '\0' ? 0 : 400 * std::exp(-place * place) / static_cast<double>(1 + layer);
          values.push_back((of[0] == 's' ? 20 : 40) + (of[0] == 's' ? 0.3 : of[0] == 'k' ? 0.8 : 1) * peak);
        }
      const std::string name = std::string("wave_spectra/") + of + shuffled;
      result.fields.push_back(make_field(name, axes, "1", name, values));
    }
}

/// Heads planted without an offset have one wave less.
void add_courses(Result& result, const Size& size) {
  std::vector<double> query, key, column, gain, peak;
  for (Index l = 0; l < size.layers; ++l)
    for (Index h = 0; h < size.heads; ++h) {
      const double delay = std::isnan(planted_offset(l, h)) ? 9 : planted_offset(l, h);
      for (Index w = 0; w < waves; ++w) {
        const bool missing = std::isnan(planted_offset(l, h)) && w + 1 == waves;
        column.push_back(missing ? not_defined : static_cast<double>(w + 2));
        for (Index i = 0; i < size.length; ++i) {
          const double turn = 2 * std::numbers::pi * frequency_of(w + 1);
          const double x = static_cast<double>(i);
          query.push_back(missing ? not_defined : 2 * std::cos(turn * x));
          key.push_back(missing ? not_defined : 1.8 * std::cos(turn * (x - delay)));
        }
      }
      for (Index j = 0; j < components; ++j) {
        gain.push_back(3.25 / static_cast<double>(1 + j));
        const double f = std::round(frequency_of(j) * static_cast<double>(size.length));
        peak.insert(peak.end(), {f, f});
      }
    }
  const Axis wave = counting_axis("wave", "1", "the most periodic columns first", 1, waves);
  const Axis position = counting_axis("position", "token", "position", 0, size.length - 1);
  const Axis component = counting_axis("component", "1", "pair of directions", 1, components);
  const Axis side{"side", "1", "whose columns", std::vector<std::string>{"query", "key"}};
  const auto add = [&](const char* name, const std::vector<Axis>& more, const char* unit, std::vector<double>& values) {
    result.fields.push_back(make_field(name, with(grid(size), more), unit, name, std::move(values)));
  };
  add("redefined/query", {wave, position}, "1", query);
  add("redefined/key", {wave, position}, "1", key);
  add("redefined/component", {wave}, "1", column);
  add("qk_svd/gain", {component}, "1", gain);
  add("periodic_columns/peak_frequency", {component, side}, "cycles/T", peak);
}

void add_covariances(Result& result, const Size& size) {
  std::vector<double> weighted, correlation;
  for (Index l = 0; l < size.layers; ++l)
    for (Index h = 0; h < size.heads; ++h) {
      const double delay = std::isnan(planted_offset(l, h)) ? 9 : planted_offset(l, h);
      std::vector<double> sum(2 * wave_reach + 1, 0.0);
      for (Index j = 0; j < components; ++j)
        for (Index t = -wave_reach; t <= wave_reach; ++t) {
          const double turn = 2 * std::numbers::pi * frequency_of(j);
          const double wave = std::cos(turn * (static_cast<double>(t) - delay));
          correlation.push_back(wave * (1 - static_cast<double>(std::abs(t)) / 512));
          sum[static_cast<std::size_t>(t + wave_reach)] += 250 * wave;
        }
      weighted.insert(weighted.end(), sum.begin(), sum.end());
    }
  const Axis lag = offset_axis("offset", -wave_reach, wave_reach);
  const Axis component = counting_axis("component", "1", "pair of directions", 1, components);
  for (Field field : {make_field("cross_covariance/weighted_centred", with(grid(size), {lag}), "1",
                                 "weighted sum of scores without row means", weighted),
                      make_field("cross_covariance/correlation", with(grid(size), {component, lag}), "1",
                                 "cross-correlation of columns", correlation)}) {
    field.attributes["length"] = static_cast<std::int64_t>(size.length);
    result.fields.push_back(std::move(field));
  }
}

}  // namespace

void add_waves(Result& result, const Size& size) {
  add_components(result);
  add_correlations(result, size);
  add_wave_spectra(result, size);
  add_courses(result, size);
  add_covariances(result, size);
}

}  // namespace headwave::sample
