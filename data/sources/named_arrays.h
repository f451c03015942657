#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../arrays/array_block.h"
#include "../arrays/npy.h"
#include "array_facts.h"

namespace headwave {

/// The arrays of a file or folder by their names, whatever the format: "hidden_states/layer_0" of HDF5,
/// "hidden_states_layer_0" of a folder with a .npy file of that name. May be read from several threads at
/// once.
class NamedArrays {
 public:
  NamedArrays() = default;
  NamedArrays(const NamedArrays&) = delete;
  NamedArrays& operator=(const NamedArrays&) = delete;
  virtual ~NamedArrays() = default;

  /// The names of all arrays, in the file's order.
  [[nodiscard]] virtual std::vector<std::string> names() const = 0;
  [[nodiscard]] virtual bool has(const std::string& name) const = 0;
  /// @throws FormatError, IoError if there is no such array
  [[nodiscard]] virtual std::vector<Index> shape(const std::string& name) const = 0;
  /// The type of an array's numbers in words: "float16".
  /// @throws FormatError, IoError if there is no such array
  [[nodiscard]] virtual std::string type(const std::string& name) const = 0;
  /// Reads a block of an array of numbers, row-major, and no more than that.
  /// @throws FormatError, IoError if there is no such array or it cannot be read; ShapeError if it has no
  ///         such entries
  virtual void read(const std::string& name, const ArrayBlock& block, const FloatRoom& room) const = 0;
  /// The texts of an array; empty where there is no such array.
  /// @throws FormatError if the array holds something else
  [[nodiscard]] virtual std::vector<std::string> texts(const std::string& name) const = 0;
  /// A number beside the arrays, such as "num_heads": an attribute of HDF5, an entry of safetensors'
  /// metadata, an array of one entry elsewhere; nothing where there is none.
  /// @throws FormatError if it is not one finite number
  [[nodiscard]] virtual std::optional<double> number(const std::string& name) const = 0;
  /// The files that the arrays are in, for provenance.
  [[nodiscard]] virtual std::vector<std::filesystem::path> files() const = 0;
  /// The file or folder, for messages.
  [[nodiscard]] virtual const std::filesystem::path& path() const = 0;
  /// An array's name for messages: "s.h5: 'queries/layer_0'", "folder/queries_layer_0.npy".
  [[nodiscard]] virtual std::string called(const std::string& name) const = 0;

  /// A block of an array of numbers, row-major.
  /// @throws Error as read()
  [[nodiscard]] std::vector<float> block(const std::string& name, const ArrayBlock& block) const;
  /// All of it.
  /// @throws Error as read()
  [[nodiscard]] std::vector<float> floats(const std::string& name) const {
    return block(name, whole_block(shape(name)));
  }
};

/// Opens an HDF5, .npy, .npz or safetensors file, known by its content, or a folder of .npy files. The array
/// of a .npy file has the file's name without its ending. What numpy.savez_compressed wrote is unpacked into
/// memory, at most 1 GiB an array.
/// @throws IoError, FormatError if it is none of these, or damaged
std::unique_ptr<NamedArrays> open_arrays(const std::filesystem::path& path);

/// "s.npz: there is no 'hiden'; there are 'hidden', 'ids'", the nearest first.
/// @param what  what was looked for: "hidden states"
std::string no_such_array(const NamedArrays& arrays, const std::string& name, const std::string& what);

/// An array in memory.
struct ArrayInMemory {
  std::string name;
  NpyInfo info;                      ///< as of the header of a .npy file; `data` is 0
  std::span<const std::byte> bytes;  ///< without gaps
};

/// Names arrays in memory. Numbers beside them are arrays of one entry.
/// @param called  what messages call them together, in place of a path
/// @param owner   keeps their memory; null: the memory outlives the result
/// @throws FormatError if two arrays have one name
std::unique_ptr<NamedArrays> arrays_in_memory(const std::string& called, const std::vector<ArrayInMemory>& arrays,
                                              const std::shared_ptr<const void>& owner);

}  // namespace headwave
