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

const Matrix32& part_of(const StoredLayer& layer, const std::string& what) {
  return what == "hidden_states" ? layer.states : what == "queries" ? layer.query : layer.key;
}

}  // namespace

struct StateWriter::File {
  File(const std::filesystem::path& path, const BlockSpec& spec, const StateLayout& how)
      : replaced(path), block(spec), layout(how) {
    if (how.projections) parts = {"queries", "keys"};
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
  void append(const Document& document);
  void require_whole(const Document& document) const;
  void require_values(const StoredLayer& layer, const std::string& what, const Document& document) const;

  ReplacedFile replaced;
  BlockSpec block;
  StateLayout layout;
  std::vector<std::string> parts{"hidden_states"};
  Index length = 0, documents = 0;
  std::map<std::string, Index> widths;  // of states, queries and keys
  Hdf5Handle handle;
  std::map<std::string, Hdf5Handle> datasets;  // by path
};

void StateWriter::File::begin(const Document& document) {
  if (document.stored.empty())
    throw ShapeError(
        fmt::format("{}: {} has no layers to be stored", shown_path(replaced.path()), printable(document.name)));
  length = document.length();
  handle = new_hdf5_file(replaced.temporary());
  const auto add = [&](const std::string& path, const std::vector<Index>& entry, RowType type) {
    datasets.emplace(path, new_hdf5_rows(handle.id(), path, entry, type, layout.packing));
  };
  for (const std::string& part : parts) {
    Hdf5Handle group = new_hdf5_group(handle.id(), part);
    finish_hdf5(group, part);
    for (const StoredLayer& layer : document.stored) {
      const std::string path = at_layer(part, layer.layer);
      widths[path] = part_of(layer, part).cols();
      add(path, {length, widths[path]}, layout.half ? RowType::float16 : RowType::float32);
    }
  }
  if (!document.ids.empty()) add("ids", {length}, RowType::id);
  if (!document.special.empty()) add("special", {length}, RowType::flag);
  if (!document.tokens.empty()) add("tokens", {length}, RowType::text);
  if (!document.name.empty()) add("document_name", {}, RowType::text);
}

void StateWriter::File::require_values(const StoredLayer& layer, const std::string& what,
                                       const Document& document) const {
  const Matrix32& values = part_of(layer, what);
  const std::string name = at_layer(what, layer.layer);
  const Index width = widths.contains(name) ? widths.at(name) : 0;
  if (values.rows() != length || values.cols() != width || width == 0)
    throw ShapeError(fmt::format("{}: {} of {} are {} x {}, expected {} x {}", shown_path(replaced.path()), name,
                                 printable(document.name), values.rows(), values.cols(), length, width));
  if (!are_finite(values))
    throw NumericError(
        fmt::format("{}: {} of {} hold a number that is not finite; look for NaN or huge values in the "
                    "model's weights",
                    shown_path(replaced.path()), name, printable(document.name)));
  if (const float most = values.cwiseAbs().maxCoeff(); layout.half && most > largest_half)
    throw NumericError(fmt::format("{}: {} of {} hold {:g}; float16 ends at 65504: store float32",
                                   shown_path(replaced.path()), name, printable(document.name), most));
}

/// Refuses a document before any part of it is written.
void StateWriter::File::require_whole(const Document& document) const {
  const auto refuse = [&](const std::string& why) {
    throw ShapeError(fmt::format("{}: {} {}", shown_path(replaced.path()), printable(document.name), why));
  };
  if (document.length() != length)
    refuse(
        fmt::format("has {} tokens, the documents before it {}; a file holds documents of one length: cut them, or "
                    "store those of another length in another file",
                    document.length(), length));
  if (parts.size() * document.stored.size() != widths.size())
    refuse(fmt::format("came with {} layers; expected the {} of the first document", document.stored.size(),
                       widths.size() / parts.size()));
  for (const auto& [name, came] : {std::pair("ids", document.ids.size()),
                                   {"special", document.special.size()},
                                   {"tokens", document.tokens.size()}})
    if (datasets.contains(name) && came != static_cast<std::size_t>(length))
      refuse(fmt::format("has {} {}, the documents before it one for every token", came, name));
  for (const std::string& part : parts)
    for (const StoredLayer& layer : document.stored) require_values(layer, part, document);
}

void StateWriter::File::append(const Document& document) {
  const Hdf5Session session;
  if (!handle.valid()) begin(document);
  require_whole(document);
  const auto write = [&](const std::string& path, const void* row) {
    if (const auto found = datasets.find(path); found != datasets.end()) append_hdf5_row(found->second, path, row);
  };
  for (const std::string& part : parts)
    for (const StoredLayer& layer : document.stored) write(at_layer(part, layer.layer), part_of(layer, part).data());
  write("ids", document.ids.data());
  write("special", document.special.data());
  write("tokens", Hdf5Texts(document.tokens).data());
  write("document_name", Hdf5Texts({document.name}).data());
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
