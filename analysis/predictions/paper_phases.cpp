#include "paper_phases.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "../../core/model/head_weights.h"
#include "../../core/model/layer_positions.h"
#include "../../core/numbers/threads.h"
#include "../waves/phase_rotation.h"
#include "../waves/phase_spectrum.h"

namespace headwave {

namespace {

/// g of one completion: (1, (floor(T/2) + 1) * bins).
Matrix spectrum_of(const QkSvd& svd, const MatrixC& positions, Index length, Index bins, std::uint64_t seed) {
  const PaperRotation paper = paper_rotation(svd, seed);
  const Matrix amplitude = direction_spectra(positions * paper.query.cast<std::complex<double>>(), paper.rotation);
  PhaseSpectra one = phase_spectra({{0}, 1}, length, bins);
  add_head(one, 0, paper.rotation, amplitude, amplitude);
  return one.query;
}

double spread_of(const Matrix& spectra) {
  double sum = 0, pairs = 0;
  for (Index a = 0; a < spectra.rows(); ++a)
    for (Index b = 0; b < a; ++b) {
      sum += 0.5 * (spectra.row(a) / spectra.row(a).sum() - spectra.row(b) / spectra.row(b).sum()).cwiseAbs().sum();
      pairs += 1;
    }
  return sum / pairs;
}

}  // namespace

PaperPhases paper_phases(const Stack& stack, const std::vector<HeadName>& heads, const PaperPhasesOptions& options) {
  if (options.completions < 2)
    throw ShapeError(fmt::format("paper_phases: {} completions; two or more can be compared", options.completions));
  PaperPhases result;
  result.heads = heads;
  result.options = options;
  const Index positions = stack.embedding.positions.rows();
  if (positions == 0) {
    result.undefined = "no position table";
    return result;
  }
  result.length = options.length > 0 ? options.length : positions;
  if (result.length > positions)
    throw ShapeError(fmt::format("paper_phases: a length of {} was asked for, the model has {} positions",
                                 result.length, positions));
  result.spectrum.resize(static_cast<Index>(heads.size()) * options.completions,
                         (result.length / 2 + 1) * options.bins);
  result.spread.resize(static_cast<Index>(heads.size()));
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const HeadName& name = heads[h];
    if (name.layer < 0 || name.layer >= stack.layers())
      throw ShapeError(fmt::format("paper_phases: there is no {}", head_name(name.layer, name.head)));
    const MatrixC seen = real_dft(Matrix(layer_positions(stack, name.layer).topRows(result.length)));
    const HeadWeights weights =
        head_weights(stack.blocks[static_cast<std::size_t>(name.layer)].self, stack.block, name.head);
    const QkSvd svd = qk_svd(weights.query, weights.key);
    const Index first = static_cast<Index>(h) * options.completions;
    parallel_for(options.completions, options.threads, [&](Index completion) {
      result.spectrum.row(first + completion) =
          spectrum_of(svd, seen, result.length, options.bins, options.seed + static_cast<std::uint64_t>(completion));
    });
    result.spread[static_cast<Index>(h)] = spread_of(result.spectrum.middleRows(first, options.completions));
  }
  return result;
}

std::vector<Field> describe(const PaperPhases& phases) {
  std::vector<std::string> names;
  for (const HeadName& head : phases.heads) names.push_back(head_name(head.layer, head.head));
  const Axis heads{"paper_head", "1", "head whose whole rotation is drawn", names};
  if (!phases.undefined.empty()) {
    Field spread = make_field("paper_phases/spread", {heads}, "1", "share of g that two completions do not share",
                              std::vector<double>(names.size(), std::numeric_limits<double>::quiet_NaN()));
    spread.attributes["undefined"] = phases.undefined;
    return {std::move(spread)};
  }
  const std::vector<Axis> axes{
      heads, counting_axis("completion", "1", "random completion of the bases", 1, phases.options.completions),
      frequency_axis(phases.length), phase_axis(phases.options.bins)};
  std::vector<Field> fields{
      make_field("paper_phases/spread", {heads}, "1",
                 "share of g(f, theta) that two random completions of the bases do not have in common",
                 {phases.spread.begin(), phases.spread.end()}),
      make_field("paper_phases/spectrum", axes, "1", "g(f, theta) of the whole R on the positions, queries' side",
                 {phases.spectrum.data(), phases.spectrum.data() + phases.spectrum.size()})};
  for (Field& field : fields) field.attributes["seed"] = static_cast<std::int64_t>(phases.options.seed);
  return fields;
}

}  // namespace headwave
