#include <cstdint>
#include <filesystem>

#include <fmt/format.h>

#include "../../data/images/image_file.h"
#include "../../data/images/image_preparation.h"
#include "../../data/images/resized_image.h"
#include "golden_tensors.h"
#include "test_files.h"

using namespace headwave;

namespace {

std::filesystem::path picture(const std::string& name) {
  return repository_file("tests/golden/images") / name;
}

std::string pixels_of(const Image& image) {
  return {reinterpret_cast<const char*>(image.pixels.data()), image.pixels.size()};
}

/// The golden's size, as "height x width".
std::string size_text(const SafetensorsFile& file, const std::string& name) {
  const std::vector<Index> shape = file.find(name)->shape;
  return std::to_string(shape[0]) + " x " + std::to_string(shape[1]);
}

void check_refused(const std::string& bytes, const std::string& why) {
  CAPTURE(bytes.size());
  CHECK_THROWS_AS(image_of(bytes, "a.png"), FormatError);
  CHECK_THROWS_WITH(image_of(bytes, "a.png"), ContainsSubstring("a.png: "));
  CHECK_THROWS_WITH(image_of(bytes, "a.png"), ContainsSubstring(why));
}

/// The first `size` bytes, with those from `at` on replaced.
std::string edited(std::string bytes, std::size_t at, const std::string& with) {
  return bytes.replace(at, with.size(), with);
}

}  // namespace

TEST_CASE("pixels of PNG and JPEG files are what Pillow's convert(RGB) makes of them") {
  const SafetensorsFile expected(picture("expected.safetensors"));
  int files = 0;
  for (const TensorInfo& tensor : expected.tensors()) {
    if (!tensor.name.ends_with(".rgb")) continue;
    CAPTURE(tensor.name);
    const std::filesystem::path file = picture(tensor.name.substr(0, tensor.name.size() - 4));
    const Image image = image_file(file);
    CHECK(std::to_string(image.height) + " x " + std::to_string(image.width) == size_text(expected, tensor.name));
    CHECK((pixels_of(image) == golden_bytes(expected, tensor.name)));  // bytes, not to be printed
    CHECK(image_size(file).height == image.height);
    CHECK(image_size(file).width == image.width);
    ++files;
  }
  CHECK(files == 17);
}

TEST_CASE("resized images are Pillow's to the bit, larger and smaller, with each resampling") {
  const SafetensorsFile expected(picture("expected.safetensors"));
  int sizes = 0;
  for (const std::string name : {"rgb.png", "color.jpg"})
    for (const auto& [height, width] : {std::pair{12, 20}, {5, 3}, {40, 17}, {11, 64}, {3, 16}})
      for (const int resample : {1, 2, 3}) {
        const std::string key = fmt::format("{}.{}x{}.{}", name, height, width, resample);
        CAPTURE(key);
        const Image image = resized(image_file(picture(name)), height, width, static_cast<Resampling>(resample));
        CHECK((pixels_of(image) == golden_bytes(expected, key)));
        ++sizes;
      }
  CHECK(sizes == 30);
}

TEST_CASE("an image that stays as large as it is stays as it is") {
  const Image image = image_file(picture("rgb.png"));
  CHECK(resized(image, image.height, image.width, Resampling::lanczos).pixels == image.pixels);
}

TEST_CASE("what is no image, or a damaged one, is refused by name") {
  check_refused("", "expected a PNG or JPEG image, found no bytes");
  check_refused("Dear reader, this is a text", "expected a PNG or JPEG image, found 'Dear reader,'");
  check_refused("GIF89a......", "expected a PNG or JPEG image");
  for (const std::string name : {"rgb.png", "palette.png", "interlaced.png", "color.jpg", "progressive.jpg"}) {
    CAPTURE(name);
    const std::string whole = file_bytes(picture(name));
    const bool png = name.ends_with("png");
    for (const std::size_t size : {std::size_t{9}, std::size_t{30}, whole.size() / 2, whole.size() - 40})
      check_refused(whole.substr(0, size), png ? "a damaged PNG: " : "a damaged JPEG: ");
  }
  const std::string whole = file_bytes(picture("rgb.png"));
  check_refused(edited(whole, whole.size() / 2, "????"), "a damaged PNG: ");
  // What libjpeg would pass over: bytes that belong to nothing before the next marker, a version that there is not.
  const std::string jpeg = file_bytes(picture("color.jpg"));
  check_refused(jpeg.substr(0, jpeg.size() - 2) + std::string(40, 'x') + jpeg.substr(jpeg.size() - 2),
                "a damaged JPEG: ");
  check_refused(edited(jpeg, jpeg.find("JFIF") + 5, "\x07"), "a damaged JPEG: ");
}

TEST_CASE("channels that are not read are refused by name") {
  CHECK_THROWS_WITH(image_file(picture("cmyk.jpg")), ContainsSubstring("a JPEG of 4 channels (CMYK)"));
  CHECK_THROWS_WITH(image_file(picture("grey16.png")), ContainsSubstring("grey of 16 bits"));
  CHECK_THROWS_AS(image_file(picture("absent.png")), IoError);
}

TEST_CASE("a head that asks for more pixels than there may be is refused before memory is taken") {
  // A PNG's IHDR begins at byte 8: length, kind, width, height, ..., and a checksum, which is made anew.
  const auto head = [](std::uint32_t width, std::uint32_t height) {
    const auto number = [](std::uint32_t n) {
      return std::string{static_cast<char>(n >> 24U), static_cast<char>(n >> 16U), static_cast<char>(n >> 8U),
                         static_cast<char>(n)};
    };
    const std::string chunk = "IHDR" + number(width) + number(height) + std::string("\x08\x02\x00\x00\x00", 5);
    std::uint32_t crc = ~0U;
    for (const char c : chunk) {
      crc ^= static_cast<unsigned char>(c);
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
    }
    return "\x89PNG\r\n\x1a\n" + number(13) + chunk + number(~crc) + number(20) + "IDAT" + std::string(24, '\0');
  };
  check_refused(head(999999, 999999), "999999 x 999999 pixels; expected at most 67108864 together");
  // A JPEG's SOF0 holds height and width behind its length and precision.
  std::string jpeg = file_bytes(picture("color.jpg"));
  const std::size_t at = jpeg.find("\xff\xc0");
  REQUIRE(at != std::string::npos);
  check_refused(edited(jpeg, at + 5, "\xff\xdc\xff\xdc"), "65500 x 65500 pixels");
}

TEST_CASE("files are images by their names' ends") {
  for (const char* name : {"a.png", "b.JPG", "c.d.jpeg", "E.PNG", "f.Jpeg"}) CHECK(is_image_name(name));
  for (const char* name : {"a.txt", "png", ".png", "a.gif", "a.png.txt"}) CHECK_FALSE(is_image_name(name));
}

TEST_CASE("what a preprocessor asks for is read, and its defaults are its own") {
  const auto of = [](const std::string& more, const std::string& family = "vit") {
    return image_preparation_of(R"({"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.25, 0.5])" + more + "}",
                                "p.json", family);
  };
  const ImagePreparation vit = of("");
  CHECK(vit.height == 224);
  CHECK(vit.crop_height == 0);
  CHECK(vit.resampling == Resampling::bilinear);
  CHECK(vit.scale == 1.0 / 255);
  CHECK(vit.deviation[1] == 0.25F);
  const ImagePreparation deit = of("", "deit");
  CHECK(deit.height == 256);
  CHECK(deit.size().height == 224);
  CHECK(deit.resampling == Resampling::bicubic);
  CHECK(of(R"(, "image_processor_type": "DeiTImageProcessorFast")").crop_width == 224);
  CHECK(of(R"(, "feature_extractor_type": "ViTFeatureExtractor", "size": 96)", "deit").width == 96);
  CHECK(of(R"(, "size": {"height": 8, "width": 9}, "do_center_crop": true, "crop_size": [6, 7])").crop_width == 7);
  CHECK(of(R"(, "do_rescale": false)").scale == 1);
  CHECK(of(R"(, "do_normalize": false)").mean[0] == 0);
  CHECK(of(R"(, "do_resize": false)").height == 0);
  const auto refused = [&](const std::string& more, const std::string& why) {
    CAPTURE(more);
    CHECK_THROWS_AS(of(more), FormatError);
    CHECK_THROWS_WITH(of(more), ContainsSubstring(why));
  };
  refused(R"(, "resample": 0)", "'resample' is 0, expected 1 (lanczos), 2 (bilinear) or 3 (bicubic)");
  refused(R"(, "size": {"shortest_edge": 224})", "'height' is missing");
  refused(R"(, "size": [1, 2, 3])", "'size' is [1,2,3], expected height and width");
  refused(R"(, "size": 100000)", "'size' makes 10000000000 pixels");
  refused(R"(, "image_processor_type": "CLIPImageProcessor")",
          "'CLIPImageProcessor', expected that of a ViT or a DeiT");
  refused(R"(, "do_pad": true)", "'do_pad' may change pixels");
  refused(R"(, "do_center_crop": true, "crop_size": 300)", "'crop_size' is 300 x 300, expected no more than 'size'");
  CHECK_NOTHROW(of(R"(, "do_pad": false, "do_convert_rgb": true, "data_format": "channels_first")"));
  CHECK_THROWS_WITH(image_preparation_of(R"({"image_mean": [0.5]})", "p.json", "vit"),
                    ContainsSubstring("'image_mean' has 1 numbers, expected one a colour"));
  CHECK_THROWS_WITH(image_preparation_of("{}", "p.json", "vit"), ContainsSubstring("'image_mean' is missing"));
  CHECK_THROWS_WITH(image_preparation_of(R"({"image_mean": [0, 0, 0], "image_std": [1, 0, 1]})", "p.json", "vit"),
                    ContainsSubstring("'image_std' has an entry that is not above 0"));
}

TEST_CASE("numbers of patches come row by row, and within a patch channel by channel") {
  Image image = Image::of(2, 4);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = static_cast<std::uint8_t>(i);
  ImagePreparation preparation;
  preparation.mean = {1, 0, 0};
  preparation.deviation = {1, 1, 2};
  const Matrix32 patches = patch_numbers(image, preparation, {1, 2, 2, 1, 2, 3});
  REQUIRE(patches.rows() == 4);
  CHECK(patches.row(0) == Eigen::RowVector<float, 6>(-1, 2, 1, 4, 1, 2.5F));
  CHECK(patches.row(1) == Eigen::RowVector<float, 6>(5, 8, 7, 10, 4, 5.5F));
  CHECK(patches.row(2) == Eigen::RowVector<float, 6>(11, 14, 13, 16, 7, 8.5F));
  CHECK_THROWS_AS(patch_numbers(image, preparation, {1, 2, 3, 1, 2, 3}), ShapeError);
  preparation.height = 0;
  preparation.crop_height = preparation.crop_width = 5;
  CHECK_THROWS_WITH(prepared(image, preparation, "a.png"),
                    ContainsSubstring("a.png: 4 x 2 pixels, but at least 5 x 5"));
}
