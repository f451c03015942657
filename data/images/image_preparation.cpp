#include "image_preparation.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../files/json_file.h"
#include "../files/printable.h"
#include "../models/model_config.h"

namespace headwave {

namespace {

/// Whose processor it is: "vit" or "deit".
std::string processor_of(const ModelConfig& config, const std::string& family) {
  for (const char* key : {"image_processor_type", "feature_extractor_type"}) {
    const std::string type = config.text_or(key, "");
    if (type.empty()) continue;
    if (type.starts_with("ViT")) return "vit";
    if (type.starts_with("DeiT")) return "deit";
    config.fail(fmt::format("'{}' is '{}', expected that of a ViT or a DeiT", key, printable(type, 60)));
  }
  return family;
}

Resampling resampling_of(const ModelConfig& config, const std::string& processor) {
  const Resampling usual = processor == "deit" ? Resampling::bicubic : Resampling::bilinear;
  const Index number = config.size_or("resample", static_cast<Index>(usual), 0);
  if (number < static_cast<Index>(Resampling::lanczos) || number > static_cast<Index>(Resampling::bicubic))
    config.fail(fmt::format("'resample' is {}, expected 1 (lanczos), 2 (bilinear) or 3 (bicubic)", number));
  return static_cast<Resampling>(number);
}

std::array<float, 3> by_channel(const ModelConfig& config, const char* key) {
  const std::vector<double> numbers = config.numbers(key);
  if (numbers.size() != 3) config.fail(fmt::format("'{}' has {} numbers, expected one a colour", key, numbers.size()));
  return {static_cast<float>(numbers[0]), static_cast<float>(numbers[1]), static_cast<float>(numbers[2])};
}

/// @throws FormatError if a switch is on, or a setting there, that nobody asked for and that is not known to change no pixel
void require_known(const ModelConfig& config) {
  static const std::set<std::string> harmless{
      "processor_class", "data_format", "input_data_format", "return_tensors",   "disable_grouping",
      "do_convert_rgb",  "device",      "_processor_class",  "do_reduce_labels", "default_to_square"};
  for (const std::string& key : config.unread())
    if (config.shown(key) != "false" && !harmless.contains(key))
      config.fail(fmt::format("'{}' may change pixels in a way that is not known here", printable(key, 60)));
}

ImagePreparation preparation_of(const ModelConfig& config, const std::string& family) {
  const std::string processor = processor_of(config, family);
  const bool deit = processor == "deit";
  ImagePreparation preparation;
  const std::pair<Index, Index> size = config.sides("size", deit ? 256 : 224);
  const std::pair<Index, Index> crop = config.sides("crop_size", 224);
  if (config.flag_or("do_resize", true)) std::tie(preparation.height, preparation.width) = size;
  preparation.resampling = resampling_of(config, processor);
  if (config.flag_or("do_center_crop", deit)) std::tie(preparation.crop_height, preparation.crop_width) = crop;
  if (preparation.height > 0 && (crop.first > preparation.height || crop.second > preparation.width) &&
      preparation.crop_height > 0)
    config.fail(fmt::format("'crop_size' is {} x {}, expected no more than 'size', {} x {}", crop.first, crop.second,
                            preparation.height, preparation.width));
  for (const Index area : {preparation.height * preparation.width, preparation.crop_height * preparation.crop_width})
    if (area > most_pixels) config.fail(fmt::format("'size' makes {} pixels, expected at most {}", area, most_pixels));
  const double scale = config.positive_or("rescale_factor", 1.0 / 255);
  if (config.flag_or("do_rescale", true)) preparation.scale = scale;
  const bool normalise = config.flag_or("do_normalize", true);
  if (normalise || config.has("image_mean")) {
    const std::array<float, 3> mean = by_channel(config, "image_mean"), deviation = by_channel(config, "image_std");
    if (std::ranges::any_of(deviation, [](float one) { return !(one > 0); }))
      config.fail("'image_std' has an entry that is not above 0");
    if (normalise) std::tie(preparation.mean, preparation.deviation) = std::tie(mean, deviation);
  }
  require_known(config);
  return preparation;
}

}  // namespace

ImagePreparation image_preparation(const std::filesystem::path& file, const std::string& family) {
  const nlohmann::json json = json_of_file(file, {.max_bytes = largest_config});
  return preparation_of(ModelConfig(json, file.string()), family);
}

ImagePreparation image_preparation_of(const std::string& json, const std::string& called, const std::string& family) {
  const nlohmann::json value = json_of_text(json, called, {.max_bytes = largest_config});
  return preparation_of(ModelConfig(value, called), family);
}

Image prepared(const Image& image, const ImagePreparation& preparation, const std::string& called) {
  const ImageSize size = preparation.size();
  if (preparation.height == 0 && (size.height > image.height || size.width > image.width))
    throw FormatError(fmt::format("{}: {} x {} pixels, but at least {} x {} are expected, since 'do_resize' is false",
                                  called, image.width, image.height, size.width, size.height));
  Image whole =
      preparation.height > 0 ? resized(image, preparation.height, preparation.width, preparation.resampling) : image;
  if (preparation.crop_height == 0) return whole;
  Image middle = Image::of(size.height, size.width);
  const Index top = (whole.height - size.height) / 2, left = (whole.width - size.width) / 2;
  for (Index y = 0; y < size.height; ++y) std::copy_n(whole.row(top + y) + 3 * left, 3 * size.width, middle.row(y));
  return middle;
}

Matrix32 patch_numbers(const Image& image, const ImagePreparation& preparation, const PatchGrid& grid) {
  if (grid.channels != 3 || image.height != grid.rows * grid.height || image.width != grid.columns * grid.width)
    throw ShapeError(fmt::format("an image of {} x {} pixels in 3 channels; the model reads {} x {} in {}", image.width,
                                 image.height, grid.columns * grid.width, grid.rows * grid.height, grid.channels));
  Matrix32 patches(grid.patches(), grid.numbers());
  for (Index y = 0; y < image.height; ++y)
    for (Index x = 0; x < image.width; ++x) {
      const Index patch = y / grid.height * grid.columns + x / grid.width;
      const Index place = y % grid.height * grid.width + x % grid.width;
      for (Index channel = 0; channel < 3; ++channel) {
        const auto c = static_cast<std::size_t>(channel);
        const auto scaled = static_cast<float>(preparation.scale * image.row(y)[3 * x + channel]);
        patches(patch, channel * grid.height * grid.width + place) =
            (scaled - preparation.mean[c]) / preparation.deviation[c];
      }
    }
  return patches;
}

}  // namespace headwave
