#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "../../core/numbers/matrix.h"
#include "hdf5_handle.h"

namespace headwave {

/// A stored type in words, without its byte order: "float32", "bfloat16", "int64", "uint8", "bool", "enum",
/// "string", "compound", ...
std::string hdf5_type_text(hid_t type);

/// Whether entries of the type are real numbers that the library converts: integers, floats, enumerations.
bool hdf5_is_number(hid_t type);

/// The type of IEEE 754 half-precision floats, as numpy stores them; invalid if the library refuses.
Hdf5Handle hdf5_half_type();

/// Makes the library convert between halves and floats or doubles with the processor's instructions, rounding
/// to the nearest. Its own conversion takes numbers apart bit by bit, 0.1 us each. Call within a session.
void register_half_conversions();

/// The type of UTF-8 texts of variable length, as we write them.
/// @throws IoError if the library refuses
Hdf5Handle hdf5_text_type();

/// Texts in the form that the library takes: UTF-8, as its readers insist, without zero bytes, which would
/// end them.
class Hdf5Texts {
 public:
  explicit Hdf5Texts(const std::vector<std::string>& texts);
  Hdf5Texts(const Hdf5Texts&) = delete;
  Hdf5Texts& operator=(const Hdf5Texts&) = delete;
  ~Hdf5Texts() = default;

  /// The texts as they will be read again.
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }
  /// The buffer for a call that writes.
  [[nodiscard]] const void* data() const { return characters_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<const char*> characters_;
};

/// The shape and number of entries of a data space.
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
