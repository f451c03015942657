// libjpeg reports an error by a jump. Functions that may be jumped out of hold nothing that must be destroyed.

#include <array>
#include <csetjmp>
#include <cstdio>

#include <fmt/format.h>
// after cstdio, which they take for granted
#include <jerror.h>
#include <jpeglib.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "picture_reader.h"

namespace headwave {

namespace {

/// libjpeg's own, and what it said last.
struct JpegErrors : jpeg_error_mgr {
  std::jmp_buf jump;
  std::array<char, JMSG_LENGTH_MAX> problem{};
};

[[noreturn]] void jpeg_failed(j_common_ptr jpeg) {
  auto* errors = static_cast<JpegErrors*>(jpeg->err);
  errors->format_message(jpeg, errors->problem.data());
  std::longjmp(errors->jump, 1);
}

/// Where data are damaged, missing or left over libjpeg warns and goes on with other pixels. The format has no checksum:
/// these warnings are all that tells damage.
void jpeg_said(j_common_ptr jpeg, int level) {
  if (level < 0) jpeg_failed(jpeg);
}

void jpeg_silent(j_common_ptr /*jpeg*/) {}

/// A progressive file of a few bytes can hold any number of scans, each as much work as the whole image.
void require_few_scans(j_common_ptr jpeg) {
  constexpr int most_scans = 500;
  if (jpeg->is_decompressor != 0 && reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number > most_scans)
    ERREXIT(jpeg, JERR_BAD_PROGRESSION);
}

class JpegReader : public PictureReader {
 public:
  JpegReader(std::string_view bytes, std::string called) : called_(std::move(called)), bytes_(bytes) {
    jpeg_.err = jpeg_std_error(&errors_);
    errors_.error_exit = jpeg_failed;
    errors_.emit_message = jpeg_said;
    errors_.output_message = jpeg_silent;
    progress_.progress_monitor = require_few_scans;
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;
  ~JpegReader() override { jpeg_destroy_decompress(&jpeg_); }

  ImageSize size() override {
    if (!read_head()) fail();
    if (jpeg_.num_components != 1 && jpeg_.num_components != 3)
      throw FormatError(fmt::format("{}: a JPEG of {} channels{}; expected grey or colours of three: convert it first",
                                    called_, jpeg_.num_components, jpeg_.num_components == 4 ? " (CMYK)" : ""));
    return {static_cast<Index>(jpeg_.image_height), static_cast<Index>(jpeg_.image_width)};
  }

  void read(Image& image) override {
    if (!read_rows(image)) fail();
  }

 private:
  [[nodiscard]] bool read_head() {
    if (setjmp(errors_.jump) != 0) return false;  // NOLINT: how libjpeg reports
    jpeg_create_decompress(&jpeg_);
    jpeg_.progress = &progress_;
    jpeg_mem_src(&jpeg_, reinterpret_cast<const unsigned char*>(bytes_.data()), bytes_.size());
    jpeg_read_header(&jpeg_, TRUE);
    return true;
  }

  [[nodiscard]] bool read_rows(Image& image) {
    if (setjmp(errors_.jump) != 0) return false;  // NOLINT
    jpeg_.out_color_space = JCS_RGB;
    jpeg_start_decompress(&jpeg_);
    while (jpeg_.output_scanline < jpeg_.output_height) {
      JSAMPROW row = image.row(static_cast<Index>(jpeg_.output_scanline));
      jpeg_read_scanlines(&jpeg_, &row, 1);
    }
    jpeg_finish_decompress(&jpeg_);
    return true;
  }

  [[noreturn]] void fail() const {
    throw FormatError(fmt::format("{}: a damaged JPEG: {}; write it again, or take it out of the folder", called_,
                                  printable(errors_.problem.data(), 120)));
  }

  std::string called_;
  std::string_view bytes_;
  jpeg_decompress_struct jpeg_{};
  JpegErrors errors_;
  jpeg_progress_mgr progress_{};
};

}  // namespace

std::unique_ptr<PictureReader> jpeg_reader(std::string_view bytes, const std::string& called) {
  return std::make_unique<JpegReader>(bytes, called);
}

}  // namespace headwave
