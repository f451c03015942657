#include "sample_account.h"

#include <array>
#include <cmath>
#include <complex>
#include <string>
#include <utility>

#include "../../core/fields/head_name.h"

namespace headwave::sample {

namespace {

constexpr Index reach = 20, pairs = 6;

std::vector<Axis> before(std::vector<Axis> axes, const std::vector<Axis>& more) {
  axes.insert(axes.end(), more.begin(), more.end());
  return axes;
}

void add_profiles(Result& result, const Size& size) {
  const std::vector<Axis> heads{layer_axis(size.layers), head_axis(size.heads)};
  const Axis term{"term", "1", "term", std::vector<std::string>{"position", "own token", "context"}};
  const Axis offset = offset_axis("offset", -reach, reach);
  std::vector<double> measured, dealt, parts, strengths, offsets;
  std::vector<std::uint8_t> verdicts;
  for (int curve = 0; curve < 4; ++curve)
    for (Index row = 0; row < size.layers * size.heads; ++row) {
      const double planted = planted_offset(row / size.heads, row % size.heads);
      for (Index t = -reach; t <= reach; ++t) {
        const double away = std::isnan(planted) ? 0.0 : static_cast<double>(t) - planted;
        (curve == 0 ? measured : dealt).push_back((1 + 0.05 * curve) * 0.4 * std::exp(-0.2 * std::abs(away)));
      }
      if (curve > 0) parts.push_back(curve == 1 ? 0.6 : curve == 2 ? 0.25 : 0.15);
      if (curve > 0) continue;
      strengths.push_back(0.5);
      offsets.push_back(planted);
      verdicts.push_back(static_cast<std::uint8_t>(row % 5));
    }
  result.fields.push_back(
      make_field("head_account/measured_profile", before(heads, {offset}), "1", "measured", measured));
  result.fields.push_back(make_field("head_account/uniform_profile", before(heads, {offset}), "1", "uniform",
                                     std::vector<double>(measured.size(), 0.02)));
  result.fields.push_back(
      make_field("head_account/dealt_profile", before({term}, before(heads, {offset})), "1", "dealt", dealt));
  Axis cause = term;
  cause.name = "cause";
  result.fields.push_back(make_field("head_account/part", before({cause}, heads), "1", "part", parts));
  result.fields.push_back(make_field("head_account/strength", heads, "1", "strength", strengths));
  result.fields.push_back(make_field("head_account/measured_offset", heads, "token", "offset", offsets));
  result.fields.push_back(make_field("head_account/position_strength", heads, "1", "by position", strengths));
  result.fields.push_back(
      make_field("head_account/null_strength", heads, "1", "by chance", std::vector<double>(strengths.size(), 0.02)));
  const Axis match{"match", "1", "match", std::vector<std::string>{"position", "own token", "context", "replicated"}};
  result.fields.push_back(make_field("head_account/overlap", before({match}, heads), "1", "overlap",
                                     std::vector<double>(4 * strengths.size(), 0.9)));
  result.fields.push_back({"head_account/verdict",
                           heads,
                           "1",
                           "why a head looks where it looks",
                           verdicts,
                           {"positional", "own token", "context", "mixed", "no preference"},
                           {}});
}

/// Heads have position, word, match and sink as their largest part by turns; the planted offset is the only place.
void add_bits(Result& result, const Size& size) {
  const std::vector<Axis> heads{layer_axis(size.layers), head_axis(size.heads)};
  const Axis part{"bits_part", "1", "part", std::vector<std::string>{"sink", "position", "word", "match"}};
  const Axis hypothesis{"hypothesis", "1", "hypothesis",
                        std::vector<std::string>{"the word itself", "same word", "induction", "same word before"}};
  const Axis place{"place", "1", "place", std::vector<std::int64_t>{1, 2, 3}};
  const auto rows = static_cast<std::size_t>(size.layers * size.heads);
  std::vector<double> bits(rows), parts(4 * rows), gains(4 * rows, 0.0), follow(rows), moved_along(rows),
      kept(rows, 0.5), places(3 * rows, not_defined), trials(rows, 100.0);
  constexpr std::array<std::size_t, 4> order{1, 2, 3, 0};
  constexpr std::array shares{0.6, 0.25, 0.1, 0.05};
  for (std::size_t row = 0; row < rows; ++row) {
    bits[row] = 4.0 - 0.1 * static_cast<double>(row % 30);
    const std::size_t turn = row % 4;
    for (std::size_t p = 0; p < 4; ++p) parts[order[(turn + p) % 4] * rows + row] = shares[p] * bits[row];
    follow[row] = turn == 0 ? 0.1 : 0.9;
    moved_along[row] = turn == 0 ? 0.8 : 0.1;
    gains[rows + row] = 0.8 * parts[3 * rows + row];
    places[row] = planted_offset(static_cast<Index>(row) / size.heads, static_cast<Index>(row) % size.heads);
  }
  const auto add = [&](const std::string& name, std::vector<Axis> axes, const char* unit,
                       const std::vector<double>& all) {
    result.fields.push_back(make_field("attention_bits/" + name, std::move(axes), unit, name, all));
  };
  for (const char* end : {"", "_lower", "_upper"}) {
    const double change = *end == '\0' ? 0 : end[1] == 'l' ? -0.05 : 0.05;
    const auto shifted = [&](std::vector<double> all) {
      for (double& one : all) one += change;
      return all;
    };
    add(std::string("bits") + end, heads, "bit", shifted(bits));
    add(std::string("part") + end, before({part}, heads), "bit", shifted(parts));
    add(std::string("gain") + end, before({hypothesis}, heads), "bit", shifted(gains));
    add(std::string("follow") + end, heads, "1", shifted(follow));
    add(std::string("kept") + end, heads, "1", shifted(kept));
    result.fields.push_back(
        make_field(std::string("account_evidence/moved") + end, heads, "1", "moved", shifted(moved_along)));
  }
  for (const char* name : {"place_offset", "place_first", "place_last"})
    add(name, before({place}, heads), "token", places);
  add("band_weight", before({Axis{"query_band", "1", "band", std::vector<std::int64_t>{1, 2, 3, 4}}}, heads), "1",
      std::vector<double>(4 * rows, 0.4));
  result.fields.push_back(
      {"attention_bits/band_differs", heads, "1", "differs", std::vector<std::uint8_t>(rows, 0), {"no", "yes"}, {}});
  add("trials", heads, "1", trials);
  const Axis word{"word_rank", "1", "rank", std::vector<std::int64_t>{1, 2}};
  std::vector<std::string> names;
  for (std::size_t row = 0; row < rows; ++row) names.insert(names.end(), {"curse", "bill"});
  Field words = make_field("attention_words/word", before(heads, {word}), "1", "words", std::vector<double>(2 * rows));
  words.values = names;
  result.fields.push_back(words);
  Axis pair = word;
  pair.name = "matched_pair";
  for (const char* name : {"matched_content/pair_query", "matched_content/pair_key"}) {
    words.name = name;
    words.axes.back() = pair;
    result.fields.push_back(words);
  }
  result.fields.push_back(make_field("matched_content/pair_share", before(heads, {pair}), "1", "excess",
                                     std::vector<double>(2 * rows, 0.2)));
  const Axis tilt{"match_tilt", "1", "tilt", std::vector<std::string>{"1 direction", "place"}};
  for (const char* name : {"matched_content/gain", "matched_content/gain_lower"})
    result.fields.push_back(
        make_field(name, before({tilt}, heads), "bit", "gain", std::vector<double>(2 * rows, 0.01)));
  add("sink_mass", heads, "1", kept);
  result.fields.back().attributes["keys"] = std::string("special tokens");
}

/// What was taken out of keys, of the first head of every layer.
void add_removed(Result& result, const Size& size) {
  const std::vector<Axis> heads{layer_axis(size.layers), head_axis(size.heads)};
  std::vector<std::string> sources;
  std::vector<double> weights, without;
  for (Index row = 0; row < size.layers * size.heads; ++row) {
    const bool asked = row % size.heads == 0;
    sources.emplace_back(asked ? "positions" : "");
    weights.push_back(asked ? 0.4 : not_defined);
    without.push_back(asked ? 0.01 : not_defined);
  }
  Field removed = make_field("account_evidence/removed_source", heads, "1", "source", weights);
  removed.values = sources;
  result.fields.push_back(std::move(removed));
  result.fields.push_back(make_field("account_evidence/weight", heads, "1", "weight", weights));
  result.fields.push_back(make_field("account_evidence/weight_without", heads, "1", "weight", without));
  for (const char* name : {"account_evidence/weight_placebo", "account_evidence/weight_placebo_lowest"})
    result.fields.push_back(make_field(name, heads, "1", "weight", weights));
}

/// Every head raises the loss a little, and copies.
void add_effects(Result& result, const Size& size) {
  const std::vector<Axis> heads{layer_axis(size.layers), head_axis(size.heads)};
  const auto rows = static_cast<std::size_t>(size.layers * size.heads);
  for (const char* name : {"loss", "loss_lower", "loss_upper", "loss_placebo", "state", "state_placebo", "q_value"})
    result.fields.push_back(
        make_field(std::string("head_effect/") + name, heads, "1", "effect", std::vector<double>(rows, 0.02)));
  for (const char* name : {"copying", "copying_q_value"})
    result.fields.push_back(
        make_field(std::string("head_writes/") + name, heads, "1", "copying", std::vector<double>(rows, 0.01)));
  const Axis rank{"written_rank", "1", "rank", std::vector<std::int64_t>{0, 1}};
  result.fields.push_back(
      make_field("head_writes/raised", before(heads, {rank}), "1", "words", std::vector<double>(2 * rows)));
  result.fields.back().values = std::vector<std::string>(2 * rows, "bill");
  result.fields.push_back(make_field("head_writes/raised_logit", before(heads, {rank}), "1", "change of the logit",
                                     std::vector<double>(2 * rows, 0.3)));
}

/// Positions give most, earlier layers the rest, the last feed-forward works against them.
void add_sources(Result& result, const Size& size) {
  const std::vector<Axis> heads{layer_axis(size.layers), head_axis(size.heads)};
  std::vector<std::string> names{"words", "positions", "constants"};
  for (Index layer = 0; layer + 1 < size.layers; ++layer)
    for (const char* part : {"attention", "feed-forward"})
      names.push_back(part + std::string(" ") + std::to_string(layer));
  const Axis source{"source", "1", "source", names};
  std::vector<double> shares, spread;
  for (Index row = 0; row < size.layers * size.heads; ++row) {
    spread.push_back(1 + 0.1 * static_cast<double>(row % size.heads));
    const Index before = row / size.heads;
    for (std::size_t s = 0; s < names.size(); ++s) {
      const auto layer = static_cast<Index>((s - 3) / 2);
      const bool read = s >= 3 && layer < before;
      shares.push_back(s == 1 ? 1 - 0.1 * static_cast<double>(before) : !read ? 0 : s % 2 == 1 ? 0.2 : -0.1);
    }
  }
  for (const char* name : {"score_sources/position_query", "score_sources/position_key"})
    result.fields.push_back(make_field(name, before(heads, {source}), "1", "share", shares));
  result.fields.push_back(make_field("score_sources/kernel_sd", heads, "1", "spread", spread));
}

void add_rotary(Result& result, const Size& size) {
  const std::vector<Axis> heads{layer_axis(size.layers), head_axis(size.heads)};
  const Axis pair = counting_axis("pair", "1", "pair", 0, pairs - 1);
  std::vector<double> frequencies, real, imaginary, use, estimates;
  for (Index m = 0; m < pairs; ++m) frequencies.push_back(std::pow(10.0, -0.5 * static_cast<double>(m)));
  for (Index row = 0; row < size.layers * size.heads; ++row) {
    const double planted = planted_offset(row / size.heads, row % size.heads);
    estimates.push_back(planted);
    for (Index m = 0; m < pairs; ++m) {
      const double phase = std::isnan(planted) ? 1.0 : -frequencies[static_cast<std::size_t>(m)] * planted;
      const std::complex<double> c = std::polar(1.0 + static_cast<double>(m), phase);
      real.push_back(c.real());
      imaginary.push_back(c.imag());
      use.push_back(static_cast<double>(1 + m + row % 3));
    }
  }
  result.fields.push_back(make_field("rotary_wave/frequency", {pair}, "radian/token", "frequency", frequencies));
  result.fields.push_back(make_field("rotary_wave/estimate", heads, "token", "estimate", estimates));
  result.fields.push_back(make_field("rotary_wave/coefficient_real", before(heads, {pair}), "1", "real", real));
  result.fields.push_back(
      make_field("rotary_wave/coefficient_imaginary", before(heads, {pair}), "1", "imaginary", imaginary));
  std::vector<double> layer_use;
  for (Index layer = 0; layer < size.layers; ++layer)
    for (Index m = 0; m < pairs; ++m)
      layer_use.push_back(static_cast<double>(1 + m + layer % 3) / static_cast<double>(pairs * (pairs + 1)));
  result.fields.push_back(make_field("rotary_wave/use", before(heads, {pair}), "1", "use", use));
  result.fields.push_back(make_field("rotary_wave/layer_use", {heads.front(), pair}, "1", "use", layer_use));
}

}  // namespace

void add_account(Result& result, const Size& size) {
  add_profiles(result, size);
  add_removed(result, size);
  add_sources(result, size);
  add_rotary(result, size);
  if (size.bits) add_bits(result, size);
  if (size.effects) add_effects(result, size);
}

Result rotary_result(const Size& size) {
  Result whole = result(size);
  const std::vector<Axis> heads{layer_axis(size.layers), head_axis(size.heads)};
  const std::vector<double> estimates = std::get<std::vector<double>>(whole.at("rotary_wave/estimate").values);
  std::vector<double> lower, upper;
  std::vector<std::uint8_t> status;
  for (const double estimate : estimates) {
    lower.push_back(estimate - 0.25);
    upper.push_back(estimate + 0.5);
    status.push_back(std::isnan(estimate) ? 1 : 0);
  }
  whole.fields.push_back(make_field("rotary_wave/predicted_offset", heads, "token", "offset", estimates));
  whole.fields.push_back(make_field("rotary_wave/lower", heads, "token", "lower", lower));
  whole.fields.push_back(make_field("rotary_wave/upper", heads, "token", "upper", upper));
  whole.fields.push_back({"rotary_wave/status", heads, "1", "status", status, {"offset", "chance"}, {}});
  return whole;
}

}  // namespace headwave::sample
