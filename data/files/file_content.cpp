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

// An HDF5 file may begin with a user block of 512, 1024, 2048, ... bytes.
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

FileContent zip_content(std::string_view bytes) {
  // The length of the first member's name stands at byte 26.
  constexpr std::size_t header = 30, length_at = 26;
  std::uint16_t length = 0;
  if (bytes.size() >= header) std::memcpy(&length, bytes.data() + length_at, sizeof length);
  if (length > 0 && bytes.substr(header, length).ends_with(".npy")) return FileContent::npz;
  // PyTorch writes the pickle first, or after a few small members.
  const bool has_pickle = bytes.substr(0, 4096).find("/data.pkl") != std::string_view::npos;
  return has_pickle ? FileContent::pytorch : FileContent::zip;
}

/// Enough for every magic number, and for a user block before the one of HDF5.
constexpr std::size_t looked_at = std::size_t{4} << 20U;

/// The format of a file, by its first bytes and its size.
FileContent content_of_beginning(std::string_view bytes, std::size_t size) {
  using enum FileContent;
  if (bytes.empty()) return empty;
  if (is_hdf5(bytes)) return hdf5;
  if (is_safetensors(bytes, size)) return safetensors;
  if (bytes.starts_with("PK\x03\x04")) return zip_content(bytes);
  if (bytes.starts_with("\x93NUMPY")) return npy;
  if (bytes.starts_with("GGUF")) return gguf;
  // Pickles of protocols 2 to 5 begin with the protocol's number; those of 0 and 1 cannot be told.
  return bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5 ? pytorch : other;
}

}  // namespace

FileContent content_of(std::string_view bytes) {
  return content_of_beginning(bytes, bytes.size());
}

FileContent content_of_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return FileContent::other;
  const FileBytes file(path);
  return content_of_beginning(file.text(0, looked_at), file.size());
}

std::string_view words_of(FileContent content) {
  constexpr auto words = std::to_array<std::string_view>(
      {"", "an empty file", "an HDF5 file", "a NumPy array (.npy)", "a safetensors file", "a NumPy archive (.npz)",
       "a PyTorch file (a pickle)", "a zip archive", "a GGUF file (llama.cpp)"});
  return words[static_cast<std::size_t>(content)];
}

FormatError foreign_file(const std::filesystem::path& file, std::string_view expected) {
  require_no_pointer(FileBytes(file).text(0, 64), file);
  const FileContent content = content_of_file(file);
  return FormatError(fmt::format("{}: this is {}; expected {}", shown_path(file),
                                 content == FileContent::other ? "a file of another format" : words_of(content),
                                 expected));
}

void require_no_pointer(std::string_view beginning, const std::filesystem::path& file) {
  if (beginning.starts_with("version https://git-lfs"))
    throw FormatError(
        fmt::format("{}: this is a Git LFS pointer, not the file itself; get the file by `git lfs pull` in its folder",
                    shown_path(file)));
}

}  // namespace headwave
