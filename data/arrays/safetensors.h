#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../../core/errors/error.h"
#include "../../core/numbers/matrix.h"
#include "../files/file_bytes.h"
#include "array_block.h"

namespace headwave {

/// One tensor of a safetensors file, as its header describes it.
struct TensorInfo {
  std::string name;
  std::string dtype;         ///< type as the file writes it: "F32", "F16", "BF16", "I64", ...
  std::vector<Index> shape;  ///< empty: a single number
  std::size_t begin = 0;     ///< first byte, counted from the end of the header
  std::size_t end = 0;       ///< one past the last byte, counted in the same way

  [[nodiscard]] Index size() const;  ///< number of entries
};

/// The header of a safetensors file.
struct SafetensorsHeader {
  std::size_t data = 0;             ///< first byte after the header
  std::vector<TensorInfo> tensors;  ///< in the order of their bytes
  std::map<std::string, std::string> metadata;
};

/// Reads a header and checks what the format promises: a length that fits the file and 100 MB, valid JSON
/// (json_file.h), known types, a byte count equal to shape times type size, without overflow, and byte ranges
/// that fill the data without overlap or gap.
///
/// Source: the safetensors format description, https://github.com/huggingface/safetensors.
/// @throws IoError if the file cannot be read; FormatError naming the file and the tensor if a check fails
SafetensorsHeader safetensors_header(const FileBytes& file);

class ReplacedFile;

/// A safetensors file, mapped into memory. Opening it reads the header only.
class SafetensorsFile {
 public:
  /// @throws IoError, FormatError as safetensors_header()
  explicit SafetensorsFile(const std::filesystem::path& path);
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;
  ~SafetensorsFile() = default;

  [[nodiscard]] const std::filesystem::path& path() const { return file_.path(); }
  [[nodiscard]] const std::vector<TensorInfo>& tensors() const { return header_.tensors; }
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  /// A tensor's bytes in the mapping, valid while this object lives. They may begin at any address, even an
  /// odd one.
  [[nodiscard]] std::span<const std::byte> bytes(const TensorInfo& tensor) const;
  /// Copies some of a tensor's bytes from the file. This does not use the mapping, since touching one mapped
  /// number may cost 2 MB of memory if the system keeps the file in large pages.
  /// @param first  the first byte, counted from the tensor's beginning
  /// @throws IoError if the file was cut short meanwhile, or cannot be read
  void read(const TensorInfo& tensor, std::size_t first, std::span<std::byte> into) const;
  /// Frees the memory of a tensor's mapped bytes; see MappedFile::let_go().
  void let_go(const TensorInfo& tensor) const;

 private:
  FileBytes file_;
  MappedFile mapped_;
  SafetensorsHeader header_;
};

/// A float32 array to be written.
struct NamedTensor {
  std::string name;
  std::vector<Index> shape;
  const float* values = nullptr;  ///< row-major
};

/// Writes float32 tensors as a safetensors file, in the given order. The file appears whole or not at all.
/// @param metadata  free text stored with the tensors; Hugging Face needs {"format", "pt"} to load the file
/// @throws IoError if the file cannot be written
void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {});
/// Writes into a file that the caller commits.
void write_safetensors(ReplacedFile& file, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

/// A tensor whose memory is owned elsewhere.
struct TensorInMemory {
  std::string name;
  std::string dtype;                 ///< as in a safetensors file: "F32", "F16", "BF16", "F64", "I64", ...
  std::vector<Index> shape;          ///< empty: a single number
  std::span<const std::byte> bytes;  ///< row-major
};

/// Holds tensors that had to be converted, by name.
struct ConvertedTensors {
  std::mutex converting;
  std::map<std::string, std::vector<float>> values;
};

/// The weights of a model by name: one safetensors file, the shards that a model.safetensors.index.json
/// lists, or a folder with model.safetensors or such an index.
///
/// Opening reads only the headers. An aligned float32 tensor is used in place: its pages are read when they
/// are first touched, and shared between processes. F16, BF16, F64 and unaligned F32 are converted once, at
/// the first request, into memory of this object or of the caller (F64 is rounded, the other types are
/// exact). Several threads may read at once.
///
/// Pickles (pytorch_model.bin, .pt, .ckpt) are never read: they run code when loaded.
class Checkpoint {
 public:
  /// @throws IoError if a file or a shard is missing or unreadable; FormatError if a file fails the checks of
  ///         safetensors_header(), the index names a file outside its folder or a tensor that its shard does
  ///         not hold, or the folder holds no weights in this format
  explicit Checkpoint(const std::filesystem::path& path);
  /// Uses tensors that are already in memory, in place.
  /// @param called  what messages call the checkpoint, in place of a path
  /// @param owner   keeps the memory alive; may be null if the memory outlives this object
  /// @throws FormatError if two tensors have one name, a type is unknown, or bytes and shape disagree
  Checkpoint(const std::string& called, const std::vector<TensorInMemory>& tensors, std::shared_ptr<const void> owner);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Every file that was opened, shards ordered by name; empty for tensors in memory.
  [[nodiscard]] std::vector<std::filesystem::path> files() const;
  [[nodiscard]] const std::vector<std::string>& names() const {
    return names_;
  }  ///< in the order of the file, shard by shard
  /// Number of entries of all tensors. In MXFP4 each byte of NAME_blocks counts as two entries, and
  /// NAME_scales are not counted.
  [[nodiscard]] Index parameters() const;

  [[nodiscard]] bool has(const std::string& name) const { return places_.contains(name); }
  /// @throws FormatError naming the tensor if it is missing
  [[nodiscard]] const TensorInfo& info(const std::string& name) const;

  /// A tensor as a matrix whose rows are its first axis, valid while this object lives. The stored tensor may
  /// have extra leading axes of size 1: (1, rows, cols).
  /// @param converted  holds the tensor if it must be converted, and must outlive the view; null: this object
  ///                   holds it
  /// @returns (shape[0], product of the other axes)
  /// @throws FormatError if the tensor is missing, has another shape, or is not F32, F16, BF16 or F64
  [[nodiscard]] MatrixView32 matrix(const std::string& name, const std::vector<Index>& shape,
                                    ConvertedTensors* converted = nullptr) const;
  /// A function that copies `count` rows from `first` on as floats. A row runs along the last axis. The
  /// function touches no other rows, and leaves no page of the file mapped.
  /// @returns a function that is valid while this object lives and may be called from several threads at once
  /// @throws FormatError if the tensor is missing, or is not F32, F16, BF16 or F64
  [[nodiscard]] std::function<void(Index first, Index count, float* out)> row_reader(const std::string& name) const;
  /// @returns (size)
  /// @throws FormatError as matrix()
  [[nodiscard]] VectorView32 vector(const std::string& name, Index size, ConvertedTensors* converted = nullptr) const;
  /// A tensor of unsigned bytes ("U8") of that shape, as it is stored, valid while this object lives.
  /// @throws FormatError if the tensor is missing, or has another shape or type
  [[nodiscard]] std::span<const std::byte> bytes(const std::string& name, const std::vector<Index>& shape) const;
  /// Checks the type and shape in the header. @throws FormatError as matrix()
  void require(const std::string& name, const std::vector<Index>& shape) const;
  /// Frees the memory of a tensor that is mapped from a file. The next access reads the file again.
  void let_go(const std::string& name) const;

 private:
  struct Place {
    std::span<const std::byte> bytes;
    const TensorInfo* info;
    const SafetensorsFile* file;  ///< null: the tensor is in memory
  };
  /// @param shards  the file of each tensor; null: use every tensor of this file
  void open_file(const std::filesystem::path& file, const std::map<std::string, std::string>* shards = nullptr);
  void open_sharded(const std::filesystem::path& index);
  [[nodiscard]] std::string shown_file(const Place& tensor) const;
  [[nodiscard]] const Place& place(const std::string& name) const;
  /// @throws FormatError if the tensor has another shape
  [[nodiscard]] const Place& place(const std::string& name, const std::vector<Index>& shape) const;
  /// @throws FormatError if the tensor does not hold floating-point numbers
  [[nodiscard]] NumberType real_type(const Place& tensor) const;
  [[nodiscard]] const float* values(const std::string& name, const std::vector<Index>& shape,
                                    ConvertedTensors* converted) const;

  std::filesystem::path path_;
  std::map<std::string, std::unique_ptr<SafetensorsFile>> files_;  // by file name
  std::list<TensorInfo> infos_;                                    // of tensors in memory
  std::shared_ptr<const void> owner_;
  std::map<std::string, Place> places_;
  std::vector<std::string> names_;
  mutable ConvertedTensors converted_;
};

}  // namespace headwave
