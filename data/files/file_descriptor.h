#pragma once

#include <filesystem>
#include <string_view>

namespace headwave {

/// An open file or folder of the operating system, closed by the destructor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  /// Takes ownership of an open descriptor.
  explicit FileDescriptor(int number) : number_(number) {}
  /// Opens a path; child processes do not inherit the descriptor. On failure is_open() is false and errno
  /// says why.
  /// @param flags  as for open(2); a new file gets the permissions that the umask allows
  FileDescriptor(const std::filesystem::path& path, int flags);
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { close(); }

  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  [[nodiscard]] int get() const { return number_; }
  /// Writes all bytes at the current position. @returns success; on failure errno says why
  [[nodiscard]] bool write(std::string_view bytes) const;
  /// Waits until all written bytes are on the disk. @returns success; on failure errno says why
  [[nodiscard]] bool sync() const;
  /// Closes the file if it is open. @returns success; failure means that an earlier write may be lost
  bool close();

 private:
  int number_ = -1;
};

/// Reports a failure on a file, with the reason from errno.
/// @throws IoError always
[[noreturn]] void fail_by_errno(const std::filesystem::path& path, const char* what);

/// Makes an empty file without a name: in memory on Linux, elsewhere in the folder of temporary files. On
/// failure the result is not open and errno says why.
FileDescriptor nameless_file();

/// Opens a file for writing, creates it if missing, and holds its lock until the file is closed or the
/// process ends in any way. On a file system without locks, this keeps no other process out.
/// @throws IoError if another process or object holds the lock, or the file cannot be opened
FileDescriptor locked_file(const std::filesystem::path& path);

/// A lock file, which only one process at a time can hold. It protects files beside it from other processes
/// that also ask for the lock. The file exists while it is held, and stays if its process is killed.
class LockFile {
 public:
  /// @throws IoError if another process holds the lock, or the file cannot be created
  explicit LockFile(const std::filesystem::path& path) : path_(path), file_(locked_file(path)) {}
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  ~LockFile();

 private:
  std::filesystem::path path_;
  FileDescriptor file_;
};

}  // namespace headwave
