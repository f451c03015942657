#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "../../analysis/positions/position_spectrum.h"
#include "../../core/fields/field.h"

namespace headwave {

struct PositionSpectraOptions {
  Index length = 0;  ///< T: only the first T positions, at most `rows`; 0: all `rows` positions
  Index rows = 0;    ///< number of first rows of the table; 0: those that were trained (core/model/layer_positions.h)
  PositionSpectrumOptions spectrum;
};

/// The spectrum of one model's position table.
struct ModelSpectrum {
  std::string name;  ///< name of the model's folder
  PositionSpectrum spectrum;
  Result result;  ///< Fields of the spectrum; the provenance has the model's digests and the options
};

/// Computes the spectra of the position tables of several models, for comparison.
///
/// @param models  model directories, or safetensors files with config.json beside them; tensors other than
///                the position table may be missing
/// @throws ShapeError if a table has fewer positions than `length` or `rows`, or fewer than two positions are
///         used; any Error that position_table() and position_spectrum() throw
std::vector<ModelSpectrum> position_spectra(const std::vector<std::filesystem::path>& models,
                                            const PositionSpectraOptions& options = {});

/// The name of a model in a comparison, which is the name of its folder.
std::string model_name(const std::filesystem::path& model);

}  // namespace headwave
