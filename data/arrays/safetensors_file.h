#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../../core/numbers/matrix.h"
#include "../files/file_bytes.h"
#include "../files/mapped_file.h"
#include "stored_numbers.h"

namespace headwave {

/// One tensor of a safetensors file, as its header describes it.
struct TensorInfo {
  std::string name;
  std::string dtype;         ///< as written: "F32", "F16", "BF16", "I64", "BOOL", ...
  std::vector<Index> shape;  ///< empty: a single number
  std::size_t begin = 0;     ///< first byte, counted from the end of the header
  std::size_t end = 0;       ///< one past the last byte

  [[nodiscard]] Index size() const;  ///< number of entries
};

/// "(3, 4)", as messages and listings write shapes.
std::string shape_text(std::span<const Index> shape);

/// How a type of safetensors ("F32", "BF16", "I64", "BOOL", ...) stores one number; nothing for types that
/// are not read.
std::optional<NumberType> number_type(const std::string& dtype);

/// The header of a safetensors file.
struct SafetensorsHeader {
  std::size_t data = 0;             ///< first byte after it
  std::vector<TensorInfo> tensors;  ///< in the order of their bytes
  std::map<std::string, std::string> metadata;
};

/// Reads a header and checks everything that the format promises: its length against the file and 100 MB, its
/// JSON (see json_file.h), at most 2^18 tensors of at most 64 axes, known types, shape x type = bytes without
/// overflow, and byte ranges that fill the data without overlap or gap.
///
/// Source: the safetensors format description, https://github.com/huggingface/safetensors.
/// @throws IoError if the file cannot be read; FormatError naming the file and the tensor if anything above
///         fails
SafetensorsHeader safetensors_header(const FileBytes& file);

class ReplacedFile;

/// A safetensors file, mapped into memory. Opening it reads the header only.
class SafetensorsFile {
 public:
  /// @throws IoError, FormatError as safetensors_header()
  explicit SafetensorsFile(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const { return file_.path(); }
  [[nodiscard]] const std::vector<TensorInfo>& tensors() const { return header_.tensors; }
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  /// The tensor of that name, or nullptr.
  [[nodiscard]] const TensorInfo* find(const std::string& name) const;
  /// A tensor's bytes in the mapping; good while this object lives. They may lie at any address, odd ones
  /// too.
  [[nodiscard]] std::span<const std::byte> bytes(const TensorInfo& tensor) const;
  /// Copies some of a tensor's bytes from the file, without the mapping: looking at one mapped number may
  /// take 2 MB of this process's memory, if the system holds the file in large pieces.
  /// @param first  first of the tensor's bytes
  /// @throws IoError if the file was cut short meanwhile, or cannot be read
  void read(const TensorInfo& tensor, std::size_t first, std::span<std::byte> into) const;
  /// Gives the memory of a tensor's bytes in the mapping back to the system, see MappedFile.
  void let_go(const TensorInfo& tensor) const;

 private:
  FileBytes file_;
  MappedFile mapped_;
  SafetensorsHeader header_;
  std::vector<std::uint32_t> by_name_;  // places among the tensors, in order of their names
};

/// A float32 array to be stored.
struct NamedTensor {
  std::string name;
  std::vector<Index> shape;
  const float* values = nullptr;  ///< row-major, as many as the shape says
};

/// Writes float32 tensors as a safetensors file, in the order given; the file appears whole or not at all.
/// @param metadata  free text stored beside the tensors; {"format", "pt"} lets Hugging Face load the file
/// @throws ShapeError if a name occurs twice, is "__metadata__" or a size is negative; IoError if the disk
///         refuses
void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {});
/// The same into a file that is not committed yet.
void write_safetensors(ReplacedFile& file, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace headwave
