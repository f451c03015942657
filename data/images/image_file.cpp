#include "image_file.h"

#include <algorithm>
#include <cctype>
#include <string>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/file_bytes.h"
#include "../files/printable.h"
#include "picture_reader.h"

namespace headwave {

namespace {

constexpr std::string_view png_begins = "\x89PNG\r\n\x1a\n", jpeg_begins = "\xff\xd8\xff";

std::unique_ptr<PictureReader> picture_reader(std::string_view bytes, const std::string& called) {
  if (bytes.starts_with(png_begins)) return png_reader(bytes, called);
  if (bytes.starts_with(jpeg_begins)) return jpeg_reader(bytes, called);
  throw FormatError(fmt::format("{}: expected a PNG or JPEG image, found {}", called,
                                bytes.empty() ? "no bytes" : fmt::format("'{}'", printable(bytes.substr(0, 12), 24))));
}

/// Said before memory is taken.
ImageSize allowed_size(PictureReader& reader, const std::string& called) {
  const ImageSize size = reader.size();
  if (size.height < 1 || size.width < 1 || size.width > most_pixels / size.height)
    throw FormatError(fmt::format("{}: {} x {} pixels; expected at most {} together: make it smaller", called,
                                  size.width, size.height, most_pixels));
  return size;
}

/// Compressed pixels take less room than these; more bytes are another kind of file.
std::string bytes_of_image(const std::filesystem::path& file) {
  constexpr std::size_t most_bytes = std::size_t{4} * most_pixels;
  const FileBytes bytes(file);
  if (bytes.size() > most_bytes)
    throw FormatError(
        fmt::format("{}: {} bytes; expected an image of at most {}", file.string(), bytes.size(), most_bytes));
  return bytes.text(0, bytes.size());
}

}  // namespace

bool is_image_name(const std::filesystem::path& file) {
  std::string ends = file.extension().string();
  std::ranges::transform(ends, ends.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ends == ".png" || ends == ".jpg" || ends == ".jpeg";
}

Image image_of(std::string_view bytes, const std::string& called) {
  const std::unique_ptr<PictureReader> reader = picture_reader(bytes, called);
  const ImageSize size = allowed_size(*reader, called);
  Image image = Image::of(size.height, size.width);
  reader->read(image);
  return image;
}

Image image_file(const std::filesystem::path& file) {
  return image_of(bytes_of_image(file), file.string());
}

ImageSize image_size(const std::filesystem::path& file) {
  const std::string bytes = bytes_of_image(file);
  return allowed_size(*picture_reader(bytes, file.string()), file.string());
}

}  // namespace headwave
