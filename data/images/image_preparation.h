#pragma once

#include <array>
#include <filesystem>
#include <string>

#include "../../core/model/patch_grid.h"
#include "image.h"
#include "resized_image.h"

namespace headwave {

/// What becomes of an image before a model reads it: resized, its middle cut out, and each channel's numbers scaled,
///
///     x = (scale p - mean) / deviation,   p = 0 ... 255                                        (1)
///
/// in float32, where scale p is rounded once.
struct ImagePreparation {
  Index height = 0, width = 0;            ///< that it is resized to; 0: it must have the size that is cut out
  Index crop_height = 0, crop_width = 0;  ///< of the middle that is kept; 0: all
  Resampling resampling = Resampling::bilinear;
  double scale = 1;
  std::array<float, 3> mean{0, 0, 0}, deviation{1, 1, 1};

  /// What comes out.
  [[nodiscard]] ImageSize size() const {
    return crop_height > 0 ? ImageSize{crop_height, crop_width} : ImageSize{height, width};
  }
};

/// The preparation that a checkpoint's preprocessor_config.json asks for: that of a ViT's or a DeiT's processor, slow or
/// fast, old (a feature extractor) or new. What is left out has the processor's own default; what would change pixels
/// and is not known is refused by name.
/// @param family  "vit" or "deit", where the file does not say whose processor it is
/// @throws IoError if the file cannot be read; FormatError naming the file and the key
ImagePreparation image_preparation(const std::filesystem::path& file, const std::string& family);

/// The same of text.
/// @param called  what messages call it
ImagePreparation image_preparation_of(const std::string& json, const std::string& called, const std::string& family);

/// An image resized and cut.
/// @param called  what messages call the image
/// @throws FormatError if it is not to be resized and has another size
Image prepared(const Image& image, const ImagePreparation& preparation, const std::string& called);

/// Equation (1) of a prepared image, patch by patch.
/// @returns (grid.patches(), grid.numbers()): patches row by row; in each red row by row, then green, then blue
/// @throws ShapeError if the image is not as large as the grid, or the grid is not of three channels
Matrix32 patch_numbers(const Image& image, const ImagePreparation& preparation, const PatchGrid& grid);

}  // namespace headwave
