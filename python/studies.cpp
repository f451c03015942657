#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "../analysis/positions/position_spectrum.h"
#include "../analysis/waves/delay.h"
#include "../core/errors/error.h"
#include "../core/fields/fields.h"
#include "../job/run/provenance.h"
#include "../job/studies/comparison.h"
#include "../job/studies/model_atlas.h"
#include "options.h"
#include "waiting.h"

namespace headwave::python {

namespace {

namespace fs = std::filesystem;

using Doubles = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

MatrixView view_of(const Doubles& array, std::size_t first, Index rows, Index cols) {
  return {array.data() + first, rows, cols};
}

/// The cross-spectra C(f) of delays(), one for each head.
/// @param query, key  (heads, T, d_head)
/// @returns (floor(T/2) + 1, heads)
MatrixC cross_spectra(const Doubles& query, const Doubles& key) {
  const auto heads = static_cast<Index>(query.shape(0)), length = static_cast<Index>(query.shape(1)),
             width = static_cast<Index>(query.shape(2));
  MatrixC cross(length / 2 + 1, heads);
  for (Index head = 0; head < heads; ++head) {
    const auto first = static_cast<std::size_t>(head * length * width);
    const MatrixC q = real_dft(view_of(query, first, length, width)), k = real_dft(view_of(key, first, length, width));
    cross.col(head) = (q.conjugate().array() * k.array()).rowwise().sum();
  }
  return cross;
}

/// delays() of every head as a result with Fields delay/...
Result delay(const Doubles& query, const Doubles& key, Index reach) {
  const std::vector<Delay> found = waited_for(
      [&] { return delays(cross_spectra(query, key), static_cast<Index>(query.shape(1)), {.reach = reach}); });
  std::vector<double> offset, coherence, runner_up, share;
  std::vector<std::uint8_t> at_edge;
  for (const Delay& head : found) {
    offset.push_back(head.offset);
    coherence.push_back(head.coherence);
    runner_up.push_back(head.runner_up);
    share.push_back(head.runner_up_share);
    at_edge.push_back(head.at_edge ? 1 : 0);
  }
  const Axis head = head_axis(static_cast<Index>(found.size()));
  Fields fields("delay");
  fields.add("offset", {head}, "token", "delay that all frequencies agree on best, key minus query", offset)
      .undefined("the cross-spectrum holds nothing but rounding errors");
  fields.add("coherence", {head}, "1", "share of the cross-spectrum's modulus that adds up at this delay", coherence);
  fields.add("runner_up", {head}, "token", "offset of the second highest peak within the search", runner_up)
      .undefined("there is no second peak");
  fields.add("runner_up_share", {head}, "1", "height of the second highest peak divided by that of the highest", share);
  fields.flags("at_edge", {head}, "whether the highest value lies at the end of the search", at_edge,
               {"inside", "at the end: no estimate"});
  fields.note_all("length", static_cast<Index>(query.shape(1)));
  fields.note_all("reach", reach);
  return {"headwave: delays between queries and keys", fields.taken(), {}};
}

Result spectrum(const Doubles& positions, const std::optional<Doubles>& words, bool demean, bool detrend, bool hann) {
  PositionSpectrumOptions options;
  options.spectrum = {demean, detrend, hann ? Window::hann : Window::rectangular};
  const auto rows = [](const Doubles& array) {
    return view_of(array, 0, static_cast<Index>(array.shape(0)), static_cast<Index>(array.shape(1)));
  };
  return waited_for([&]() -> Result {
    return {"headwave: the spectrum of positions",
            describe(position_spectrum(rows(positions), words ? rows(*words) : MatrixView(), options)),
            {}};
  });
}

std::vector<std::pair<std::string, Result>> atlas(const ModelPlace& model, Index length, Index rows, Index reach,
                                                  Index draws, double level, Index passes, std::uint64_t seed,
                                                  int threads, const std::string& command, const nb::object& progress) {
  ModelAtlasOptions options;
  options.atlas.length = length;
  options.rows = rows;
  options.atlas.reach = reach;
  options.atlas.draws = draws;
  options.atlas.level = level;
  options.atlas.seed = seed;
  options.atlas.threads = threads;
  options.words.documents = passes;
  auto [found, by] =
      made(command, progress, [&](const ProgressCallback& told) { return model_atlas(model, options, told); });
  return named_results(std::move(found), by);
}

Result compare(const Result& first, const Result& second, const std::pair<std::string, std::string>& names,
               double level, Index draws, Index block, std::uint64_t seed, int threads) {
  ComparisonOptions options;
  options.level = level;
  options.draws = draws;
  options.block = block;
  options.seed = seed;
  options.threads = threads;
  return waited_for([&] { return comparison(first, second, {names.first, names.second}, options); });
}

}  // namespace

void add_studies(nb::module_& module) {
  module.def("delay", &delay, nb::arg("query"), nb::arg("key"), nb::arg("reach"),
             "The delay of every head between queries and keys, (heads, T, d_head).");
  module.def("spectrum", &spectrum, nb::arg("positions"), nb::arg("words").none(), nb::arg("demean"),
             nb::arg("detrend"), nb::arg("hann"), "The spectrum of a position table, (T, d_model).");
  module.def("atlas", &atlas, nb::arg("model"), nb::arg("length"), nb::arg("rows"), nb::arg("reach"), nb::arg("draws"),
             nb::arg("level"), nb::arg("passes"), nb::arg("seed"), nb::arg("threads"), nb::arg("command"),
             nb::arg("progress").none(), "Predicts where every head looks from the checkpoint alone.");
  module.def("compare", &compare, nb::arg("first"), nb::arg("second"), nb::arg("names"), nb::arg("level"),
             nb::arg("draws"), nb::arg("block"), nb::arg("seed"), nb::arg("threads"),
             "Compares two results head by head.");
}

}  // namespace headwave::python
