#include "feature_documents.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../files/digest.h"
#include "../files/printable.h"
#include "named_arrays.h"
#include "text_documents.h"

namespace headwave {

namespace {

constexpr const char* target_name = "decoder_input_ids";

/// The shape of an array whose axis of documents may be missing where there is one document.
/// @param axes  how many, with that of documents
std::vector<Index> shape_with_documents(const NamedArrays& arrays, const char* name, std::size_t axes,
                                        const std::string& expected) {
  if (!arrays.has(name)) throw FormatError(no_such_array(arrays, name, expected));
  std::vector<Index> shape = arrays.shape(name);
  if (shape.size() + 1 == axes) shape.insert(shape.begin(), 1);
  if (shape.size() != axes)
    throw FormatError(fmt::format("{} has shape ({}), expected {}", arrays.called(name),
                                  fmt::join(arrays.shape(name), ", "), expected));
  return shape;
}

/// (patches, numbers of a patch) of the pixels (channels, height, width) of an image.
Matrix32 patches_of(const std::vector<float>& pixels, const PatchGrid& grid) {
  const Index height = grid.rows * grid.height, width = grid.columns * grid.width;
  Matrix32 patches(grid.patches(), grid.numbers());
  for (Index channel = 0; channel < grid.channels; ++channel)
    for (Index y = 0; y < height; ++y)
      for (Index x = 0; x < width; ++x)
        patches(y / grid.height * grid.columns + x / grid.width,
                (channel * grid.height + y % grid.height) * grid.width + x % grid.width) =
            pixels[static_cast<std::size_t>((channel * height + y) * width + x)];
  return patches;
}

/// "[CLS]" of position 0, "[DIST]" of position 1.
std::string opening_name(Index position) {
  return position == 0 ? "[CLS]" : position == 1 ? "[DIST]" : fmt::format("[{}]", position);
}

class FeatureDocuments : public Source {
 public:
  FeatureDocuments(const ArraysPlace& features, const Model& model, std::shared_ptr<const Tokenizer> tokenizer,
                   std::optional<Index> documents)
      : arrays_(features.arrays ? features.arrays : open_arrays(features.path)),
        tokenizer_(std::move(tokenizer)),
        grid_(model.patches),
        positions_(grid_.empty() ? model.longest : grid_.positions()) {
    const std::vector<Index> shape = required_shape(model);
    count_ = documents.value_or(std::min(shape.front(), usual_documents));
    if (count_ > shape.front())
      throw FormatError(
          fmt::format("{} holds {} documents, {} were asked for", arrays_->called(name()), shape.front(), count_),
          give("documents", fmt::format("{} or fewer", shape.front())));
    digests_ = DigestedFiles(arrays_->files());
    names_ = arrays_->texts("document_name");
    if (!names_.empty() && std::ssize(names_) != shape.front())
      throw FormatError(fmt::format("{}: {} names of {} documents; expected one for each",
                                    arrays_->called("document_name"), names_.size(), shape.front()));
    if (grid_.empty()) read_targets(shape.front(), model);
  }

  [[nodiscard]] Index count() const override { return count_; }
  [[nodiscard]] Index length(Index i) const override {
    return targets_.empty() ? positions_
                            : std::max<Index>(positions_, std::ssize(targets_[static_cast<std::size_t>(i)]));
  }

  [[nodiscard]] Document document(Index i) const override {
    Document document;
    document.name = names_.empty() ? fmt::format("{}, document {}", shown_path(arrays_->path().filename()), i)
                                   : names_[static_cast<std::size_t>(i)];
    const Index opening = grid_.first;
    for (Index n = 0; n < positions_; ++n) {
      document.ids.push_back(static_cast<std::int32_t>(n < opening ? n : opening - 1 - n));
      document.special.push_back(n < opening ? 1 : 0);
      document.tokens.push_back(n < opening ? opening_name(n) : position_name(n - opening));
    }
    document.signal = signal(i);
    if (!targets_.empty()) set_tokens(document.target, targets_[static_cast<std::size_t>(i)], tokenizer_.get());
    return document;
  }

  [[nodiscard]] Attributes provenance() const override {
    Index longest = 0;
    for (Index i = 0; i < count(); ++i) longest = std::max(longest, length(i));
    Attributes provenance{{"source", std::string(grid_.empty() ? "sound" : "images")},
                          {"source_file", arrays_->path().string()},
                          {"documents", std::int64_t{count()}},
                          {"length", std::int64_t{longest}}};
    if (!digests_.list().empty()) provenance["source_sha256"] = digests_.list();
    if (grid_.empty()) {
      provenance["special_tokens"] = std::string("as in the ids");
    } else {
      provenance["model_patch_rows"] = std::int64_t{grid_.rows};
      provenance["model_patch_columns"] = std::int64_t{grid_.columns};
    }
    return provenance;
  }

  void require_unchanged() const override { digests_.require_same(); }

 private:
  [[nodiscard]] const char* name() const { return grid_.empty() ? "input_features" : "pixel_values"; }

  /// "r3c5" of a patch, "f6" of a position of a sound.
  [[nodiscard]] std::string position_name(Index n) const {
    return grid_.empty() ? fmt::format("f{}", FrameStem::frames_per_position * n)
                         : fmt::format("r{}c{}", n / grid_.columns, n % grid_.columns);
  }

  /// The shape with the axis of documents.
  /// @throws FormatError if the model reads another shape
  [[nodiscard]] std::vector<Index> required_shape(const Model& model) const {
    if (grid_.empty()) {
      const Index bins = model.stack.embedding.frames.bins(), frames = FrameStem::frames_per_position * positions_;
      std::vector<Index> shape =
          shape_with_documents(*arrays_, name(), 3, fmt::format("(documents, {} bins, {} frames)", bins, frames));
      if (shape[1] != bins || shape[2] != frames)
        throw FormatError(
            fmt::format("{} has {} bins and {} frames, the model reads {} and {}; make it with the "
                        "checkpoint's own feature extractor, which pads with silence",
                        arrays_->called(name()), shape[1], shape[2], bins, frames));
      return shape;
    }
    const Index height = grid_.rows * grid_.height, width = grid_.columns * grid_.width;
    std::vector<Index> shape = shape_with_documents(
        *arrays_, name(), 4,
        fmt::format("(documents, {} channels, {} rows, {} columns of pixels)", grid_.channels, height, width));
    if (shape[1] != grid_.channels || shape[2] != height || shape[3] != width)
      throw FormatError(
          fmt::format("{} has {} channels of {} x {} pixels (height x width), the model reads {} of {} x {}; "
                      "make it with the checkpoint's own image processor: position tables are not "
                      "interpolated",
                      arrays_->called(name()), shape[1], shape[2], shape[3], grid_.channels, height, width));
    return shape;
  }

  void read_targets(Index stored, const Model& model) {
    const std::vector<Index> shape = shape_with_documents(*arrays_, target_name, 2, "(documents, tokens)");
    if (shape[0] != stored)
      throw FormatError(
          fmt::format("{} holds {} documents, {} {}", arrays_->called(target_name), shape[0], name(), stored));
    const std::vector<float> ids = arrays_->floats(target_name);
    const Index words = model.decoder->embedding.words.rows();
    for (Index i = 0; i < count_; ++i) {
      const auto* first = ids.data() + i * shape[1];
      Index length = shape[1];
      while (length > 0 && first[length - 1] < 0) --length;
      if (length == 0 || length > model.longest_target)
        throw FormatError(fmt::format("{}: document {} has {} tokens; expected 1 to {}", arrays_->called(target_name),
                                      i, length, model.longest_target));
      for (Index s = 0; s < length; ++s)
        if (!(first[s] >= 0 && first[s] < static_cast<float>(words)) || first[s] != std::floor(first[s]))
          throw FormatError(fmt::format("{}: document {}, token {} is {}, but the model knows the ids 0 to {}",
                                        arrays_->called(target_name), i, s, first[s], words - 1));
      targets_.emplace_back(first, first + length);
    }
  }

  /// (patches, numbers of a patch) of an image, (frames, bins) of a sound.
  [[nodiscard]] Matrix32 signal(Index i) const {
    ArrayBlock block = whole_block(arrays_->shape(name()));
    if (block.count.size() == (grid_.empty() ? 3 : 4)) {
      block.first.front() = i;
      block.count.front() = 1;
    }
    const std::vector<float> numbers = arrays_->block(name(), block);
    const Index columns = block.count.back();
    const MatrixView32 rows(numbers.data(), std::ssize(numbers) / columns, columns);
    if (!are_finite(rows))
      throw FormatError(
          fmt::format("{} document {} holds NaN or infinity; expected finite numbers", arrays_->called(name()), i));
    return grid_.empty() ? Matrix32(rows.transpose()) : patches_of(numbers, grid_);
  }

  std::shared_ptr<const NamedArrays> arrays_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  PatchGrid grid_;  // empty: sound
  Index positions_, count_ = 0;
  std::vector<std::string> names_;                  // of the documents; empty: they have none
  std::vector<std::vector<std::int32_t>> targets_;  // of sounds
  DigestedFiles digests_;
};

}  // namespace

std::unique_ptr<Source> feature_documents(const ArraysPlace& features, const Model& model,
                                          std::shared_ptr<const Tokenizer> tokenizer, std::optional<Index> documents) {
  return std::make_unique<FeatureDocuments>(features, model, std::move(tokenizer), documents);
}

}  // namespace headwave
