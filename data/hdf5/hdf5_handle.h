#pragma once

// Everything that touches the HDF5 C library begins here. Included by the hdf5_* and result_* sources only,
// never by a header that others see.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <hdf5.h>

#include "../../core/fields/field.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

/// An HDF5 identifier that closes itself.
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, Close closer) : id_(id), close_(closer) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  ~Hdf5Handle() { close(); }

  [[nodiscard]] bool valid() const { return id_ >= 0; }
  [[nodiscard]] hid_t id() const { return id_; }
  /// Never closes: the object stays open in the library until the program ends.
  void abandon() { id_ = -1; }
  /// Closes now. @returns whether the library could
  bool close() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// Gives this thread the library for itself, which may be built without thread safety, and keeps the library
/// from printing to stderr. May be nested.
class Hdf5Session {
 public:
  /// @param reading  the file that is read, as messages show it, for tell_hdf5_crashes(); null: none
  explicit Hdf5Session(const char* reading = nullptr);
  Hdf5Session(const Hdf5Session&) = delete;
  Hdf5Session& operator=(const Hdf5Session&) = delete;
  ~Hdf5Session();

 private:
  std::unique_lock<std::recursive_mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* print_to_ = nullptr;
  const char* read_before_;
};

/// Why the library's last call failed, in the library's words, on one line. Ask before any other call.
std::string hdf5_reason();

/// Whether the library's last call failed since the system could not read the file; else the file is damaged. Ask before any other call.
bool hdf5_read_failed_by_system();

/// Throws the error of a call that failed to read. Call it right after that call.
/// @param what  what could not be done, before the library's reason; empty: the reason alone
/// @throws IoError if hdf5_read_failed_by_system(); else FormatError
[[noreturn]] void fail_hdf5_read(const std::string& what = "");

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

/// Attributes of an open group or dataset: a single number or text unchanged, up to 4096 numbers as a list of
/// doubles, several texts joined by ", ", and anything else described in brackets: "(compound)", "(cannot be
/// read)".
/// @throws IoError if the file can no longer be read
Attributes hdf5_attributes(hid_t object);

/// The entries of a text attribute, one by one; empty if there is no such attribute.
/// @throws FormatError if the attribute is not text or cannot be read
std::vector<std::string> hdf5_attribute_texts(hid_t object, const std::string& name);

/// Writes one attribute; numbers as float64 and int64, texts as Hdf5Texts.
/// @throws IoError if the library refuses
void write_hdf5_attribute(hid_t object, const std::string& name, const Attribute& value);

/// Writes a list of texts as one attribute.
/// @throws IoError if the library refuses
void write_hdf5_attribute_texts(hid_t object, const std::string& name, const std::vector<std::string>& texts);

/// Writes a list of uint8 as one attribute.
/// @throws IoError if the library refuses
void write_hdf5_attribute_bytes(hid_t object, const std::string& name, const std::vector<std::uint8_t>& values);

}  // namespace headwave
