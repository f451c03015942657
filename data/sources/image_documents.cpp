#include "image_documents.h"

#include <algorithm>
#include <numeric>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/digest.h"
#include "../images/image_file.h"
#include "../images/image_preparation.h"

namespace headwave {

namespace {

namespace fs = std::filesystem;

struct FolderImages {
  std::vector<fs::path> files;  ///< by name
  std::int64_t others = 0;      ///< files that are no images by their names
};

FolderImages images_of(const fs::path& folder) {
  std::error_code failed;
  if (!fs::is_directory(folder, failed))
    throw IoError(fmt::format("{}: expected a folder of PNG or JPEG images", folder.string()));
  FolderImages found;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) continue;
    if (is_image_name(entry->path()))
      found.files.push_back(entry->path());
    else
      ++found.others;
  }
  if (failed) throw IoError(fmt::format("{}: cannot be read: {}", folder.string(), failed.message()));
  if (found.files.empty())
    throw IoError(fmt::format("{}: no images in {} files; expected names that end in .png, .jpg or .jpeg",
                              folder.string(), found.others));
  std::ranges::sort(found.files, {}, [](const fs::path& file) { return file.filename().string(); });
  return found;
}

class ImageDocuments : public Source {
 public:
  ImageDocuments(const ImagePlace& place, const PatchGrid& grid, std::optional<Index> documents)
      : place_(place), grid_(grid), preparation_(image_preparation(place.preprocessor, place.family)) {
    require_size();
    FolderImages images = images_of(place.folder);
    files_ = std::move(images.files);
    others_ = images.others;
    if (documents && *documents < count()) files_.resize(static_cast<std::size_t>(*documents));
    for (const fs::path& file : files_) (void)image_size(file);
    preprocessor_digest_ = sha256_of_file(place_.preprocessor);
    digests_ = DigestedFiles(files_);
  }

  [[nodiscard]] Index count() const override { return static_cast<Index>(files_.size()); }
  [[nodiscard]] Index length(Index /*i*/) const override { return grid_.positions(); }

  [[nodiscard]] Document document(Index i) const override {
    const fs::path& file = files_[static_cast<std::size_t>(i)];
    const std::string called = file.string();
    Document document;
    document.name = file.filename().string();
    document.signal = patch_numbers(prepared(image_file(file), preparation_, called), preparation_, grid_);
    for (Index n = 0; n < grid_.first; ++n) {
      document.ids.push_back(static_cast<std::int32_t>(n));
      document.tokens.push_back(opening_name(n));
    }
    for (Index n = 0; n < grid_.patches(); ++n) {
      document.ids.push_back(static_cast<std::int32_t>(-1 - n));
      document.tokens.push_back(patch_name(grid_, n));
    }
    document.special.assign(document.ids.size(), 0);
    std::fill_n(document.special.begin(), grid_.first, std::uint8_t{1});
    return document;
  }

  [[nodiscard]] Attributes provenance() const override {
    Attributes provenance{{"source", std::string("images")},
                          {"source_file", place_.folder.string()},
                          {"source_sha256", sha256_of_text(digests_.list())},
                          {"source_preprocessor_sha256", preprocessor_digest_},
                          {"documents", std::int64_t{count()}},
                          {"length", std::int64_t{grid_.positions()}},
                          {"model_patch_rows", std::int64_t{grid_.rows}},
                          {"model_patch_columns", std::int64_t{grid_.columns}}};
    if (others_ > 0) provenance["source_files_left_out"] = others_;
    return provenance;
  }

  void require_unchanged() const override { digests_.require_same(); }

 private:
  void require_size() const {
    const ImageSize size = preparation_.size();
    const Index height = grid_.rows * grid_.height, width = grid_.columns * grid_.width;
    if (grid_.channels != 3)
      throw FormatError(fmt::format("{}: images are read in three colours, the model reads {} channels",
                                    place_.folder.string(), grid_.channels));
    if (size.height != 0 && (size.height != height || size.width != width))
      throw FormatError(fmt::format(
          "{}: images become {} x {} pixels (height x width), but the model reads {} x {}; position tables are not "
          "interpolated: give the size that the model was trained on",
          place_.preprocessor.string(), size.height, size.width, height, width));
  }

  ImagePlace place_;
  PatchGrid grid_;
  ImagePreparation preparation_;
  std::vector<fs::path> files_;
  std::int64_t others_ = 0;
  DigestedFiles digests_;
  std::string preprocessor_digest_;
};

}  // namespace

std::string opening_name(Index position) {
  return position == 0 ? "[CLS]" : position == 1 ? "[DIST]" : fmt::format("[{}]", position);
}

std::string patch_name(const PatchGrid& grid, Index patch) {
  return fmt::format("r{}c{}", patch / grid.columns, patch % grid.columns);
}

std::unique_ptr<Source> image_documents(const ImagePlace& place, const PatchGrid& grid,
                                        std::optional<Index> documents) {
  return std::make_unique<ImageDocuments>(place, grid, documents);
}

}  // namespace headwave
