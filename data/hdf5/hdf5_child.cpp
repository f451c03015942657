#include "hdf5_child.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <new>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../core/errors/error.h"
#include "hdf5_answers.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEADWAVE_SHADOW_MEMORY  // more address space than any limit allows
#endif

namespace headwave {

namespace {

constexpr std::uintmax_t own_memory = std::uintmax_t{512} << 20U;  // beside what the numbers take that are asked for

constexpr int kept_memory = 1 << 28;

using Clock = std::chrono::steady_clock;

/// Waits until something can be read. @returns whether it can
bool is_ready(int socket, std::optional<Clock::time_point> deadline) {
  for (;;) {
    int left = -1;
    if (deadline)
      left = static_cast<int>(std::max<std::int64_t>(
          0, std::chrono::duration_cast<std::chrono::milliseconds>(*deadline - Clock::now()).count()));
    pollfd waiting{socket, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, left);
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

bool receive(int socket, char* to, std::size_t size, std::optional<Clock::time_point> deadline) {
  while (size > 0) {
    if (!is_ready(socket, deadline)) return false;
    const ssize_t came = ::recv(socket, to, size, 0);
    if (came < 0 && errno == EINTR) continue;
    if (came <= 0) return false;
    to += came;
    size -= static_cast<std::size_t>(came);
  }
  return true;
}

bool send(int socket, const char* from, std::size_t size) {
  while (size > 0) {
    const ssize_t went = ::send(socket, from, size, MSG_NOSIGNAL);
    if (went < 0 && errno == EINTR) continue;
    if (went < 0) return false;
    from += went;
    size -= static_cast<std::size_t>(went);
  }
  return true;
}

/// The address space that this process takes up already, much of it its parent's.
std::uintmax_t address_space() {
  unsigned long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return std::uintmax_t{pages} * static_cast<std::uintmax_t>(::sysconf(_SC_PAGESIZE));
}

/// Memory may grow by so much from now on.
void limit_memory([[maybe_unused]] std::uintmax_t more) {
#ifndef HEADWAVE_SHADOW_MEMORY
  const rlimit limit{address_space() + more, RLIM_INFINITY};
  (void)::setrlimit(RLIMIT_AS, &limit);
#endif
}

/// Nothing of the parent's is within reach, and nothing is left behind.
void stand_alone(int& socket, int& memory) {
  for (const int signal : {SIGINT, SIGHUP, SIGTERM, SIGPIPE}) std::signal(signal, SIG_IGN);  // the parent's to heed
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM, SIGPROF}) std::signal(signal, SIG_DFL);
  for (int* const kept : {&socket, &memory})
    if (*kept < 3) *kept = ::fcntl(*kept, F_DUPFD, 3);
  const auto [low, high] = std::minmax({static_cast<unsigned>(socket), static_cast<unsigned>(memory)});
  (void)::close_range(3, low - 1, 0);
  (void)::close_range(low + 1, high - 1, 0);
  (void)::close_range(high + 1, ~0U, 0);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int stream = 0; stream < 3; ++stream) ::dup2(nothing, stream);
  if (nothing > 2) ::close(nothing);
  const rlimit no_core{0, 0}, no_file{0, RLIM_INFINITY};
  (void)::setrlimit(RLIMIT_CORE, &no_core);
  (void)::setrlimit(RLIMIT_FSIZE, &no_file);
}

/// Numbers in memory that the parent sees too.
class SharedNumbers {
 public:
  explicit SharedNumbers(int memory) : memory_(memory) {}

  /// Room for so many bytes. Files of memory may grow beyond what other files may.
  void* room(std::size_t bytes) {
    used_ = bytes;
    if (bytes > size_) {
      if (size_ > 0) ::munmap(address_, size_);
      size_ = 0;
      limit_memory(own_memory + bytes);
      const rlimit all{RLIM_INFINITY, RLIM_INFINITY}, none{0, RLIM_INFINITY};
      (void)::setrlimit(RLIMIT_FSIZE, &all);
      const bool grown = ::ftruncate(memory_, static_cast<off_t>(bytes)) == 0;
      (void)::setrlimit(RLIMIT_FSIZE, &none);
      void* address = grown ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_, 0) : MAP_FAILED;
      if (address == MAP_FAILED) throw std::bad_alloc();
      address_ = address;
      size_ = bytes;
    }
    return address_;
  }
  /// Bytes that were asked for since the last call.
  std::size_t used() { return std::exchange(used_, 0); }

 private:
  int memory_;
  void* address_ = nullptr;
  std::size_t size_ = 0, used_ = 0;
};

template <class Work>
std::string outcome_of(SharedNumbers& numbers, Work work) {
  (void)numbers.used();  // what a question before asked for and did not get
  ByteWriter bytes;
  const auto failed = [&](Hdf5Outcome outcome, const std::string& problem) {
    bytes.write(outcome);
    bytes.write(problem);
  };
  try {
    const std::string answer = work();
    bytes.write(Hdf5Outcome::answered);
    bytes.write<std::uint64_t>(numbers.used());
    bytes.write(answer);
  } catch (const ShapeError& problem) {
    failed(Hdf5Outcome::shape_error, problem.what());
  } catch (const IoError& problem) {
    failed(Hdf5Outcome::io_error, problem.what());
  } catch (const std::bad_alloc&) {
    failed(Hdf5Outcome::out_of_memory, "");
  } catch (const std::exception& problem) {
    failed(Hdf5Outcome::format_error, problem.what());
  }
  return bytes.taken();
}

}  // namespace

bool send_message(int socket, const std::string& bytes) {
  const std::uint64_t size = bytes.size();
  return send(socket, reinterpret_cast<const char*>(&size), sizeof size) && send(socket, bytes.data(), bytes.size());
}

bool receive_message(int socket, std::string& bytes, int deadline_ms) {
  constexpr std::uint64_t piece = std::uint64_t{1} << 24U;
  std::optional<Clock::time_point> deadline;
  if (deadline_ms >= 0) deadline = Clock::now() + std::chrono::milliseconds(deadline_ms);
  std::uint64_t size = 0;
  if (!receive(socket, reinterpret_cast<char*>(&size), sizeof size, deadline)) return false;
  bytes.clear();
  while (bytes.size() < size) {  // no length is believed before so much is there
    const std::size_t before = bytes.size();
    bytes.resize(before + std::min(piece, size - before));
    if (!receive(socket, bytes.data() + before, bytes.size() - before, deadline)) return false;
  }
  return true;
}

void serve_hdf5(const std::filesystem::path& path, std::uintmax_t bytes, Hdf5ChildEnds ends) {
  use_hdf5_alone(ends.place, hdf5_place_size);
  stand_alone(ends.socket, ends.memory);
  limit_memory(own_memory);
  // Memory of a chunk's size is fetched for every chunk: kept, it is not fetched from the system each time.
  ::mallopt(M_MMAP_THRESHOLD, kept_memory);
  ::mallopt(M_TRIM_THRESHOLD, kept_memory);
  SharedNumbers numbers(ends.memory);
  Hdf5Patience patience(ends.patience);
  const Hdf5Room room = [&](std::size_t size) {
    patience.grant(size);
    return numbers.room(size);
  };
  std::optional<Hdf5Answers> answers;
  patience.begin();
  const std::string opened = outcome_of(numbers, [&] {
    answers.emplace(path, bytes, Hdf5Trust::foreign);
    return std::string();
  });
  std::string message;
  for (bool asked = send_message(ends.socket, opened) && answers; asked;) {
    patience.end();
    if (!receive_message(ends.socket, message, -1)) break;
    patience.begin();
    const std::string answer =
        outcome_of(numbers, [&] { return answers->answer(ByteReader(message).read<Hdf5Request>(), room); });
    asked = send_message(ends.socket, answer);
  }
  ::_exit(0);
}

}  // namespace headwave
