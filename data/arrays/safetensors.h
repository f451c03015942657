#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "../../core/numbers/matrix.h"
#include "safetensors_file.h"

namespace headwave {

/// A tensor that somebody else keeps in memory.
struct TensorInMemory {
  std::string name;
  std::string dtype;                 ///< as safetensors call it: "F32", "F16", "BF16", "F64", "I64", ...
  std::vector<Index> shape;          ///< empty: a single number
  std::span<const std::byte> bytes;  ///< row-major
};

/// Keeps tensors that had to be converted, by name.
struct ConvertedTensors {
  std::mutex converting;
  std::map<std::string, std::vector<float>> values;
};

/// The weights of a model, by name, as one whole: a folder with model.safetensors, or with
/// model.safetensors.index.json and the shards it lists, or one file of either kind.
///
/// Opening reads the headers only. An aligned float32 tensor is used in place: its pages are read when the
/// model first touches them, and shared between processes. F16, BF16, F64 and unaligned F32 are converted
/// once, when asked for, into memory of this object or of the caller (F16 and BF16 exactly, F64 rounded). In
/// a std::shared_ptr it can be Model::storage. May be read from several threads at once.
///
/// Pickles (pytorch_model.bin, .pt, .ckpt) are never read: they run code when loaded.
class Checkpoint {
 public:
  /// @throws IoError if a file or a shard is missing or unreadable; FormatError if a file is not as
  ///         safetensors_header() wants it, the index names a file outside its folder or a tensor its shard
  ///         does not hold, the folder holds other formats only, or no weights at all
  explicit Checkpoint(const std::filesystem::path& path);
  /// Tensors that are in memory already, used in place.
  /// @param called  its name in messages, in place of a path
  /// @param owner   keeps their memory; may be null if the memory outlives this object
  /// @throws FormatError if two have one name, or bytes and shape disagree
  Checkpoint(const std::string& called, const std::vector<TensorInMemory>& tensors, std::shared_ptr<const void> owner);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Every file that was opened, shards in the order of their names; none for tensors in memory.
  [[nodiscard]] std::vector<std::filesystem::path> files() const;
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }  ///< in file order, shard by shard
  [[nodiscard]] Index parameters() const;                                         ///< entries of all tensors together

  [[nodiscard]] bool has(const std::string& name) const { return places_.contains(name); }
  /// @throws FormatError naming the tensor that is missing
  [[nodiscard]] const TensorInfo& info(const std::string& name) const;

  /// A tensor as a matrix, valid while this object lives. It may have leading axes of one entry: (1, rows,
  /// cols).
  /// @param converted  keeps the tensor if it has to be converted, and must live as long; null: this object
  ///                   keeps it
  /// @returns (rows, cols)
  /// @throws FormatError if the tensor is missing, has another shape or holds no real numbers
  [[nodiscard]] MatrixView32 matrix(const std::string& name, Index rows, Index cols,
                                    ConvertedTensors* converted = nullptr) const;
  /// The same of a tensor of this shape, whose rows are its first axis.
  [[nodiscard]] MatrixView32 matrix(const std::string& name, const std::vector<Index>& shape,
                                    ConvertedTensors* converted = nullptr) const;
  /// A function that copies some rows of a tensor, along its last axis, as floats. It does not touch other
  /// rows, and no page of the file stays in memory.
  /// @returns valid while this object lives, from several threads at once
  /// @throws FormatError if the tensor is missing or holds no real numbers
  [[nodiscard]] std::function<void(Index first, Index count, float* out)> row_reader(const std::string& name) const;
  /// @returns (size)
  /// @throws FormatError as above
  [[nodiscard]] VectorView32 vector(const std::string& name, Index size, ConvertedTensors* converted = nullptr) const;
  /// @throws FormatError as matrix(): nothing is read but the header
  void require(const std::string& name, const std::vector<Index>& shape) const;
  /// Gives the memory of a tensor's bytes back to the system until they are needed again; does nothing for
  /// tensors in memory.
  void let_go(const std::string& name) const;

  /// How many entries of a tensor are NaN or infinite. Reads the whole tensor.
  /// @throws FormatError if the tensor is missing
  [[nodiscard]] Index non_finite(const std::string& name) const;

 private:
  struct Place {
    std::span<const std::byte> bytes;
    const TensorInfo* info;
    const SafetensorsFile* file;  ///< null: somebody else keeps the bytes
  };
  void open_single(const std::filesystem::path& file);
  void open_sharded(const std::filesystem::path& index);
  [[nodiscard]] std::string shown_file(const Place& tensor) const;
  void require_real(const Place& tensor) const;
  [[nodiscard]] const Place& place(const std::string& name) const;
  [[nodiscard]] const float* values(const std::string& name, const std::vector<Index>& shape,
                                    ConvertedTensors* converted) const;

  std::filesystem::path path_;
  std::map<std::string, std::unique_ptr<SafetensorsFile>> files_;  // by file name
  std::list<TensorInfo> in_memory_;
  std::shared_ptr<const void> owner_;
  std::map<std::string, Place> places_;
  std::vector<std::string> names_;
  mutable ConvertedTensors converted_;
};

}  // namespace headwave
