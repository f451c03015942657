#include "listing.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../arrays/npy.h"
#include "../arrays/safetensors_file.h"
#include "../files/file_content.h"
#include "../files/foreign_files.h"
#include "../files/printable.h"
#include "../files/zip_archive.h"
#include "../hdf5/hdf5_file.h"
#include "model_listing.h"

namespace headwave {

namespace {

namespace fs = std::filesystem;

Listing hdf5_listing(const fs::path& path) {
  const auto file = std::make_shared<Hdf5File>(path);
  Hdf5Tree tree = file->listed_tree();
  Listing listing{"HDF5", path, {}, {}, {}, file, tree.end};
  for (Hdf5Node& node : tree.nodes) {
    if (node.path == "/") {
      listing.facts = std::move(node.attributes);
      continue;
    }
    if (node.kind == "unreadable")
      listing.notes.push_back(fmt::format("{} cannot be read: {}", node.path, node.storage));
    std::string unit = attribute_text(node.attributes, "units");
    listing.entries.push_back({std::move(node.path), std::move(node.kind), std::move(node.dtype), std::move(node.shape),
                               std::move(unit), std::move(node.storage), std::move(node.attributes)});
  }
  if (!tree.end.empty()) listing.notes.push_back("not listed to its end: " + tree.end);
  if (listing.facts.contains("schema_version") && attribute_text(listing.facts, "source").starts_with("headwave")) {
    listing.kind = "headwave result";
    if (!listing.facts.contains("complete")) listing.notes.emplace_back("not finished: writing it was interrupted");
  }
  return listing;
}

Listing safetensors_listing(const fs::path& path) {
  const SafetensorsFile file(path);
  Listing listing{"safetensors", path, {}, {}, {}};
  Index parameters = 0;
  for (const TensorInfo& tensor : file.tensors()) {
    listing.entries.push_back({tensor.name, "tensor", tensor.dtype, tensor.shape, "", path.filename().string(), {}});
    parameters += tensor.size();
  }
  for (const auto& [name, value] : file.metadata()) listing.facts[name] = value;
  listing.facts["parameters"] = std::int64_t{parameters};
  return listing;
}

ListingEntry npy_entry(const std::string& name, const NpyInfo& info) {
  ListingEntry entry{name, "array", info.dtype, info.shape, "", info.fortran_order ? "Fortran order" : "C order", {}};
  if (info.big_endian) entry.storage += ", big-endian";
  return entry;
}

Listing npz_listing(const fs::path& path) {
  Listing listing{"npz", path, {}, {}, {}};
  const FileBytes file(path);
  for (const ZipMember& member : zip_members(file)) {
    if (!member.name.ends_with(".npy")) continue;
    try {
      const std::string called = fmt::format("{}: {}", shown_path(path), printable(member.name));
      listing.entries.push_back(
          npy_entry(member.name.substr(0, member.name.size() - 4), npy_info(ZipBytes(file, member), called)));
      if (member.deflated) listing.entries.back().storage += ", deflate";
    } catch (const Error& problem) {
      listing.notes.emplace_back(problem.what());
    }
  }
  return listing;
}

Listing npy_folder_listing(const fs::path& folder) {
  Listing listing{"folder of npy files", folder, {}, {}, {}};
  std::vector<fs::path> files;
  for (std::error_code ended; const auto& file : fs::directory_iterator(folder, ended))
    if (file.path().extension() == ".npy") files.push_back(file.path());
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    try {
      listing.entries.push_back(npy_entry(file.filename().string(), npy_info(file)));
    } catch (const Error& problem) {
      listing.notes.emplace_back(problem.what());
    }
  }
  return listing;
}

Listing folder_listing(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / "config.json", ignored)) {
    Listing arrays = npy_folder_listing(folder);
    if (!arrays.entries.empty() || !arrays.notes.empty()) return arrays;
  }
  return model_listing(folder);
}

}  // namespace

Listing listing_of(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return folder_listing(path);
  switch (content_of_file(path)) {
    case FileContent::hdf5:
      return hdf5_listing(path);
    case FileContent::npy:
      return {"npy", path, {}, {npy_entry(path.filename().string(), npy_info(path))}, {}};
    case FileContent::npz:
      return npz_listing(path);
    case FileContent::safetensors:
      return safetensors_listing(path);
    default:
      throw foreign_file(path);
  }
}

}  // namespace headwave
