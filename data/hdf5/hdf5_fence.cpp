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

#include "../../core/errors/error.h"
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

/// A sound file's answers take milliseconds; 20,000 small arrays with attributes, in 8.5 MB, 0.6 s of processor time on
/// an AMD EPYC. A small one that is damaged keeps nobody waiting for 5 s, on a busy machine either.
Hdf5Seconds patience_for(std::uintmax_t bytes) {
  const double megabytes = 1e-6 * static_cast<double>(std::min<std::uintmax_t>(bytes, 1'000'000'000'000));
  return {0.8 + 0.25 * megabytes, 3.5 + 1.2 * megabytes};
}

class FencedReader : public Hdf5Reader {
 public:
  FencedReader(const std::filesystem::path& path, std::uintmax_t bytes) : patience_(patience_for(bytes)) {
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
      if (child_ == 0) serve_hdf5(path, bytes, {theirs.get(), memory_.get(), place_.text(), patience_});
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
    if (child_ <= 0) throw FormatError("the process that read it did not survive an earlier question");
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
    const double deadline_ms = std::min(1000 * hdf5_slowness * patience_.clock, 1e9);  // the child ends itself before
    if (!receive_message(socket_.get(), message, static_cast<int>(deadline_ms))) died();
    ByteReader bytes(message);
    const auto outcome = bytes.read<Hdf5Outcome>();
    if (outcome == Hdf5Outcome::out_of_memory)
      throw FormatError(
          "reading it takes more memory than it may: it is damaged, or memory is short; --trusted reads it all the "
          "same");
    if (outcome == Hdf5Outcome::io_error) throw IoError(bytes.read<std::string>());
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

  /// What the child came to, which has not answered. The file is blamed for what reading it did to the child, not for what
  /// others did.
  [[noreturn]] void died() {
    int status = 0;
    const bool ended = has_ended(status);
    end_child();
    const std::string place = printable(place_.path());
    const std::string where = place.empty() ? "opening it" : fmt::format("reading '{}'", place);
    const int killed_by = ended && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (killed_by == SIGPROF)
      throw FormatError(fmt::format(
          "{} was not done when answers about this file had taken {:.1f} s of processor time: it is damaged; "
          "--trusted waits",
          where, patience_.processor));
    if (!ended || killed_by == SIGALRM)
      throw IoError(
          fmt::format("{} was not done when answers about this file had taken {:.1f} s: the machine is busy, its disk "
                      "slow, or the file damaged; --trusted waits",
                      where, patience_.clock));
    constexpr std::array crashes = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGSYS};
    const bool crashed = std::ranges::count(crashes, killed_by) > 0 || (killed_by == 0 && status != 0);
    const std::string how = killed_by != 0 ? ::strsignal(killed_by) : "it ended";
    if (crashed) throw FormatError(fmt::format("the HDF5 library crashed {} ({}): the file is damaged", where, how));
    throw IoError(fmt::format(
        "the process that reads it was ended from outside, {} ({}), perhaps for want of memory; try again, or say "
        "--trusted, which reads it in this process",
        where, how));
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
  Hdf5Seconds patience_;
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
