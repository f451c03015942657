#include "state_writer.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/digest.h"
#include "../files/printable.h"
#include "../files/replaced_file.h"
#include "../hdf5/hdf5_file.h"
#include "../hdf5/hdf5_handle.h"
#include "../results/hdf5_output.h"
#include "stored_states.h"

namespace headwave {

namespace {

constexpr float largest_half = 65504;

std::vector<std::string> parts_of(const StateLayout& layout) {
  std::vector<std::string> parts;
  if (layout.states) parts.emplace_back("hidden_states");
  if (layout.projections) parts.insert(parts.end(), {"queries", "keys"});
  return parts;
}

const Matrix32& part_of(const StoredLayer& layer, const std::string& what) {
  return what == "hidden_states" ? layer.states : what == "queries" ? layer.query : layer.key;
}

}  // namespace

struct StateWriter::File {
  File(const std::filesystem::path& path, const BlockSpec& spec, const StateLayout& how)
      : replaced(path), block(spec), layout(how), parts(parts_of(how)) {
    if (layout.layers.empty() || parts.empty())
      throw ShapeError(
          fmt::format("{}: nothing is to be stored, of {} layers", shown_path(path), layout.layers.size()));
  }
  ~File() {
    // The library crashes when it closes what it could not write, so the file is abandoned and removed.
    if (handle.valid()) abandon();
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void abandon() {
    for (auto& [name, rows] : datasets) rows.abandon();
    handle.abandon();
  }

  void begin(const Document& document);
  void begin_rows(const std::string& path, const std::vector<Index>& entry, RowType type);
  void append(const Document& document);
  void require_like_first(const Document& document) const;
  void require_whole(const Document& document);
  void require_values(const StoredLayer& layer, const std::string& what, const Document& document);

  ReplacedFile replaced;
  BlockSpec block;
  StateLayout layout;
  std::vector<std::string> parts;
  Index length = 0, documents = 0;
  std::map<std::string, Index> widths;
  Hdf5Handle handle;
  std::vector<std::pair<std::string, Hdf5Handle>> datasets;  // by path, in the order in which they are filled
};

void StateWriter::File::begin_rows(const std::string& path, const std::vector<Index>& entry, RowType type) {
  datasets.emplace_back(path, new_hdf5_rows(handle.id(), path, entry, type, layout.packing));
}

void StateWriter::File::begin(const Document& document) {
  length = document.length();
  handle = new_hdf5_file(replaced.temporary());
  for (const std::string& part : parts) {
    Hdf5Handle group = new_hdf5_group(handle.id(), part);
    finish_hdf5(group, part);
    for (const StoredLayer& layer : document.stored)
      begin_rows(at_layer(part, layer.layer), {length, part_of(layer, part).cols()},
                 layout.half ? RowType::float16 : RowType::float32);
  }
  if (!document.ids.empty()) begin_rows("ids", {length}, RowType::id);
  if (!document.special.empty()) begin_rows("special", {length}, RowType::flag);
  if (!document.tokens.empty()) begin_rows("tokens", {length}, RowType::text);
  if (!document.name.empty()) begin_rows("document_name", {}, RowType::text);
}

void StateWriter::File::require_like_first(const Document& document) const {
  if (document.length() != length)
    throw ShapeError(fmt::format(
        "{}: {} has {} tokens, the documents before it {}; a file holds documents of one length: cut them, or "
        "store those of another length in another file",
        shown_path(replaced.path()), printable(document.name), document.length(), length));
  bool same = document.stored.size() == layout.layers.size();
  for (std::size_t l = 0; same && l < layout.layers.size(); ++l) same = document.stored[l].layer == layout.layers[l];
  if (!same)
    throw ShapeError(fmt::format("{}: {} came with {} layers; expected the {} that are to be stored",
                                 shown_path(replaced.path()), printable(document.name), document.stored.size(),
                                 layout.layers.size()));
}

void StateWriter::File::require_values(const StoredLayer& layer, const std::string& what, const Document& document) {
  const Matrix32& values = part_of(layer, what);
  const std::string name = at_layer(what, layer.layer);
  const Index width = widths.try_emplace(name, values.cols()).first->second;
  if (values.rows() != length || values.cols() != width || width == 0)
    throw ShapeError(fmt::format("{}: {} of {} are {} x {}, expected {} x {}", shown_path(replaced.path()), name,
                                 printable(document.name), values.rows(), values.cols(), length, width));
  const float most = values.cwiseAbs().maxCoeff();
  if (!are_finite(values))
    throw NumericError(
        fmt::format("{}: {} of {} hold a number that is not finite; look for NaN or huge values in the "
                    "model's weights",
                    shown_path(replaced.path()), name, printable(document.name)));
  if (layout.half && most > largest_half)
    throw NumericError(fmt::format("{}: {} of {} hold {:g}; float16 ends at 65504: store float32",
                                   shown_path(replaced.path()), name, printable(document.name), most));
}

/// Refuses a document before any part of it is written.
void StateWriter::File::require_whole(const Document& document) {
  require_like_first(document);
  const auto require_each = [&](const char* name, std::size_t came) {
    const bool first_had = std::ranges::any_of(datasets, [&](const auto& rows) { return rows.first == name; });
    if (first_had && came != static_cast<std::size_t>(length))
      throw ShapeError(fmt::format("{}: {} has {} {}, the documents before it one for every token",
                                   shown_path(replaced.path()), printable(document.name), came, name));
  };
  require_each("ids", document.ids.size());
  require_each("special", document.special.size());
  require_each("tokens", document.tokens.size());
  for (const std::string& part : parts)
    for (const StoredLayer& layer : document.stored) require_values(layer, part, document);
}

void StateWriter::File::append(const Document& document) {
  const Hdf5Session session;
  if (!handle.valid()) begin(document);
  require_whole(document);
  std::size_t at = 0;
  for (const std::string& part : parts)
    for (const StoredLayer& layer : document.stored) {
      const auto& [path, rows] = datasets[at++];
      append_hdf5_row(rows, path, part_of(layer, part).data());
    }
  for (; at < datasets.size(); ++at) {
    const auto& [path, rows] = datasets[at];
    if (path == "ids") append_hdf5_row(rows, path, document.ids.data());
    if (path == "special") append_hdf5_row(rows, path, document.special.data());
    if (path == "tokens") append_hdf5_row(rows, path, Hdf5Texts(document.tokens).data());
    if (path == "document_name") append_hdf5_row(rows, path, Hdf5Texts({document.name}).data());
  }
  ++documents;
}

StateWriter::StateWriter(const std::filesystem::path& path, const BlockSpec& block, const StateLayout& layout)
    : file_(std::make_unique<File>(path, block, layout)) {}

StateWriter::~StateWriter() {
  const Hdf5Session session;
  file_.reset();
}

void StateWriter::append(const Document& document) {
  try {
    file_->append(document);
  } catch (const IoError& problem) {
    throw IoError(fmt::format("{}: {}", shown_path(file_->replaced.path()), problem.finding()), problem.remedies());
  }
}

void StateWriter::finish(const Attributes& provenance) {
  File& file = *file_;
  if (file.documents == 0)
    throw ShapeError(fmt::format("{}: no document came to be stored", shown_path(file.replaced.path())));
  try {
    const Hdf5Session session;
    for (auto& [path, rows] : file.datasets) finish_hdf5(rows, path);
    const hid_t root = file.handle.id();
    write_hdf5_attribute(root, "title", std::string(stored_states_title));
    write_hdf5_attribute(root, "num_heads", static_cast<std::int64_t>(file.block.heads));
    write_hdf5_attribute(root, "head_dim", static_cast<std::int64_t>(file.block.d_head));
    write_hdf5_attribute(root, "causal", static_cast<std::int64_t>(file.block.causal ? 1 : 0));
    write_hdf5_attribute(root, "score_scale", file.block.score_scale);
    if (file.block.window > 0) write_hdf5_attribute(root, "window", static_cast<std::int64_t>(file.block.window));
    if (file.layout.projections) write_hdf5_attribute(root, "turned", std::int64_t{1});
    Hdf5Handle group = new_hdf5_group(root, "provenance");
    for (const auto& [name, value] : provenance) write_hdf5_attribute(group.id(), name, value);
    finish_hdf5(group, "provenance");
    demand_hdf5(H5Fflush(root, H5F_SCOPE_LOCAL) >= 0, "/");
    write_hdf5_attribute(root, "complete", std::int64_t{1});
    finish_hdf5(file.handle, "/");
    file.replaced.seal();
  } catch (const IoError& problem) {
    throw IoError(fmt::format("{}: {}", shown_path(file.replaced.path()), problem.finding()), problem.remedies());
  }
  file.replaced.commit();
}

}  // namespace headwave
