#pragma once

#include <filesystem>

#include "file_descriptor.h"

namespace headwave {

/// Takes the lock of an open file, until the file is closed or the process ends, however it ends.
/// @returns false if another process holds the lock; true also on a file system without locks
bool locked(const FileDescriptor& file);

/// Opens a file or folder and takes its lock. @returns a closed descriptor if a living process holds the
/// lock, or the file system has no locks
FileDescriptor taken_if_unused(const std::filesystem::path& path);

/// A lock file, which one process at a time holds: files beside it are safe from other processes that ask for
/// the lock too. The file exists while a process holds it, and after a process died holding it.
class LockFile {
 public:
  /// @throws IoError if another process holds it, or it cannot be created
  explicit LockFile(const std::filesystem::path& path);
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  ~LockFile();

 private:
  std::filesystem::path path_;
  FileDescriptor file_;
};

}  // namespace headwave
