#pragma once

#include <filesystem>
#include <string_view>

#include "image.h"

namespace headwave {

/// Whether a file's name ends as those of images do that are read here: .png, .jpg, .jpeg, in letters of either case.
bool is_image_name(const std::filesystem::path& file);

/// The pixels of a PNG or JPEG file as red, green and blue, whatever stands in it: what Pillow's convert("RGB") makes of
/// it. Grey is repeated, a palette looked up; transparency is left out, as if there were none; of 16 bits the upper 8
/// count. EXIF's orientation is left alone, as transformers leaves it. Of an animation the first picture is read.
///
/// Refused by name: CMYK, and grey of 16 bits, which Pillow cuts off at 255; what is damaged or cut short; more pixels
/// than most_pixels.
/// @throws IoError if the file cannot be read; FormatError naming it, what was expected and what came
Image image_file(const std::filesystem::path& file);

/// Its size alone: the head is read, and no pixel.
/// @throws as image_file(), but for what only the pixels show
ImageSize image_size(const std::filesystem::path& file);

/// The same of bytes in memory.
/// @param called  what messages call them
Image image_of(std::string_view bytes, const std::string& called);

}  // namespace headwave
