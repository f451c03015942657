#include "state_documents.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../arrays/safetensors.h"
#include "../files/digest.h"
#include "../files/printable.h"
#include "distinct_documents.h"
#include "found_arrays.h"

namespace headwave {

namespace {

namespace fs = std::filesystem;

ArrayExtent extent_of(const NamedArrays& arrays, const LayerArray& part, const DocumentPlace& place) {
  const ArrayExtent extent = array_extent(arrays, part, place.text);
  if (extent.length != place.length || place.row >= extent.documents)
    throw FormatError(fmt::format("{} holds {} documents of {} tokens, another layer {} of {}; expected the same",
                                  arrays.called(name_of_document(part.name, place.text)), extent.documents,
                                  extent.length, place.row + 1, place.length));
  return extent;
}

/// One document's entries of an array, of one layer.
ArrayBlock document_block(const LayerArray& part, const DocumentPlace& place, const std::vector<Index>& shape) {
  ArrayBlock block = whole_block(shape);
  for (std::size_t a = 0; a < part.axes.size(); ++a) {
    if (part.axes[a] != ArrayAxis::document && part.axes[a] != ArrayAxis::layer) continue;
    block.first[a] = part.axes[a] == ArrayAxis::layer ? part.entry : place.row;
    block.count[a] = 1;
  }
  return block;
}

/// The entries of a block by head, whatever the order of its axes.
class HeadEntries {
 public:
  HeadEntries(const NamedArrays& arrays, const std::string& name, const LayerArray& part, const ArrayBlock& block)
      : values_(arrays.block(name, block)) {
    count_.fill(1);
    Index step = 1;
    for (std::size_t a = part.axes.size(); a-- > 0; step *= block.count[a]) {
      stride_[at(part.axes[a])] = step;
      count_[at(part.axes[a])] = block.count[a];
    }
  }

  [[nodiscard]] Index count(ArrayAxis axis) const { return count_[at(axis)]; }

  /// Copies a head's entries to a matrix.
  /// @param into  part of a row-major matrix
  template <class Part>
  void place(Index head, ArrayAxis rows, ArrayAxis columns, Part&& into) const {
    const float* first = values_.data() + static_cast<std::ptrdiff_t>(head * stride_[at(ArrayAxis::head)]);
    const Index row = stride_[at(rows)], column = stride_[at(columns)];
    if (column == 1)
      into = Eigen::Map<const Matrix32, Eigen::Unaligned, Eigen::OuterStride<>>(first, count(rows), count(columns),
                                                                                Eigen::OuterStride<>(row));
    else
      into = Eigen::Map<const Matrix32, Eigen::Unaligned, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>(
          first, count(rows), count(columns), {row, column});
  }

 private:
  static std::size_t at(ArrayAxis axis) { return static_cast<std::size_t>(axis); }

  std::vector<float> values_;
  std::array<Index, array_axis_kinds> stride_{}, count_{};
};

/// "first at token 5, in 12 of 512 tokens"
std::string not_finite_rows(const Matrix32& matrix) {
  Index first = -1, count = 0;
  for (Index i = 0; i < matrix.rows(); ++i) {
    if (are_finite(matrix.row(i))) continue;
    if (count++ == 0) first = i;
  }
  return fmt::format("first at token {}, in {} of {} tokens", first, count, matrix.rows());
}

/// How finished attention is stored, and how it is rounded.
std::string stored_type_text(const std::string& type) {
  if (type == "float16") return type + ": weights are rounded to 11 bits";
  if (type == "bfloat16") return type + ": weights are rounded to 8 bits";
  return type == "float32" ? type : type + ", read as float32";
}

/// Reads one entry of a document, to see that it is there.
void read_one_entry(const NamedArrays& arrays, const LayerArray& part, Index document) {
  ArrayBlock block = whole_block(arrays.shape(part.name));
  std::ranges::fill(block.count, 1);
  for (std::size_t a = 0; a < part.axes.size(); ++a) {
    if (part.axes[a] == ArrayAxis::layer) block.first[a] = part.entry;
    if (part.axes[a] == ArrayAxis::document) block.first[a] = document;
  }
  (void)arrays.block(part.name, block);
}

class StateDocuments : public Source {
 public:
  StateDocuments(std::shared_ptr<const StateFiles> files, std::size_t layers, Index at_most, StatesChange change,
                 Index words)
      : files_(std::move(files)), layers_(layers), change_(std::move(change)), words_(words) {
    find_documents();
    const auto stored = static_cast<Index>(documents_.size());
    if (at_most > stored)
      throw FormatError(
          fmt::format("{}: holds {} documents, {} were asked for", shown_path(files_->path()), stored, at_most),
          give("documents", fmt::format("{} or fewer", stored)));
    if (at_most > 0) documents_.resize(static_cast<std::size_t>(at_most));
    if (apart()) return;
    tokens_ = texts(files_->contents().tokens, files_->arrays(), "");
    require_each(files_->contents().tokens, tokens_.size(), documents_.front().length, stored);
    const std::vector<std::string> names = texts(files_->contents().document_name, files_->arrays(), "");
    require_each(files_->contents().document_name, names.size(), 1, stored);
    for (std::size_t i = 0; i < documents_.size() && !names.empty(); ++i) documents_[i].name = names[i];
  }

  [[nodiscard]] Index count() const override { return static_cast<Index>(documents_.size()); }
  [[nodiscard]] Index length(Index i) const override { return at(i).length; }

  [[nodiscard]] Document document(Index i) const override {
    const DocumentPlace& place = at(i);
    const std::shared_ptr<const NamedArrays> arrays = files_->shared_arrays();
    const FoundArrays& contents = files_->contents();
    Document document;
    document.name = place.name;
    for (const FoundLayer& layer : std::span(contents.layers).first(layers_)) {
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

  [[nodiscard]] Attributes provenance() const override {
    Index longest = 0;
    for (const DocumentPlace& document : documents_) longest = std::max(longest, document.length);
    const std::optional<LayerArray>& attention = files_->contents().layers.front().attention;
    Attributes provenance{{"source", std::string(attention ? "stored attention" : "stored states")},
                          {"source_file", files_->path().string()},
                          {"documents", static_cast<std::int64_t>(documents_.size())},
                          {"length", static_cast<std::int64_t>(longest)},
                          {"stored_layers", layers_text(stored_layers())},
                          {"special_tokens", std::string(files_->contents().special.empty()
                                                             ? "not known: the file has no marks of them (special)"
                                                             : "marked in the file (special)")}};
    // A sealed file that is damaged is refused here.
    std::call_once(digested_, [&] { digests_ = sha256_list(files_->arrays().files()); });
    if (!digests_.empty()) provenance["source_sha256"] = digests_;
    if (attention)
      provenance["stored_type"] =
          stored_type_text(files_->arrays().type(name_of_document(attention->name, documents_.front().text)));
    return provenance;
  }

 private:
  [[nodiscard]] std::vector<Index> stored_layers() const {
    std::vector<Index> numbers;
    for (const FoundLayer& layer : std::span(files_->contents().layers).first(layers_)) numbers.push_back(layer.layer);
    return numbers;
  }
  [[nodiscard]] const DocumentPlace& at(Index i) const { return documents_[static_cast<std::size_t>(i)]; }
  /// Whether each document has arrays of its own.
  [[nodiscard]] bool apart() const { return !files_->contents().documents.empty(); }

  void find_documents() {
    const LayerArray& one = *files_->contents().layers.front().parts().front();
    Index heads = 0;  // of the first
    for (const std::string& text : files_->contents().documents) {
      const ArrayExtent extent = array_extent(files_->arrays(), one, text);
      const std::string called = files_->arrays().called(name_of_document(one.name, text));
      if (extent.documents != 1)
        throw FormatError(
            fmt::format("{} holds {} documents, expected one: each has arrays of its own", called, extent.documents));
      if (documents_.empty()) heads = extent.heads;
      if (extent.heads != heads)
        throw FormatError(
            fmt::format("{} has {} heads, expected {} as the first document has", called, extent.heads, heads));
      documents_.push_back({text, 0, extent.length, text});
    }
    if (apart()) return;
    const auto layers = std::span(files_->contents().layers).first(layers_);
    const ArrayExtent all = files_->extent(one);
    for (const FoundLayer& layer : layers)
      for (const LayerArray* part : layer.parts()) {
        const ArrayExtent extent = files_->extent(*part);
        if (extent.documents != all.documents || extent.length != all.length)
          throw FormatError(fmt::format("{} holds {} documents of {} tokens, another layer {} of {}; expected the same",
                                        files_->called(*part), extent.documents, extent.length, all.documents,
                                        all.length));
      }
    require_shape(files_->contents().ids, all);
    require_shape(files_->contents().special, all);
    // A file that is too short for its documents is refused now.
    read_one_entry(files_->arrays(), one, all.documents - 1);
    for (Index i = 0; i < all.documents; ++i)
      documents_.push_back({"", i, all.length, fmt::format("{}, document {}", files_->path().filename().string(), i)});
  }

  /// (T) or (documents, T)
  void require_shape(const std::string& name, const ArrayExtent& all) const {
    if (name.empty()) return;
    const std::vector<Index> shape = files_->arrays().shape(name);
    if (shape != std::vector<Index>{all.length} && shape != std::vector<Index>{all.documents, all.length})
      throw FormatError(fmt::format("{} has shape {}, expected one entry per token: ({}) or ({}, {})",
                                    files_->arrays().called(name), shape_text(shape), all.length, all.documents,
                                    all.length));
  }

  /// Refuses an array that has neither the entries of one document nor those of all.
  /// @param entries  of a document
  void require_each(const std::string& name, std::size_t came, Index entries, Index documents) const {
    const auto one = static_cast<std::size_t>(entries), all = one * static_cast<std::size_t>(documents);
    if (came != 0 && came != all && (entries == 1 || came != one))
      throw FormatError(fmt::format("{}: '{}' has {} entries, expected one per {}", shown_path(files_->path()), name,
                                    came, entries == 1 ? "document" : "token"));
  }

  static std::vector<std::string> texts(const std::string& name, const NamedArrays& arrays, const std::string& text) {
    return name.empty() ? std::vector<std::string>{} : arrays.texts(name_of_document(name, text));
  }

  /// One number for every token; nothing where there is no such array.
  template <class Number>
  [[nodiscard]] std::vector<Number> whole_numbers(const std::string& pattern, const NamedArrays& arrays,
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
                                      pattern == files_->contents().ids && words_ > 0 ? ", the model's words" : ""));
      numbers.push_back(static_cast<Number>(value));
    }
    require_each(name, numbers.size(), place.length, 1);
    return numbers;
  }

  /// @param pattern  of a mask; one with more axes than documents and tokens says nothing of padding
  void refuse_padding(const NamedArrays& arrays, const std::string& pattern, const DocumentPlace& place,
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

  /// A document's part of a list; a list that is as long as one document is shared by all.
  static std::vector<std::string> part_of(const std::vector<std::string>& all, const DocumentPlace& place) {
    if (all.empty()) return {};
    const Index first = static_cast<Index>(all.size()) > place.length ? place.row * place.length : 0;
    return {all.begin() + first, all.begin() + first + place.length};
  }

  std::shared_ptr<const StateFiles> files_;
  std::size_t layers_;  // the first so many are wanted
  StatesChange change_;
  Index words_;  // that the model knows
  mutable std::once_flag digested_;
  mutable std::string digests_;  // of files that may be large: taken once
  std::vector<DocumentPlace> documents_;
  std::vector<std::string> tokens_;
};

}  // namespace

StateFiles::StateFiles(const ArraysPlace& at, const ArraySearch& search)
    : path_(at.path), arrays_(at.arrays ? at.arrays : open_arrays(at.path)) {
  contents_ = find_arrays(*arrays_, search);
  facts_ = attention_facts(*arrays_);
}

ArrayExtent StateFiles::extent(const LayerArray& part) const {
  return array_extent(*arrays_, part, contents_.documents.empty() ? "" : contents_.documents.front());
}

std::string StateFiles::called(const LayerArray& part) const {
  return arrays_->called(name_of_document(part.name, contents_.documents.empty() ? "" : contents_.documents.front()));
}

Matrix32 document_matrix(const NamedArrays& arrays, const LayerArray& part, const DocumentPlace& place) {
  const std::string name = name_of_document(part.name, place.text);
  const ArrayExtent extent = extent_of(arrays, part, place);
  const HeadEntries entries(arrays, name, part, document_block(part, place, arrays.shape(name)));
  const Index width = entries.count(ArrayAxis::width);
  Matrix32 matrix(extent.length, extent.width);
  for (Index head = 0; head < entries.count(ArrayAxis::head); ++head)
    entries.place(head, ArrayAxis::token, ArrayAxis::width, matrix.middleCols(head * width, width));
  if (!are_finite(matrix))
    throw FormatError(fmt::format(
        "{} document {}{} holds NaN or infinite values, {}; expected finite states", arrays.called(name), place.row,
        part.entry < 0 ? "" : fmt::format(", entry {} of its layers,", part.entry), not_finite_rows(matrix)));
  return matrix;
}

FinishedAttention document_attention(std::shared_ptr<const NamedArrays> arrays, const LayerArray& part,
                                     const DocumentPlace& place, Index number) {
  const std::string name = name_of_document(part.name, place.text);
  FinishedAttention attention;
  attention.heads = extent_of(*arrays, part, place).width;
  attention.length = place.length;
  attention.called = fmt::format("{} document {}", arrays->called(name), number);
  const ArrayBlock all = document_block(part, place, arrays->shape(name));
  const auto query = static_cast<std::size_t>(std::ranges::find(part.axes, ArrayAxis::query) - part.axes.begin());
  attention.rows = [arrays = std::move(arrays), part, name, all, query](Index first, Index count) {
    ArrayBlock block = all;
    block.first[query] = first;
    block.count[query] = count;
    const HeadEntries entries(*arrays, name, part, block);
    const Index heads = entries.count(ArrayAxis::head);
    Matrix32 rows(heads * count, entries.count(ArrayAxis::key));
    for (Index head = 0; head < heads; ++head)
      entries.place(head, ArrayAxis::query, ArrayAxis::key, rows.middleRows(head * count, count));
    return rows;
  };
  return attention;
}

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

std::unique_ptr<Source> state_documents(std::shared_ptr<const StateFiles> files, std::size_t layers, Index at_most,
                                        StatesChange change, Index words) {
  const StateDocuments first_layers(files, 1, at_most, {}, words);
  auto documents = std::make_unique<StateDocuments>(std::move(files), layers, at_most, std::move(change), words);
  return distinct_documents(std::move(documents), &first_layers);
}

}  // namespace headwave
