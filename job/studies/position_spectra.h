#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "../../analysis/positions/position_spectrum.h"
#include "../../core/fields/field.h"

namespace headwave {

struct PositionSpectraOptions {
  Index length = 0;  ///< T: only the first T positions, among the first `rows`; 0: all of these
  Index rows = 0;    ///< only the first rows of the table; 0: those that were trained (core/model/layer_positions.h)
  PositionSpectrumOptions spectrum;
};

/// The spectrum of one model's position table.
struct ModelSpectrum {
  std::string name;  ///< that of the folder
  PositionSpectrum spectrum;
  Result result;  ///< its Fields, with the model's digests and the options as provenance
};

/// Spectra of the position tables of several models, for comparison.
///
/// @param models  model directories, or safetensors files with config.json beside them; little but positions
///                need be there
/// @throws ShapeError if a table has fewer positions than asked for, or fewer than two are looked at;
///         otherwise as position_table() and position_spectrum()
std::vector<ModelSpectrum> position_spectra(const std::vector<std::filesystem::path>& models,
                                            const PositionSpectraOptions& options = {});

/// The name of a model in a comparison: that of its folder.
std::string model_name(const std::filesystem::path& model);

}  // namespace headwave
