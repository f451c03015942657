#include "file_content.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "file_bytes.h"
#include "printable.h"
#include "unicode_text.h"

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

constexpr std::string_view states_wanted =
    "stored states are read from HDF5, .npy, .npz and safetensors files. Convert it";
constexpr std::string_view then_states = ", then give states.npy";
constexpr std::string_view weights_wanted = "headwave reads safetensors only. Convert once";

}  // namespace

std::string python_name(const fs::path& path, std::string_view otherwise) {
  const std::string name = path.string();
  const bool plain = std::ranges::all_of(name, [](char c) {
    return c >= ' ' && c <= '~' && std::string_view("'\"\\$`!{}").find(c) == std::string_view::npos;
  });
  return plain && name.size() <= 300 ? fmt::format("'{}'", name) : std::string(otherwise);
}

namespace {

/// An error whose remedy is a line of Python, in which {0} stands for the file's name.
FormatError conversion(const fs::path& path, std::string_view found, std::string_view wanted, std::string_view line,
                       std::string_view then = "", std::vector<Remedy> remedies = {}) {
  return FormatError(fmt::format("{}: this is {}; {}: python3 -c \"{}\"{}", shown_path(path), found, wanted,
                                 fmt::format(fmt::runtime(line), python_name(path)), then),
                     std::move(remedies));
}

bool is_text(std::string_view bytes) {
  const std::string_view first = bytes.substr(0, 4096);
  return bytes.find('\0') == std::string_view::npos && is_valid_utf8(first.substr(0, first.rfind('\n')));
}

/// What separates the numbers of a text, as an argument of numpy.loadtxt.
const char* separator(std::string_view bytes) {
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  if (line.find(',') != std::string_view::npos) return ", delimiter=','";
  return line.find(';') != std::string_view::npos ? ", delimiter=';'" : "";
}

/// States of which the content does not tell what they are: numbers as text, or as bytes.
FormatError unmarked_states(const fs::path& path, std::string_view bytes) {
  if (is_text(bytes))
    return conversion(
        path, "text", states_wanted,
        fmt::format("import numpy as np; np.save('states.npy', np.loadtxt({{}}, dtype='float32'{}))", separator(bytes)),
        ", if it is a table with a line for each token; then give states.npy");
  return conversion(path, "neither HDF5, .npy, .npz nor safetensors", states_wanted,
                    "import numpy as np; np.save('states.npy', np.fromfile({}, 'float32').reshape(D, T, W))",
                    ", if it is bare float32 numbers, with their three sizes in the place of D, T and W; then give "
                    "states.npy");
}

FormatError packed(const fs::path& path, FileContent content) {
  if (content == FileContent::zip)
    return FormatError(fmt::format("{}: this is a zip archive; unzip it and give what is inside", shown_path(path)));
  return conversion(path, words_of(content), "unpack it",
                    fmt::format("import gzip, shutil; shutil.copyfileobj(gzip.open({{}}), open({}, 'wb'))",
                                python_name(path.parent_path() / path.stem())));
}

FormatError torch_weights(const fs::path& path) {
  // Shards are one model: all of them go into the file.
  const std::string name = path.filename().string();
  const bool is_shard = name.find("-of-0") != std::string::npos;
  const std::string pattern = is_shard ? name.substr(0, name.find('-')) + "-*" + path.extension().string() : name;
  return conversion(path, "PyTorch's format, a pickle",
                    "headwave reads safetensors only, never pickles. Convert once, "
                    "in its folder",
                    fmt::format("import glob, torch, safetensors.torch as s; s.save_file({{{{k: v.contiguous().clone() "
                                "for f in glob.glob({}) for k, v in torch.load(f, map_location='cpu', "
                                "weights_only=True).items()}}}}, 'model.safetensors')",
                                python_name(pattern)));
}

/// Through transformers, from the folder where config.json lies.
FormatError through_transformers(const fs::path& path, std::string_view found, const std::string& arguments) {
  return conversion(path, found, "headwave reads safetensors only. Convert once, in its folder",
                    fmt::format("from transformers import AutoModel as M; M.from_pretrained('.', "
                                "{}).save_pretrained('.')",
                                arguments));
}

FormatError through_arrays(const fs::path& path, std::string_view found, std::string_view line) {
  return conversion(path, found, weights_wanted, line, "",
                    {give("map", "FILE", "to say what its tensors are if there is no config.json that does")});
}

bool is_tensorflow_checkpoint(const fs::path& path) {
  return path.filename().string().find(".ckpt.") != std::string::npos;
}

bool has_ending(const fs::path& path, std::initializer_list<std::string_view> endings) {
  return std::ranges::count(endings, path.extension().string()) > 0;
}

/// Weights of which the content does not tell what they are: by their name.
FormatError unmarked_weights(const fs::path& path) {
  if (is_tensorflow_checkpoint(path)) {
    const std::string whole = path.string();
    return through_arrays(path, "part of a TensorFlow checkpoint",
                          fmt::format("import tensorflow as tf; from safetensors.numpy import save_file; r = "
                                      "tf.train.load_checkpoint({}); save_file({{{{k: r.get_tensor(k) for k in "
                                      "r.get_variable_to_shape_map()}}}}, 'model.safetensors')",
                                      python_name(whole.substr(0, whole.rfind(".ckpt.") + 5))));
  }
  if (has_ending(path, {".bin", ".pt", ".pth", ".ckpt"})) return torch_weights(path);
  if (has_ending(path, {".h5", ".keras"})) return through_transformers(path, "TensorFlow's format", "from_tf=True");
  if (has_ending(path, {".msgpack"})) return through_transformers(path, "Flax's format", "from_flax=True");
  if (has_ending(path, {".onnx"}))
    return through_arrays(path, "an ONNX graph",
                          "import onnx; from onnx.numpy_helper import to_array; from safetensors.numpy import "
                          "save_file; save_file({{t.name: to_array(t) for t in onnx.load({}).graph.initializer}}, "
                          "'model.safetensors')");
  return FormatError(
      fmt::format("{}: this is no safetensors file; give the model's folder, or the .safetensors file "
                  "in it",
                  shown_path(path)));
}

}  // namespace

FormatError foreign_states(const fs::path& path) {
  const MappedFile file(path);
  const FileContent content = content_of(file.text());
  const auto converted = [&](std::string_view line, std::string_view then = then_states) {
    return conversion(path, words_of(content), states_wanted, line, then);
  };
  switch (content) {
    case FileContent::pytorch:
      return converted(
          "import numpy as np, torch; x = torch.load({}, map_location='cpu', weights_only=True); "
          "x = x.values() if isinstance(x, dict) else x; np.save('states.npy', "
          "(x if torch.is_tensor(x) else torch.stack([*x])).float().numpy())");
    case FileContent::pickle:
      return converted(
          "import pickle, numpy as np; np.save('states.npy', np.asarray(pickle.load(open({}, 'rb')), "
          "dtype='float32'))",
          ", then give states.npy; loading a pickle runs what is in it, so only do it if you trust its author");
    case FileContent::parquet:
      return converted(
          "import numpy as np, pandas as pd; np.save('states.npy', pd.read_parquet({}).to_numpy('float32'))");
    case FileContent::gzip:
    case FileContent::zip:
      return packed(path, content);
    case FileContent::other:
      return unmarked_states(path, file.text());
    default:
      return FormatError(fmt::format("{}: this is {}, expected stored states as HDF5, .npy, .npz or safetensors",
                                     shown_path(path), words_of(content)));
  }
}

FormatError foreign_weights(const fs::path& path) {
  const FileContent content = content_of_file(path);
  switch (content) {
    case FileContent::pytorch:
    case FileContent::pickle:
      return torch_weights(path);
    case FileContent::gguf:
      return FormatError(
          fmt::format("{}: this is {}; expected a Hugging Face directory with config.json and safetensors: give the "
                      "directory of the model that the file was made of",
                      shown_path(path), words_of(content)));
    case FileContent::hdf5:
      return through_transformers(path, "an HDF5 file, TensorFlow's format", "from_tf=True");
    case FileContent::npz:
      return through_arrays(path, words_of(content),
                            "import numpy as np; from safetensors.numpy import save_file; save_file(dict(np.load({})), "
                            "'model.safetensors')");
    case FileContent::gzip:
    case FileContent::zip:
      return packed(path, content);
    case FileContent::other:
    case FileContent::empty:
      return unmarked_weights(path);
    default:
      return FormatError(fmt::format("{}: this is {}, expected a model's weights as safetensors", shown_path(path),
                                     words_of(content)));
  }
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
  return is_tensorflow_checkpoint(path) ||
         has_ending(path, {".bin", ".pt", ".pth", ".ckpt", ".gguf", ".h5", ".keras", ".msgpack", ".onnx", ".npz"});
}

}  // namespace headwave
