#include "hdf5_handle.h"

#include <algorithm>

#include "../files/printable.h"
#include "hdf5_type.h"

namespace headwave {

namespace {

bool locks_library = true;

std::recursive_mutex& library_mutex() {
  static std::recursive_mutex mutex;
  // Some damaged files leave the library with a file that it cannot close; cleaning up when the program ends
  // it would then complain on stderr. Files opened here are all closed by their handles.
  [[maybe_unused]] static const herr_t once = H5dont_atexit();
  return mutex;
}

}  // namespace

void use_hdf5_without_lock() {
  locks_library = false;
}

Hdf5Session::Hdf5Session()
    : lock_(locks_library ? std::unique_lock(library_mutex()) : std::unique_lock<std::recursive_mutex>()) {
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_to_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  [[maybe_unused]] static const bool once = (register_half_conversions(), true);
}

Hdf5Session::~Hdf5Session() {
  H5Eset_auto2(H5E_DEFAULT, print_, print_to_);
}

std::string hdf5_reason() {
  std::string reason;
  const auto keep_first = [](unsigned depth, const H5E_error2_t* error, void* text) -> herr_t {
    if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(text) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
  // About a failed write the library tells time, addresses and sizes, and among them what the system said.
  const std::string mark = "error message = '";
  const std::size_t at = reason.find(mark);
  const std::string system = at == reason.npos ? "" : reason.substr(at + mark.size());
  reason = reason.substr(0, std::min(reason.find(": time = "), reason.find(", errno = ")));
  if (const std::size_t end = system.find('\''); end != system.npos) reason += ": " + system.substr(0, end);
  return reason.empty() ? "the HDF5 library gives no reason" : printable(reason, 200);
}

}  // namespace headwave
