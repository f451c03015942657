#pragma once

#include "../numbers/matrix.h"

namespace headwave {

/// How a model cuts images into patches, and where these stand among its tokens: row by row from the top
/// left, after the tokens that open every document ([CLS], and DeiT's distillation token). A position that is
/// `columns` further on is one row further down.
struct PatchGrid {
  Index first = 0;              ///< position of the patch at row 0, column 0: how many tokens open a document
  Index rows = 0, columns = 0;  ///< of patches; 0: the model reads no images
  Index height = 0, width = 0;  ///< of a patch, in pixels
  Index channels = 0;           ///< of a pixel

  [[nodiscard]] bool empty() const { return rows * columns == 0; }
  [[nodiscard]] Index patches() const { return rows * columns; }
  /// T of every document.
  [[nodiscard]] Index positions() const { return first + patches(); }
  /// Numbers in a patch: channel by channel, row by row.
  [[nodiscard]] Index numbers() const { return channels * height * width; }
};

}  // namespace headwave
