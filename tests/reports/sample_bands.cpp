#include "sample_bands.h"

#include <cmath>

namespace headwave::sample {

void add_bands(Result& result, const Size& size) {
  const Axis layer = layer_axis(size.layers), head = head_axis(size.heads);
  const Axis band{"query_band", "token", "first query", std::vector<std::int64_t>{0, 16}};
  Axis bin{"offset_bin", "token", "offset", std::vector<double>()};
  std::vector<std::int64_t> first{-19, -9, -5}, last{-10, -6, -5};
  for (std::int64_t t = -4; t <= 4; ++t) {
    first.push_back(t);
    last.push_back(t);
  }
  first.insert(first.end(), {5, 6, 10});
  last.insert(last.end(), {5, 9, 19});
  for (std::size_t b = 0; b < first.size(); ++b)
    std::get<std::vector<double>>(bin.values).push_back(0.5 * static_cast<double>(first[b] + last[b]));
  std::vector<double> profile, shares, band_shares;
  for (Index row = 0; row < size.layers * size.heads; ++row) {
    const Index kind = row % size.heads;
    const bool far = kind == 1 || kind == 2;
    shares.push_back(far ? 0.3 : 0.01);
    for (Index b = 0; b < 2; ++b) {
      band_shares.push_back(far && b == 0 ? 0.6 : 0.01);
      for (std::size_t k = 0; k < first.size(); ++k) {
        const bool none = b == 0 ? k == 0 : k + 1 == first.size();  // no key is so far from these
        profile.push_back(none ? std::nan("") : far && b == 0 && k + 1 == first.size() ? 0.6 : 0.03);
      }
    }
  }
  const std::vector<Axis> heads{layer, head}, bands{layer, head, band};
  const auto add = [&](const char* quantity, const std::vector<Axis>& axes, auto values) {
    result.fields.push_back({std::string("offset_by_query/") + quantity, axes, "1", quantity, values, {}, {}});
  };
  add("profile", {layer, head, band, bin}, profile);
  result.fields.back().attributes["reach"] = std::int64_t{4};
  add("share_beyond", heads, shares);
  add("band_share", bands, band_shares);
  add("band_last", {band}, std::vector<std::int64_t>{15, 31});
  add("bin_first", {bin}, first);
  add("bin_last", {bin}, last);
}

}  // namespace headwave::sample
