#include "hdf5_handle.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "hdf5_file.h"

namespace headwave {

namespace {

std::recursive_mutex& library_mutex() {
  static std::recursive_mutex mutex;
  // The library cannot close some damaged files, and would complain on stderr when the program ends. Its
  // cleanup is not needed: files opened here are all closed by their handles.
  [[maybe_unused]] static const herr_t once = H5dont_atexit();
  return mutex;
}

/// The file that this thread is reading with the library; null: none.
thread_local constinit const char* file_in_reading = nullptr;

}  // namespace

Hdf5Session::Hdf5Session(const char* reading)
    : lock_(library_mutex()),
      read_before_(std::exchange(file_in_reading, reading == nullptr ? file_in_reading : reading)) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Session::~Hdf5Session() {
  file_in_reading = read_before_;
}

std::string hdf5_reason() {
  std::string reason;
  const auto keep_first = [](unsigned depth, const H5E_error2_t* error, void* text) -> herr_t {
    if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(text) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
  // For a failed write the library reports time, addresses and sizes, and in between the system's message.
  const std::string mark = "error message = '";
  const std::size_t at = reason.find(mark);
  const std::string system = at == reason.npos ? "" : reason.substr(at + mark.size());
  reason = reason.substr(0, std::min(reason.find(": time = "), reason.find(", errno = ")));
  if (const std::size_t end = system.find('\''); end != system.npos) reason += ": " + system.substr(0, end);
  return reason.empty() ? "the HDF5 library gives no reason" : printable(reason, 200);
}

bool hdf5_read_failed_by_system() {
  bool by_system = false;
  // Only the library's messages about failed system calls contain an errno.
  const auto look = [](unsigned, const H5E_error2_t* error, void* found) -> herr_t {
    const bool call = error->desc != nullptr && std::strstr(error->desc, "errno = ") != nullptr;
    if (call) *static_cast<bool*>(found) = true;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, look, &by_system);
  return by_system;
}

void fail_hdf5_read(const std::string& what) {
  const std::string told = (what.empty() ? "" : what + ": ") + hdf5_reason();
  if (hdf5_read_failed_by_system()) throw IoError(told);
  throw FormatError(told);
}

namespace {

constexpr auto crashes = std::to_array<std::pair<int, const char*>>(
    {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGABRT, "SIGABRT"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}});

/// Calls only functions that POSIX allows in a signal handler, since the heap may be broken.
void tell_crash(int signal) {
  if (file_in_reading == nullptr) {
    (void)std::signal(signal, SIG_DFL);
    (void)std::raise(signal);
    return;
  }
  const char* name = std::ranges::find(crashes, signal, &std::pair<int, const char*>::first)->second;
  constexpr const char* end = "): the file is damaged, or the library has a fault (" H5_VERS_INFO ")\n";
  for (const char* text :
       {"headwave: error: ", file_in_reading, ": the HDF5 library crashed while reading it (", name, end})
    (void)!::write(STDERR_FILENO, text, std::strlen(text));
  ::_exit(1);
}

}  // namespace

void tell_hdf5_crashes() {
  alignas(std::max_align_t) static std::array<std::byte, std::size_t{64} << 10U> stack;  // the thread's may be full
  const stack_t other{stack.data(), 0, stack.size()};
  ::sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_handler = tell_crash;
  action.sa_flags = SA_ONSTACK;
  for (const auto& [signal, name] : crashes) ::sigaction(signal, &action, nullptr);
}

Hdf5Handle hdf5_half_type() {
  Hdf5Handle type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  if (H5Tset_fields(type.id(), 15, 10, 5, 0, 10) < 0 || H5Tset_size(type.id(), 2) < 0 ||
      H5Tset_ebias(type.id(), 15) < 0)
    throw IoError(fmt::format("HDF5 cannot create the type float16: {}", hdf5_reason()));
  return type;
}

}  // namespace headwave
