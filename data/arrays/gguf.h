#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "../files/file_bytes.h"
#include "safetensors.h"

namespace headwave {

/// One value of a GGUF file's metadata: a number, a switch, a text, or a list of numbers or texts.
using GgufValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>,
                               std::vector<std::string>>;

/// What a GGUF file says before its numbers.
struct GgufHeader {
  std::uint32_t version = 0;
  std::map<std::string, GgufValue> metadata;
  std::size_t data = 0;             ///< first byte of the numbers
  std::vector<TensorInfo> tensors;  ///< as listed; shapes with the axis that runs fastest last, as everywhere here
};

/// Reads the header of a GGUF file, version 2 or 3, little-endian, and checks everything that the format
/// promises: every count and length against the bytes there are, types, at most 4 axes of a tensor, whole
/// blocks in each row, the alignment (`general.alignment`, else 32) of every tensor, bytes inside the file and
/// apart from those of other tensors, and that no key or name occurs twice.
///
/// Tensors are of F64, F32, F16, BF16, I8 to I64, or of a type in quantised_blocks.h.
///
/// Source: the GGUF description, https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
/// @param bytes  the whole file
/// @param file   what messages call it
/// @throws FormatError naming the file, and the key or tensor, what was expected and what was found
GgufHeader gguf_header(std::span<const std::byte> bytes, const std::string& file);

/// A GGUF file, mapped into memory. Opening it reads the header only.
class GgufFile : public TensorFile {
 public:
  /// @throws IoError if the file cannot be read; FormatError as gguf_header()
  explicit GgufFile(const std::filesystem::path& path);

  [[nodiscard]] const GgufHeader& header() const { return header_; }

  /// A value of the metadata; null: there is none of that key.
  [[nodiscard]] const GgufValue* find(const std::string& key) const;
  /// A text, or `otherwise` where the key is missing.
  /// @throws FormatError if it is no text; so do those below if it is of another type
  [[nodiscard]] std::string text_or(const std::string& key, const std::string& otherwise) const;
  [[nodiscard]] bool flag_or(const std::string& key, bool otherwise) const;
  [[nodiscard]] std::int64_t integer_or(const std::string& key, std::int64_t otherwise) const;
  /// Empty where the key is missing.
  [[nodiscard]] const std::vector<std::string>& texts(const std::string& key) const;
  [[nodiscard]] const std::vector<std::int64_t>& integers(const std::string& key) const;
  [[nodiscard]] const std::vector<double>& numbers(const std::string& key) const;

 private:
  template <class Value>
  const Value* value(const std::string& key, const char* expected) const;

  GgufHeader header_;
};

/// Whether a path is that of a GGUF file, by its name or else by its first bytes; false for folders and for
/// what cannot be read.
bool is_gguf(const std::filesystem::path& path);

/// The files of a model that is split, NAME-00001-of-00003.gguf and so on, by the path of the first; the file
/// itself where it is whole. The first says how many there are (`split.count`).
/// @throws IoError if one is missing; FormatError if they do not belong together, or the path is not that of the first
std::vector<std::shared_ptr<const GgufFile>> gguf_files(const std::filesystem::path& path);

/// A value as listings show it: long lists are counted.
std::string gguf_text(const GgufValue& value);

}  // namespace headwave
