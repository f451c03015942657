#pragma once

#include <filesystem>
#include <string_view>

namespace headwave {

/// A file or folder of the operating system, open while it lives.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  /// Takes one that is open.
  explicit FileDescriptor(int number) : number_(number) {}
  /// Opens it; programs started from here do not inherit it. Where that fails is_open() is false and errno says why.
  /// @param flags  open(2)'s; a file that is made gets the permissions that the umask leaves
  FileDescriptor(const std::filesystem::path& path, int flags);
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { close(); }

  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  [[nodiscard]] int get() const { return number_; }
  /// Whether a path still leads to this file.
  /// @param flags  AT_SYMLINK_NOFOLLOW: by itself, not as a link
  /// @throws IoError if the system does not tell
  [[nodiscard]] bool is_at(const std::filesystem::path& path, int flags = 0) const;
  /// Writes all of it where the file stands. @returns whether the system took it; errno says why not
  [[nodiscard]] bool write(std::string_view bytes) const;
  /// Sees to it that what was written is on the disk. @returns whether it is; errno says why not
  [[nodiscard]] bool sync() const;
  /// Closes now; nothing where it is not open. @returns whether the system could, which may tell of a failed write
  bool close();

 private:
  int number_ = -1;
};

/// Says what cannot be done with a file, and why by errno.
/// @throws IoError always
[[noreturn]] void fail_by_errno(const std::filesystem::path& path, const char* what);

}  // namespace headwave
