// libpng reports an error by a jump. Functions that may be jumped out of hold nothing that must be destroyed.

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <png.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "picture_reader.h"

namespace headwave {

namespace {

/// What libpng reads from, and what it said last.
struct PngInput {
  std::string_view bytes;
  std::size_t at = 0;
  std::array<char, 160> problem{};
};

[[noreturn]] void png_failed(png_structp png, png_const_charp message) {
  auto* input = static_cast<PngInput*>(png_get_error_ptr(png));
  std::strncpy(input->problem.data(), message, input->problem.size() - 1);
  png_longjmp(png, 1);
}

void png_warned(png_structp /*png*/, png_const_charp /*message*/) {}

void png_asked(png_structp png, png_bytep into, std::size_t count) {
  auto* input = static_cast<PngInput*>(png_get_io_ptr(png));
  if (count > input->bytes.size() - input->at) png_error(png, "it ends too early");
  std::memcpy(into, input->bytes.data() + input->at, count);
  input->at += count;
}

class PngReader : public PictureReader {
 public:
  PngReader(std::string_view bytes, std::string called) : called_(std::move(called)) {
    input_.bytes = bytes;
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &input_, png_failed, png_warned);
    info_ = png_ != nullptr ? png_create_info_struct(png_) : nullptr;
    if (info_ == nullptr) throw IoError(fmt::format("{}: libpng has no memory to read it", called_));
    png_set_read_fn(png_, &input_, png_asked);
  }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() override { png_destroy_read_struct(&png_, &info_, nullptr); }

  ImageSize size() override {
    if (!read_head()) fail();
    if (png_get_color_type(png_, info_) == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(png_, info_) == 16)
      throw FormatError(
          fmt::format("{}: grey of 16 bits, which Pillow cuts off at 255; expected 8 bits: convert it first", called_));
    return {static_cast<Index>(png_get_image_height(png_, info_)),
            static_cast<Index>(png_get_image_width(png_, info_))};
  }

  void read(Image& image) override {
    std::vector<png_bytep> rows(static_cast<std::size_t>(image.height));
    for (Index y = 0; y < image.height; ++y) rows[static_cast<std::size_t>(y)] = image.row(y);
    if (!read_rows(rows.data(), static_cast<std::size_t>(3 * image.width))) fail();
  }

 private:
  [[nodiscard]] bool read_head() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;  // NOLINT: how libpng reports
    png_read_info(png_, info_);
    return true;
  }

  [[nodiscard]] bool read_rows(png_bytepp rows, std::size_t row_bytes) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;  // NOLINT
    const int color = png_get_color_type(png_, info_);
    if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    if (color == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png_);
    png_set_strip_16(png_);
    png_set_strip_alpha(png_);
    if ((color & PNG_COLOR_MASK_COLOR) == 0) png_set_gray_to_rgb(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    if (png_get_rowbytes(png_, info_) != row_bytes) png_error(png_, "its rows have an unexpected size");
    png_read_image(png_, rows);
    return true;
  }

  [[noreturn]] void fail() const {
    throw FormatError(fmt::format("{}: a damaged PNG: {}; write it again, or take it out of the folder", called_,
                                  printable(input_.problem.data(), 120)));
  }

  std::string called_;
  PngInput input_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

std::unique_ptr<PictureReader> png_reader(std::string_view bytes, const std::string& called) {
  return std::make_unique<PngReader>(bytes, called);
}

}  // namespace headwave
