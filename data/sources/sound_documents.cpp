#include "sound_documents.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../files/digest.h"
#include "../files/printable.h"
#include "stored_arrays.h"
#include "text_documents.h"

namespace headwave {

namespace {

constexpr const char* features_name = "input_features";
constexpr const char* target_name = "decoder_input_ids";

/// Of an array whose axis of documents may be left away where there is but one.
/// @param axes  with documents
std::vector<Index> shape_with_documents(const StoredArrays& arrays, const char* name, std::size_t axes,
                                        const std::string& expected) {
  if (!arrays.has(name)) throw FormatError(no_such_array(arrays, name, expected));
  std::vector<Index> shape = arrays.shape(name);
  if (shape.size() + 1 == axes) shape.insert(shape.begin(), 1);
  if (shape.size() != axes)
    throw FormatError(fmt::format("{} has shape ({}), expected {}", arrays.called(name),
                                  fmt::join(arrays.shape(name), ", "), expected));
  return shape;
}

class SoundDocuments : public Source {
 public:
  SoundDocuments(const std::filesystem::path& path, const Model& model, std::shared_ptr<const Tokenizer> tokenizer,
                 std::optional<Index> documents)
      : arrays_(open_stored_arrays(path)), tokenizer_(std::move(tokenizer)), positions_(model.longest) {
    const Index bins = model.stack.embedding.frames.bins();
    const Index frames = FrameStem::frames_per_position * positions_;
    const std::string expected = fmt::format("(documents, {} bins, {} frames)", bins, frames);
    const std::vector<Index> shape = shape_with_documents(*arrays_, features_name, 3, expected);
    if (shape[1] != bins || shape[2] != frames)
      throw FormatError(
          fmt::format("{} has {} bins and {} frames, the model reads {} and {}; make it with the "
                      "checkpoint's own feature extractor, which pads with silence",
                      arrays_->called(features_name), shape[1], shape[2], bins, frames));
    if (documents && *documents > shape[0])
      throw FormatError(fmt::format("{} holds {} documents, {} were asked for; say --documents {} or fewer",
                                    arrays_->called(features_name), shape[0], *documents, shape[0]));
    digests_ = DigestedFiles(arrays_->files());
    read_targets(documents.value_or(std::min(shape[0], usual_documents)), shape[0], model);
  }

  [[nodiscard]] Index count() const override { return static_cast<Index>(targets_.size()); }
  [[nodiscard]] Index length(Index i) const override {
    return std::max(positions_, static_cast<Index>(targets_[static_cast<std::size_t>(i)].size()));
  }

  [[nodiscard]] Document document(Index i) const override {
    Document document;
    document.name = fmt::format("{}, document {}", shown_path(arrays_->path().filename()), i);
    document.signal = frames_of(i);
    for (Index n = 0; n < positions_; ++n) {
      document.ids.push_back(static_cast<std::int32_t>(-1 - n));
      document.tokens.push_back(fmt::format("f{}", FrameStem::frames_per_position * n));
    }
    document.special.assign(document.ids.size(), 0);
    document.target.ids = targets_[static_cast<std::size_t>(i)];
    for (const std::int32_t id : document.target.ids) {
      if (!tokenizer_) break;
      const bool known = id < tokenizer_->vocabulary();
      document.target.tokens.push_back(known ? tokenizer_->token_text(id) : std::to_string(id));
      document.target.special.push_back(tokenizer_->is_special(id) ? 1 : 0);
    }
    return document;
  }

  [[nodiscard]] Attributes provenance() const override {
    Index longest = 0;
    for (Index i = 0; i < count(); ++i) longest = std::max(longest, length(i));
    return {{"source", std::string("sound")},   {"source_file", arrays_->path().string()},
            {"source_sha256", digests_.list()}, {"documents", std::int64_t{count()}},
            {"length", std::int64_t{longest}},  {"special_tokens", std::string("as in the ids")}};
  }

  void require_unchanged() const override { digests_.require_same(); }

 private:
  void read_targets(Index count, Index stored, const Model& model) {
    const std::vector<Index> shape = shape_with_documents(*arrays_, target_name, 2, "(documents, tokens)");
    if (shape[0] != stored)
      throw FormatError(
          fmt::format("{} holds {} documents, {} {}", arrays_->called(target_name), shape[0], features_name, stored));
    const std::vector<float> ids = arrays_->floats(target_name);
    const Index words = model.decoder->embedding.words.rows();
    for (Index i = 0; i < count; ++i) {
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

  /// (frames, bins)
  [[nodiscard]] Matrix32 frames_of(Index i) const {
    ArrayBlock block = whole_block(arrays_->shape(features_name));
    if (block.count.size() == 3) {
      block.first.front() = i;
      block.count.front() = 1;
    }
    const std::vector<float> numbers = arrays_->block(features_name, block);
    const Index bins = block.count[block.count.size() - 2];
    const Matrix32 spectrum = MatrixView32(numbers.data(), bins, block.count.back());
    if (!are_finite(spectrum))
      throw FormatError(fmt::format("{} document {} holds NaN or infinity; expected finite numbers",
                                    arrays_->called(features_name), i));
    return spectrum.transpose();
  }

  std::unique_ptr<StoredArrays> arrays_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  Index positions_;
  std::vector<std::vector<std::int32_t>> targets_;
  DigestedFiles digests_;
};

}  // namespace

std::unique_ptr<Source> sound_documents(const std::filesystem::path& path, const Model& model,
                                        std::shared_ptr<const Tokenizer> tokenizer, std::optional<Index> documents) {
  return std::make_unique<SoundDocuments>(path, model, std::move(tokenizer), documents);
}

}  // namespace headwave
