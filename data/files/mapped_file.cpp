#include "mapped_file.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../core/errors/error.h"
#include "file_descriptor.h"
#include "printable.h"

namespace headwave {

namespace {

/// A file that is mapped now, as the signal handler reads it.
struct Mapping {
  std::atomic<std::uintptr_t> begin{0};  // 0: this place is free
  std::atomic<std::size_t> size{0};
  std::atomic<std::atomic<bool>*> has_lost_pages{nullptr};
};

constexpr std::size_t no_place = 1024;  // that many files at once survive lost pages
std::array<Mapping, no_place> mappings;
std::mutex mapping;

/// Makes a page of zeros where a file has none any more. Nothing but system calls: it interrupts any thread anywhere.
void replace_lost_page(int signal, siginfo_t* info, void* /*context*/) {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const int kept_errno = errno;
  for (Mapping& file : mappings) {
    const std::uintptr_t begin = file.begin.load();
    if (begin == 0 || at < begin || at - begin >= file.size.load()) continue;
    void* const lost = static_cast<char*>(info->si_addr) - at % page;
    if (::mmap(lost, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) break;
    file.has_lost_pages.load()->store(true);
    errno = kept_errno;
    return;
  }
  std::signal(signal, SIG_DFL);  // not ours: the same access once more ends the program as it would have
}

std::size_t place_of(const std::byte* data, std::size_t size, std::atomic<bool>& has_lost_pages) {
  const std::lock_guard lock(mapping);
  for (std::size_t i = 0; i < no_place; ++i) {
    Mapping& file = mappings[i];
    if (file.begin.load() != 0) continue;
    file.has_lost_pages.store(&has_lost_pages);
    file.size.store(size);
    file.begin.store(reinterpret_cast<std::uintptr_t>(data));
    return i;
  }
  return no_place;
}

void leave(std::size_t place) {
  const std::lock_guard lock(mapping);
  if (place != no_place) mappings[place].begin.store(0);
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) : MappedFile(FileBytes(path)) {}

MappedFile::MappedFile(const FileBytes& file)
    : path_(file.path()), size_(file.size()), place_(no_place), watch_(path_, file.descriptor()) {
  if (size_ == 0) return;  // mmap refuses a length of zero
  void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (address == MAP_FAILED) fail_by_errno(path_, "cannot be mapped into memory");
  data_ = static_cast<const std::byte*>(address);
  place_ = place_of(data_, size_, watch_.has_lost_pages());
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  leave(place_);
  ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::let_go(std::size_t first, std::size_t count) const {
  constexpr std::size_t piece = std::size_t{2} << 20U;  // of whole pages, of any size that there is
  if (count == 0 || first >= size_) return;
  const std::size_t begin = first / piece * piece, end = std::min(size_, (first + count + piece - 1) / piece * piece);
  // Advice: where the system does not take it, the pages stay until it needs their room.
  (void)::madvise(const_cast<std::byte*>(data_) + begin, end - begin, MADV_DONTNEED);
}

void survive_lost_pages() {
  struct sigaction action {};
  action.sa_sigaction = replace_lost_page;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace headwave
