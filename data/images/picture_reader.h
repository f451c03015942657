#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "image.h"

namespace headwave {

/// One file of a format: its head first, then its pixels.
class PictureReader {
 public:
  PictureReader() = default;
  PictureReader(const PictureReader&) = delete;
  PictureReader& operator=(const PictureReader&) = delete;
  virtual ~PictureReader() = default;

  /// @throws FormatError naming the file if the head is damaged or asks for what is not read here
  [[nodiscard]] virtual ImageSize size() = 0;
  /// Once, after size().
  /// @param image  of that size, to be filled
  /// @throws FormatError naming the file if it is damaged or cut short
  virtual void read(Image& image) = 0;
};

/// @param bytes   of the file, which outlive the reader
/// @param called  what messages call it
std::unique_ptr<PictureReader> png_reader(std::string_view bytes, const std::string& called);
std::unique_ptr<PictureReader> jpeg_reader(std::string_view bytes, const std::string& called);

}  // namespace headwave
