#include "hdf5_fence.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../core/numbers/error.h"
#include "../files/file_descriptor.h"
#include "../files/printable.h"
#include "hdf5_child.h"
#include "hdf5_patience.h"

namespace headwave {

namespace {

/// A page that parent and child see.
class SharedPlace {
 public:
  SharedPlace()
      : text_(static_cast<char*>(
            ::mmap(nullptr, hdf5_place_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    if (text_ == MAP_FAILED) throw std::bad_alloc();
  }
  SharedPlace(const SharedPlace&) = delete;
  SharedPlace& operator=(const SharedPlace&) = delete;
  ~SharedPlace() { ::munmap(text_, hdf5_place_size); }
  [[nodiscard]] char* text() const { return text_; }
  [[nodiscard]] std::string path() const { return {text_, ::strnlen(text_, hdf5_place_size)}; }

 private:
  char* text_;
};

class FencedReader : public Hdf5Reader {
 public:
  FencedReader(const std::filesystem::path& path, std::uintmax_t bytes)
      : patience_s_(static_cast<int>(4 + std::min<std::uintmax_t>(bytes / 10'000'000, 100'000))) {
    std::array<int, 2> sockets{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) fail("no socket can be made");
    socket_ = FileDescriptor(sockets[0]);
    const FileDescriptor theirs(sockets[1]);
    memory_ = FileDescriptor(::memfd_create("headwave numbers", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    // A child that goes wrong may not take memory away from under our reading.
    if (!memory_.is_open() || ::fcntl(memory_.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0)
      fail("no shared memory can be made");
    {
      const Hdf5Session session;  // while it lives no other thread is within the library
      child_ = ::fork();
      if (child_ == 0) serve_hdf5(path, bytes, {theirs.get(), memory_.get(), place_.text(), patience_s_});
    }
    if (child_ < 0) fail("no process can be made");
  }
  FencedReader(const FencedReader&) = delete;
  FencedReader& operator=(const FencedReader&) = delete;
  ~FencedReader() override {
    end_child();
    if (size_ > 0) ::munmap(address_, size_);
  }

  /// What it said once the file was open, or was not.
  void greet() {
    const std::lock_guard lock(mutex_);
    (void)answered({});
  }

  std::string ask(const Hdf5Request& request, const Hdf5Room& room) override {
    const std::lock_guard lock(mutex_);
    if (child_ <= 0) throw FormatError("the HDF5 library did not survive an earlier question: the file is damaged");
    ByteWriter bytes;
    bytes.write(request);
    (void)send_message(socket_.get(), bytes.taken());
    return answered(room);
  }

  [[nodiscard]] std::string last_place() const override { return child_ > 0 ? "" : place_.path(); }

 private:
  [[noreturn]] static void fail(const char* what) {
    throw IoError(
        fmt::format("{} to read it apart from this program: {}; --trusted reads it here", what, std::strerror(errno)));
  }

  std::string answered(const Hdf5Room& room) {
    std::string message;
    if (!receive_message(socket_.get(), message, 1000 * hdf5_slowness * patience_s_)) throw FormatError(death());
    ByteReader bytes(message);
    const auto outcome = bytes.read<Hdf5Outcome>();
    if (outcome == Hdf5Outcome::out_of_memory)
      throw FormatError(
          "reading it takes more memory than a file of its size may: it is damaged; --trusted reads it all the same");
    if (outcome == Hdf5Outcome::shape_error) throw ShapeError(bytes.read<std::string>());
    if (outcome != Hdf5Outcome::answered) throw FormatError(bytes.read<std::string>());
    if (const auto size = bytes.read<std::uint64_t>(); size > 0) copy_numbers(size, room);
    return bytes.read<std::string>();
  }

  void copy_numbers(std::size_t size, const Hdf5Room& room) {
    if (!room) throw FormatError("numbers came that were not asked for");
    void* to = room(size);
    if (size > size_) {
      if (size_ > 0) ::munmap(address_, size_);
      size_ = 0;
      address_ = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, memory_.get(), 0);
      if (address_ == MAP_FAILED || ::lseek(memory_.get(), 0, SEEK_END) < static_cast<off_t>(size))
        throw FormatError("the numbers did not come");
      size_ = size;
    }
    std::memcpy(to, address_, size);
  }

  /// What the child came to, which has not answered.
  std::string death() {
    int status = 0;
    const bool ended = has_ended(status);
    end_child();
    const std::string place = printable(place_.path());
    const std::string where = place.empty() ? "opening it" : fmt::format("reading '{}'", place);
    const int killed_by = ended && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (killed_by == SIGPROF)
      return fmt::format(
          "{} was not done when answers about this file had taken {} s of processor time: it is damaged; "
          "--trusted waits",
          where, patience_s_);
    if (!ended || killed_by == SIGALRM)
      return fmt::format(
          "{} took {} times as long by the clock as answers about this file may in processor time ({} s): its disk "
          "stands still, or it is damaged; --trusted waits",
          where, hdf5_slowness, patience_s_);
    return fmt::format("the HDF5 library crashed {} ({}): the file is damaged", where,
                       killed_by != 0 ? ::strsignal(killed_by) : "it ended");
  }

  /// A socket is closed a moment before its process has ended.
  bool has_ended(int& status) {
    for (int i = 0; i < 1000; ++i) {
      if (::waitpid(child_, &status, WNOHANG) == child_) return child_ = -1, true;
      char next = 0;
      const ssize_t came = ::recv(socket_.get(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
      if (came > 0 || (came < 0 && errno == EAGAIN)) return false;
      ::usleep(1000);
    }
    return false;
  }

  void end_child() {
    socket_.close();
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
  }

  std::mutex mutex_;
  SharedPlace place_;
  FileDescriptor socket_, memory_;
  pid_t child_ = -1;
  int patience_s_;  // of processor time
  void* address_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace

std::unique_ptr<Hdf5Reader> fenced_hdf5_reader(const std::filesystem::path& path, std::uintmax_t bytes) {
  auto reader = std::make_unique<FencedReader>(path, bytes);
  reader->greet();
  return reader;
}

}  // namespace headwave
