#pragma once

#include <filesystem>
#include <string_view>

namespace headwave {

/// An open file or folder of the operating system, closed by the destructor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  /// Takes over an open descriptor.
  explicit FileDescriptor(int number) : number_(number) {}
  /// Opens a path; programs started from here do not inherit the descriptor. On failure is_open() is false
  /// and errno says why.
  /// @param flags  as of open(2); a new file gets the permissions that the umask leaves
  FileDescriptor(const std::filesystem::path& path, int flags);
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { close(); }

  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  [[nodiscard]] int get() const { return number_; }
  /// Writes all bytes at the current position. @returns whether the system took them; errno says why not
  [[nodiscard]] bool write(std::string_view bytes) const;
  /// Waits until all written bytes are on the disk. @returns whether they are; errno says why not
  [[nodiscard]] bool sync() const;
  /// Closes the file if it is open. @returns whether the system could; if not, an earlier write may have
  /// failed
  bool close();

 private:
  int number_ = -1;
};

/// Reports what cannot be done with a file, with the reason in errno.
/// @throws IoError always
[[noreturn]] void fail_by_errno(const std::filesystem::path& path, const char* what);

/// An empty file without a name, which lies in memory where the system has such files (Linux), else in the folder of
/// temporary files. On failure it is closed and errno says why.
FileDescriptor nameless_file();

/// Opens a file for writing, made if it is missing, and takes its lock, until it is closed or the process ends, however
/// it ends. On a file system without locks nobody is kept out.
/// @throws IoError if another process or object holds the lock, or the file cannot be opened
FileDescriptor locked_file(const std::filesystem::path& path);

/// A lock file, which one process at a time holds: files beside it are safe from other processes that ask for
/// the lock too. The file exists while a process holds it, and after a process died holding it.
class LockFile {
 public:
  /// @throws IoError if another process holds it, or it cannot be created
  explicit LockFile(const std::filesystem::path& path) : path_(path), file_(locked_file(path)) {}
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  ~LockFile();

 private:
  std::filesystem::path path_;
  FileDescriptor file_;
};

}  // namespace headwave
