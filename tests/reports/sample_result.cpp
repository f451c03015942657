#include "sample_result.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "../../core/fields/head_name.h"
#include "../../reports/drawing/gnuplot.h"
#include "sample_account.h"
#include "sample_bands.h"
#include "sample_comparison.h"
#include "sample_phases.h"
#include "sample_waves.h"

namespace headwave::sample {

namespace {

struct Kind {
  const char* name;
  double offset;  // NaN: flat
  double height;
  double width;
};

const Kind& kind_of(Index layer, Index head) {
  static const std::vector<Kind> kinds{{"adjacent", -1, 0.41, 0.6}, {"adjacent", 1, 0.41, 0.6}, {"left", -3, 0.18, 1.5},
                                       {"right", 3, 0.18, 1.5},     {"broad", -6, 0.09, 3.5},   {"broad", 6, 0.09, 3.5},
                                       {"sink", NAN, 0, 1},         {"noise", NAN, 0, 1}};
  return kinds[static_cast<std::size_t>((head + 3 * layer) % 8)];
}

Axis whole_axis(const char* name, const char* unit, const char* long_name, Index first, Index last) {
  std::vector<std::int64_t> values;
  for (Index i = first; i <= last; ++i) values.push_back(i);
  return {name, unit, long_name, values};
}

Axis pairs_axis() {
  return {"pairs", "1", "which query-key pairs are counted", std::vector<std::string>{"all", "without_special"}};
}

/// One number per head; the second kind of pairs has `factor` times the first.
template <class Function>
Field per_head(const char* name, const char* unit, const Size& size, double factor, Function value) {
  std::vector<double> values;
  for (int pairs = 0; pairs < 2; ++pairs)
    for (Index l = 0; l < size.layers; ++l)
      for (Index h = 0; h < size.heads; ++h) values.push_back(value(l, h) * (pairs == 0 ? 1.0 : factor));
  return make_field(name, {pairs_axis(), layer_axis(size.layers), head_axis(size.heads)}, unit, name, values);
}

void add_offsets(Result& result, const Size& size) {
  const Axis offset = offset_axis("offset", -(size.length - 1), size.length - 1);
  std::vector<double> weights;
  for (int pairs = 0; pairs < 2; ++pairs)
    for (Index l = 0; l < size.layers; ++l)
      for (Index h = 0; h < size.heads; ++h)
        for (Index t = -(size.length - 1); t < size.length; ++t)
          weights.push_back(weight_at(l, h, static_cast<double>(t)) * (pairs == 0 ? 1.0 : 0.5));
  result.fields.push_back(make_field("offset_trace/mean_weight",
                                     {pairs_axis(), layer_axis(size.layers), head_axis(size.heads), offset}, "1",
                                     "mean attention weight at an offset", weights));
  std::vector<std::uint8_t> status;
  for (int pairs = 0; pairs < 2; ++pairs)
    for (Index l = 0; l < size.layers; ++l)
      for (Index h = 0; h < size.heads; ++h)
        status.push_back(!std::isnan(planted_offset(l, h)) ? 0 : std::string(kind_of(l, h).name) == "sink" ? 2 : 1);
  // compare.
  result.fields.push_back(per_head("measured_offset/offset", "token", size, 1.0, planted_offset));
  result.fields.push_back(per_head("measured_offset/weight", "1", size, 0.5, [](Index l, Index h) {
    const double t = planted_offset(l, h);
    return weight_at(l, h, std::isnan(t) ? 0.0 : t);
  }));
  result.fields.push_back(per_head("measured_offset/threshold", "1", size, 0.5, [](Index, Index) { return 0.0125; }));
  result.fields.push_back(per_head("measured_offset/chance", "1", size, 0.5, [](Index, Index) { return 0.01; }));
  result.fields.push_back({"measured_offset/status",
                           {pairs_axis(), layer_axis(size.layers), head_axis(size.heads)},
                           "1",
                           "whether the head singles out an offset",
                           status,
                           {"offset", "own token", "flat"},
                           {}});
}

void add_distances(Result& result, const Size& size) {
  const std::vector<Axis> heads{layer_axis(size.layers), head_axis(size.heads)};
  const Axis distance{"distance", "token", "least distance of a bin", std::vector<std::int64_t>{0, 1, 2, 4, 100}};
  std::vector<double> held, windows, errors;
  for (Index l = 0; l < size.layers; ++l)
    for (Index h = 0; h < size.heads; ++h) {
      for (const double share : {0.1, 0.3, 0.5, 0.9, 1.0}) held.push_back(share);
      windows.push_back(h % 3 == 2 ? std::nan("") : 200 + static_cast<double>(l));
      errors.push_back(h % 2 == 0 ? std::nan("") : 12);
    }
  result.fields.push_back(make_field("attention_distance/last_distance", {distance}, "token", "largest distance",
                                     std::vector<double>{0, 1, 3, 99, 511}));
  result.fields.push_back(
      make_field("attention_distance/held", {heads[0], heads[1], distance}, "1", "share of attention", held));
  const std::vector<Axis> slashes{heads[0], heads[1], counting_axis("slash", "1", "rank by mean weight", 0, 1)};
  std::vector<double> distances, weights, spreads;
  for (Index head = 0; head < size.layers * size.heads; ++head) {
    distances.insert(distances.end(), {1.0, static_cast<double>(100 + head)});
    weights.insert(weights.end(), {0.25, 0.01});
    spreads.insert(spreads.end(), {0.002, std::nan("")});
  }
  result.fields.push_back(make_field("attention_distance/slash_distance", slashes, "token", "distance", distances));
  result.fields.push_back(make_field("attention_distance/slash_weight", slashes, "1", "mean weight", weights));
  result.fields.push_back(make_field("attention_distance/slash_error", slashes, "1", "its error", spreads));
  result.fields.push_back(make_field("attention_distance/window_95", heads, "token", "window", windows));
  result.fields.push_back(make_field("attention_distance/window_95_error", heads, "token", "its error", errors));
}

void add_planted(Result& result, const Size& size) {
  std::vector<double> offsets;
  std::vector<std::string> kinds;
  for (Index l = 0; l < size.layers; ++l)
    for (Index h = 0; h < size.heads; ++h) {
      offsets.push_back(planted_offset(l, h));
      kinds.emplace_back(kind_of(l, h).name);
    }
  const std::vector<Axis> axes{layer_axis(size.layers), head_axis(size.heads)};
  result.fields.push_back(make_field("planted/offset", axes, "token", "offset planted into the head", offsets));
  result.fields.push_back({"planted/kind", axes, "1", "what was planted into the head", kinds, {}, {}});
}

void add_atlas(Result& result, const Size& size) {
  const std::vector<Axis> heads{whole_axis("layer", "1", "layer", 0, size.layers - 1),
                                whole_axis("head", "1", "head", 0, size.heads - 1)};
  std::vector<double> offsets, shares, kernel;
  constexpr Index reach = 20;
  for (Index layer = 0; layer < size.layers; ++layer)
    for (Index head = 0; head < size.heads; ++head) {
      offsets.push_back(head % 3 == 2 ? std::nan("") : static_cast<double>(head - layer));
      shares.push_back(0.9 - 0.1 * static_cast<double>(head % 4));
      for (Index t = -reach; t <= reach; ++t)
        kernel.push_back(std::cos(0.3 * static_cast<double>(t - head + layer)) - 0.2);
    }
  result.fields.push_back(make_field("position_atlas/predicted_offset", heads, "token", "predicted offset", offsets));
  result.fields.push_back(make_field("position_atlas/toeplitz_r2", heads, "1", "Toeplitz share", shares));
  result.fields.push_back(make_field("position_atlas/predicted_weight", heads, "1", "softmax of the kernel", shares));
  result.fields.push_back(make_field("position_atlas/kernel",
                                     {heads[0], heads[1], whole_axis("offset", "token", "offset", -reach, reach)}, "1",
                                     "mean score", kernel));
  for (double& score : kernel) score = std::exp(4 * score) / 100;
  result.fields.push_back(make_field("word_atlas/predicted_offset", heads, "token", "predicted offset", offsets));
  result.fields.push_back(make_field("word_atlas/profile",
                                     {heads[0], heads[1], whole_axis("offset", "token", "offset", -reach, reach)}, "1",
                                     "predicted weight", kernel));
}

void add_maps(Result& result, const Size& size) {
  std::vector<std::string> tokens;
  for (Index i = 0; i < size.tokens; ++i)
    tokens.push_back(awkward_tokens()[static_cast<std::size_t>(i) % awkward_tokens().size()]);
  const std::vector<HeadName> heads{{0, 0}, {0, 2}, {1, 1}, {1, 3}, {2, 7}};
  std::vector<std::string> names;
  std::vector<double> weights;
  for (const HeadName& head : heads) {
    names.push_back(head_name(head.layer, head.head));
    for (Index i = 0; i < size.tokens; ++i) {
      double sum = 0;
      for (Index j = 0; j < size.tokens; ++j) sum += weight_at(head.layer, head.head, static_cast<double>(j - i));
      for (Index j = 0; j < size.tokens; ++j)
        weights.push_back(weight_at(head.layer, head.head, static_cast<double>(j - i)) / sum);
    }
  }
  const Axis query = whole_axis("query", "token", "query position", 0, size.tokens - 1);
  const Axis key = whole_axis("key", "token", "key position", 0, size.tokens - 1);
  result.fields.push_back(make_field("attention_map/weight", {{"map_head", "1", "head", names}, query, key}, "1",
                                     "attention weight of a query token on a key token", weights));
  result.fields.back().attributes["document"] = "wiki.txt, document 3";
  result.fields.push_back({"attention_map/token", {query}, "1", "text of the query", tokens, {}, {}});
  result.fields.push_back({"attention_map/key_token", {key}, "1", "text of the key", tokens, {}, {}});
  std::vector<std::uint8_t> special(tokens.size(), 0);
  special.front() = 1;
  const std::vector<std::string> meanings{"ordinary", "special"};
  result.fields.push_back({"attention_map/special", {query}, "1", "whether it is special", special, meanings, {}});
  result.fields.push_back({"attention_map/key_special", {key}, "1", "whether it is special", special, meanings, {}});
}

void add_clusters(Result& result, const Size& size) {
  const Axis cluster = whole_axis("cluster", "1", "cluster", 0, size.clusters - 1);
  std::vector<double> centroids;
  std::vector<double> mass(static_cast<std::size_t>(size.clusters), 0.0);
  for (Index c = 0; c < size.clusters; ++c)
    for (Index t = -10; t <= 10; ++t)
      centroids.push_back(static_cast<double>(size.length) * (c < 6 ? weight_at(0, c, static_cast<double>(t)) : 0.02));
  std::vector<double> shares;
  for (Index l = 0; l < size.layers; ++l)
    for (Index h = 0; h < size.heads; ++h)
      for (Index c = 0; c < size.clusters; ++c) {
        const Index own = ((h + 3 * l) % 8) % size.clusters;
        const double share = h % 3 == 1 ? (c == own                         ? 0.75
                                           : c == (own + 1) % size.clusters ? 0.25
                                                                            : 0.0)
                                        : (c == own ? 1.0 : 0.0);
        shares.push_back(share);
        mass[static_cast<std::size_t>(c)] += share / static_cast<double>(size.layers * size.heads);
      }
  const Axis window = offset_axis("offset", -10, 10);
  result.fields.push_back(
      make_field("head_cluster/centroid", {cluster, window}, "1", "centroid of the offset traces", centroids));
  result.fields.push_back(make_field("head_cluster/mass", {cluster}, "1", "share of all traces", mass));
  result.fields.push_back(make_field("head_cluster/share", {layer_axis(size.layers), head_axis(size.heads), cluster},
                                     "1", "share of the texts that put the head into the cluster", shares));
  std::vector<double> inertia, silhouette, stability;
  for (int k = 2; k <= 10; ++k) {
    inertia.push_back(4.1e6 / (k * k * 0.5) + 6e4);
    silhouette.push_back(0.9 - 0.05 * std::abs(k - 6));
    stability.push_back(k <= 6 ? 0.99 : 0.99 - 0.08 * (k - 6));
  }
  const Axis clusters = whole_axis("clusters", "1", "number of clusters", 2, 10);
  result.fields.push_back(make_field("head_cluster/sweep_inertia", {clusters}, "1", "inertia", inertia));
  result.fields.push_back(make_field("head_cluster/sweep_silhouette", {clusters}, "1", "silhouette", silhouette));
  result.fields.push_back(
      make_field("head_cluster/sweep_stability", {clusters}, "1", "adjusted Rand index", stability));
}

void add_spectrum(Result& result, const Size& size) {
  std::vector<double> frequency, mean, lower, upper, words, words_lower, words_upper;
  for (Index f = 0; f <= size.length / 2; ++f) {
    const auto x = static_cast<double>(f);
    const double waves = 0.05 + 4.2 * std::exp(-std::pow((x - 50) / 14, 2)) + 9.0 / (1 + x);
    const double ripple = 1 + 0.12 * std::sin(1.7 * x) + 0.08 * std::sin(0.43 * x);
    frequency.push_back(x);
    mean.push_back(waves * ripple);
    lower.push_back(0.45 * waves * ripple);
    upper.push_back(1.6 * waves * ripple);
    words.push_back(0.9 + 0.05 * std::sin(2.9 * x));
    words_lower.push_back(0.6 + 0.05 * std::sin(3.1 * x));
    words_upper.push_back(1.2 + 0.05 * std::sin(2.3 * x));
  }
  const Axis axis{"frequency", "cycles/T", "frequency", frequency};
  const auto add = [&](const char* name, const std::vector<double>& values) {
    result.fields.push_back(make_field(name, {axis}, "1", name, values));
  };
  add("position_spectrum/mean", mean);
  add("position_spectrum/lower_quartile", lower);
  add("position_spectrum/upper_quartile", upper);
  add("position_spectrum/word_mean", words);
  add("position_spectrum/word_lower_quartile", words_lower);
  add("position_spectrum/word_upper_quartile", words_upper);
}

}  // namespace

std::vector<std::string> awkward_tokens() {
  return {"[CLS]",  "]]><b>&\"",          "日本",           "a'b", "back\\slash", "%s %d",      "{/Symbol a}",     "$x",
          "`date`", std::string(40, 'w'), " leading space", "😀",   "\n",          "\t\x1b[31m", "\"quoted\" # @x~"};
}

double planted_offset(Index layer, Index head) {
  return kind_of(layer, head).offset;
}

double weight_at(Index layer, Index head, double offset) {
  const Kind& kind = kind_of(layer, head);
  if (std::isnan(kind.offset)) return 0.002 * (1 + 0.1 * std::sin(offset * (kind.name[0] == 's' ? 1.3 : 2.1)));
  const double away = (offset - kind.offset) / kind.width;
  return 0.001 + kind.height * std::exp(-0.5 * away * away);
}

namespace {}  // namespace

Result result(const Size& size) {
  Result result;
  result.title = "planted bank <4 x 8> & \"friends\"";
  result.provenance = {{"checkpoint", std::string("planted model, seed 1")},
                       {"input", std::string("texts/<script>alert('x')</script>\n.txt")},
                       {"seed", std::int64_t{1}},
                       {"level", 0.01},
                       {"frequencies", std::vector<double>{37.3, 41.6, 46.2}}};
  add_offsets(result, size);
  add_distances(result, size);
  add_atlas(result, size);
  add_maps(result, size);
  add_clusters(result, size);
  add_spectrum(result, size);
  add_waves(result, size);
  add_phases(result, size);
  add_account(result, size);
  add_bands(result, size);
  add_planted(result, size);
  add_comparison(result, size);
  return result;
}

bool can_draw() {
  static const bool found = gnuplot_found();
  if (!found) std::printf("skipped: needs gnuplot\n");
  return found;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace headwave::sample
