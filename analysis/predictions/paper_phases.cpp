#include "paper_phases.h"

#include <fmt/format.h>

#include "../../core/algebra/product.h"
#include "../../core/fields/fields.h"
#include "../../core/model/layer_positions.h"
#include "../../core/model/model.h"
#include "../../core/process/threads.h"
#include "../waves/phase_delay.h"
#include "../waves/wave_chain.h"

namespace headwave {

namespace {

/// g of one completion: (1, (floor(T/2) + 1) * bins).
Matrix spectrum_of(const QkSvd& svd, const MatrixC& positions, Index length, Index bins, std::uint64_t seed) {
  const PaperRotation paper = paper_rotation(svd, seed);
  const Matrix amplitude = direction_spectra(product_with_real(positions, paper.query), paper.rotation);
  Matrix spectrum = Matrix::Zero(1, (length / 2 + 1) * bins);
  add_phases(spectrum, 0, paper.rotation, amplitude, bins);
  return spectrum;
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

std::vector<Field> paper_phases(const Stack& stack, const std::vector<HeadName>& heads,
                                const PaperPhasesOptions& options) {
  if (options.completions < 2)
    throw ShapeError(fmt::format("paper_phases: {} completions; two or more can be compared", options.completions));
  const Axis head = head_name_axis("paper_head", "head whose whole rotation is drawn", heads);
  const Index positions = stack.embedding.positions.rows();
  Vector spread = Vector::Constant(std::ssize(heads), not_defined);
  Fields fields("paper_phases");
  const std::string undefined = positions == 0 ? "no position table" : not_bilinear(stack);
  if (!undefined.empty())
    return fields.add("spread", {head}, "1", "share of g that two completions do not share", spread, undefined).taken();
  const Index length = options.length > 0 ? options.length : trained_rows(stack.embedding.positions).trained;
  if (length > positions)
    throw ShapeError(
        fmt::format("paper_phases: a length of {} was asked for, the model has {} positions", length, positions));
  Matrix spectrum(std::ssize(heads) * options.completions, (length / 2 + 1) * options.bins);
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const HeadName& name = heads[h];
    if (name.layer < 0 || name.layer >= stack.layers())
      throw ShapeError(fmt::format("paper_phases: there is no {}", head_name(name.layer, name.head)));
    const MatrixC seen = real_dft(Matrix(layer_positions(stack, name.layer).topRows(length)));
    const HeadWeights weights = head_weights(stack.queries_and_keys(name.layer)->self, stack.block, name.head);
    const QkSvd svd = qk_svd(weights.query, weights.key);
    const Index first = static_cast<Index>(h) * options.completions;
    parallel_for(options.completions, options.threads, [&](Index completion) {
      spectrum.row(first + completion) =
          spectrum_of(svd, seen, length, options.bins, options.seed + static_cast<std::uint64_t>(completion));
    });
    spread[static_cast<Index>(h)] = spread_of(spectrum.middleRows(first, options.completions));
  }
  const Axis completion = counting_axis("completion", "1", "random completion of the bases", 1, options.completions);
  fields.add("spread", {head}, "1",
             "share of g(f, theta) that two random completions of the bases do not have in common", spread);
  fields.add("spectrum", {head, completion, frequency_axis(length), phase_axis(options.bins)}, "1",
             "g(f, theta) of the whole R on the positions, queries' side", spectrum);
  fields.note_all("seed", options.seed);
  return fields.taken();
}

}  // namespace headwave
