#include "foreign_files.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "file_content.h"
#include "mapped_file.h"
#include "printable.h"
#include "unicode_text.h"

namespace headwave {

namespace {

namespace fs = std::filesystem;

/// A file's name as a Python text in quotes, fit to stand in a shell's double quotes; `'FILE'` for a name with anything
/// that either would take for its own.
std::string python_name(const fs::path& path) {
  const std::string name = path.string();
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return c >= ' ' && c <= '~' && std::string_view("'\"\\$`!{}").find(c) == std::string_view::npos;
  });
  return plain && name.size() <= 300 ? fmt::format("'{}'", name) : "'FILE'";
}

/// An error whose remedy is a line of Python; {0} in the line stands for the file's name.
/// @param remedies  what else to do
FormatError with_python(const fs::path& path, std::string_view what, std::string_view line, std::string_view then,
                        std::vector<Remedy> remedies = {}) {
  return FormatError(fmt::format("{}: {}: python3 -c \"{}\"{}", shown_path(path), what,
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
  if (line.find(';') != std::string_view::npos) return ", delimiter=';'";
  return "";
}

/// Of a file that no magic number tells: numbers as text, or as bytes.
FormatError unmarked_states(const fs::path& path, std::string_view bytes) {
  const char* then = ", then give states.npy";
  if (is_text(bytes))
    return with_python(
        path,
        "this is text; stored states are read from HDF5, .npy, .npz and safetensors files. A table of numbers, a line "
        "for "
        "each token, is turned into one",
        fmt::format("import numpy as np; np.save('states.npy', np.loadtxt({{}}, dtype='float32'{}))", separator(bytes)),
        then);
  return with_python(path,
                     "neither HDF5, .npy, .npz nor safetensors, which stored states are read from. Bare float32 "
                     "numbers are turned into .npy, with their three sizes in the place of D, T and W",
                     "import numpy as np; np.save('states.npy', np.fromfile({}, 'float32').reshape(D, T, W))", then);
}

std::string what_it_is(FileContent content, std::string_view reads) {
  return fmt::format("this is {}; {}", words_of(content), reads);
}

/// The same name without its last ending.
fs::path without_ending(const fs::path& path) {
  return path.parent_path() / path.stem();
}

FormatError packed(const fs::path& path, FileContent content) {
  if (content == FileContent::zip)
    return FormatError(fmt::format("{}: this is a zip archive; unzip it and give what is inside", shown_path(path)));
  return with_python(path, what_it_is(content, "unpack it"),
                     fmt::format("import gzip, shutil; shutil.copyfileobj(gzip.open({{}}), open({}, 'wb'))",
                                 python_name(without_ending(path))),
                     "");
}

FormatError torch_weights(const fs::path& path) {
  // Shards are one model: all of them go into the file.
  const bool shard = path.filename().string().find("-of-0") != std::string::npos;
  const std::string name = path.filename().string();
  const std::string pattern = shard ? name.substr(0, name.find('-')) + "-*" + path.extension().string() : name;
  return FormatError(fmt::format(
      "{}: this is PyTorch's format, a pickle; headwave reads safetensors only, never pickles. Convert once, in its "
      "folder: python3 -c \"import glob, torch, safetensors.torch as s; s.save_file({{k: v.contiguous().clone() for f "
      "in glob.glob({}) for k, v in torch.load(f, map_location='cpu', weights_only=True).items()}}, "
      "'model.safetensors')\"",
      shown_path(path), python_name(pattern)));
}

/// Through transformers, from the folder where config.json lies.
FormatError through_transformers(const fs::path& path, std::string_view what, const std::string& arguments) {
  return FormatError(
      fmt::format("{}: this is {}; headwave reads safetensors only. Convert once, in its folder: python3 -c \"from "
                  "transformers import AutoModel as M; M.from_pretrained('.', {}).save_pretrained('.')\"",
                  shown_path(path), what, arguments));
}

FormatError through_arrays(const fs::path& path, std::string_view what, std::string_view line) {
  return with_python(path, fmt::format("this is {}; headwave reads safetensors only. Convert once", what), line, "",
                     {give("map", "FILE.toml", "to say what its tensors are, if no config.json does")});
}

bool is_tensorflow_checkpoint(const fs::path& path) {
  return path.filename().string().find(".ckpt.") != std::string::npos;
}

bool has_ending(const fs::path& path, std::initializer_list<const char*> endings) {
  const std::string end = path.extension().string();
  return std::any_of(endings.begin(), endings.end(), [&](const char* one) { return end == one; });
}

/// By name, where the content does not tell.
FormatError unmarked_weights(const fs::path& path) {
  const fs::path name = path.filename();
  if (is_tensorflow_checkpoint(path)) {
    const std::string whole = path.string();
    const fs::path checkpoint = whole.substr(0, whole.rfind(".ckpt.") + 5);
    return with_python(path, "this is part of a TensorFlow checkpoint; headwave reads safetensors only. Convert once",
                       fmt::format("import tensorflow as tf; from safetensors.numpy import save_file; r = "
                                   "tf.train.load_checkpoint({}); save_file({{{{k: r.get_tensor(k) for k in "
                                   "r.get_variable_to_shape_map()}}}}, 'model.safetensors')",
                                   python_name(checkpoint)),
                       "", {give("map", "FILE.toml", "to say what its tensors are")});
  }
  if (has_ending(path, {".bin", ".pt", ".pth", ".ckpt"})) return torch_weights(path);
  if (has_ending(path, {".h5", ".keras"})) return through_transformers(path, "TensorFlow's format", "from_tf=True");
  if (has_ending(path, {".msgpack"})) return through_transformers(path, "Flax's format", "from_flax=True");
  if (has_ending(path, {".onnx"}))
    return through_arrays(path, "an ONNX graph",
                          "import onnx; from onnx.numpy_helper import to_array; from safetensors.numpy import "
                          "save_file; save_file({{t.name: to_array(t) for t in onnx.load({}).graph.initializer}}, "
                          "'model.safetensors')");
  return FormatError(fmt::format(
      "{}: this is no safetensors file; give the model's folder, or the .safetensors file in it", shown_path(path)));
}

}  // namespace

FormatError foreign_states(const fs::path& path) {
  using enum FileContent;
  constexpr std::string_view reads =
      "stored states are read from HDF5, .npy, .npz and safetensors files. Turn it into one";
  constexpr std::string_view then = ", then give states.npy";
  const MappedFile file(path);
  const FileContent content = content_of(file.text());
  switch (content) {
    case pytorch:
      return with_python(path, what_it_is(content, reads),
                         "import numpy as np, torch; np.save('states.npy', torch.load({}, map_location='cpu', "
                         "weights_only=True).float().numpy())",
                         then);
    case pickle:
      return with_python(
          path, what_it_is(content, reads),
          "import pickle, numpy as np; np.save('states.npy', np.asarray(pickle.load(open({}, 'rb')), "
          "dtype='float32'))",
          ", then give states.npy; loading a pickle runs what is in it, so only one from those you trust");
    case parquet:
      return with_python(path, what_it_is(content, reads),
                         "import numpy as np, pandas as pd; np.save('states.npy', "
                         "pd.read_parquet({}).to_numpy('float32'))",
                         then);
    case gzip:
    case zip:
      return packed(path, content);
    case other:
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
      return through_transformers(path, "a GGUF file (llama.cpp)",
                                  fmt::format("gguf_file={}", python_name(path.filename())));
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
      return FormatError(
          fmt::format("{}: neither HDF5, safetensors, .npy nor .npz by its first bytes; headwave inspect shows these, "
                      "results and model directories",
                      shown_path(path)));
  }
}

bool is_foreign_weights_name(const fs::path& path) {
  return is_tensorflow_checkpoint(path) ||
         has_ending(path, {".bin", ".pt", ".pth", ".ckpt", ".gguf", ".h5", ".keras", ".msgpack", ".onnx", ".npz"});
}

}  // namespace headwave
