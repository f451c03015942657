#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../arrays/array_block.h"
#include "../arrays/npy.h"
#include "arrays_place.h"

namespace headwave {

/// Arrays by the names they have in a file or folder, whatever its format: "hidden_states/layer_0" of HDF5,
/// "hidden_states_layer_0" of a folder with a .npy file of that name. May be read from several threads at once.
class NamedArrays {
 public:
  NamedArrays() = default;
  NamedArrays(const NamedArrays&) = delete;
  NamedArrays& operator=(const NamedArrays&) = delete;
  virtual ~NamedArrays() = default;

  /// Of every array, in the file's order.
  [[nodiscard]] virtual std::vector<std::string> names() const = 0;
  [[nodiscard]] virtual bool has(const std::string& name) const = 0;
  /// @throws FormatError, IoError if there is no such array
  [[nodiscard]] virtual std::vector<Index> shape(const std::string& name) const = 0;
  /// How its numbers are stored, in words: "float16".
  /// @throws FormatError, IoError if there is no such array
  [[nodiscard]] virtual std::string type(const std::string& name) const = 0;
  /// Reads a block of an array of numbers, row-major; no more is read than that.
  /// @throws FormatError, IoError if it is not there or cannot be read; ShapeError if it has no such entries
  virtual void read(const std::string& name, const ArrayBlock& block, const FloatRoom& room) const = 0;
  /// Text of an array; empty where there is none of that name.
  /// @throws FormatError if it holds something else
  [[nodiscard]] virtual std::vector<std::string> texts(const std::string& name) const = 0;
  /// A number kept beside the arrays, such as "num_heads": an attribute of HDF5, a text of safetensors' metadata, an
  /// array of one entry elsewhere; nothing where there is none.
  /// @throws FormatError if it is there and not one finite number
  [[nodiscard]] virtual std::optional<double> number(const std::string& name) const = 0;
  /// What `headwave capture` noted of the model that gave the arrays: `interventions`, `model_sha256`; empty: nothing.
  [[nodiscard]] virtual std::map<std::string, std::string> captured() const { return {}; }
  /// Every file that was opened, for provenance.
  [[nodiscard]] virtual std::vector<std::filesystem::path> files() const = 0;
  /// The file or folder, for messages.
  [[nodiscard]] virtual const std::filesystem::path& path() const = 0;
  /// An array as a user knows it, for messages: "s.h5: 'queries/layer_0'", "folder/queries_layer_0.npy:".
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

/// Opens an HDF5, .npy, .npz or safetensors file by what it is, whatever it is called, or a folder of .npy files. The
/// array of a single .npy file has the file's name without its ending.
/// @throws IoError, FormatError if it is none of these
std::unique_ptr<NamedArrays> open_arrays(const std::filesystem::path& path);

/// "s.npz: there is no 'hiden'; there are 'hidden', 'ids'", the nearest first.
/// @param what  what it was to be: "hidden states"
std::string no_such_array(const NamedArrays& arrays, const std::string& name, const std::string& what);

/// The array of a .npy file.
/// @throws IoError, FormatError as npy_info()
std::unique_ptr<NamedArrays> npy_file_arrays(const std::filesystem::path& path);

/// Every .npy file of a folder, by its name without the ending.
/// @throws IoError if the folder cannot be read
std::unique_ptr<NamedArrays> npy_folder_arrays(const std::filesystem::path& folder);

/// The arrays of a .npz archive. What numpy.savez wrote is read where it lies; what numpy.savez_compressed wrote is
/// unpacked into memory, at most 1 GiB an array: larger ones are refused with the line of Python that writes them
/// otherwise.
/// @throws IoError, FormatError as zip_members()
std::unique_ptr<NamedArrays> npz_arrays(const std::filesystem::path& path);

/// The tensors of a safetensors file.
/// @throws IoError, FormatError as safetensors_header()
std::unique_ptr<NamedArrays> safetensors_arrays(const std::filesystem::path& path);

/// An array that somebody else keeps in memory.
struct ArrayInMemory {
  std::string name;
  NpyInfo info;                      ///< as the header of a .npy file would say it; `data` is 0
  std::span<const std::byte> bytes;  ///< without gaps
};

/// Arrays in memory; numbers beside them are arrays of one entry.
/// @param called  what messages call them together, in the place of a path
/// @param owner   keeps their memory; may be null, where it outlives them
/// @throws FormatError if two have one name
std::unique_ptr<NamedArrays> arrays_in_memory(const std::string& called, const std::vector<ArrayInMemory>& arrays,
                                              const std::shared_ptr<const void>& owner);

}  // namespace headwave
