#pragma once

// Everything that touches the HDF5 C library starts here. Only sources include this header.

#include <mutex>
#include <string>
#include <utility>

#include <hdf5.h>

namespace headwave {

/// An HDF5 identifier that is closed when the object is destroyed.
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
  /// Gives up ownership: the object stays open in the library until the program ends.
  void abandon() { id_ = -1; }
  /// Closes now. @returns success
  bool close() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// Gives this thread sole use of the library, which may be built without thread safety, and keeps the library
/// from printing to stderr. Sessions may be nested.
class Hdf5Session {
 public:
  /// @param reading  the file that tell_hdf5_crashes() names, as messages show it; null: none
  explicit Hdf5Session(const char* reading = nullptr);
  Hdf5Session(const Hdf5Session&) = delete;
  Hdf5Session& operator=(const Hdf5Session&) = delete;
  ~Hdf5Session();

 private:
  std::unique_lock<std::recursive_mutex> lock_;
  const char* read_before_;
};

/// Why the library's last call failed, in the library's words, on one line. Call it right after that call.
std::string hdf5_reason();

/// Whether the last call failed because the system could not read the file. Otherwise the file is damaged.
bool hdf5_read_failed_by_system();

/// Throws the error of a library call that failed to read. Call it right after that call.
/// @param what  what could not be done, put before the library's reason; empty: the reason alone
/// @throws IoError if hdf5_read_failed_by_system(); otherwise FormatError
[[noreturn]] void fail_hdf5_read(const std::string& what = "");

/// The type of IEEE 754 half-precision floats, as numpy stores them.
/// @throws IoError if the library cannot make the type
Hdf5Handle hdf5_half_type();

}  // namespace headwave
