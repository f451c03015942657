#include "hdf5_answers.h"

#ifndef __linux__

namespace headwave {

// A child as below needs sockets that keep messages apart, sealed memory and limits that Linux alone has.
std::unique_ptr<Hdf5Reader> hdf5_reader_in_child(const std::filesystem::path& path, std::uintmax_t bytes) {
  return std::make_unique<Hdf5Answers>(path, bytes, true);
}

}  // namespace headwave

#else

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <new>
#include <optional>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "../../core/bytes/bytes.h"
#include "../../core/errors/error.h"
#include "../files/file_descriptor.h"

namespace headwave {

namespace {

constexpr std::uintmax_t child_memory = std::uintmax_t{512} << 20U;  // beside the numbers that are asked for

/// How an answer ended; its bytes, or the message of the error, lie in shared memory.
struct Hdf5Outcome {
  enum Kind { answered, format_error, shape_error, io_error, out_of_memory } kind;
  std::size_t bytes;
};

/// Memory that parent and child see, which grows when the child needs more.
class SharedBytes {
 public:
  SharedBytes() = default;
  explicit SharedBytes(int file) : file_(file) {}
  SharedBytes(const SharedBytes&) = delete;
  SharedBytes& operator=(const SharedBytes&) = delete;
  ~SharedBytes() { unmap(); }

  void* grown_to(std::size_t bytes) {
    if (bytes <= size_) return address_;
    if (::ftruncate(file_, static_cast<off_t>(bytes)) != 0) throw std::bad_alloc();
    return mapped(bytes, PROT_READ | PROT_WRITE);
  }
  /// Of a file that has as many bytes. @throws std::bad_alloc if it does not
  const void* readable(std::size_t bytes) {
    if (bytes <= size_) return address_;
    if (::lseek(file_, 0, SEEK_END) < static_cast<off_t>(bytes)) throw std::bad_alloc();
    return mapped(bytes, PROT_READ);
  }

 private:
  void* mapped(std::size_t bytes, int use) {
    unmap();
    void* address = ::mmap(nullptr, bytes, use, MAP_SHARED, file_, 0);
    if (address == MAP_FAILED) throw std::bad_alloc();
    size_ = bytes;
    return address_ = address;
  }
  void unmap() {
    if (size_ > 0) ::munmap(address_, size_);
    size_ = 0;
  }

  int file_ = -1;
  void* address_ = nullptr;
  std::size_t size_ = 0;
};

// What the child does.

constexpr int child_socket = 3, child_file = 4;

/// Closes every file from a number on.
void close_from(int first) {
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, first, ~0U, 0) == 0) return;
#endif
  const long most = std::min(::sysconf(_SC_OPEN_MAX), 65536L);  // a container may allow a billion
  for (int file = first; file < most; ++file) ::close(file);
}

/// Keeps nothing of the parent but the two files, and leaves nothing behind.
void stand_alone(int socket, int file) {
  for (const int signal : {SIGINT, SIGHUP, SIGTERM, SIGPIPE}) std::signal(signal, SIG_IGN);  // the parent's to heed
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU}) std::signal(signal, SIG_DFL);
  const int high_socket = ::fcntl(socket, F_DUPFD, child_file + 1), high_file = ::fcntl(file, F_DUPFD, child_file + 1);
  ::dup2(high_socket, child_socket);
  ::dup2(high_file, child_file);
  close_from(child_file + 1);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int stream = 0; stream < 3; ++stream) ::dup2(nothing, stream);
  if (nothing > child_file) ::close(nothing);
  const rlimit no_core{0, 0};
  (void)::setrlimit(RLIMIT_CORE, &no_core);
  rlimit file_size{};  // of shared memory too
  if (::getrlimit(RLIMIT_FSIZE, &file_size) == 0) file_size.rlim_cur = file_size.rlim_max;
  (void)::setrlimit(RLIMIT_FSIZE, &file_size);
  // A chunk's memory is kept for the next chunk, not given back to the system each time.
#ifdef __GLIBC__
  constexpr int kept_memory = 1 << 28;
  ::mallopt(M_MMAP_THRESHOLD, kept_memory);
  ::mallopt(M_TRIM_THRESHOLD, kept_memory);
#endif
}

/// Lets the memory of this process grow by so many bytes from now on.
void limit_memory([[maybe_unused]] std::uintmax_t more) {
#ifndef HEADWAVE_SANITIZED
  unsigned long pages = 0;  // in use already, much of it the parent's
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  const rlimit limit{pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + more, RLIM_INFINITY};
  (void)::setrlimit(RLIMIT_AS, &limit);
#endif
}

/// Limits the processor time of this process, all answers together: SIGXCPU ends it. A sound file takes
/// milliseconds to list; 20,000 small arrays with attributes, in 8.5 MB, take 0.6 s on an AMD EPYC.
class ProcessorTime {
 public:
  explicit ProcessorTime(std::uintmax_t file_bytes) : seconds_(1.0 + 0.25e-6 * static_cast<double>(file_bytes)) {}
  /// One answer more may take 20 ms, and a second for every 100 MB that it reads or unpacks.
  void grant(std::size_t bytes) {
    seconds_ += 0.02 + 1e-8 * static_cast<double>(bytes);
    const rlimit limit{static_cast<rlim_t>(std::ceil(std::min(seconds_, 1e9))), RLIM_INFINITY};
    (void)::setrlimit(RLIMIT_CPU, &limit);
  }

 private:
  double seconds_;
};

template <class Work>
Hdf5Outcome outcome_of(SharedBytes& shared, Work work) {
  const auto failed = [&](Hdf5Outcome::Kind kind, const std::string& problem) {
    std::memcpy(shared.grown_to(problem.size()), problem.data(), problem.size());
    return Hdf5Outcome{kind, problem.size()};
  };
  try {
    return {Hdf5Outcome::answered, work()};
  } catch (const ShapeError& problem) {
    return failed(Hdf5Outcome::shape_error, problem.what());
  } catch (const IoError& problem) {
    return failed(Hdf5Outcome::io_error, problem.what());
  } catch (const std::bad_alloc&) {
    return {Hdf5Outcome::out_of_memory, 0};
  } catch (const std::exception& problem) {
    return failed(Hdf5Outcome::format_error, problem.what());
  }
}

/// Opens the file and answers until nobody asks any more.
[[noreturn]] void serve(const std::filesystem::path& path, std::uintmax_t file_bytes, int socket, int file) {
  use_hdf5_without_lock();
  stand_alone(socket, file);
  limit_memory(child_memory);
  SharedBytes shared(child_file);
  ProcessorTime time(file_bytes);
  std::optional<Hdf5Answers> answers;
  time.grant(0);
  Hdf5Outcome outcome = outcome_of(shared, [&] {
    answers.emplace(path, file_bytes, true, [&](std::size_t bytes) { time.grant(bytes); });
    return std::size_t{0};
  });
  std::string message(std::size_t{1} << 17U, '\0');
  while (::send(child_socket, &outcome, sizeof outcome, 0) > 0 && answers) {
    const ssize_t came = ::recv(child_socket, message.data(), message.size(), 0);
    if (came <= 0) break;
    time.grant(0);
    outcome = outcome_of(shared, [&] {
      std::size_t answered = 0;
      const auto request =
          ByteReader(std::string_view(message).substr(0, static_cast<std::size_t>(came))).read<Hdf5Request>();
      answers->ask(request, [&](std::size_t bytes) {
        limit_memory(child_memory + bytes);
        answered = bytes;
        return shared.grown_to(bytes);
      });
      return answered;
    });
  }
  ::_exit(0);
}

// What the parent does.

Remedy read_here(const char* effect) {
  return give("trusted", "", effect);
}

class ChildReader : public Hdf5Reader {
 public:
  ChildReader(const std::filesystem::path& path, std::uintmax_t bytes) {
    std::array<int, 2> sockets{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0) fail("no socket can be made");
    socket_ = FileDescriptor(sockets[0]);
    const FileDescriptor theirs(sockets[1]);
    file_ = nameless_file();
    // A child that goes wrong may not take memory away from under our reading.
    if (!file_.is_open() || ::fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) fail("no shared memory can be made");
    shared_.emplace(file_.get());
    {
      const Hdf5Session session;  // while it lives no other thread is within the library
      child_ = ::fork();
      if (child_ == 0) serve(path, bytes, theirs.get(), file_.get());
    }
    if (child_ < 0) fail("no process can be made");
  }
  ChildReader(const ChildReader&) = delete;
  ChildReader& operator=(const ChildReader&) = delete;
  ~ChildReader() override { end_child(); }

  /// Takes what the child says once the file is open, or is not.
  void greet() {
    const std::lock_guard lock(mutex_);
    take_answer({});
  }

  void ask(const Hdf5Request& request, const Hdf5Room& room) override {
    const std::lock_guard lock(mutex_);
    if (child_ <= 0) throw FormatError("the process that read it did not survive an earlier question");
    ByteWriter bytes;
    bytes.write(request);
    ssize_t sent = 0;
    do {
      sent = ::send(socket_.get(), bytes.bytes().data(), bytes.bytes().size(), MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0 && errno == EMSGSIZE) throw FormatError("there is no object with so long a name");
    take_answer(room);
  }
  [[nodiscard]] bool has_died() const override { return child_ <= 0; }

 private:
  [[noreturn]] static void fail(const char* what) {
    throw IoError(fmt::format("{} to read it in a process of its own: {}", what, std::strerror(errno)),
                  read_here("to read it in this one"));
  }

  void take_answer(const Hdf5Room& room) {
    Hdf5Outcome outcome{};
    ssize_t came = 0;
    do {
      came = ::recv(socket_.get(), &outcome, sizeof outcome, 0);
    } while (came < 0 && errno == EINTR);
    if (came != sizeof outcome) died();
    if (outcome.kind == Hdf5Outcome::out_of_memory)
      throw FormatError("reading it takes more memory than it may: it is damaged, or memory is short",
                        read_here("to read it all the same"));
    const void* bytes = shared_->readable(outcome.bytes);
    const auto problem = [&] { return std::string(static_cast<const char*>(bytes), outcome.bytes); };
    if (outcome.kind == Hdf5Outcome::io_error) throw IoError(problem());
    if (outcome.kind == Hdf5Outcome::shape_error) throw ShapeError(problem());
    if (outcome.kind == Hdf5Outcome::format_error) throw FormatError(problem());
    void* const to = room ? room(outcome.bytes) : nullptr;
    if (to != nullptr && outcome.bytes > 0) std::memcpy(to, bytes, outcome.bytes);
  }

  /// Says why the child gave no answer. The file is blamed for what reading it did to the child, not for what
  /// others did to the child. A slow disk is waited for: the limit on processor time ends a child that
  /// computes for ever.
  [[noreturn]] void died() {
    int status = 0;
    socket_.close();
    end_of_child(status);
    child_ = -1;
    const int killed_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (killed_by == SIGXCPU)
      throw FormatError("reading it takes far more processor time than its size explains: it is damaged",
                        read_here("to wait for it"));
    constexpr std::array crashes = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGSYS};
    const std::string how = killed_by != 0 ? ::strsignal(killed_by) : "it ended";
    if (std::ranges::count(crashes, killed_by) > 0 || (killed_by == 0 && status != 0))
      throw FormatError(
          fmt::format("the HDF5 library crashed over it ({}): the file is damaged, or HDF5 {}.{}.{} has a fault", how,
                      H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE));
    throw IoError(
        fmt::format("the process that reads it was ended from outside ({}), perhaps for want of memory: try again",
                    how),
        read_here("to read it in this process"));
  }

  /// Waits for it. Of a child that somebody else waited for the status stays 0.
  void end_of_child(int& status) const {
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) continue;
  }

  void end_child() {
    socket_.close();
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    int status = 0;
    end_of_child(status);
    child_ = -1;
  }

  std::mutex mutex_;
  FileDescriptor socket_, file_;
  std::optional<SharedBytes> shared_;
  pid_t child_ = -1;
};

}  // namespace

std::unique_ptr<Hdf5Reader> hdf5_reader_in_child(const std::filesystem::path& path, std::uintmax_t bytes) {
#ifdef HEADWAVE_SANITIZED
  // The sanitizer's allocator, unlike the C library's, may be locked by another thread at a fork(): the child would
  // wait for that thread for ever.
  if (std::ranges::distance(std::filesystem::directory_iterator("/proc/self/task")) > 1)
    return std::make_unique<Hdf5Answers>(path, bytes, true);
#endif
  auto reader = std::make_unique<ChildReader>(path, bytes);
  reader->greet();
  return reader;
}

}  // namespace headwave

#endif
