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

/// Tensors that had to be converted, by name: where they stay.
struct ConvertedTensors {
  std::mutex converting;
  std::map<std::string, std::vector<float>> values;
};

/// The weights of a model, by name, as one whole: a folder with model.safetensors, or with model.safetensors.index.json
/// and the shards it lists, or one file of either kind.
///
/// Opening reads the headers only. A float32 tensor that lies aligned is seen in place: its pages are read when the
/// model first touches them, and shared between processes. F16, BF16, F64 and unaligned F32 are converted once, when
/// asked for, into memory that lives here or where the caller says (F16 and BF16 exactly, F64 rounded). Kept in a
/// std::shared_ptr, it can stand behind Model::storage. May be read from several threads at once.
///
/// Pickles (pytorch_model.bin, .pt, .ckpt) are never read: they run code when loaded.
class Checkpoint {
 public:
  /// @throws IoError if a file or a shard is missing or unreadable; FormatError if a file is not what safetensors.h
  /// demands,
  ///         the index names a file outside its folder or a tensor its shard does not hold, the folder holds other
  ///         formats only, or no weights at all
  explicit Checkpoint(const std::filesystem::path& path);
  /// Tensors that are in memory already, seen in place as those of a file are.
  /// @param called  what messages call it in the place of a path
  /// @param owner   keeps their memory; may be null, where it outlives this
  /// @throws FormatError if two have one name, or bytes and shape disagree
  Checkpoint(const std::string& called, const std::vector<TensorInMemory>& tensors, std::shared_ptr<const void> owner);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::vector<std::filesystem::path> files()
      const;  ///< every file opened, shards in order of name; none in memory
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }  ///< in file order, shard by shard
  [[nodiscard]] Index parameters() const;                                         ///< entries of all tensors together

  [[nodiscard]] bool has(const std::string& name) const { return places_.contains(name); }
  /// @throws FormatError naming the tensor that is missing
  [[nodiscard]] const TensorInfo& info(const std::string& name) const;

  /// A tensor as a matrix, good while this object lives. Axes of one entry may stand before the others: (1, rows, cols).
  /// @param converted  where it stays if it has to be converted, good while that lives; null: here
  /// @returns (rows, cols)
  /// @throws FormatError if the tensor is missing, has another shape or holds no real numbers
  [[nodiscard]] MatrixView32 matrix(const std::string& name, Index rows, Index cols,
                                    ConvertedTensors* converted = nullptr) const;
  /// The same of a tensor of this shape, whose rows are its first axis.
  [[nodiscard]] MatrixView32 matrix(const std::string& name, const std::vector<Index>& shape,
                                    ConvertedTensors* converted = nullptr) const;
  /// What puts some rows of a tensor, along its last axis, where they belong: the others are neither converted nor looked at,
  /// and no page of a file stays in memory.
  /// @returns good while this object lives, from several threads at once
  /// @throws FormatError if the tensor is missing or holds no real numbers
  [[nodiscard]] std::function<void(Index first, Index count, float* out)> row_reader(const std::string& name) const;
  /// @returns (size)
  /// @throws FormatError as above
  [[nodiscard]] VectorView32 vector(const std::string& name, Index size, ConvertedTensors* converted = nullptr) const;
  /// @throws FormatError as matrix(): nothing is read but the header
  void require(const std::string& name, const std::vector<Index>& shape) const;
  /// A tensor's bytes need not be in memory until somebody looks at them again; nothing where they are no file's.
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
