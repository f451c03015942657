#include "position_spectra.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "../../core/model/layer_positions.h"
#include "../../data/models/model_directory.h"
#include "../run/provenance.h"

namespace headwave {

namespace {

Attributes provenance_of(const std::filesystem::path& model, Index length, const PositionSpectrumOptions& options) {
  Attributes provenance = model_provenance(model);
  provenance["source"] = std::string("position table");
  provenance["length"] = static_cast<std::int64_t>(length);
  provenance["window"] = std::string(name_of(options.spectrum.window));
  provenance["detrend"] = std::string(options.spectrum.detrend ? "linear" : options.spectrum.demean ? "mean" : "none");
  provenance["peaks"] = static_cast<std::int64_t>(options.peaks);
  provenance["minimum_prominence"] = options.minimum_prominence;
  return provenance;
}

ModelSpectrum spectrum_of(const std::filesystem::path& model, const PositionSpectraOptions& options) {
  const Matrix32 table = position_table(model);
  for (const auto& [name, what, wanted] :
       {std::tuple("length", "positions", options.length), {"rows", "rows", options.rows}})
    if (wanted > table.rows())
      throw ShapeError(fmt::format("{}: {} {} are requested, but the position table has {}", model.string(), wanted,
                                   what, table.rows()),
                       give(name, fmt::format("{} or less", table.rows())));
  const Index rows = options.rows > 0 ? options.rows : trained_rows(table).trained;
  const Index length = options.length > 0 ? std::min(options.length, rows) : rows;
  if (length < 2)
    throw ShapeError(fmt::format("{}: a spectrum needs two positions or more, found {}", model.string(), length));
  const Matrix positions = table.topRows(length).cast<double>();
  ModelSpectrum found{model_name(model), position_spectrum(positions, {}, options.spectrum), {}};
  found.result = {fmt::format("headwave: spectrum of the positions of {}", found.name), describe(found.spectrum),
                  provenance_of(model, length, options.spectrum)};
  add_trained_rows(found.result.provenance, table);
  return found;
}

}  // namespace

std::vector<ModelSpectrum> position_spectra(const std::vector<std::filesystem::path>& models,
                                            const PositionSpectraOptions& options) {
  std::vector<ModelSpectrum> spectra;
  for (const std::filesystem::path& model : models) spectra.push_back(spectrum_of(model, options));
  return spectra;
}

std::string model_name(const std::filesystem::path& model) {
  std::filesystem::path whole = std::filesystem::absolute(model).lexically_normal();
  if (whole.filename().empty()) whole = whole.parent_path();
  const std::filesystem::path folder = std::filesystem::is_directory(whole) ? whole : whole.parent_path();
  return folder.has_filename() ? folder.filename().string() : "model";
}

}  // namespace headwave
