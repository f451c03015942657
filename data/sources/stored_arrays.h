#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// An array of numbers by its place in a tree of arrays, wherever the tree lies.
struct StoredArray {
  std::vector<Index> shape;
  std::vector<float> values;  ///< row-major
};

/// Arrays by name: the datasets of an HDF5 file, or the .npy files of a folder. Names are those of the HDF5 tree:
/// "hidden_states/layer_0", "weights/layer_1/query_bias".
class StoredArrays {
 public:
  StoredArrays() = default;
  StoredArrays(const StoredArrays&) = delete;
  StoredArrays& operator=(const StoredArrays&) = delete;
  virtual ~StoredArrays() = default;

  [[nodiscard]] virtual bool has(const std::string& name) const = 0;
  /// @throws FormatError, IoError if there is no such array of numbers
  [[nodiscard]] virtual std::vector<Index> shape(const std::string& name) const = 0;
  /// Entries first .. first + count - 1 along the first axis; the whole array where count is -1.
  /// @throws FormatError, IoError if it is not there or cannot be read; ShapeError if it has no such entries
  [[nodiscard]] virtual StoredArray read(const std::string& name, Index first = 0, Index count = -1) const = 0;
  /// Text of a one- or two-dimensional array; empty where there is none.
  [[nodiscard]] virtual std::vector<std::string> texts(const std::string& name) const = 0;
  /// A number kept beside the arrays, such as "num_heads"; nothing where there is none.
  /// @throws FormatError if it is there and not one finite number
  [[nodiscard]] virtual std::optional<double> number(const std::string& name) const = 0;
  /// Every file that was opened, for provenance.
  [[nodiscard]] virtual std::vector<std::filesystem::path> files() const = 0;
  /// The file or folder, for messages.
  [[nodiscard]] virtual const std::filesystem::path& path() const = 0;
  /// An array as a user knows it, for messages: "s.h5: 'queries/layer_0'", "folder/queries_layer_0.npy".
  [[nodiscard]] virtual std::string called(const std::string& name) const = 0;
};

/// Opens an HDF5 file, a folder of .npy files ("weights/layer_1/query" is layer_1_query.npy, "hidden_states/layer_0" is
/// hidden_states_layer_0.npy), or one .npy file, which is hidden_states/layer_L with the layer given.
/// @throws IoError, FormatError if it is none of these; ShapeError if the layer is negative
std::unique_ptr<StoredArrays> open_stored_arrays(const std::filesystem::path& path, Index layer_of_single = 0);

}  // namespace headwave
