#include "file_content.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "file_bytes.h"
#include "printable.h"

namespace headwave {

namespace {

// An HDF5 file may begin with a user's block of 512, 1024, 2048, ... bytes.
bool is_hdf5(std::string_view bytes) {
  constexpr std::string_view signature("\x89HDF\r\n\x1a\n", 8);
  for (std::size_t at = 0; at < bytes.size(); at = at == 0 ? 512 : 2 * at)
    if (bytes.substr(at).starts_with(signature)) return true;
  return false;
}

bool is_safetensors(std::string_view bytes, std::size_t size) {
  std::uint64_t length = 0;
  if (bytes.size() <= sizeof length) return false;
  std::memcpy(&length, bytes.data(), sizeof length);
  return bytes[sizeof length] == '{' && length <= size - sizeof length;
}

/// The name of the first member of a zip archive.
std::string_view first_member(std::string_view bytes) {
  constexpr std::size_t header = 30, length_at = 26;
  std::uint16_t length = 0;
  if (bytes.size() < header) return {};
  std::memcpy(&length, bytes.data() + length_at, sizeof length);
  return bytes.substr(header, length);
}

FileContent zip_content(std::string_view bytes) {
  if (first_member(bytes).ends_with(".npy")) return FileContent::npz;
  // PyTorch writes the pickle first, or after a few members of some bytes.
  const bool has_pickle = bytes.substr(0, 4096).find("/data.pkl") != std::string_view::npos;
  return has_pickle ? FileContent::pytorch : FileContent::zip;
}

// Protocols 2 to 5 begin with their number; STOP is a full stop. (Protocols 0 and 1 begin with anything.)
bool is_pickle(std::string_view bytes, char last) {
  return bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5 && last == '.';
}

/// Enough for every magic number, and for a user block before HDF5's.
constexpr std::size_t looked_at = std::size_t{4} << 20U;

/// The content of a file by its first bytes, its size and its last byte.
FileContent content_of_ends(std::string_view bytes, std::size_t size, char last) {
  using enum FileContent;
  static const std::vector<std::pair<std::string_view, FileContent>> marks = {
      {"\x93NUMPY", npy},
      {"PK\x05\x06", zip},
      {"GGUF", gguf},
      {"PAR1", parquet},
      {"\x1f\x8b", gzip},
      {"\x89PNG\r\n", image},
      {"\xff\xd8\xff", image},
      {"GIF8", image},
      {"%PDF-", pdf},
      // What torch.save() wrote before it wrote zip archives: the number 0x1950a86a20f9469cfc6c, pickled.
      {"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", pytorch}};
  if (bytes.empty()) return empty;
  if (is_hdf5(bytes)) return hdf5;
  if (is_safetensors(bytes, size)) return safetensors;
  if (bytes.starts_with("PK\x03\x04")) return zip_content(bytes);
  for (const auto& [mark, content] : marks)
    if (bytes.starts_with(mark)) return content;
  return is_pickle(bytes, last) ? pickle : other;
}

}  // namespace

FileContent content_of(std::string_view bytes) {
  return content_of_ends(bytes, bytes.size(), bytes.empty() ? '\0' : bytes.back());
}

FileContent content_of_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return FileContent::other;
  const FileBytes file(path);
  const std::string first = file.text(0, looked_at);
  const std::string last = file.text(file.size() - (first.empty() ? 0 : 1), 1);
  return content_of_ends(first, file.size(), last.empty() ? '\0' : last.front());
}

std::string_view words_of(FileContent content) {
  constexpr auto words = std::to_array<std::string_view>(
      {"", "an empty file", "an HDF5 file", "a NumPy array (.npy)", "a safetensors file", "a NumPy archive (.npz)",
       "a PyTorch file", "a Python pickle", "a zip archive", "a GGUF file (llama.cpp)", "a Parquet table",
       "a file packed with gzip", "an image", "a PDF document"});
  return words[static_cast<std::size_t>(content)];
}

namespace {

namespace fs = std::filesystem;

bool has_ending(const fs::path& path, std::initializer_list<std::string_view> endings) {
  return std::ranges::count(endings, path.extension().string()) > 0;
}

FormatError foreign(const fs::path& path, std::string_view found, std::string_view wanted) {
  return FormatError(fmt::format("{}: this is {}; {}", shown_path(path), found, wanted));
}

/// What is wrong with a packed file; nothing for any other.
std::optional<FormatError> packed(const fs::path& path, FileContent content) {
  if (content != FileContent::zip && content != FileContent::gzip) return std::nullopt;
  return foreign(path, words_of(content), "unpack it, and give what is inside");
}

}  // namespace

FormatError foreign_states(const fs::path& path) {
  const FileContent content = content_of_file(path);
  if (const auto problem = packed(path, content)) return *problem;
  return foreign(
      path, content == FileContent::other ? "neither HDF5, .npy, .npz nor safetensors" : words_of(content),
      "expected stored states as one of these: load it in Python, and numpy.save('states.npy', x) writes what "
      "headwave reads");
}

FormatError foreign_weights(const fs::path& path) {
  const FileContent content = content_of_file(path);
  if (const auto problem = packed(path, content)) return *problem;
  if (content == FileContent::gguf)
    return foreign(
        path, words_of(content),
        "expected a Hugging Face directory with config.json and safetensors: give the directory of the model "
        "that the file was made of");
  const bool known = content != FileContent::other && content != FileContent::empty;
  if (!known && !is_foreign_weights_name(path))
    return foreign(path, "no safetensors file", "give the model's folder, or the .safetensors file in it");
  const bool torch = content == FileContent::pytorch || content == FileContent::pickle ||
                     (!known && has_ending(path, {".bin", ".pt", ".pth", ".ckpt"}));
  return foreign(path,
                 torch   ? "PyTorch's format, a pickle"
                 : known ? words_of(content)
                         : "a checkpoint in another format",
                 "headwave reads safetensors only: load the model with transformers, and model.save_pretrained(DIR) "
                 "writes them");
}

FormatError foreign_file(const fs::path& path) {
  switch (content_of_file(path)) {
    case FileContent::pytorch:
    case FileContent::gguf:
      return foreign_weights(path);
    case FileContent::pickle:
    case FileContent::parquet:
    case FileContent::gzip:
    case FileContent::zip:
      return foreign_states(path);
    default:
      require_no_pointer(FileBytes(path).text(0, 64), path);
      return FormatError(
          fmt::format("{}: neither HDF5, safetensors, .npy nor .npz by its first bytes; headwave inspect shows "
                      "these, results and model directories",
                      shown_path(path)));
  }
}

void require_no_pointer(std::string_view beginning, const fs::path& file) {
  if (beginning.starts_with("version https://git-lfs"))
    throw FormatError(
        fmt::format("{}: this is a pointer of Git LFS in the place of the file; get the file itself, as "
                    "`git lfs pull` does in its folder",
                    shown_path(file)));
}

bool is_foreign_weights_name(const fs::path& path) {
  return has_ending(path, {".bin", ".pt", ".pth", ".ckpt", ".gguf", ".h5", ".keras", ".msgpack", ".onnx", ".npz"});
}

}  // namespace headwave
