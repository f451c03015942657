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

#include "../../core/numbers/error.h"
#include "file_descriptor.h"
#include "printable.h"

namespace headwave {

namespace {

/// A file that is mapped now. The signal handler reads the atomics and nothing else.
struct Watched {
  std::atomic<std::uintptr_t> begin{0};  // 0: this place is free
  std::atomic<std::size_t> size{0};
  std::atomic<bool> has_lost_pages{false};
  std::string path;
  struct stat as_opened {};
  bool told = false;  // somebody was told that it was changed
};

constexpr std::size_t not_watched = 1024;  // that many files at once are
std::array<Watched, not_watched> all_watched;
std::mutex watching;
std::string closed_unlike;  // a file that was changed and closed before anybody was told

/// Makes a page of zeros where a file has none any more. Nothing but system calls: it interrupts any thread anywhere.
void replace_lost_page(int signal, siginfo_t* info, void* /*context*/) {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const int kept_errno = errno;
  for (Watched& file : all_watched) {
    const std::uintptr_t begin = file.begin.load();
    if (begin == 0 || at < begin || at - begin >= file.size.load()) continue;
    void* const lost = static_cast<char*>(info->si_addr) - at % page;
    if (::mmap(lost, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) break;
    file.has_lost_pages.store(true);
    errno = kept_errno;
    return;
  }
  std::signal(signal, SIG_DFL);  // not ours: the same access once more ends the program as it would have
}

/// The same file with another content. A file that took its name leaves the mapped one as it was.
bool was_changed(const Watched& file) {
  struct stat now {};
  if (file.has_lost_pages.load()) return true;
  if (::stat(file.path.c_str(), &now) != 0) return false;
  const struct stat& then = file.as_opened;
  return now.st_dev == then.st_dev && now.st_ino == then.st_ino &&
         (now.st_size != then.st_size || now.st_mtim.tv_sec != then.st_mtim.tv_sec ||
          now.st_mtim.tv_nsec != then.st_mtim.tv_nsec);
}

std::size_t watch(const std::filesystem::path& path, const std::byte* data, const struct stat& status) {
  const std::lock_guard lock(watching);
  for (std::size_t i = 0; i < not_watched; ++i) {
    Watched& file = all_watched[i];
    if (file.begin.load() != 0) continue;
    file.path = path.string();
    file.as_opened = status;
    file.told = false;
    file.has_lost_pages.store(false);
    file.size.store(static_cast<std::size_t>(status.st_size));
    file.begin.store(reinterpret_cast<std::uintptr_t>(data));
    return i;
  }
  return not_watched;
}

void stop_watching(std::size_t place) {
  if (place == not_watched) return;
  const std::lock_guard lock(watching);
  Watched& file = all_watched[place];
  if (closed_unlike.empty() && !file.told && was_changed(file)) closed_unlike = file.path;
  file.begin.store(0);
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) : MappedFile(FileBytes(path)) {}

MappedFile::MappedFile(const FileBytes& file) : path_(file.path()), size_(file.size()), watched_(not_watched) {
  struct stat status {};
  if (::fstat(file.descriptor(), &status) != 0) fail_by_errno(path_, "cannot be examined");
  if (size_ == 0) return;  // mmap refuses a length of zero
  void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (address == MAP_FAILED) fail_by_errno(path_, "cannot be mapped into memory");
  data_ = static_cast<const std::byte*>(address);
  watched_ = watch(path_, data_, status);
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  stop_watching(watched_);
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

void require_intact_files() {
  const std::lock_guard lock(watching);
  std::string changed = std::exchange(closed_unlike, {});
  for (Watched& file : all_watched)
    if (file.begin.load() != 0 && was_changed(file)) {
      file.told = true;
      changed = file.path;
    }
  if (!changed.empty())
    throw IoError(
        fmt::format("{}: was cut short or written to while it was in use, or its disk failed; start again, "
                    "and leave the file alone meanwhile",
                    shown_path(changed)));
}

}  // namespace headwave
