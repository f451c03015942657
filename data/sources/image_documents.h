#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "../../core/model/patch_grid.h"
#include "../../core/model/source.h"

namespace headwave {

/// A folder of images, and what a model makes of one.
struct ImagePlace {
  std::filesystem::path folder;
  std::filesystem::path preprocessor;  ///< preprocessor_config.json of the checkpoint
  std::string family;                  ///< "vit", "deit"
};

/// A document for each image of a folder, in the order of the files' names: those that end in .png, .jpg or .jpeg.
///
/// A document's tokens are those that open it, then the patches row by row. A patch is named by where it stands,
/// "r0c0" at the top left; its id is -1 - n, and row n of `signal` its pixels, so that shuffled words are shuffled patches.
/// Every image's head is read now, its pixels when its document is asked for.
/// @param grid       that the model cuts images into
/// @param documents  the first so many; none: all
/// @throws IoError if the folder or a file cannot be read, or holds no image; FormatError as image_size() and
///         image_preparation(), and if what these make is not as large as the model's images
std::unique_ptr<Source> image_documents(const ImagePlace& place, const PatchGrid& grid, std::optional<Index> documents);

/// What the tokens are called that open a document: [CLS], [DIST].
std::string opening_name(Index position);
/// "r3c5"
std::string patch_name(const PatchGrid& grid, Index patch);

}  // namespace headwave
