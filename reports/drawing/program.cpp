#include "program.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../core/errors/error.h"
#include "../../data/files/file_lock.h"

namespace headwave {

namespace {

/// Where a child's stdin, stdout and stderr go, and where it runs.
class SpawnActions {
 public:
  SpawnActions(const std::filesystem::path& folder, int output, const char* errors) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
    posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, 1);
    posix_spawn_file_actions_addopen(&actions_, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

/// A child heeds signals as programs do, whatever this one ignores.
class SpawnAttributes {
 public:
  SpawnAttributes() {
    posix_spawnattr_init(&attributes_);
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes_, &usual);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

/// Our environment with another value of one variable, for exec.
std::vector<char*> environment(const std::string& variable) {
  std::vector<char*> variables;
  const std::string_view name = std::string_view(variable).substr(0, variable.find('=') + 1);
  for (char** one = environ; *one != nullptr; ++one)
    if (name.empty() || !std::string_view(*one).starts_with(name)) variables.push_back(*one);
  if (!variable.empty()) variables.push_back(const_cast<char*>(variable.c_str()));
  variables.push_back(nullptr);
  return variables;
}

/// What a child says on its stdout.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) throw IoError(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    ::close(ends_[0]);
    close_input();
  }
  [[nodiscard]] int input() const { return ends_[1]; }
  void close_input() {
    if (ends_[1] >= 0) ::close(std::exchange(ends_[1], -1));
  }

  /// All of it, once the child has closed its end.
  std::string content() {
    close_input();
    std::string text;
    std::array<char, 65536> part{};
    for (;;) {
      const ssize_t size = ::read(ends_[0], part.data(), part.size());
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) throw IoError(fmt::format("cannot read from a pipe: {}", std::strerror(errno)));
      if (size == 0) return text;
      text.append(part.data(), static_cast<std::size_t>(size));
    }
  }

 private:
  std::array<int, 2> ends_ = {-1, -1};
};

std::string beginning_of(const std::filesystem::path& path) {
  std::string text(std::size_t{64} * 1024, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

constexpr const char* scratch_name = "headwave-drawing-";
constexpr std::size_t letters = 6;  // that mkdtemp() puts behind it

/// Says of a folder that it is ours, with all that is in it: anybody may give theirs such a name.
constexpr const char* own_mark = ".headwave-scratch";

bool is_scratch(const std::filesystem::path& folder) {
  const std::string name = folder.filename().string();
  std::error_code ignored;
  return name.starts_with(scratch_name) && name.size() == std::strlen(scratch_name) + letters &&
         std::filesystem::is_regular_file(std::filesystem::symlink_status(folder / own_mark, ignored));
}

/// Removes folders of processes that died while they drew.
void remove_left_overs(const std::filesystem::path& base) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(base, error), end; !error && entry != end; entry.increment(error)) {
    struct stat status {};
    const std::filesystem::path& folder = entry->path();
    if (::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() ||
        !is_scratch(folder))
      continue;
    std::error_code ignored;
    if (const FileDescriptor unused = taken_if_unused(folder); unused.is_open())
      std::filesystem::remove_all(folder, ignored);
  }
}

}  // namespace

ProgramEnd run_program(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                       const std::string& variable) {
  constexpr const char* errors_file = "errors.txt";
  Pipe pipe;
  const SpawnActions actions(folder, pipe.input(), errors_file);
  const SpawnAttributes attributes;
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  std::vector<char*> variables = environment(variable);

  pid_t child = 0;
  const int failure =
      posix_spawnp(&child, argv.front(), actions.get(), attributes.get(), argv.data(), variables.data());
  if (failure == ENOENT) return {false, 127, {}, {}};
  if (failure != 0) throw IoError(fmt::format("{}: cannot be started: {}", arguments.front(), std::strerror(failure)));

  std::string output = pipe.content();
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      throw IoError(fmt::format("{}: cannot wait for it: {}", arguments.front(), std::strerror(errno)));
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {true, code, std::move(output), beginning_of(folder / errors_file)};
}

ScratchFolder::ScratchFolder() {
  std::error_code no_place;
  const auto base = std::filesystem::temp_directory_path(no_place);
  static std::once_flag once;
  if (!no_place) std::call_once(once, remove_left_overs, base);
  do {
    std::string pattern = (base / (scratch_name + std::string(letters, 'X'))).string();
    if (no_place || mkdtemp(pattern.data()) == nullptr)
      throw IoError("cannot make a temporary folder: set TMPDIR to a folder that can be written");
    path_ = pattern;
    lock_ = FileDescriptor(path_, O_RDONLY | O_DIRECTORY);
    // Another process may have taken it for a left-over, and removed it, before it was locked or even opened.
  } while (!(locked(lock_) && std::filesystem::exists(path_)));
  (void)FileDescriptor(path_ / own_mark, O_WRONLY | O_CREAT);  // without it the folder only stays if this process dies
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace headwave
