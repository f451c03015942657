#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "../../core/numbers/matrix.h"
#include "../arrays/stored_numbers.h"
#include "hdf5_handle.h"

namespace headwave {

/// A stored type in words: "float32", "bfloat16", "int64", "uint8", "bool", "enum", "string", "compound", ... Byte order is
/// left out.
std::string hdf5_type_text(hid_t type);

/// Whether entries of the type are real numbers that the library converts: integers, floats, enumerations.
bool hdf5_is_number(hid_t type);

/// How a number is stored.
struct Hdf5Number {
  NumberType type;
  ByteOrder order;
};

/// Nothing of a type that is not one of ours to the bit.
std::optional<Hdf5Number> hdf5_stored_number(hid_t type);

/// The type of texts in UTF-8 of variable length, as we write them.
/// @throws IoError if the library refuses
Hdf5Handle hdf5_text_type();

/// Texts as the library takes them: in UTF-8, as its readers insist, and without zero bytes, where they would end.
class Hdf5Texts {
 public:
  explicit Hdf5Texts(const std::vector<std::string>& texts);
  Hdf5Texts(const Hdf5Texts&) = delete;
  Hdf5Texts& operator=(const Hdf5Texts&) = delete;
  ~Hdf5Texts() = default;

  /// As they will be read again.
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }
  /// What a call that writes is given.
  [[nodiscard]] const void* data() const { return characters_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<const char*> characters_;
};

/// How many entries a data space has, and along which axes.
struct Hdf5Extent {
  std::vector<Index> shape;  ///< empty: a single entry, or none
  bool scalar = false;       ///< a single entry without an axis
  std::size_t entries = 0;
};

/// @throws FormatError if the space is broken or its entries cannot be counted in 63 bits
Hdf5Extent hdf5_extent(hid_t space);

/// The texts of a string dataset or attribute, without padding.
/// @param read  called with the memory type and a buffer; returns whether the library could fill it
/// @throws FormatError if it could not, or if the texts would take more than `most_bytes`
std::vector<std::string> hdf5_strings(hid_t type, hid_t space, std::size_t most_bytes,
                                      const std::function<bool(hid_t, void*)>& read);

}  // namespace headwave
