#include "stored_states.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "../../core/attention/document.h"
#include "../../core/attention/finished_attention.h"
#include "../../core/errors/error.h"
#include "../../core/model/intervention.h"
#include "../../core/model/layer.h"
#include "../files/digest.h"
#include "../files/printable.h"
#include "distinct_documents.h"

namespace headwave {

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

namespace {

/// A number that may stand beside the arrays, and the condition that it must meet.
struct StatedNumber {
  const char* name;
  bool (*is_sound)(double number);
  const char* expected;
};

bool is_count(double number) {
  return number >= 1 && number <= 1e6 && number == std::floor(number);
}

bool is_flag(double number) {
  return number == 0 || number == 1;
}

constexpr auto stated_numbers = std::to_array<StatedNumber>({
    {"num_heads", is_count, "a whole number of at least 1"},
    {"head_dim", is_count, "a whole number of at least 1"},
    {"window", is_count, "a whole number of at least 1"},
    {"causal", is_flag, "0 or 1"},
    {"turned", is_flag, "0 or 1"},
    {"score_scale", [](double number) { return number > 0; }, "a number above 0"},
});

/// Arrays of a file, a folder or memory, together with their meaning.
class StateFiles {
 public:
  StateFiles(const ArraysPlace& at, const StoredStatesOptions& options)
      : arrays(at.arrays ? at.arrays : open_arrays(at.path)), contents(find_arrays(*arrays, options)) {
    for (const auto& [name, is_sound, expected] : stated_numbers) {
      const std::optional<double> number = arrays->number(name);
      if (number && !is_sound(*number))
        throw FormatError(fmt::format("{}: attribute '{}' is {:g}, expected {}", path(), name, *number, expected));
      if (number) stated_[name] = *number;
    }
    if (const Index heads = stated("num_heads", 0); options.heads > 0 && heads > 0 && heads != options.heads)
      throw ShapeError(fmt::format("{}: num_heads is {}, but {} heads were given; expected the same, or one of them",
                                   path(), heads, options.heads),
                       omit("head_count"));
    digests = sha256_list(arrays->files());  // refuses a damaged file that has a seal
  }

  /// The path as messages show it.
  [[nodiscard]] std::string path() const { return shown_path(arrays->path()); }
  /// A number beside the arrays, or `otherwise` if it is missing.
  template <class Number>
  [[nodiscard]] Number stated(const char* name, Number otherwise) const {
    const auto found = stated_.find(name);
    return found == stated_.end() ? otherwise : static_cast<Number>(found->second);
  }
  [[nodiscard]] bool states(const char* name) const { return stated_.contains(name); }
  /// The sizes of an array of all documents, or of the first document's array.
  [[nodiscard]] ArrayExtent extent(const LayerArray& part) const { return part.extent(*arrays, first_document()); }
  /// "s.h5: 'hidden_states/layer_0'"
  [[nodiscard]] std::string called(const LayerArray& part) const {
    return arrays->called(of_document(part.name, first_document()));
  }
  [[nodiscard]] bool is_attention() const { return contents.layers.front().attention.has_value(); }
  /// The number of heads of finished attention, from its first layer.
  [[nodiscard]] Index attention_heads() const { return extent(*contents.layers.front().attention).width; }

  std::shared_ptr<const NamedArrays> arrays;
  FoundArrays contents;
  std::string digests;  ///< of the files; empty for arrays in memory

 private:
  [[nodiscard]] std::string first_document() const {
    return contents.documents.empty() ? "" : contents.documents.front();
  }

  std::map<std::string, double> stated_;
};

/// Where a document lies in the arrays of its file.
struct DocumentPlace {
  std::string text;  // the value of {document}
  Index row = 0;     // along the axis of documents
  Index length = 0;
  std::string name;
};

/// Changes states as they are read: normalises them, or refuses them.
/// @param called  name of the states in messages
using StatesChange = std::function<void(Matrix32& states, Index layer, const std::string& called)>;

/// Requires that an array has as many documents and tokens as the others.
void require_extent(const std::string& called, const ArrayExtent& extent, Index documents, Index length) {
  if (extent.documents != documents || extent.length != length)
    throw FormatError(
        fmt::format("{} holds {} documents of {} tokens, but another layer {} of {} tokens; expected the same", called,
                    extent.documents, extent.length, documents, length));
}

/// The block of one document in an array of one layer.
ArrayBlock document_block(const LayerArray& part, const DocumentPlace& place, const std::vector<Index>& shape) {
  ArrayBlock block = whole_block(shape);
  for (std::size_t a = 0; a < part.axes.size(); ++a) {
    if (part.axes[a] != ArrayAxis::document && part.axes[a] != ArrayAxis::layer) continue;
    block.first[a] = part.axes[a] == ArrayAxis::layer ? part.entry : place.row;
    block.count[a] = 1;
  }
  return block;
}

/// A block's numbers, in any order of axes, as one matrix for each head: side by side, (rows, heads *
/// columns), or stacked, (heads * rows, columns).
Matrix32 by_head(const NamedArrays& arrays, const std::string& name, const LayerArray& part, const ArrayBlock& block,
                 std::pair<ArrayAxis, ArrayAxis> axes, bool side_by_side) {
  const std::vector<float> values = arrays.block(name, block);
  struct Steps {
    Index count = 1, step = 0;
  } heads, rows, columns;
  Index step = 1;
  for (std::size_t a = part.axes.size(); a-- > 0; step *= block.count[a]) {
    if (part.axes[a] == ArrayAxis::head) heads = {block.count[a], step};
    if (part.axes[a] == axes.first) rows = {block.count[a], step};
    if (part.axes[a] == axes.second) columns = {block.count[a], step};
  }
  Matrix32 matrix(side_by_side ? rows.count : heads.count * rows.count,
                  side_by_side ? heads.count * columns.count : columns.count);
  for (Index head = 0; head < heads.count; ++head)
    for (Index row = 0; row < rows.count; ++row) {
      const float* from = values.data() + head * heads.step + row * rows.step;
      float* into = matrix.data() + (side_by_side ? row * heads.count + head : head * rows.count + row) * columns.count;
      if (columns.step == 1)
        std::copy_n(from, columns.count, into);
      else
        for (Index column = 0; column < columns.count; ++column) into[column] = from[column * columns.step];
    }
  return matrix;
}

/// One document's array of one layer as (T, width), the heads side by side.
/// @throws FormatError if it holds NaN or infinity
Matrix32 document_matrix(const NamedArrays& arrays, const LayerArray& part, const DocumentPlace& place) {
  const std::string name = of_document(part.name, place.text);
  Matrix32 matrix = by_head(arrays, name, part, document_block(part, place, arrays.shape(name)),
                            {ArrayAxis::token, ArrayAxis::width}, true);
  if (are_finite(matrix)) return matrix;
  Index first = 0;
  while (are_finite(matrix.row(first))) ++first;
  throw FormatError(fmt::format(
      "{} document {}{} holds NaN or infinite values, first at token {}; expected finite states", arrays.called(name),
      place.row, part.entry < 0 ? "" : fmt::format(", entry {} of its layers,", part.entry), first));
}

/// One document's finished attention of one layer. Rows are read on request.
/// @param number  number of the document in its source, for messages
FinishedAttention document_attention(std::shared_ptr<const NamedArrays> arrays, const LayerArray& part,
                                     const DocumentPlace& place, Index number) {
  const std::string name = of_document(part.name, place.text);
  FinishedAttention attention;
  attention.heads = part.extent(*arrays, place.text).width;
  attention.length = place.length;
  attention.called = fmt::format("{} document {}", arrays->called(name), number);
  const ArrayBlock all = document_block(part, place, arrays->shape(name));
  const auto query = static_cast<std::size_t>(std::ranges::find(part.axes, ArrayAxis::query) - part.axes.begin());
  attention.rows = [arrays = std::move(arrays), part, name, all, query](Index first, Index count) {
    ArrayBlock block = all;
    block.first[query] = first;
    block.count[query] = count;
    return by_head(*arrays, name, part, block, {ArrayAxis::query, ArrayAxis::key}, false);
  };
  return attention;
}

/// Documents of stored states, queries and keys, or attention. Their arrays are read on request.
class StateDocuments : public Source {
 public:
  /// @param layers   how many of the stored layers are wanted, counted from the first
  /// @param at_most  read only the first documents, which must exist; 0: all
  /// @param change   may be empty
  /// @param words    size of the model's vocabulary, which ids must stay below; 0: unknown
  StateDocuments(std::shared_ptr<const StateFiles> files, std::size_t layers, Index at_most, StatesChange change,
                 Index words)
      : files_(std::move(files)), layers_(layers), change_(std::move(change)), words_(words) {
    contents().documents.empty() ? find_rows() : find_apart();
    const auto stored = static_cast<Index>(documents_.size());
    if (at_most > stored)
      throw FormatError(fmt::format("{}: holds {} documents, but {} are requested", files_->path(), stored, at_most),
                        give("documents", fmt::format("{} or fewer", stored)));
    if (at_most > 0) documents_.resize(static_cast<std::size_t>(at_most));
  }

  [[nodiscard]] Index count() const override { return static_cast<Index>(documents_.size()); }
  [[nodiscard]] Index length(Index i) const override { return at(i).length; }

  [[nodiscard]] Document document(Index i) const override {
    const DocumentPlace& place = at(i);
    const NamedArrays& arrays = *files_->arrays;
    Document document;
    document.name = place.name;
    for (const FoundLayer& layer : wanted_layers()) {
      for (const LayerArray* part : layer.parts())
        if (!place.text.empty())
          require_extent(arrays.called(of_document(part->name, place.text)), part->extent(arrays, place.text), 1,
                         place.length);
      StoredLayer stored;
      stored.layer = layer.layer;
      if (layer.states) stored.states = document_matrix(arrays, *layer.states, place);
      if (layer.states && change_)
        change_(stored.states, layer.layer,
                fmt::format("{} document {}", arrays.called(of_document(layer.states->name, place.text)), i));
      if (layer.queries) stored.query = document_matrix(arrays, *layer.queries, place);
      if (layer.keys) stored.key = document_matrix(arrays, *layer.keys, place);
      if (layer.attention) stored.attention = document_attention(files_->arrays, *layer.attention, place, i);
      document.stored.push_back(std::move(stored));
    }
    constexpr Index counted = 16777216;  // float32 counts exactly up to here
    const Index last = (words_ > 0 ? std::min(words_, counted) : counted) - 1;
    document.ids = whole_numbers<std::int32_t>(contents().ids, place, last);
    document.special = whole_numbers<std::uint8_t>(contents().special, place, 1);
    document.tokens = tokens_of(place);
    refuse_padding(place, i);
    return document;
  }

  [[nodiscard]] Attributes provenance() const override {
    Index longest = 0;
    for (const DocumentPlace& document : documents_) longest = std::max(longest, document.length);
    std::vector<Index> numbers;
    for (const FoundLayer& layer : wanted_layers()) numbers.push_back(layer.layer);
    const std::optional<LayerArray>& attention = contents().layers.front().attention;
    Attributes provenance{
        {"source", std::string(attention ? "stored attention" : "stored states")},
        {"source_file", files_->arrays->path().string()},
        {"documents", static_cast<std::int64_t>(documents_.size())},
        {"length", static_cast<std::int64_t>(longest)},
        {"stored_layers", layers_text(numbers)},
        {"special_tokens", std::string(contents().special.empty() ? "not known: the file has no marks of them (special)"
                                                                  : "marked in the file (special)")}};
    if (!files_->digests.empty()) provenance["source_sha256"] = files_->digests;
    if (attention)
      provenance["stored_type"] = files_->arrays->type(of_document(attention->name, documents_.front().text));
    return provenance;
  }

 private:
  [[nodiscard]] const FoundArrays& contents() const { return files_->contents; }
  [[nodiscard]] std::span<const FoundLayer> wanted_layers() const {
    return std::span(contents().layers).first(layers_);
  }
  [[nodiscard]] const DocumentPlace& at(Index i) const { return documents_[static_cast<std::size_t>(i)]; }

  /// Fills the documents if each has its own arrays.
  void find_apart() {
    const LayerArray& one = *contents().layers.front().parts().front();
    for (const std::string& text : contents().documents) {
      const ArrayExtent extent = one.extent(*files_->arrays, text);
      if (extent.documents != 1)
        throw FormatError(fmt::format("{} holds {} documents, expected one document per array",
                                      files_->arrays->called(of_document(one.name, text)), extent.documents));
      documents_.push_back({text, 0, extent.length, text});
    }
  }

  /// Fills the documents if they are entries of shared arrays.
  void find_rows() {
    const ArrayExtent all = files_->extent(*contents().layers.front().parts().front());
    for (const FoundLayer& layer : wanted_layers())
      for (const LayerArray* part : layer.parts())
        require_extent(files_->called(*part), files_->extent(*part), all.documents, all.length);
    for (const std::string& name : {contents().ids, contents().special, contents().tokens}) {
      if (name.empty()) continue;
      const std::vector<Index>& shape = files_->arrays->shape(name);
      if (shape != std::vector<Index>{all.length} && shape != std::vector<Index>{all.documents, all.length})
        throw FormatError(fmt::format("{} has shape {}, expected one entry per token: ({}) or ({}, {})",
                                      files_->arrays->called(name), shape_text(shape), all.length, all.documents,
                                      all.length));
    }
    // A damaged file may promise more documents than fit in memory: read one entry before making a list.
    const std::string& first = contents().layers.front().parts().front()->name;
    ArrayBlock entry = whole_block(files_->arrays->shape(first));
    std::ranges::fill(entry.count, 1);
    (void)files_->arrays->block(first, entry);
    const std::string& names = contents().document_name;
    std::vector<std::string> named;
    if (!names.empty()) named = files_->arrays->texts(names);
    require_each(names, named.size(), names.empty() ? 0 : all.documents, "document");
    for (Index i = 0; i < all.documents; ++i)
      documents_.push_back({"", i, all.length,
                            named.empty()
                                ? fmt::format("{}, document {}", files_->arrays->path().filename().string(), i)
                                : named[static_cast<std::size_t>(i)]});
    if (!contents().tokens.empty()) tokens_ = files_->arrays->texts(contents().tokens);
  }

  void require_each(const std::string& name, std::size_t came, Index expected, const char* what) const {
    if (came != static_cast<std::size_t>(expected))
      throw FormatError(fmt::format("{} has {} entries, expected {}, one per {}", files_->arrays->called(name), came,
                                    expected, what));
  }

  /// The texts of a document's tokens. A list as long as one document is shared by all.
  [[nodiscard]] std::vector<std::string> tokens_of(const DocumentPlace& place) const {
    if (contents().tokens.empty()) return {};
    if (contents().documents.empty()) {
      const Index first = std::ssize(tokens_) > place.length ? place.row * place.length : 0;
      return {tokens_.begin() + first, tokens_.begin() + first + place.length};
    }
    const std::string name = of_document(contents().tokens, place.text);
    (void)files_->arrays->shape(name);  // refuses a missing name
    std::vector<std::string> texts = files_->arrays->texts(name);
    require_each(name, texts.size(), place.length, "token");
    return texts;
  }

  /// One number per token; empty if there is no such array.
  template <class Number>
  [[nodiscard]] std::vector<Number> whole_numbers(const std::string& pattern, const DocumentPlace& place,
                                                  Index most) const {
    std::vector<Number> numbers;
    if (pattern.empty()) return numbers;
    const NamedArrays& arrays = *files_->arrays;
    const std::string name = of_document(pattern, place.text);
    ArrayBlock block = whole_block(arrays.shape(name));
    if (block.count.size() == 2 && contents().documents.empty()) block = {{place.row, 0}, {1, block.count[1]}};
    for (const float value : arrays.block(name, block)) {
      if (!(value >= 0 && value <= static_cast<float>(most)) || std::floor(value) != value)
        throw FormatError(fmt::format("{} holds {:.8g}, expected whole numbers from 0 to {}{}", arrays.called(name),
                                      value, most,
                                      pattern == contents().ids && words_ > 0 ? ", the model's token ids" : ""));
      numbers.push_back(static_cast<Number>(value));
    }
    require_each(name, numbers.size(), place.length, "token");
    return numbers;
  }

  /// Refuses a mask with zeros. A mask with more axes than documents and tokens does not describe padding.
  void refuse_padding(const DocumentPlace& place, Index document) const {
    const std::string& pattern = contents().attention_mask;
    if (pattern.empty() || files_->arrays->shape(of_document(pattern, place.text)).size() > 2) return;
    const auto mask = whole_numbers<std::uint8_t>(pattern, place, 1);
    if (const auto padding = std::ranges::find(mask, 0); padding != mask.end())
      throw FormatError(
          fmt::format("{} is 0 at token {} of document {}: padding would count as tokens here; store documents of "
                      "different lengths in arrays or files of their own, without padding",
                      files_->arrays->called(pattern), padding - mask.begin(), document));
  }

  std::shared_ptr<const StateFiles> files_;
  std::size_t layers_;
  StatesChange change_;
  Index words_;
  std::vector<DocumentPlace> documents_;
  std::vector<std::string> tokens_;
};

/// Documents, of which equal ones count once. For that the first layer of each document is read.
std::unique_ptr<Source> state_documents(const std::shared_ptr<const StateFiles>& files, std::size_t layers,
                                        Index at_most, StatesChange change = {}, Index words = 0) {
  const StateDocuments first_layers(files, 1, at_most, {}, words);
  return distinct_documents(std::make_unique<StateDocuments>(files, layers, at_most, std::move(change), words),
                            &first_layers);
}

/// Refuses attributes that differ from the model's, since the states would be of another model.
/// @throws ShapeError if they differ
void require_same_attention(const StateFiles& files, const BlockSpec& spec) {
  for (const auto& [name, model] : {std::pair("num_heads", static_cast<double>(spec.heads)),
                                    {"head_dim", static_cast<double>(spec.d_head)},
                                    {"causal", spec.causal ? 1.0 : 0.0},
                                    {"window", static_cast<double>(spec.window)},
                                    {"score_scale", spec.score_scale}})
    // Attributes are often float32, with seven digits.
    if (const double said = files.stated(name, model); std::abs(said - model) > 1e-6 * std::abs(model))
      throw ShapeError(
          fmt::format("{}: attribute '{}' is {:g}, but the model's is {:g}; are the states from this model?",
                      files.path(), name, said, model));
}

/// Whether the rows of stored attention only look back.
bool is_causal(const Source& documents) {
  for (Index i = 0; i < documents.count(); ++i)
    if (documents.length(i) > 1) return looks_only_back(documents.document(i).stored.front().attention);
  return false;
}

/// What is known of the model behind finished attention: numbers of layers and heads, window, and whether it
/// is causal. If the file does not say that, the first rows of the first document with two tokens or more do.
/// @param heads  as asked for; 0: as the file says
/// @throws ShapeError if another number of heads was given
Model attention_model(const StateFiles& files, const Source& documents, Index heads) {
  Model model;
  model.family = "stored attention";
  model.stack.blocks.resize(static_cast<std::size_t>(files.contents.layers.back().layer + 1));
  BlockSpec& block = model.stack.block;
  block.heads = block.kv_heads = files.attention_heads();
  for (const auto& [said, name] :
       {std::pair(heads, "head_count"), {files.stated("num_heads", Index{0}), "num_heads in the file"}})
    if (said > 0 && said != block.heads)
      throw ShapeError(fmt::format("{}: the stored attention weights have {} heads, but {} is {}", files.path(),
                                   block.heads, name, said));
  block.causal = files.states("causal") ? files.stated("causal", false) : is_causal(documents);
  block.window = files.stated("window", Index{0});
  return model;
}

/// Refuses finished attention that the model cannot have computed.
/// @throws ShapeError if the model has other heads or fewer layers, or is an encoder-decoder
void require_attention_of(const Model& model, const StateFiles& files) {
  if (model.decoder)
    throw ShapeError(fmt::format("{}: a {} is an encoder-decoder: whether this attention is the encoder's, the "
                                 "decoder's or cross-attention is unknown",
                                 files.path(), model.family),
                     omit("model"));
  if (const Index heads = files.attention_heads(); heads != model.stack.block.heads)
    throw ShapeError(
        fmt::format("{}: the stored attention weights have {} heads, but the model has {}; are they from this model?",
                    files.path(), heads, model.stack.block.heads));
  if (const Index last = files.contents.layers.back().layer; last >= model.stack.layers())
    throw ShapeError(
        fmt::format("{}: holds attention of layer {}, but the model has the layers 0 to {}; is it from this model?",
                    files.path(), last, model.stack.layers() - 1));
}

/// A projection stored beside the states, as (out, in).
/// @param model  keeps its memory
Linear projection(const NamedArrays& arrays, const std::string& name, Index d_model, ChangedModel& model) {
  const std::vector<Index>& shape = arrays.shape(name);
  if (shape.size() != 2 || shape[0] != d_model)
    throw FormatError(
        fmt::format("{} has shape {}, expected (d_model, heads * d_head), where d_model is {} as in the states",
                    arrays.called(name), shape_text(shape), d_model));
  const std::vector<float> weight = arrays.floats(name);
  Linear linear{model.kept(Matrix32(MatrixView32(weight.data(), shape[0], shape[1]).transpose())), {}};
  if (!arrays.has(name + "_bias")) return linear;
  const std::vector<float> bias = arrays.floats(name + "_bias");
  if (std::ssize(bias) != shape[1])
    throw FormatError(fmt::format("{} has {} entries, expected {}, one per column of its weights",
                                  arrays.called(name + "_bias"), bias.size(), shape[1]));
  linear.bias = model.kept(Vector32(VectorView32(bias.data(), shape[1])));
  return linear;
}

/// The number of key heads. It equals the number of query heads, or divides it.
Index key_heads(const StateFiles& files, const BlockSpec& block, Index key_width) {
  const Index kv_heads = key_width / block.d_head;
  if (key_width % block.d_head != 0 || kv_heads < 1 || block.heads % kv_heads != 0)
    throw FormatError(
        fmt::format("{}: the keys have width {}, but the queries have {} heads of width {}; expected key heads of this "
                    "width, as many as query heads or a divisor of them",
                    files.path(), key_width, block.heads, block.d_head));
  return kv_heads;
}

/// The size of the queries' axis of heads; 0: there is none.
/// @throws ShapeError if there are more heads than tokens, since the axes may be in another order
Index heads_along(const StateFiles& files) {
  const std::optional<LayerArray>& queries = files.contents.layers.front().queries;
  if (!queries) return 0;
  const ArrayExtent extent = files.extent(*queries);
  if (extent.heads > extent.length)
    throw ShapeError(fmt::format("{} would have more heads ({}) than tokens ({}) if its axes are ({})",
                                 files.called(*queries), extent.heads, extent.length, axes_text(queries->axes)),
                     give("head_count", std::to_string(extent.heads), "if this is right"));
  return extent.heads;
}

/// Requires that every axis of heads has as many heads as attention.
/// @param kv_heads  0: not known yet
void require_heads(const StateFiles& files, std::span<const FoundLayer> layers, Index heads, Index kv_heads) {
  for (const FoundLayer& layer : layers)
    for (const auto& [part, expected] : {std::pair(&layer.queries, heads), std::pair(&layer.keys, kv_heads)})
      if (const Index came = *part ? files.extent(**part).heads : 0; came > 0 && expected > 0 && came != expected)
        throw ShapeError(
            fmt::format("{} has {} heads along its axes ({}), expected {} (as given, as num_heads of the file, or the "
                        "model's); are the axes in that order?",
                        files.called(**part), came, axes_text((*part)->axes), expected));
}

/// The name of a layer's weights: "weights/layer_1/query", or "layer_1_query" in a folder.
std::string weights_name(const NamedArrays& arrays, Index layer, const char* which) {
  const std::string tree = fmt::format("weights/layer_{}/{}", layer, which);
  return arrays.has(tree) ? tree : fmt::format("layer_{}_{}", layer, which);
}

/// A model that only computes queries and keys of the stored layers.
Model model_beside(const StateFiles& files, Index asked_heads) {
  const NamedArrays& arrays = *files.arrays;
  const std::vector<FoundLayer>& layers = files.contents.layers;
  const Index given_heads = asked_heads > 0 ? asked_heads : files.stated("num_heads", Index{0});
  const Index heads = given_heads > 0 ? given_heads : heads_along(files);
  Model named;
  named.family = "stored states";
  ChangedModel model(named);
  Stack& stack = model.stack_of(AttentionKind::self);
  stack.blocks.resize(static_cast<std::size_t>(layers.back().layer + 1));
  Index width = 0, key_width = 0;
  for (const FoundLayer& layer : layers) {
    if (layer.queries) {
      width = files.extent(*layer.queries).width;
      key_width = files.extent(*layer.keys).width;
      continue;
    }
    const Index d_model = files.extent(*layer.states).width;
    AttentionWeights& self = stack.blocks[static_cast<std::size_t>(layer.layer)].self;
    const std::string query = weights_name(arrays, layer.layer, "query"),
                      key = weights_name(arrays, layer.layer, "key");
    if (!arrays.has(query) || !arrays.has(key))
      throw FormatError(
          fmt::format("{}: neither queries and keys nor weights of layer {} are stored", files.path(), layer.layer),
          give("model", "DIR"));
    self.query = projection(arrays, query, d_model, model);
    self.key = projection(arrays, key, d_model, model);
    width = self.query.d_out();
    key_width = self.key.d_out();
  }
  if (heads < 1)
    throw ShapeError(
        fmt::format("{}: the number of heads is neither stored (attribute num_heads) nor given", files.path()),
        give("head_count", "N"));
  require_heads(files, layers, heads, 0);
  if (width % heads != 0)
    throw ShapeError(
        fmt::format("{}: queries of width {} cannot be divided into {} heads", files.path(), width, heads));
  BlockSpec& block = stack.block;
  block.heads = heads;
  block.d_head = width / heads;
  block.kv_heads = key_heads(files, block, key_width);
  require_heads(files, layers, heads, block.kv_heads);
  if (const Index said = files.stated("head_dim", block.d_head); said != block.d_head)
    throw ShapeError(
        fmt::format("{}: queries of width {} in {} heads have {} columns per head, but attribute 'head_dim' "
                    "is {}",
                    files.path(), width, heads, block.d_head, said));
  block.causal = files.stated("causal", false);
  block.window = files.stated("window", Index{0});
  block.score_scale = files.stated("score_scale", 1.0 / std::sqrt(static_cast<double>(block.d_head)));
  return model.taken();
}

/// The norm whose output a layer's projections read; empty: none.
Norm norm_entering(const Stack& stack, Index layer) {
  if (stack.block.norm_place != NormPlace::post) return stack.blocks[static_cast<std::size_t>(layer)].self_norm;
  if (layer > 0) return stack.blocks[static_cast<std::size_t>(layer) - 1].feed_forward_norm;
  return stack.embedding.projection.empty() ? stack.embedding.norm : Norm();
}

/// Requires that states are the norm's output or, if the norm is still to be applied, that they are not.
/// @throws FormatError otherwise
void require_kind(const Matrix32& states, const Norm& norm, Index layer, const std::string& called, bool raw,
                  bool post) {
  constexpr double enough = 0.95;
  const double share = share_from_norm(states, norm);
  if (raw && share > enough)
    throw FormatError(
        fmt::format("{} has already been normalised by the norm before layer {}'s attention", called, layer),
        omit("apply_norm"));
  if (raw || share >= enough) return;
  std::vector<Remedy> remedies{give("any_states", "", "to take states that were changed on purpose")};
  if (!post) remedies.insert(remedies.begin(), give("apply_norm", "", "if these are raw residual states"));
  throw FormatError(
      fmt::format("{} does not look normalised by the norm before layer {}'s attention: {} in {:.1f} % of the "
                  "rows, expected {:g} % or more{}",
                  called, layer,
                  norm.kind == NormKind::layer ? "(x - shift) / scale has mean 0 and variance 1"
                                               : "x / scale has mean square 1",
                  100 * share, 100 * enough, post ? "; are they of another layer, or from before the norm?" : ""),
      std::move(remedies));
}

/// Refuses states unlike a norm's output, or normalises raw states of a pre-norm model on request.
StatesChange norm_of(const Model& model, const StoredStatesOptions& options) {
  const bool post = model.stack.block.norm_place == NormPlace::post;
  if (post && options.apply_norm)
    throw ShapeError(
        fmt::format("a {} normalises after its layers, so there is no norm to apply before attention", model.family),
        omit("apply_norm"));
  std::vector<Norm> norms;
  for (Index layer = 0; layer < model.stack.layers(); ++layer) norms.push_back(norm_entering(model.stack, layer));
  return [storage = model.storage, norms, post, apply = options.apply_norm, any = options.any_states](
             Matrix32& states, Index layer, const std::string& called) {
    const Norm& norm = norms[static_cast<std::size_t>(layer)];
    if (norm.empty()) return;
    if (!any) require_kind(states, norm, layer, called, apply, post);
    if (apply) normalise(states, norm);
  };
}

/// The stored layers that enter a layer of the model. States after the last layer, which many programs store
/// too, do not.
/// @throws ShapeError if layers 1 to `count` are stored: they are probably numbered from 1
std::span<const FoundLayer> entering(const StateFiles& files, Index count) {
  const std::vector<FoundLayer>& layers = files.contents.layers;
  const bool one_more =
      layers.size() > 1 && layers.back().layer == count && layers.back().states && !layers.back().queries;
  if (one_more && layers.front().layer == 1 && static_cast<Index>(layers.size()) == count)
    throw ShapeError(fmt::format(
        "{}: holds states of layers 1 to {}, but the model has the layers 0 to {}; states after the last layer "
        "are accepted only beside those of layer 0; if the layers are numbered from 1, rename them",
        files.path(), count, count - 1));
  return std::span(layers).first(layers.size() - (one_more ? 1 : 0));
}

}  // namespace

StoredInput stored_states(const ArraysPlace& at, const StoredStatesOptions& options) {
  const auto files = std::make_shared<const StateFiles>(at, options);
  if (options.apply_norm)
    throw ShapeError(fmt::format("{}: applying the model's norm needs a model", files->path()),
                     {give("model", "DIR"), omit("apply_norm")});
  const std::size_t layers = files->contents.layers.size();
  if (files->is_attention()) {
    std::unique_ptr<Source> documents = state_documents(files, layers, options.documents);
    Model model = attention_model(*files, *documents, options.heads);
    return {std::move(model), std::move(documents)};
  }
  Model model = model_beside(*files, options.heads);
  return {std::move(model), state_documents(files, layers, options.documents)};
}

StoredInput stored_states(const ArraysPlace& at, Model model, const StoredStatesOptions& options) {
  const auto files = std::make_shared<const StateFiles>(at, options);
  const BlockSpec& block = model.stack.block;
  if (files->is_attention()) {
    if (options.apply_norm || options.any_states)
      throw ShapeError(fmt::format("{}: stored attention weights have no states to normalise", files->path()),
                       omit(options.apply_norm ? "apply_norm" : "any_states"));
    require_attention_of(model, *files);
    require_same_attention(*files, block);
    return {std::move(model), state_documents(files, files->contents.layers.size(), options.documents)};
  }
  model.decoder.reset();
  const auto layers = entering(*files, model.stack.layers());
  for (const FoundLayer& layer : layers) {
    if (!layer.queries && layer.layer >= model.stack.layers())
      throw ShapeError(
          fmt::format("{}: holds states that enter layer {}, but the model has the layers 0 to {}; are they from "
                      "this model?",
                      files->path(), layer.layer, model.stack.layers() - 1),
          give("axes", "AXES", "if the axes are in another order"));
    const Index width = layer.states ? files->extent(*layer.states).width : model.stack.d_model();
    if (width != model.stack.d_model())
      throw ShapeError(
          fmt::format("{}: states of layer {} have width {}, but the model's have {}; are they from this "
                      "model?",
                      files->path(), layer.layer, width, model.stack.d_model()));
  }
  require_same_attention(*files, block);
  require_heads(*files, layers, block.heads, block.kv_heads);
  if (model.stack.rotary() != nullptr && layers.front().queries && files->stated("turned", false))
    throw ShapeError(
        fmt::format(
            "{}: rotary positions have already turned its queries and keys (attribute 'turned'), and the model would "
            "turn them again",
            files->path()),
        omit("model"));
  StatesChange change = norm_of(model, options);
  const Index words = model.stack.embedding.words.rows();
  return {std::move(model), state_documents(files, layers.size(), options.documents, std::move(change), words)};
}

}  // namespace headwave
