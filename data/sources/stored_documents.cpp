#include "stored_documents.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "../../core/model/model.h"
#include "../../core/numbers/error.h"
#include "../arrays/safetensors_file.h"
#include "../files/digest.h"

namespace headwave {

namespace {

class StoredDocuments : public Source {
 public:
  StoredDocuments(std::shared_ptr<const StoredArrays> arrays, std::vector<StoredLayerNames> layers, Index at_most)
      : arrays_(std::move(arrays)), layers_(std::move(layers)) {
    bool first = true;
    for (const StoredLayerNames& layer : layers_)
      for (const char* what : {"hidden_states", "queries", "keys"}) {
        if (std::string(what) == "hidden_states" ? !layer.states : !layer.projected) continue;
        StoredExtent extent = stored_extent(*arrays_, at_layer(what, layer.layer));
        extent.width = 0;
        if (first) extent_ = extent;
        if (extent != extent_)
          throw FormatError(fmt::format("{} holds {} documents of {} tokens, another layer {} of {}; expected the same",
                                        arrays_->called(at_layer(what, layer.layer)), extent.documents, extent.length,
                                        extent_.documents, extent_.length));
        first = false;
      }
    stored_ = extent_.documents;
    if (at_most > extent_.documents)
      throw FormatError(fmt::format("{}: holds {} documents, {} were asked for; say --documents {} or fewer",
                                    arrays_->path().string(), extent_.documents, at_most, extent_.documents));
    if (at_most > 0) extent_.documents = at_most;
    tokens_ = arrays_->texts("tokens");
    names_ = arrays_->texts("document_name");
    ids_ = whole_numbers<std::int32_t>("ids", 16777215);  // as far as float32 counts
    special_ = whole_numbers<std::uint8_t>("special", 1);
    require_each("tokens", tokens_.size(), extent_.length);
    require_each("ids", ids_.size(), extent_.length);
    require_each("special", special_.size(), extent_.length);
    require_each("document_name", names_.size(), 1);
  }

  [[nodiscard]] Index count() const override { return extent_.documents; }
  [[nodiscard]] Index length(Index /*i*/) const override { return extent_.length; }

  [[nodiscard]] Document document(Index i) const override {
    Document document;
    document.name = names_.empty() ? fmt::format("{}, document {}", arrays_->path().filename().string(), i)
                                   : names_[static_cast<std::size_t>(i)];
    for (const StoredLayerNames& layer : layers_) {
      StoredLayer stored;
      stored.layer = layer.layer;
      if (layer.states) stored.states = matrix(at_layer("hidden_states", layer.layer), i);
      if (layer.projected) {
        stored.query = matrix(at_layer("queries", layer.layer), i);
        stored.key = matrix(at_layer("keys", layer.layer), i);
      }
      document.stored.push_back(std::move(stored));
    }
    document.tokens = part_of(tokens_, i);
    document.ids = part_of(ids_, i);
    document.special = part_of(special_, i);
    return document;
  }

  [[nodiscard]] Attributes provenance() const override {
    return {{"source", std::string("stored states")},
            {"source_file", arrays_->path().string()},
            {"source_sha256", sha256_list(arrays_->files())},
            {"documents", static_cast<std::int64_t>(extent_.documents)},
            {"length", static_cast<std::int64_t>(extent_.length)},
            {"special_tokens", std::string(special_.empty() ? "not known: the file has no marks of them (special)"
                                                            : "marked in the file (special)")}};
  }

 private:
  /// One number for every token; nothing where there is no such array.
  template <class Number>
  [[nodiscard]] std::vector<Number> whole_numbers(const std::string& name, float most) const {
    std::vector<Number> numbers;
    if (!arrays_->has(name)) return numbers;
    for (const float value : arrays_->read(name).values) {
      if (!(value >= 0 && value <= most) || std::floor(value) != value)
        throw FormatError(
            fmt::format("{} holds {:g}, expected whole numbers from 0 to {:.0f}", arrays_->called(name), value, most));
      numbers.push_back(static_cast<Number>(value));
    }
    return numbers;
  }

  /// @param entries  of a document
  void require_each(const char* name, std::size_t came, Index entries) const {
    const auto one = static_cast<std::size_t>(entries), all = one * static_cast<std::size_t>(stored_);
    if (came != 0 && came != all && (entries == 1 || came != one))
      throw FormatError(fmt::format("{}: '{}' has {} entries, expected one per {}", arrays_->path().string(), name,
                                    came, entries == 1 ? "document" : "token"));
  }

  /// Of document i; all documents share a list that is as long as one.
  template <class Entry>
  [[nodiscard]] std::vector<Entry> part_of(const std::vector<Entry>& all, Index i) const {
    if (all.empty()) return {};
    const Index first = static_cast<Index>(all.size()) > extent_.length ? i * extent_.length : 0;
    return {all.begin() + first, all.begin() + first + extent_.length};
  }

  [[nodiscard]] Matrix32 matrix(const std::string& name, Index i) const {
    const StoredArray array = extent_.single ? arrays_->read(name) : arrays_->read(name, i, 1);
    const MatrixView32 view(array.values.data(), extent_.length, array.shape.back());
    if (view.allFinite()) return view;
    throw FormatError(
        fmt::format("{} document {} holds NaN or infinite values; expected finite states", arrays_->called(name), i));
  }

  std::shared_ptr<const StoredArrays> arrays_;
  std::vector<StoredLayerNames> layers_;
  StoredExtent extent_;
  Index stored_ = 0;
  std::vector<std::string> tokens_, names_;
  std::vector<std::int32_t> ids_;
  std::vector<std::uint8_t> special_;
};

}  // namespace

std::string at_layer(const char* what, Index layer) {
  return fmt::format("{}/layer_{}", what, layer);
}

StoredExtent stored_extent(const StoredArrays& arrays, const std::string& name) {
  const std::vector<Index> shape = arrays.shape(name);
  StoredExtent extent;
  if (shape.size() == 2) extent = {1, shape[0], shape[1], true};
  if (shape.size() == 3) extent = {shape[0], shape[1], shape[2], false};
  if (extent.documents < 1 || extent.length < 1 || extent.width < 1)
    throw FormatError(fmt::format("{} has shape {}, expected (documents, T, width) or (T, width), none of them 0",
                                  arrays.called(name), shape_text(shape)));
  return extent;
}

std::vector<StoredLayerNames> stored_layers(const StoredArrays& arrays) {
  std::vector<StoredLayerNames> layers;
  for (Index layer = 0; layer < most_layers; ++layer) {
    const bool states = arrays.has(at_layer("hidden_states", layer));
    const bool query = arrays.has(at_layer("queries", layer)), key = arrays.has(at_layer("keys", layer));
    if (query != key)
      throw FormatError(fmt::format("{}: of layer {} only the {} are stored; expected both or neither",
                                    arrays.path().string(), layer, query ? "queries" : "keys"));
    if (states || query) layers.push_back({layer, states, query});
  }
  if (layers.empty())
    throw FormatError(fmt::format(
        "{}: neither 'hidden_states/layer_L' nor 'queries/layer_L' and 'keys/layer_L' found; docs/conventions.md "
        "shows what stored states look like",
        arrays.path().string()));
  return layers;
}

std::unique_ptr<Source> stored_documents(std::shared_ptr<const StoredArrays> arrays,
                                         std::vector<StoredLayerNames> layers, Index at_most) {
  return std::make_unique<StoredDocuments>(std::move(arrays), std::move(layers), at_most);
}

}  // namespace headwave
