#pragma once

#include <filesystem>

#include "file_descriptor.h"

namespace headwave {

/// Whether nobody else holds the lock of an open file; then this process holds it until the file is closed or the
/// process ends, however it ends. True also where the file system has no locks.
bool locked(const FileDescriptor& file);

/// A file or folder with its lock, if no process that is alive holds it; not open otherwise, or where the file system
/// cannot tell.
FileDescriptor taken_if_unused(const std::filesystem::path& path);

/// A file that one process at a time can hold: what is written beside it is safe from others who ask for it too. It is
/// there while somebody holds it, or died holding it.
class LockFile {
 public:
  /// @throws IoError if another process holds it, or it cannot be made
  explicit LockFile(const std::filesystem::path& path);
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  ~LockFile();

 private:
  std::filesystem::path path_;
  FileDescriptor file_;
};

}  // namespace headwave
