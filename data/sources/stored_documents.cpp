#include "stored_documents.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../arrays/safetensors_file.h"
#include "../files/digest.h"
#include "../files/printable.h"
#include "distinct_documents.h"
#include "document_arrays.h"
#include "name_pattern.h"

namespace headwave {

namespace {

/// How finished attention is stored, and what that does to it.
std::string stored_type_text(const std::string& type) {
  if (type == "float16") return type + ": weights are rounded to 11 bits";
  if (type == "bfloat16") return type + ": weights are rounded to 8 bits";
  return type == "float32" ? type : type + ", read as float32";
}

/// Of a document among others: it can be read at all.
void read_one_entry(const StoredArrays& arrays, const StoredPart& part, Index document) {
  ArrayBlock block = whole_block(arrays.shape(part.name));
  std::ranges::fill(block.count, 1);
  for (std::size_t a = 0; a < part.axes.size(); ++a) {
    if (part.axes[a] == StoredAxis::layer) block.first[a] = part.entry;
    if (part.axes[a] == StoredAxis::document) block.first[a] = document;
  }
  (void)arrays.block(part.name, block);
}

class StoredDocuments : public Source {
 public:
  StoredDocuments(std::shared_ptr<const StoredPlace> place, std::size_t layers, Index at_most, StatesChange change,
                  Index words)
      : place_(std::move(place)), layers_(layers), change_(std::move(change)), words_(words) {
    find_documents();
    const auto stored = static_cast<Index>(documents_.size());
    if (at_most > stored)
      throw FormatError(fmt::format("{}: holds {} documents, {} were asked for; say --documents {} or fewer",
                                    shown_path(place_->path()), stored, at_most, stored));
    if (at_most > 0) documents_.resize(static_cast<std::size_t>(at_most));
    if (apart()) return;
    tokens_ = texts(place_->contents().tokens, place_->arrays(), "");
    require_each(place_->contents().tokens, tokens_.size(), documents_.front().length, stored);
    const std::vector<std::string> names = texts(place_->contents().document_name, place_->arrays(), "");
    require_each(place_->contents().document_name, names.size(), 1, stored);
    for (std::size_t i = 0; i < documents_.size() && !names.empty(); ++i) documents_[i].name = names[i];
  }

  [[nodiscard]] Index count() const override { return static_cast<Index>(documents_.size()); }
  [[nodiscard]] Index length(Index i) const override { return at(i).length; }

  [[nodiscard]] Document document(Index i) const override {
    const DocumentPlace& place = at(i);
    const auto [arrays, contents] = place_->opened(static_cast<std::size_t>(i));
    Document document;
    document.name = place.name;
    for (const StoredLayerParts& layer : std::span(contents.layers).first(layers_)) {
      StoredLayer stored;
      stored.layer = layer.layer;
      if (layer.states) {
        stored.states = document_matrix(*arrays, *layer.states, place);
        if (change_)
          change_(stored.states, layer.layer,
                  fmt::format("{} document {}", arrays->called(name_of_document(layer.states->name, place.text)), i));
      }
      if (layer.queries) stored.query = document_matrix(*arrays, *layer.queries, place);
      if (layer.keys) stored.key = document_matrix(*arrays, *layer.keys, place);
      if (layer.attention) stored.attention = document_attention(arrays, *layer.attention, place, i);
      document.stored.push_back(std::move(stored));
    }
    constexpr Index counted = 16777216;  // as far as float32 counts
    const Index last = (words_ > 0 ? std::min(words_, counted) : counted) - 1;
    document.ids = whole_numbers<std::int32_t>(contents.ids, *arrays, place, static_cast<float>(last));
    document.special = whole_numbers<std::uint8_t>(contents.special, *arrays, place, 1);
    document.tokens = apart() ? texts(contents.tokens, *arrays, place.text) : part_of(tokens_, place);
    if (apart()) require_each(contents.tokens, document.tokens.size(), place.length, 1);
    if (apart() && !contents.tokens.empty() && document.tokens.empty())
      throw FormatError(no_such_array(*arrays, name_of_document(contents.tokens, place.text), "tokens"));
    refuse_padding(*arrays, contents.attention_mask, place, i);
    return document;
  }

  /// Digest of the first layer: what tells most documents apart, without the others.
  [[nodiscard]] std::string quick_look(Index i) const {
    const DocumentPlace& place = at(i);
    const auto [arrays, contents] = place_->opened(static_cast<std::size_t>(i));
    const StoredLayerParts& layer = contents.layers.front();
    Sha256 digest;
    const auto add = [&](const Matrix32& matrix) {
      digest.add(
          {reinterpret_cast<const char*>(matrix.data()), static_cast<std::size_t>(matrix.size()) * sizeof(float)});
    };
    for (const std::optional<StoredPart>* part : {&layer.states, &layer.queries, &layer.keys})
      if (*part) add(document_matrix(*arrays, **part, place));
    if (layer.attention)
      add(document_attention(arrays, *layer.attention, place, i).rows(0, std::min<Index>(16, place.length)));
    return digest.hexadecimal();
  }

  [[nodiscard]] Attributes provenance() const override {
    Index longest = 0;
    for (const DocumentPlace& document : documents_) longest = std::max(longest, document.length);
    const std::optional<StoredPart>& attention = place_->contents().layers.front().attention;
    Attributes provenance{{"source", std::string(attention ? "stored attention" : "stored states")},
                          {"source_file", place_->path().string()},
                          {"documents", static_cast<std::int64_t>(documents_.size())},
                          {"length", static_cast<std::int64_t>(longest)},
                          {"stored_layers", layers_text(stored_layers())},
                          {"special_tokens", std::string(place_->contents().special.empty()
                                                             ? "not known: the file has no marks of them (special)"
                                                             : "marked in the file (special)")}};
    // A sealed file that is damaged is refused here.
    std::call_once(digested_, [&] { digests_ = DigestedFiles(place_->files()); });
    if (!digests_.list().empty()) provenance["source_sha256"] = digests_.list();
    for (const auto& [name, noted] : place_->arrays().captured()) provenance[fmt::format("captured_{}", name)] = noted;
    if (attention)
      provenance["stored_type"] =
          stored_type_text(place_->arrays().type(name_of_document(attention->name, documents_.front().text)));
    return provenance;
  }

  void require_unchanged() const override { digests_.require_same(); }

 private:
  [[nodiscard]] std::vector<Index> stored_layers() const {
    std::vector<Index> numbers;
    for (const StoredLayerParts& layer : std::span(place_->contents().layers).first(layers_))
      numbers.push_back(layer.layer);
    return numbers;
  }
  [[nodiscard]] const DocumentPlace& at(Index i) const { return documents_[static_cast<std::size_t>(i)]; }
  /// Whether each document has arrays of its own.
  [[nodiscard]] bool apart() const {
    return !place_->document_files().empty() || !place_->contents().documents.empty();
  }

  void find_documents() {
    const auto& files = place_->document_files();
    const auto& texts = place_->contents().documents;
    Index heads = 0;  // of the first
    for (std::size_t i = 0; i < std::max(files.size(), texts.size()); ++i) {
      const std::string text = texts.empty() ? "" : texts[i];
      const auto [arrays, contents] = place_->opened(i);
      const StoredPart& first = *contents.layers.front().parts().front();
      const StoredExtent extent = stored_extent(*arrays, first, text);
      if (extent.documents != 1)
        throw FormatError(fmt::format("{} holds {} documents, expected one: each has arrays of its own",
                                      arrays->called(name_of_document(first.name, text)), extent.documents));
      if (i == 0) heads = extent.heads;
      if (extent.heads != heads)
        throw FormatError(fmt::format("{} has {} heads, expected {} as the first document has",
                                      arrays->called(name_of_document(first.name, text)), extent.heads, heads));
      documents_.push_back({text, 0, extent.length, texts.empty() ? files[i].filename().string() : text});
    }
    if (apart()) return;
    const auto layers = std::span(place_->contents().layers).first(layers_);
    const StoredPart& first = *layers.front().parts().front();
    const StoredExtent all = place_->extent(first);
    for (const StoredLayerParts& layer : layers)
      for (const StoredPart* part : layer.parts()) {
        const StoredExtent extent = place_->extent(*part);
        if (extent.documents != all.documents || extent.length != all.length)
          throw FormatError(fmt::format("{} holds {} documents of {} tokens, another layer {} of {}; expected the same",
                                        place_->called(*part), extent.documents, extent.length, all.documents,
                                        all.length));
      }
    require_shape(place_->contents().ids, all);
    require_shape(place_->contents().special, all);
    // Or documents would be listed that the file has no room for.
    read_one_entry(place_->arrays(), first, all.documents - 1);
    for (Index i = 0; i < all.documents; ++i)
      documents_.push_back({"", i, all.length, fmt::format("{}, document {}", place_->path().filename().string(), i)});
  }

  /// (T) or (documents, T)
  void require_shape(const std::string& name, const StoredExtent& all) const {
    if (name.empty()) return;
    const std::vector<Index> shape = place_->arrays().shape(name);
    if (shape != std::vector<Index>{all.length} && shape != std::vector<Index>{all.documents, all.length})
      throw FormatError(fmt::format("{} has shape {}, expected one entry per token: ({}) or ({}, {})",
                                    place_->arrays().called(name), shape_text(shape), all.length, all.documents,
                                    all.length));
  }

  /// @param entries  of a document
  void require_each(const std::string& name, std::size_t came, Index entries, Index documents) const {
    const auto one = static_cast<std::size_t>(entries), all = one * static_cast<std::size_t>(documents);
    if (came != 0 && came != all && (entries == 1 || came != one))
      throw FormatError(fmt::format("{}: '{}' has {} entries, expected one per {}", shown_path(place_->path()), name,
                                    came, entries == 1 ? "document" : "token"));
  }

  static std::vector<std::string> texts(const std::string& name, const StoredArrays& arrays, const std::string& text) {
    return name.empty() ? std::vector<std::string>{} : arrays.texts(name_of_document(name, text));
  }

  /// One number for every token; nothing where there is no such array.
  template <class Number>
  [[nodiscard]] std::vector<Number> whole_numbers(const std::string& pattern, const StoredArrays& arrays,
                                                  const DocumentPlace& place, float most) const {
    std::vector<Number> numbers;
    const std::string name = name_of_document(pattern, place.text);
    if (name.empty()) return numbers;
    if (!arrays.has(name)) throw FormatError(no_such_array(arrays, name, "every token"));
    ArrayBlock block = whole_block(arrays.shape(name));
    if (block.count.size() == 2 && !apart()) block = {{place.row, 0}, {1, block.count[1]}};
    for (const float value : arrays.block(name, block)) {
      if (!(value >= 0 && value <= most) || std::floor(value) != value)
        throw FormatError(fmt::format("{} holds {:.8g}, expected whole numbers from 0 to {:.0f}{}", arrays.called(name),
                                      value, most,
                                      pattern == place_->contents().ids && words_ > 0 ? ", the model's words" : ""));
      numbers.push_back(static_cast<Number>(value));
    }
    require_each(name, numbers.size(), place.length, 1);
    return numbers;
  }

  /// @param pattern  of a mask; one that is not of tokens alone says nothing of padding
  void refuse_padding(const StoredArrays& arrays, const std::string& pattern, const DocumentPlace& place,
                      Index document) const {
    if (pattern.empty() || arrays.shape(pattern).size() > 2) return;
    const auto mask = whole_numbers<std::uint8_t>(pattern, arrays, place, 1);
    if (const auto padding = std::ranges::find(mask, 0); padding != mask.end())
      throw FormatError(
          fmt::format("{} is 0 at token {} of document {}: padding would count as tokens here; store documents of "
                      "different lengths "
                      "in arrays or files of their own, without padding",
                      arrays.called(pattern), padding - mask.begin(), document));
  }

  /// Of one document; all share a list that is as long as one.
  static std::vector<std::string> part_of(const std::vector<std::string>& all, const DocumentPlace& place) {
    if (all.empty()) return {};
    const Index first = static_cast<Index>(all.size()) > place.length ? place.row * place.length : 0;
    return {all.begin() + first, all.begin() + first + place.length};
  }

  std::shared_ptr<const StoredPlace> place_;
  std::size_t layers_;  // how many of the place's are wanted
  StatesChange change_;
  Index words_;  // that the model knows
  mutable std::once_flag digested_;
  mutable DigestedFiles digests_;  // of files that may be large: taken once before they are read, and once after
  std::vector<DocumentPlace> documents_;
  std::vector<std::string> tokens_;
};

}  // namespace

std::string at_layer(const char* what, Index layer) {
  return fmt::format("{}/layer_{}", what, layer);
}

std::string layers_text(const std::vector<Index>& layers) {
  std::string text;
  for (std::size_t i = 0; i < layers.size();) {
    std::size_t last = i;
    while (last + 1 < layers.size() && layers[last + 1] == layers[last] + 1) ++last;
    text += fmt::format("{}{}", i == 0 ? "" : ", ", layers[i]);
    if (last > i) text += fmt::format("-{}", layers[last]);
    i = last + 1;
  }
  return text;
}

std::unique_ptr<Source> stored_documents(std::shared_ptr<const StoredPlace> place, std::size_t layers, Index at_most,
                                         StatesChange change, Index words) {
  auto documents = std::make_unique<StoredDocuments>(std::move(place), layers, at_most, std::move(change), words);
  const StoredDocuments& stored = *documents;
  return distinct_documents(std::move(documents), [&stored](Index i) { return stored.quick_look(i); });
}

}  // namespace headwave
