#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../arrays/array_block.h"

namespace headwave {

/// The arrays of a file or folder by their names, whatever the format: "hidden_states/layer_0" of HDF5,
/// "hidden_states_layer_0" of a folder with a .npy file of that name. May be read from several threads at once.
class NamedArrays {
 public:
  /// @param path   for messages
  /// @param files  for provenance
  explicit NamedArrays(std::filesystem::path path, std::vector<std::filesystem::path> files = {})
      : path_(std::move(path)), files_(std::move(files)) {}
  NamedArrays(const NamedArrays&) = delete;
  NamedArrays& operator=(const NamedArrays&) = delete;
  virtual ~NamedArrays() = default;

  /// The names of all arrays, in the file's order.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] bool has(const std::string& name) const { return arrays_.contains(name); }
  /// @throws FormatError if there is no such array
  [[nodiscard]] const std::vector<Index>& shape(const std::string& name) const { return array(name).shape; }
  /// The type of an array's numbers in words: "float16".
  /// @throws FormatError if there is no such array
  [[nodiscard]] const std::string& type(const std::string& name) const { return array(name).type; }
  /// Reads a block of an array of numbers, row-major, and no more than that.
  /// @throws FormatError, IoError if it cannot be read; ShapeError if it has no such entries
  virtual void read(const std::string& name, const ArrayBlock& block, const FloatRoom& room) const = 0;
  /// The texts of an array.
  /// @throws FormatError if the array holds something else
  [[nodiscard]] virtual std::vector<std::string> texts(const std::string& name) const = 0;
  /// A number beside the arrays, such as "num_heads": an attribute, or an array of one entry; nothing where there is none.
  /// @throws FormatError if it is not one finite number
  [[nodiscard]] std::optional<double> number(const std::string& name) const;
  [[nodiscard]] const std::vector<std::filesystem::path>& files() const { return files_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// An array's name for messages: "s.h5: 'queries/layer_0'".
  [[nodiscard]] std::string called(const std::string& name) const;

  /// A block of an array of numbers, row-major.
  /// @throws Error as read()
  [[nodiscard]] std::vector<float> block(const std::string& name, const ArrayBlock& block) const;
  [[nodiscard]] std::vector<float> floats(const std::string& name) const {
    return block(name, whole_block(shape(name)));
  }

 protected:
  void add(const std::string& name, std::string type, std::vector<Index> shape);
  /// A number that is an attribute of the file; NaN where an attribute of that name is none.
  [[nodiscard]] virtual std::optional<double> attribute(const std::string& /*name*/) const { return {}; }

 private:
  struct Array {
    std::string type;
    std::vector<Index> shape;
  };
  [[nodiscard]] const Array& array(const std::string& name) const;

  std::filesystem::path path_;
  std::vector<std::filesystem::path> files_;
  std::vector<std::string> names_;
  std::map<std::string, Array> arrays_;
};

/// Opens an HDF5, .npy, .npz or safetensors file, known by its content, or a folder of .npy files. The array
/// of a .npy file has the file's name without its ending.
/// @throws IoError, FormatError if it is none of these, or damaged
std::unique_ptr<NamedArrays> open_arrays(const std::filesystem::path& path);

/// "s.npz: there is no 'hiden'; there are 'hidden', 'ids'", the nearest first.
/// @param what  what was looked for: "hidden states"
std::string no_such_array(const NamedArrays& arrays, const std::string& name, const std::string& what);

}  // namespace headwave
