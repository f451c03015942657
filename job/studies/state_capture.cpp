#include "state_capture.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../../core/model/model_pass.h"
#include "../../core/process/threads.h"
#include "../../data/files/digest.h"
#include "../../data/files/printable.h"
#include "../../data/files/replaced_file.h"
#include "../../data/sources/state_documents.h"

namespace headwave {

namespace fs = std::filesystem;

namespace {

/// No name that somebody else's file is likely to have: what has a number behind it is removed.
std::string part_prefix(const fs::path& file) {
  return file.filename().string() + ".unfinished.part";
}

fs::path part_of(const fs::path& file, std::size_t number) {
  return file.parent_path() / fmt::format("{}{}", part_prefix(file), number);
}

/// The documents of a part as they were captured.
std::unique_ptr<Source> documents_of(const fs::path& part, Index expected) {
  (void)sha256_of_file(part);  // compares its seal
  auto place = std::make_shared<const StateFiles>(part, ArraySearch());
  std::unique_ptr<Source> source = state_documents(place, place->contents().layers.size(), 0, {});
  if (source->count() != expected)
    throw FormatError(fmt::format("{}: holds {} documents, expected {}: it is not what the earlier run left",
                                  shown_path(part), source->count(), expected),
                      give("force", "", "in place of resume to begin anew"));
  return source;
}

}  // namespace

CapturedParts::CapturedParts(const fs::path& file, const BlockSpec& block, const StateLayout& layout, ResumeFile* kept)
    : file_(file), block_(block), layout_(layout), kept_(kept) {
  if (kept_ == nullptr) return;
  if (kept_->documents() == 0) {
    remove_captured_parts(file_);
    return;
  }
  ByteReader sums = kept_->sums();
  ends_ = sums.read<std::vector<Index>>();
  Index first = 0;
  for (std::size_t i = 0; i < ends_.size(); first = ends_[i++]) (void)documents_of(part_of(file_, i), ends_[i] - first);
  earlier_ = documents_ = kept_->documents();
}

StateWriter& CapturedParts::writer() {
  return writer_ ? *writer_ : writer_.emplace(file_, block_, layout_);
}

void CapturedParts::append(const Document& document, bool more) {
  writer().append(document);
  ++documents_;
  if (more && kept_ != nullptr && kept_->is_due()) keep();
}

void CapturedParts::keep() {
  writer().finish({}, part_of(file_, ends_.size()));
  writer_.reset();
  ends_.push_back(documents_);
  kept_->keep(documents_, [&](ByteWriter& sums) { sums.write(ends_); });
}

void CapturedParts::finish(const Attributes& provenance) {
  if (ends_.empty()) return writer().finish(provenance);
  if (writer_) keep();
  put_together(provenance);
  remove_all();
}

void CapturedParts::put_together(const Attributes& provenance) {
  std::uintmax_t bytes = 0;
  for (std::size_t i = 0; i < ends_.size(); ++i) bytes += fs::file_size(part_of(file_, i));
  const auto free = free_disk_space(file_.has_parent_path() ? file_.parent_path() : ".");
  if (free && bytes > *free)
    throw IoError(fmt::format("{}: putting its parts together takes {}, {} are free on its disk", shown_path(file_),
                              size_text(bytes), size_text(*free)),
                  give("resume", "", "once there is room"));
  Index first = 0;
  for (std::size_t i = 0; i < ends_.size(); first = ends_[i++]) {
    const std::unique_ptr<Source> source = documents_of(part_of(file_, i), ends_[i] - first);
    for (Index document = 0; document < source->count(); ++document) writer().append(source->document(document));
  }
  writer().finish(provenance);
}

void CapturedParts::remove_all() {
  writer_.reset();
  remove_captured_parts(file_);
  if (kept_ != nullptr) kept_->remove();
}

std::vector<fs::path> captured_parts(const fs::path& file) {
  const std::string prefix = part_prefix(file);
  std::vector<fs::path> parts;
  std::error_code ignored;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(file.has_parent_path() ? file.parent_path() : ".", ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && is_numbered_name(std::string_view(name).substr(prefix.size()), "#"))
      parts.push_back(entry.path());
  }
  return parts;
}

void remove_captured_parts(const fs::path& file) {
  std::error_code ignored;
  for (const fs::path& part : captured_parts(file)) fs::remove(part, ignored);
}

namespace {

/// Keeps what is to be stored of the layers that pass by.
class CaptureProbe : public Probe {
 public:
  CaptureProbe(const std::vector<Index>& layers, bool projections) : projections_(projections) {
    for (const Index layer : layers) stored_.push_back({layer, {}, {}, {}});
  }
  using Probe::see;
  [[nodiscard]] bool wants_projections() const override { return projections_; }
  void see(const LayerInput& input) override {
    if (StoredLayer* layer = projections_ ? nullptr : layer_of(input.layer)) layer->states = input.states;
  }
  void see(const LayerProjections& projections) override {
    StoredLayer* layer = layer_of(projections.layer);
    if (layer == nullptr) return;
    layer->query = projections.turned_query;
    layer->key = projections.turned_key;
  }
  void see(const Tile& /*tile*/) override {}
  [[nodiscard]] std::vector<StoredLayer> taken() { return std::move(stored_); }

 private:
  StoredLayer* layer_of(Index number) {
    const auto found = std::ranges::find(stored_, number, &StoredLayer::layer);
    return found == stored_.end() ? nullptr : &*found;
  }

  bool projections_;
  std::vector<StoredLayer> stored_;
};

/// Found out before the work, not within it.
void require_one_length(const Source& source) {
  for (Index i = 1; i < source.count(); ++i)
    if (source.length(i) != source.length(0))
      throw ShapeError(
          fmt::format("document {} has {} tokens, the first has {}; states are stored of documents of one length", i,
                      source.length(i), source.length(0)),
          give("length", "N", "to cut them"));
}

StateLayout layout_of(const Model& model, const CaptureOptions& options) {
  return {captured_layers(model, options), !options.projections, options.projections, options.half, options.packing};
}

void capture_documents(const Model& model, const Source& source, const StateLayout& layout, int threads,
                       CapturedParts& parts, const ProgressCallback& progress) {
  Index done = parts.earlier();
  const Index count = source.count();
  if (progress) progress({"attention", done, count});
  parallel_in_order(count - done, thread_count(threads), [&, first = done](Index i) -> std::function<void()> {
    auto document = std::make_shared<Document>(source.document(first + i));
    if (!document->stored.empty()) throw ShapeError("these are states already; give a text or token ids");
    CaptureProbe probe(layout.layers, layout.projections);
    std::array<Probe*, 1> probes{&probe};
    model_pass(model, *document, probes);
    document->stored = probe.taken();
    return [&, document] {
      parts.append(*document, ++done < count);
      if (progress) progress({"attention", done, count});
    };
  });
}

}  // namespace

std::vector<Index> captured_layers(const Model& model, const CaptureOptions& options) {
  std::vector<Index> layers = options.layers;
  if (layers.empty())
    for (Index layer = 0; layer < model.stack.layers(); ++layer) layers.push_back(layer);
  std::ranges::sort(layers);
  layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
  for (const Index layer : layers) {
    if (layer < 0 || layer >= model.stack.layers())
      throw ShapeError(
          fmt::format("there is no layer {}; the model has the layers 0 to {}", layer, model.stack.layers() - 1));
  }
  return layers;
}

std::int64_t capture_bytes(const Model& model, const Source& source, const CaptureOptions& options) {
  const BlockSpec& block = model.stack.block;
  const Index width = options.projections ? (block.heads + block.kv_heads) * block.d_head : model.stack.d_model();
  const auto layers = static_cast<Index>(captured_layers(model, options).size());
  Index tokens = 0;
  for (Index i = 0; i < source.count(); ++i) tokens += source.length(i);
  return tokens * layers * width * (options.half ? 2 : 4);
}

Attributes capture_provenance(const Model& model, const CaptureOptions& options) {
  return {{"stored", std::string(options.projections ? "queries and keys, as attention takes them"
                                                     : "hidden states: what enters each layer's projections")},
          {"stored_type", std::string(options.half ? "float16: computed in float32 and rounded" : "float32")},
          {"stored_layers", fmt::format("{}", fmt::join(captured_layers(model, options), ","))},
          {"stored_packing", static_cast<std::int64_t>(options.packing)}};
}

void capture_states(const Model& model, const Source& source, const std::filesystem::path& file,
                    const Attributes& provenance, const CaptureOptions& options, const ProgressCallback& progress,
                    ResumeFile* kept) {
  if (model.decoder)
    throw ShapeError(
        fmt::format("a {} is an encoder-decoder; states are stored of models that read one sequence", model.family));
  const PositionTerm& term = model.stack.position_term;
  if (options.projections && term && model.stack.rotary() == nullptr)
    throw ShapeError(
        fmt::format("a {} adds positions ({}) to its scores, which queries and keys do not hold; store its states",
                    model.family, term.name()));
  if (options.projections && (model.stack.block.soft_cap > 0 || !model.stack.others.layers.empty() ||
                              model.stack.has_sinks() || model.stack.block.chunk > 0))
    throw ShapeError(
        fmt::format("a {} caps scores, its heads have sinks, or its layers look differently far, which queries and "
                    "keys do not hold; "
                    "store its states",
                    model.family));
  require_one_length(source);
  const StateLayout layout = layout_of(model, options);
  CapturedParts parts(file, model.stack.block, layout, kept);
  try {
    capture_documents(model, source, layout, options.threads, parts, progress);
  } catch (const IoError&) {
    throw;
  } catch (const Error&) {
    parts.remove_all();
    throw;
  }
  Attributes whole = source.provenance();
  for (const Attributes& more : {provenance, capture_provenance(model, options)})
    whole.insert(more.begin(), more.end());
  parts.finish(whole);
}

void require_captured(const Model& model, const Source& source, const std::filesystem::path& file,
                      const CaptureOptions& options) {
  require_stored(file, layout_of(model, options), source.document(0), source.count());
}

}  // namespace headwave
